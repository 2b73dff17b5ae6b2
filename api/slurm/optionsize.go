package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/gres"
	"muster/job"
)

func setNodes(o *Options, v string) error {
	c, err := ParseNodeCount(v)
	if err != nil {
		return &OptionError{Text: err.Error(), Code: 255}
	}
	s := &o.Job.Size
	s.MinNodes, s.MaxNodes, s.NodeCounts = c.Min, c.Max, c.Sizes
	return nil
}

// maxTasks is the highest number of tasks that a job may ask for.
const maxTasks = math.MaxInt32 - 1

func setTasks(o *Options, v string) error {
	n, err := number("ntasks", v, 1, maxTasks)
	if err != nil {
		return err
	}
	o.Job.Size.Tasks, o.TaskCount = uint32(n), true
	return nil
}

// setMem makes the setter of one of the three memory options; Finish says which
// of them counts.
func setMem(option string) func(*Options, string) error {
	per := map[string]job.MemoryUnit{"mem": job.MemoryPerNode, "mem-per-cpu": job.MemoryPerCPU, "mem-per-gpu": job.MemoryPerGPU}[option]
	return func(o *Options, v string) error {
		mb, err := ParseMegabytes(v)
		if err != nil {
			return refuse(option)
		}
		if mb == 0 && per == job.MemoryPerCPU {
			o.memory[option] = job.Memory{Per: job.MemoryPerNode} // as --mem=0: all of the node
			return nil
		}
		o.memory[option] = job.Memory{Per: per, MB: mb}
		return nil
	}
}

func setTmp(o *Options, v string) error {
	mb, err := ParseMegabytes(v)
	if err != nil {
		return refuse("tmp")
	}
	o.Job.Place.TmpDiskMB = mb
	return nil
}

// notSpecialized is what Slurm says of -S where a site does not allow it; the
// option has no effect then.
const notSpecialized = " since it's not allowed by configuration (AllowSpecResourcesUsage = No)"

func setCoreSpec(o *Options, v string) error {
	if v != "" { // an empty one is none, with the same warning
		if _, err := number("core-spec", v, 0, math.MaxUint16>>1); err != nil {
			return err
		}
	}
	o.warnOnce("error: Ignoring -S" + notSpecialized)
	return nil
}

func setThreadSpec(o *Options, v string) error {
	if _, err := number("thread-spec", v, 1, math.MaxUint16>>1); err != nil {
		return err
	}
	o.warnOnce("error: Ignoring --thread-spec" + notSpecialized)
	return nil
}

// warnOnce adds a line for stderr unless it is there.
func (o *Options) warnOnce(text string) {
	if !slices.Contains(o.Warnings, text) {
		o.Warnings = append(o.Warnings, text)
	}
}

// setNodeInfo reads sockets[:cores[:threads]]; * is any.
func setNodeInfo(o *Options, v string) error {
	s := &o.Job.Size
	parts := strings.Split(v, ":")
	s.SocketsPerNode, s.CoresPerSocket, s.ThreadsPerCore = 0, 0, 0
	if len(parts) > 3 {
		return &OptionError{Text: "--extra-node-info takes at most sockets:cores:threads", Code: 1}
	}
	for i, field := range []*uint16{&s.SocketsPerNode, &s.CoresPerSocket, &s.ThreadsPerCore}[:len(parts)] {
		if parts[i] == "*" || parts[i] == "" {
			*field = 0
			continue
		}
		low, high, ranged := strings.Cut(parts[i], "-") // of a range the lower end counts
		n, ok := digits(low)
		if _, good := digits(high); ranged && !good {
			ok = false
		}
		switch {
		case !ok || n >= math.MaxUint16-2:
			shown := parts[i][:min(len(parts[i]), 47)] // as much as Slurm has room for
			return &OptionError{Text: fmt.Sprintf("Invalid numeric value \"%s\" for %s arg of -B.", shown, [...]string{"first", "second", "third"}[i]), Code: 1}
		case n == 0:
			return o.notSubmitted(TextNodeCount)
		}
		*field = uint16(n)
	}
	return nil
}

func setExclusive(o *Options, v string) error {
	switch strings.ToLower(v) {
	case "", "exclusive", "allocation":
		o.Job.Place.Sharing = job.Exclusive
	case "oversubscribe":
		o.Job.Place.Sharing = job.Oversubscribe
	case "user":
		o.Job.Place.Sharing = job.ExclusiveUser
	default:
		return refuse("exclusive")
	}
	return nil
}

// hintHelp is what --hint=help shows.
const hintHelp = `Hints for --hint:
  compute_bound    use all cores of each socket
  memory_bound     use one core of each socket
  multithread      use all threads of each core
  nomultithread    use one thread of each core
`

func setHint(o *Options, v string) error {
	switch v = strings.ToLower(v); v {
	case "compute_bound", "memory_bound", "multithread", "nomultithread":
		o.Job.Place.Hint = v
		return nil
	case "help":
		return &HelpError{Text: hintHelp}
	}
	return &OptionError{Text: "unrecognized --hint argument \"" + v + "\", see --hint=help", Code: 1}
}

// setDistribution checks and keeps how tasks are spread (sbatch(1), -m).
func setDistribution(o *Options, v string) error {
	low := strings.ToLower(v)
	if n, ok := cutFold(low, "plane"); ok {
		size, has := strings.CutPrefix(n, "=")
		if k, ok := digits(size); !has || !ok || k < 1 {
			return &OptionError{Explain: "Invalid plane size or size not specified", Text: "Invalid --distribution specification", Code: 255}
		}
		o.Job.Place.Dist = low
		return nil
	}
	levels, packing, hasPacking := strings.Cut(low, ",")
	if hasPacking && packing != "pack" && packing != "nopack" {
		return refuse("distribution")
	}
	for i, level := range strings.Split(levels, ":") {
		switch {
		case level == "*", level == "block", level == "cyclic":
		case len(levels) == len(low) && i == 0 && (level == "pack" || level == "nopack"): // alone
		case i > 0 && level == "fcyclic":
		case i == 0 && level == "arbitrary":
		default:
			return refuse("distribution")
		}
		if i > 2 {
			return refuse("distribution")
		}
	}
	o.Job.Place.Dist = low
	return nil
}

// setSegment reads a number of nodes.
func setSegment(o *Options, v string) error {
	n := int64(0) // an empty text is none, as 0 is
	if v != "" {
		var err error
		if n, err = number("segment", v, 0, math.MaxUint16-2); err != nil {
			return refuse("segment")
		}
	}
	o.Job.Place.Segment = uint32(n)
	return nil
}

// setSwitches reads count[@time].
func setSwitches(o *Options, v string) error {
	n, wait, hasWait := strings.Cut(v, "@")
	c, err := number("switches", n, 1, math.MaxInt32-1)
	if err != nil {
		return err
	}
	o.Job.Place.Switches = uint32(c)
	if hasWait {
		s, err := ParseSeconds(wait)
		if err != nil || s > math.MaxUint32 {
			return refuse("switches")
		}
		o.Job.Place.SwitchWait = uint32(s)
	}
	return nil
}

// errGres is Slurm's answer to generic resources that it can't read.
func errGres() error {
	return &OptionError{Text: gres.ErrorText, Code: 1}
}

// replace puts a new list in for the items of one name, or for all.
func replace(field *gres.Spec, spec gres.Spec, name string) {
	var kept gres.Spec
	for _, item := range *field {
		if name != "" && item.Name != name {
			kept = append(kept, item)
		}
	}
	*field = append(kept, spec...)
}

func setGres(o *Options, v string) error {
	spec, err := gres.ParseSpec(strings.ReplaceAll(strings.TrimSuffix(v, ","), "=", ":"))
	if err != nil {
		return errGres()
	}
	replace(&o.Job.Gres.PerNode, spec, "")
	o.gresGPU = false
	for _, item := range spec {
		o.gresGPU = o.gresGPU || item.Name == "gpu"
	}
	return nil
}

func replaceGPUs(field *gres.Spec, v string) error {
	spec, err := gres.ParseCounts("gpu", v)
	if err != nil {
		return errGres()
	}
	replace(field, spec, "gpu")
	return nil
}

func setGPUs(o *Options, v string) error          { return replaceGPUs(&o.Job.Gres.PerJob, v) }
func setGPUsPerNode(o *Options, v string) error   { return replaceGPUs(&o.Job.Gres.PerNode, v) }
func setGPUsPerSocket(o *Options, v string) error { return replaceGPUs(&o.Job.Gres.PerSocket, v) }
func setGPUsPerTask(o *Options, v string) error   { return replaceGPUs(&o.Job.Gres.PerTask, v) }

func setGPUBind(o *Options, v string) error {
	if _, ok := gres.ParseBinding(v); !ok {
		return &OptionError{Text: "Invalid --gpu-bind argument: " + v, Code: 255}
	}
	o.Job.Gres.Bind = v
	return nil
}

func setTRESBind(o *Options, v string) error {
	if v == "" {
		o.Job.Gres.Bind = ""
		return nil
	}
	if !strings.HasPrefix(v, "gres/") {
		return o.notSubmitted(TextTRES)
	}
	bind, ok := strings.CutPrefix(v, "gres/gpu:")
	if _, known := gres.ParseBinding(bind); !ok || !known {
		return &OptionError{Text: "Invalid --tres-bind argument: " + v, Code: 255}
	}
	o.Job.Gres.Bind = bind
	return nil
}

// setTRESPerTask reads cpu=N, gres/name[:type]=N and license/name=N.
func setTRESPerTask(o *Options, v string) error {
	var devices []string
	counted := false
	for part := range strings.SplitSeq(v, ",") {
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			name, value, ok = strings.Cut(part, ":")
		}
		switch {
		case strings.EqualFold(name, "cpu") && ok:
			n, err := number("tres-per-task", value, 1, math.MaxUint16-2)
			if err != nil {
				n, _ := strconv.ParseInt(value, 10, 32)
				return &OptionError{Text: fmt.Sprintf("Invalid --tres-per-task=cpu=%d", n), Fatal: true, Code: 1}
			}
			if !counted { // of several in one list the first counts
				o.Job.Size.CPUsPerTask, o.taskCPUs, counted = uint16(n), true, true
			}
		case strings.HasPrefix(strings.ToLower(part), "gres/"):
			devices = append(devices, part)
			o.taskGPUs = o.taskGPUs || gresName(part) == "gpu"
		default:
			if slices.Contains([]string{"mem", "node", "billing", "energy", "vmem", "pages"}, strings.ToLower(name)) {
				return &OptionError{Text: "Invalid TRES for --tres-per-task: " + name, Fatal: true, Code: 1}
			}
			return o.notSubmitted(TextTRES)
		}
	}
	spec, err := gres.ParseSpec(strings.ReplaceAll(strings.Join(devices, ","), "=", ":"))
	if err != nil {
		return errGres()
	}
	replace(&o.Job.Gres.PerTask, spec, "")
	return nil
}

// gresName is the name in gres/name[:type]=N.
func gresName(part string) string {
	name := part[len("gres/"):]
	if i := strings.IndexAny(name, ":="); i >= 0 {
		name = name[:i]
	}
	return name
}

// setGresFlags checks the words of --gres-flags.
func setGresFlags(o *Options, v string) error {
	var seen [2]bool
	if sharing := "multiple-tasks-per-sharing"; strings.Contains(o.Job.Gres.Flags, sharing) && !strings.Contains(v, sharing) {
		v = strings.TrimPrefix(v+","+sharing, ",") // a later option replaces the others only
	}
	for word := range strings.SplitSeq(v, ",") {
		switch strings.ToLower(word) {
		case "":
		case "disable-binding":
			seen[0] = true
		case "enforce-binding":
			seen[1] = true
		case "multiple-tasks-per-sharing":
		default:
			return &OptionError{Text: "Invalid --gres-flags specification: " + word, Code: 255}
		}
	}
	if seen[0] && seen[1] {
		return &OptionError{Text: "Invalid --gres-flags combo: disable-binding and enforce-binding are mutually exclusive.", Code: 255}
	}
	o.Job.Gres.Flags = v
	return nil
}
