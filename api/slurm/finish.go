package slurm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"muster/internal/hostlist"
	"muster/job"
)

// Finish checks the options of one component against each other, in the order
// in which Slurm does, and works out what follows from them.
func (o *Options) Finish() error {
	for _, step := range []func() error{
		o.checkGPUs, o.checkMemory, o.checkSharing, o.checkSpecialized, o.checkCPUs, o.readNodeLists, o.checkArbitrary,
		o.checkNamed, o.checkTimes, o.useHint, o.countNodes, o.checkPlane, o.checkThreads, o.checkDevices,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if o.Act.Quiet && o.Act.Verbose > 0 {
		return &OptionError{Text: "don't specify both --verbose (-v) and --quiet (-Q)", Code: 1}
	}
	return nil
}

// byHand tells whether an option was given on the command line or in the
// script, in contrast to an input variable.
func (o *Options) byHand(name string) bool {
	return o.set[name] == FromCommandLine || o.set[name] == FromDirective
}

func exclude(format string, args ...any) error {
	return &OptionError{Text: fmt.Sprintf(format, args...), Fatal: true, Code: 1}
}

func (o *Options) checkGPUs() error {
	if o.gresGPU && o.set["gpus-per-node"] != Unset {
		return exclude("--gpus-per-node and --gres=gpu are mutually exclusive.")
	}
	if o.set["ntasks-per-gpu"] == Unset {
		return nil
	}
	for _, other := range []string{"tres-per-task", "gpus-per-task", "gpus-per-socket", "ntasks-per-node"} {
		if o.set[other] != Unset {
			return exclude("--%s is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU", other)
		}
	}
	return nil
}

// checkMemory picks the memory option that counts: one given by hand before one
// from the environment; two of the same kind exclude each other.
func (o *Options) checkMemory() error {
	names := []string{"mem", "mem-per-cpu", "mem-per-gpu"}
	var hand, env []string
	for _, n := range names {
		switch {
		case o.byHand(n):
			hand = append(hand, n)
		case o.set[n] == FromEnvironment:
			env = append(env, n)
		}
	}
	switch {
	case len(hand) > 1:
		return exclude("--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.")
	case len(hand) == 1:
		o.Job.Memory = o.memory[hand[0]]
	case len(env) > 1:
		return exclude("SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.")
	case len(env) == 1:
		o.Job.Memory = o.memory[env[0]]
	}
	if o.Job.Memory.Per == job.MemoryPerGPU {
		if o.perGPU = o.Job.Memory.MB; o.perGPU == 0 {
			o.Job.Memory = job.Memory{}
		}
	}
	return nil
}

func (o *Options) checkSharing() error {
	if o.byHand("exclusive") && o.byHand("oversubscribe") {
		return exclude("--exclusive and --oversubscribe options are mutually exclusive")
	}
	return nil
}

// checkSpecialized: cores or threads are kept free, not both.
func (o *Options) checkSpecialized() error {
	if o.set["core-spec"] != Unset && o.set["thread-spec"] != Unset {
		return exclude("-S/--core-spec and --thred-spec options are mutually exclusive") // Slurm's spelling
	}
	return nil
}

// checkCPUs: CPUs are counted by task or by GPU; the command line wins over the
// environment.
func (o *Options) checkCPUs() error {
	task, gpu := o.set["cpus-per-task"], o.set["cpus-per-gpu"]
	if task != Unset && o.taskCPUs {
		return exclude("You can not have --tres-per-task=cpu= and --cpus-per-task please use one or the other")
	}
	if o.taskGPUs && o.set["gpus-per-task"] != Unset {
		return exclude("You can not have --tres-per-task=gres/gpu= and --gpus-per-task please use one or the other")
	}
	if o.Job.Size.CPUsPerTask != 0 && task == Unset {
		task = o.set["tres-per-task"]
	}
	switch {
	case task == Unset || gpu == Unset:
	case (task == FromEnvironment) == (gpu == FromEnvironment):
		return exclude("--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive")
	case task == FromEnvironment:
		o.Job.Size.CPUsPerTask = 0
	default:
		o.Job.Gres.CPUsPerGPU = 0
	}
	return nil
}

// readNodeLists expands --nodelist, --nodefile and --exclude.
func (o *Options) readNodeLists() error {
	place := &o.Job.Place
	if o.set["nodefile"] != Unset && o.set["nodefile"] >= o.set["nodelist"] {
		if o.NodeFile == "" {
			return &OptionError{Text: "Invalid --nodefile node file", Code: 255}
		}
		names, err := o.nodesInFile(o.NodeFile)
		if err == nil && len(names) == 0 {
			err = errors.New("Hostlist is empty!") //lint:ignore ST1005 programs read the text
		}
		if err != nil {
			return &OptionError{Explain: err.Error(), Text: "Invalid --nodefile node file", Code: 255}
		}
		place.Nodes = names
	} else if err := o.expandList(&place.Nodes); err != nil {
		return o.badList(err, true)
	}
	if o.in.Program == Sbatch && place.Dist != "arbitrary" { // there the tasks follow the list
		place.Nodes = firstOfEach(place.Nodes)
	}
	err := o.expandList(&place.Exclude)
	place.Exclude = firstOfEach(place.Exclude)
	return o.badList(err, false)
}

// badList is the refusal of a list that can't be read. Slurm's commands look at
// brackets of --nodelist only and leave all else to the cluster.
func (o *Options) badList(err error, include bool) error {
	var bad *OptionError
	if !errors.As(err, &bad) || !bad.Fatal || include && strings.Contains(bad.Hint, "[") {
		return err
	}
	return &OptionError{Text: o.notSubmitted(TextNodeName).(*OptionError).Text, Hint: bad.Hint, Code: 1}
}

// firstOfEach drops repeated names.
func firstOfEach(names []string) []string {
	seen := make(map[string]bool, len(names))
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// expandList replaces the one text that a setter left by the names in it; a
// text with a slash is the name of a file.
func (o *Options) expandList(list *[]string) error {
	if len(*list) == 0 {
		return nil
	}
	expr := strings.Trim((*list)[0], ", ")
	*list = nil
	if expr == "" {
		return nil
	}
	if strings.Contains(expr, "/") {
		names, err := o.nodesInFile(expr)
		if err != nil {
			return &OptionError{Text: err.Error(), Code: 1}
		}
		*list = names
		return nil
	}
	names, err := hostlist.Expand(expr)
	if err != nil {
		return &OptionError{Text: "Invalid node list specified", Fatal: true, Hint: err.Error(), Code: 1}
	}
	*list = names
	return nil
}

// nodesInFile reads node names from a file: host lists separated by white space
// or commas, with comments after #.
func (o *Options) nodesInFile(name string) ([]string, error) {
	data, err := o.in.ReadFile(name)
	if err != nil {
		return nil, unreadableNodes(name, err)
	}
	var names []string
	for line := range bytes.Lines(data) {
		text, _, _ := strings.Cut(string(line), "#")
		for _, word := range strings.Fields(text) {
			more, err := hostlist.Expand(strings.Trim(word, ","))
			if err != nil {
				return nil, fmt.Errorf("node file %s: %w", name, err)
			}
			names = append(names, more...)
		}
		if len(names) > hostlist.Max {
			return nil, fmt.Errorf("node file %s: more than %d nodes", name, hostlist.Max)
		}
	}
	return names, nil
}

// unreadableNodes is the error of a file of nodes that can't be read.
func unreadableNodes(name string, err error) error {
	var why syscall.Errno
	if errors.As(err, &why) {
		text := why.Error() // the C library's begins with a capital letter
		return fmt.Errorf("slurm_allocate_resources error opening file %s, %s%s", name, strings.ToUpper(text[:1]), text[1:])
	}
	return fmt.Errorf("node file %s: %w", name, err)
}

func (o *Options) checkArbitrary() error {
	if o.in.Program == Srun && o.set["nodefile"] == FromEnvironment && o.set["distribution"] == Unset {
		o.Job.Place.Dist = "arbitrary" // SLURM_HOSTFILE says so
	}
	if o.Job.Place.Dist == "arbitrary" && len(o.Job.Place.Nodes) == 0 {
		return &OptionError{Text: "With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option", Code: 1}
	}
	if o.Job.Place.Dist == "arbitrary" && o.byHand("nodes") {
		return &OptionError{Text: "--nodes is incompatible with --distribution=arbitrary", Code: 1}
	}
	return nil
}

// notSubmitted is a refusal in the words that the cluster would use.
func (o *Options) notSubmitted(why string) error {
	what := "Unable to allocate resources"
	switch o.in.Program {
	case Sbatch:
		what = "Batch job submission failed"
	case Salloc:
		what = "Job submit/allocate failed"
	}
	return &OptionError{Text: what + ": " + why, Code: 1}
}

// checkNamed: an account or QOS that was named has a name. An empty one is most
// often a variable that is not set, and must not mean the default.
func (o *Options) checkNamed() error {
	switch {
	case o.byHand("account") && o.Job.Account == "":
		return o.notSubmitted(TextAccount)
	case o.byHand("qos") && o.Job.QOS == "":
		return o.notSubmitted(TextQOS)
	case o.byHand("clusters") && o.Job.Cluster == "":
		return &OptionError{Explain: "No cluster '' known by database.", Text: TextCluster(""), Code: 1}
	}
	return nil
}

// checkPlane: planes of so many tasks must reach all the nodes asked for.
func (o *Options) checkPlane() error {
	size, plane := strings.CutPrefix(o.Job.Place.Dist, "plane=")
	n, ok := digits(size)
	if !plane || !ok || n < 1 || o.set["nodes"] == Unset {
		return nil
	}
	if uint64(max(1, o.Job.Size.Tasks)) <= uint64(n)*uint64(max(1, o.Job.Size.MinNodes)-1) {
		return &OptionError{Text: "Too few processes for the requested {plane,node} distribution", Code: 1}
	}
	return nil
}

func (o *Options) checkTimes() error {
	t := o.Job.Timing
	if t.Deadline != 0 && t.Begin != 0 && t.Deadline < t.Begin {
		return &OptionError{Text: "Incompatible begin and deadline time specification", Code: 1}
	}
	return nil
}

// countNodes makes node and task counts agree.
func (o *Options) countNodes() error {
	s := &o.Job.Size
	nodes := o.set["nodes"] != Unset
	if nodes && s.MinNodes == 0 && s.MaxNodes == 0 {
		return o.notSubmitted(TextNodeCount)
	}
	if o.byHand("nodelist") && len(o.Job.Place.Nodes) == 0 && !nodes {
		return o.notSubmitted(TextNodeCount)
	}
	if distinct := countDistinct(o.Job.Place.Nodes); distinct > 0 && !nodes {
		s.MinNodes = uint32(distinct)
		nodes = true
	}
	if o.countByShape(nodes); !nodes || !o.TaskCount {
		return nil
	}
	if s.Tasks < s.MaxNodes && len(s.NodeCounts) == 0 {
		s.MaxNodes = s.Tasks
	}
	if s.Tasks < s.MinNodes {
		o.Warnings = append(o.Warnings, fmt.Sprintf("warning: can't run %d processes on %d nodes, setting nnodes to %d", s.Tasks, s.MinNodes, s.Tasks))
		s.MinNodes, s.MaxNodes, s.NodeCounts = s.Tasks, s.Tasks, nil
	}
	return nil
}

// countByShape: where the number of nodes is fixed or -B was given, and no number
// of tasks, there is one on each socket, core or thread that was named.
func (o *Options) countByShape(nodes bool) {
	s := &o.Job.Size
	named := o.set["extra-node-info"] != Unset || nodes && (s.MaxNodes == 0 || s.MaxNodes == s.MinNodes)
	if !named || o.TaskCount || s.TasksPerNode != 0 || s.SocketsPerNode+s.CoresPerSocket+s.ThreadsPerCore == 0 {
		return
	}
	o.setTaskCount(uint64(max(s.MinNodes, 1)) * uint64(max(s.SocketsPerNode, 1)) * uint64(max(s.CoresPerSocket, 1)) * uint64(max(s.ThreadsPerCore, 1)))
}

// useHint turns --hint into counts, unless one of the options that it stands for
// was given (srun(1), --hint).
func (o *Options) useHint() error {
	place, s := &o.Job.Place, &o.Job.Size
	for _, name := range []string{"ntasks-per-core", "cores-per-socket", "threads-per-core", "sockets-per-node", "extra-node-info"} {
		if place.Hint != "" && o.set[name] != Unset {
			place.Hint = ""
		}
	}
	switch place.Hint {
	case "compute_bound", "nomultithread":
		s.ThreadsPerCore = 1
	case "memory_bound":
		s.CoresPerSocket, s.ThreadsPerCore = 1, 1
	}
	return nil
}

func (o *Options) checkThreads() error {
	s := o.Job.Size
	if s.ThreadsPerCore != 0 && s.TasksPerCore > s.ThreadsPerCore {
		return &OptionError{Text: fmt.Sprintf("--ntasks-per-core (%d) can not be bigger than --threads-per-core (%d)", s.TasksPerCore, s.ThreadsPerCore), Code: 1}
	}
	return nil
}

func countDistinct(names []string) int {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		seen[n] = true
	}
	return len(seen)
}

// RequeueChosen tells whether --requeue or --no-requeue was given; without
// either the cluster's default holds.
func (o *Options) RequeueChosen() job.Tri {
	switch {
	case o.set["requeue"] == Unset && o.set["no-requeue"] == Unset:
		return job.Default
	case o.Job.Requeue:
		return job.Yes
	}
	return job.No
}
