package slurm

import (
	"fmt"

	"muster/gres"
)

// checkDevices makes the counts of devices agree with each other and with those
// of nodes, tasks and CPUs, each of which may follow from the others (sbatch(1),
// --gpus and its kin). The errors are Slurm's, each before the same last line.
func (o *Options) checkDevices() error {
	o.dropEmptyCounts()
	if err := o.countTasksByGPU(); err != nil {
		return err
	}
	g := &o.Job.Gres
	if !o.asksFor("gpu") {
		if o.perGPU > 0 {
			return badDevices("Requested mem_per_tres=gres/gpu:%d but did not request any GPU.", o.perGPU)
		}
		if g.CPUsPerGPU > 0 {
			return badDevices("Requested cpus_per_tres=gres/gpu:%d but did not request any GPU.", g.CPUsPerGPU)
		}
	}
	for _, name := range o.deviceNames() {
		c := &deviceCounts{
			name: name, job: g.PerJob.Count(name), node: g.PerNode.Count(name),
			socket: g.PerSocket.Count(name), task: g.PerTask.Count(name),
		}
		for _, check := range []func(*deviceCounts) error{
			o.checkOrder, o.checkByNode, o.checkBySocket, o.checkTasksByGPU, o.checkByTask, o.checkTasksOfPlace, o.checkNodesOfJob,
		} {
			if err := check(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropEmptyCounts drops counts of 0, which ask for nothing.
func (o *Options) dropEmptyCounts() {
	g := &o.Job.Gres
	for _, list := range []*gres.Spec{&g.PerJob, &g.PerNode, &g.PerSocket, &g.PerTask} {
		var kept gres.Spec
		for _, it := range *list {
			if it.Count > 0 {
				kept = append(kept, it)
			}
		}
		*list = kept
	}
}

// deviceCounts are the counts of one kind of device; 0 is none asked for.
type deviceCounts struct {
	name                    string
	job, node, socket, task uint64
}

// badDevices is a refusal of counts that do not go together.
func badDevices(format string, args ...any) error {
	return &OptionError{Explain: fmt.Sprintf(format, args...), Text: gres.ErrorText, Code: 1}
}

// deviceNames are the kinds asked for, in the order in which they are given.
func (o *Options) deviceNames() []string {
	g := &o.Job.Gres
	var names []string
	seen := make(map[string]bool)
	for _, list := range []gres.Spec{g.PerJob, g.PerNode, g.PerSocket, g.PerTask} {
		for _, it := range list {
			if !seen[it.Name] {
				seen[it.Name] = true
				names = append(names, it.Name)
			}
		}
	}
	return names
}

func (o *Options) asksFor(name string) bool {
	g := &o.Job.Gres
	return g.PerJob.Count(name)+g.PerNode.Count(name)+g.PerSocket.Count(name)+g.PerTask.Count(name) > 0
}

// countTasksByGPU works out tasks from GPUs or GPUs from tasks with
// --ntasks-per-gpu.
func (o *Options) countTasksByGPU() error {
	s, g := &o.Job.Size, &o.Job.Gres
	per := uint64(s.TasksPerGPU)
	nodes := uint64(max(s.MinNodes, 1))
	tasks := uint64(s.Tasks)
	if tasks == 0 && o.exactNodes() {
		tasks = nodes
	}
	switch gpus := g.PerJob.Count("gpu"); {
	case per == 0:
	case gpus > 0:
		o.setTaskCount(gpus * per)
	case g.PerNode.Count("gpu") > 0:
		o.setTaskCount(g.PerNode.Count("gpu") * nodes * per)
	case tasks > 0:
		g.PerJob = append(g.PerJob, gres.Item{Name: "gpu", Count: max(tasks/per, 1)})
		if g.Bind == "" {
			g.Bind = fmt.Sprintf("single:%d", per)
		}
	default:
		return badDevices("gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU specification or a node/ntask specification")
	}
	return nil
}

// exactNodes tells whether a number of nodes was asked for, not a range.
func (o *Options) exactNodes() bool {
	s := &o.Job.Size
	return o.set["nodes"] != Unset && (s.MaxNodes == 0 || s.MaxNodes == s.MinNodes)
}

// setTaskCount sets a number of tasks that was worked out, unless one was given
// or no job can have so many.
func (o *Options) setTaskCount(n uint64) {
	if !o.TaskCount && n <= maxTasks {
		o.Job.Size.Tasks, o.TaskCount = uint32(n), true
	}
}

// checkOrder: what a job has is no less than what a part of it has.
func (o *Options) checkOrder(c *deviceCounts) error {
	switch {
	case c.job > 0 && max(c.node, c.task, c.socket) > c.job:
		return badDevices("Failed to ensure --%ss >= --gres=%s/--%ss-per-node >= --%ss-per-socket", c.name, c.name, c.name, c.name)
	case c.node > 0 && max(c.task, c.socket) > c.node:
		return badDevices("Failed to ensure --%ss >= --%ss-per-task", c.name, c.name)
	case c.socket > 0 && o.Job.Size.SocketsPerNode == 0 && o.in.Program != Srun:
		return badDevices("--%ss-per-socket option requires --sockets-per-node specification", c.name)
	}
	return nil
}

// checkByNode: counts by job and by node give the number of nodes.
func (o *Options) checkByNode(c *deviceCounts) error {
	if c.job == 0 || c.node == 0 {
		return nil
	}
	if c.job%c.node != 0 {
		return badDevices("Failed to validate job spec, --%ss is not multiple of --gres=%s/--%ss-per-node", c.name, c.name, c.name)
	}
	s := &o.Job.Size
	n := c.job / c.node
	if n < uint64(s.MinNodes) || s.MaxNodes > 0 && n > uint64(s.MaxNodes) {
		return badDevices("Failed to validate job spec. Based on --%s and --gres=%s/--%ss-per-node required nodes (%d) doesn't fall between min_nodes (%d) and max_nodes (%d) boundaries.",
			c.name, c.name, c.name, n, s.MinNodes, s.MaxNodes)
	}
	if n <= maxNodes {
		s.MinNodes, s.MaxNodes = uint32(n), uint32(n)
	}
	return nil
}

// checkBySocket: counts by node and by socket give the number of sockets.
func (o *Options) checkBySocket(c *deviceCounts) error {
	switch {
	case c.node == 0 || c.socket == 0:
	case c.node%c.socket != 0:
		return badDevices("Failed to validate job spec, --gres=%s/--%ss-per-node not multiple of --%ss-per-socket.", c.name, c.name, c.name)
	case o.Job.Size.SocketsPerNode != 0 && uint64(o.Job.Size.SocketsPerNode) != c.node/c.socket:
		return badDevices("Failed to validate job spec. Based on --gres=%s/--%ss-per-node and --%ss-per-socket required number of sockets differ from --sockets-per-node.", c.name, c.name, c.name)
	}
	return nil
}

func (o *Options) checkTasksByGPU(c *deviceCounts) error {
	s := &o.Job.Size
	if c.name == "gpu" && s.TasksPerGPU > 0 && o.TaskCount && s.Tasks%uint32(s.TasksPerGPU) != 0 {
		return badDevices("Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-%s.", c.name)
	}
	return nil
}

// checkByTask: counts by job and by task give the number of tasks.
func (o *Options) checkByTask(c *deviceCounts) error {
	if c.task == 0 {
		return nil
	}
	s := &o.Job.Size
	switch {
	case c.job == 0 && (o.TaskCount || o.in.Program == Srun): // srun has a task a node without -n
	case c.job == 0 && o.exactNodes() && s.MinNodes == 1: // so Slurm, which has a task for the one node
		o.setTaskCount(uint64(max(s.TasksPerNode, 1)))
		return nil
	case c.job == 0 && c.name == "gpu":
		return badDevices("Failed to validate job spec. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.")
	case c.job == 0:
		return badDevices("Failed to validate job spec. --tres-per-task used without -n/--ntasks is not allowed.")
	case c.job%c.task != 0:
		return badDevices("Failed to validate job spec, --%ss not multiple of --%ss-per-task", c.name, c.name)
	case o.TaskCount && uint64(s.Tasks) != c.job/c.task:
		return badDevices("Failed to validate job spec. Based on --%ss and --%ss-per-task number of requested tasks differ from -n/--ntasks.", c.name, c.name)
	}
	o.setTaskCount(c.job / c.task)
	return nil
}

// checkTasksOfPlace: counts by node or socket and by task give the tasks there,
// CPUs by GPU those of a task.
func (o *Options) checkTasksOfPlace(c *deviceCounts) error {
	s := &o.Job.Size
	cpus := uint64(o.Job.Gres.CPUsPerGPU) * c.task
	switch {
	case c.task == 0:
	case c.node > 0 && c.node%c.task != 0:
		return badDevices("Failed to validate job spec, --gres=%s/--%ss-per-node not multiple of --%ss-per-task.", c.name, c.name, c.name)
	case c.node > 0 && s.TasksPerNode != 0 && uint64(s.TasksPerNode) != c.node/c.task:
		return badDevices("Failed to validate job spec. Based on --gres=%s/--%ss-per-node and --%ss-per-task requested number of tasks per node differ from --ntasks-per-node.", c.name, c.name, c.name)
	case c.socket > 0 && c.socket%c.task != 0:
		return badDevices("Failed to validate job spec, --%ss-per-socket not multiple of --%ss-per-task.", c.name, c.name)
	case c.socket > 0 && s.TasksPerSocket != 0 && uint64(s.TasksPerSocket) != c.socket/c.task:
		return badDevices("Failed to validate job spec. Based on --%ss-per-socket and --%ss-per-task requested number of tasks per sockets differ from --ntasks-per-socket.", c.name, c.name)
	case c.name == "gpu" && cpus > 0 && s.CPUsPerTask != 0 && uint64(s.CPUsPerTask) != cpus:
		return badDevices("Failed to validate job spec. Based on --cpus-per-%s and --%ss-per-task requested number of cpus differ from -c/--cpus-per-task.", c.name, c.name)
	}
	return nil
}

// checkNodesOfJob: each node has at least one of the job's devices.
func (o *Options) checkNodesOfJob(c *deviceCounts) error {
	s := &o.Job.Size
	if c.job == 0 {
		return nil
	}
	if c.job < uint64(s.MinNodes) {
		return badDevices("Failed to validate job spec, --%ss < -N", c.name)
	}
	if s.MaxNodes > 0 && c.job < uint64(s.MaxNodes) {
		s.MaxNodes = uint32(c.job)
	}
	return nil
}
