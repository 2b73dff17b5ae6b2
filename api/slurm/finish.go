package slurm

import (
	"bytes"
	"fmt"
	"strings"

	"muster/internal/hostlist"
	"muster/job"
)

// Finish checks the options of one component against each other, in the order
// in which Slurm does, and works out what follows from them.
func (o *Options) Finish() error {
	for _, step := range []func() error{
		o.checkGPUs, o.checkMemory, o.checkSharing, o.checkCPUs, o.readNodeLists, o.checkArbitrary,
		o.checkTimes, o.countNodes, o.checkThreads, o.checkDeviceTasks,
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
	return &OptionError{Text: fmt.Sprintf(format, args...), Code: 1}
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
	return nil
}

func (o *Options) checkSharing() error {
	if o.byHand("exclusive") && o.byHand("oversubscribe") {
		return exclude("--exclusive and --oversubscribe options are mutually exclusive")
	}
	return nil
}

// checkCPUs: CPUs are counted by task or by GPU; the command line wins over the
// environment.
func (o *Options) checkCPUs() error {
	task, gpu := o.set["cpus-per-task"], o.set["cpus-per-gpu"]
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
	if o.NodeFile != "" {
		names, err := o.nodesInFile(o.NodeFile)
		if err != nil {
			return &OptionError{Before: "sbatch: error: " + err.Error(), Text: "Invalid --nodefile node file", Code: 255}
		}
		place.Nodes = names
	} else if err := o.expandList(&place.Nodes); err != nil {
		return err
	}
	return o.expandList(&place.Exclude)
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
		return &OptionError{Text: "Invalid node list specified: " + err.Error(), Code: 1}
	}
	*list = names
	return nil
}

// nodesInFile reads node names from a file: host lists separated by white space
// or commas, with comments after #.
func (o *Options) nodesInFile(name string) ([]string, error) {
	data, err := o.in.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("node file %s: %w", name, err)
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

func (o *Options) checkArbitrary() error {
	if o.Job.Place.Dist == "arbitrary" && o.byHand("nodes") {
		return &OptionError{Text: "--nodes is incompatible with --distribution=arbitrary", Code: 1}
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
		what := "Unable to allocate resources"
		if o.in.Program == Sbatch {
			what = "Batch job submission failed"
		}
		return &OptionError{Text: what + ": Node count specification invalid", Code: 1}
	}
	if distinct := countDistinct(o.Job.Place.Nodes); distinct > 0 && !nodes {
		s.MinNodes = uint32(distinct)
		nodes = true
	}
	if !nodes || !o.TaskCount {
		return nil
	}
	if s.Tasks < s.MaxNodes && len(s.NodeCounts) == 0 {
		s.MaxNodes = s.Tasks
	}
	if s.Tasks < s.MinNodes {
		o.Warnings = append(o.Warnings, fmt.Sprintf("Warning: can't run %d processes on %d nodes, setting nnodes to %d", s.Tasks, s.MinNodes, s.Tasks))
		s.MinNodes, s.MaxNodes, s.NodeCounts = s.Tasks, s.Tasks, nil
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

// checkDeviceTasks makes devices counted by task agree with the number of tasks
// and with devices counted by job; each of the two may follow from the other.
func (o *Options) checkDeviceTasks() error {
	s := &o.Job.Size
	for _, it := range o.Job.Gres.PerTask {
		total := o.Job.Gres.PerJob.Count(it.Name)
		switch {
		case total == 0 && (o.TaskCount || s.TasksPerNode != 0 || o.in.Program == Srun): // srun has a task a node without -n
		case total == 0 && it.Name == "gpu":
			return badSpec(". --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.")
		case total == 0:
			return badSpec(". --tres-per-task used without -n/--ntasks is not allowed.")
		case total%it.Count != 0:
			return badSpec(", --%ss not multiple of --%ss-per-task", it.Name, it.Name)
		case o.TaskCount && uint64(s.Tasks) != total/it.Count:
			return badSpec(". Based on --%ss and --%ss-per-task number of requested tasks differ from -n/--ntasks.", it.Name, it.Name)
		case !o.TaskCount:
			s.Tasks, o.TaskCount = uint32(total/it.Count), true
		}
	}
	return nil
}

func badSpec(format string, args ...any) error {
	return exclude("Failed to validate job spec"+format, args...)
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
