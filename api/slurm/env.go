package slurm

import (
	"strconv"
	"strings"

	"muster/gres"
	"muster/internal/bitset"
	"muster/internal/hostlist"
	"muster/job"
)

// BatchJob is what the environment of a batch script is made from (sbatch(1),
// OUTPUT ENVIRONMENT VARIABLES). Job tells which attempt runs where; Nodes are
// all of its nodes in rank order.
type BatchJob struct {
	ID          job.ID
	ArrayJob    job.ID // 0: no array
	ArrayTask   uint32
	Bounds      job.ArrayBounds
	Het         HetJob
	Restarts    uint32
	SLUID       string
	Cluster     string
	Name        string
	Partition   string
	Account     string
	QOS         string
	Reservation string
	Licenses    string
	User        string
	UID, GID    uint32
	Group       string
	Request     *job.Request
	Nodes       []NodeTasks
	Node        string // this node
	NodeIndex   uint32
	CPUs        uint32 // of this node
	MemoryMB    uint64 // of this node
	Devices     []DeviceIDs
	Visible     []string // NAME=value of devices and cards, see VisibleDevices
	Whole       bool     // nodes of its own
	Start, End  job.Time // End 0: no limit
	TempDir     string   // TMPDIR if the user has none; "" is /tmp
}

// NodeTasks is one node of a job.
type NodeTasks struct {
	Name        string
	CPUs, Tasks uint32
}

// DeviceIDs are the devices of one kind that the job holds on this node.
type DeviceIDs struct {
	Name  string
	Count uint64
	Index *bitset.Set // nil for a kind without device files
}

// HetJob is the place of a job in a heterogeneous job; Size 0: none.
type HetJob struct {
	Size       uint32
	Components []HetComponent // all, in order; may be empty where they are not known
}

// HetComponent is what the leader's environment says of one component.
type HetComponent struct {
	ID                            job.ID
	Name, Account, Partition, QOS string
	Nodes                         []NodeTasks
}

// BatchEnv is the environment of a batch script: the variables that the user
// passed on, then ours, which win. base is NAME=value entries.
func BatchEnv(j *BatchJob, base []string) []string {
	e := newEnviron(base)
	j.identity(e)
	j.shape(e)
	j.times(e)
	j.request(e)
	j.memory(e)
	j.devices(e)
	j.array(e)
	j.het(e)
	return e.entries
}

// identity: who and where.
func (j *BatchJob) identity(e *environ) {
	id := strconv.FormatUint(uint64(j.ID), 10)
	e.set("SLURM_JOB_ID", id)
	e.set("SLURM_JOBID", id)
	e.set("SLURM_JOB_NAME", j.Name)
	e.set("SLURM_JOB_SLUID", j.SLUID)
	e.set("SLURM_CLUSTER_NAME", j.Cluster)
	e.set("SLURM_JOB_PARTITION", j.Partition)
	e.set("SLURM_JOB_USER", j.User)
	e.number("SLURM_JOB_UID", uint64(j.UID))
	e.number("SLURM_JOB_GID", uint64(j.GID))
	e.some("SLURM_JOB_GROUP", j.Group)
	e.some("SLURM_JOB_ACCOUNT", j.Account)
	e.some("SLURM_JOB_QOS", j.QOS)
	e.some("SLURM_JOB_RESERVATION", j.Reservation)
	e.some("SLURM_JOB_LICENSES", j.Licenses)
	if j.Restarts > 0 {
		e.number("SLURM_RESTART_COUNT", uint64(j.Restarts))
	}
	b := &j.Request.Batch
	e.set("SLURM_SUBMIT_DIR", b.SubmitDir)
	e.set("SLURM_SUBMIT_HOST", b.SubmitHost)
	if b.Export != "" && !strings.EqualFold(b.Export, "ALL") {
		e.set("SLURM_EXPORT_ENV", b.Export)
	}
	switch b.Append {
	case job.Yes:
		e.set("SLURM_OPEN_MODE", "a")
	case job.No:
		e.set("SLURM_OPEN_MODE", "t")
	}
	if b.GetUserEnv {
		e.set("SLURM_GET_USER_ENV", "1")
	}
	e.set("SLURMD_NODENAME", j.Node)
	e.set("HOSTNAME", j.Node)
	e.set("ENVIRONMENT", "BATCH")
	e.set("SLURM_PRIO_PROCESS", "0")
	e.set("SLURM_OOM_KILL_STEP", "0")
	e.set("SLURM_JOB_OVERSUBSCRIBE", yesNo(j.Request.Place.Sharing == job.Oversubscribe))
	exclusive := "NO"
	if j.Whole {
		exclusive = "NODE"
	}
	e.set("SLURM_JOB_EXCLUSIVE", exclusive)
	e.set("SLURM_TOPOLOGY_ADDR", j.Node)
	e.set("SLURM_TOPOLOGY_ADDR_PATTERN", "node")
	if _, ok := e.at["TMPDIR"]; !ok {
		dir := j.TempDir
		if dir == "" {
			dir = "/tmp"
		}
		e.set("TMPDIR", dir)
	}
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// shownTasks is how many tasks SLURM_TASKS_PER_NODE shows of a node. Where the job
// asked for CPUs by other means than tasks, as many tasks as these CPUs are for.
func (j *BatchJob) shownTasks(n *NodeTasks) uint32 {
	s := &j.Request.Size
	if s.Tasks+uint32(s.TasksPerNode)+uint32(s.TasksPerGPU) == 0 && (s.MinCPUsPerNode > 0 || j.Request.Gres.CPUsPerGPU > 0) {
		return max(1, n.CPUs/uint32(max(1, s.CPUsPerTask)))
	}
	return max(1, n.Tasks)
}

// shape: nodes, tasks and CPUs. The script is task 0 of node 0.
func (j *BatchJob) shape(e *environ) {
	nodes := strconv.Itoa(len(j.Nodes))
	names := make([]string, len(j.Nodes))
	cpus := make([]uint32, len(j.Nodes))
	tasks := make([]uint32, len(j.Nodes))
	for i, n := range j.Nodes {
		names[i], cpus[i], tasks[i] = n.Name, n.CPUs, j.shownTasks(&n)
	}
	list := hostlist.Compress(names)
	e.set("SLURM_JOB_NODELIST", list)
	e.set("SLURM_NODELIST", list)
	e.set("SLURM_JOB_NUM_NODES", nodes)
	e.set("SLURM_NNODES", nodes)
	e.set("SLURM_JOB_CPUS_PER_NODE", CompressCounts(cpus))
	e.set("SLURM_TASKS_PER_NODE", CompressCounts(tasks))
	e.number("SLURM_CPUS_ON_NODE", uint64(j.CPUs))
	for _, name := range []string{"SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"} {
		e.set(name, "0")
	}
	e.number("SLURM_NODEID", uint64(j.NodeIndex))
	e.set("SLURM_STEP_ID", "-5") // what Slurm says in a batch script
	e.set("SLURM_STEPID", "-5")
	s := &j.Request.Size
	total := uint64(s.Tasks)
	if total == 0 && s.TasksPerNode > 0 {
		total = uint64(s.TasksPerNode) * uint64(len(j.Nodes))
	}
	if total == 0 && s.TasksPerGPU > 0 {
		for _, t := range tasks {
			total += uint64(t)
		}
	}
	if total > 0 {
		e.number("SLURM_NTASKS", total)
		e.number("SLURM_NPROCS", total)
	}
}

// CompressCounts writes counts as SLURM_TASKS_PER_NODE does: 2(x3),1.
func CompressCounts(counts []uint32) string {
	var b []byte
	for i := 0; i < len(counts); {
		k := i
		for k < len(counts) && counts[k] == counts[i] {
			k++
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(counts[i]), 10)
		if k-i > 1 {
			b = append(strconv.AppendInt(append(b, "(x"...), int64(k-i), 10), ')')
		}
		i = k
	}
	return string(b)
}

// farFuture is the end that Slurm gives a job without a limit: a year from its
// start.
const farFuture = 365 * 24 * 3600

func (j *BatchJob) times(e *environ) {
	e.number("SLURM_JOB_START_TIME", uint64(j.Start.Unix()))
	end := j.End.Unix()
	if j.End == 0 {
		end = j.Start.Unix() + farFuture
	}
	e.number("SLURM_JOB_END_TIME", uint64(end))
}

// request: variables that repeat options, set only if the option was given.
func (j *BatchJob) request(e *environ) {
	r := j.Request
	s, g := &r.Size, &r.Gres
	for _, c := range []struct {
		name  string
		value uint16
	}{
		{"SLURM_CPUS_PER_TASK", s.CPUsPerTask}, {"SLURM_NTASKS_PER_NODE", s.TasksPerNode}, {"SLURM_NTASKS_PER_CORE", s.TasksPerCore},
		{"SLURM_NTASKS_PER_SOCKET", s.TasksPerSocket}, {"SLURM_NTASKS_PER_GPU", s.TasksPerGPU},
		{"SLURM_THREADS_PER_CORE", s.ThreadsPerCore}, {"SLURM_CPUS_PER_GPU", g.CPUsPerGPU},
	} {
		if c.value > 0 {
			e.number(c.name, uint64(c.value))
		}
	}
	e.some("SLURM_GPUS", GPUText(g.PerJob))
	e.some("SLURM_GPUS_PER_SOCKET", GPUText(g.PerSocket))
	e.some("SLURM_GPUS_PER_TASK", GPUText(g.PerTask))
	switch gpus := g.PerTask.Count("gpu"); {
	case g.Bind != "":
		e.set("SLURM_TRES_BIND", "gres/gpu:"+g.Bind)
	case gpus > 0:
		e.set("SLURM_TRES_BIND", "gres/gpu:per_task:"+strconv.FormatUint(gpus, 10))
	}
	e.some("SLURM_TRES_PER_TASK", tresPerTask(s.CPUsPerTask, g.PerTask))
	if s.Overcommit {
		e.set("SLURM_OVERCOMMIT", "1")
	}
	if size, ok := strings.CutPrefix(r.Place.Dist, "plane="); ok {
		e.set("SLURM_DISTRIBUTION", "plane")
		e.set("SLURM_DIST_PLANESIZE", size)
	} else {
		e.some("SLURM_DISTRIBUTION", r.Place.Dist)
	}
	if r.Place.Dist == "arbitrary" {
		e.set("SLURM_ARBITRARY_NODELIST", strings.Join(r.Place.Nodes, ","))
	}
	e.some("SLURM_HINT", r.Place.Hint)
}

// GPUText writes the GPUs of a list as --gpus could be given.
func GPUText(spec gres.Spec) string {
	var parts []string
	for _, item := range spec {
		if item.Name != "gpu" {
			continue
		}
		n := strconv.FormatUint(item.Count, 10)
		if item.Type != "" {
			n = item.Type + ":" + n
		}
		parts = append(parts, n)
	}
	return strings.Join(parts, ",")
}

// tresPerTask writes the resources of a task as --tres-per-task could be given.
func tresPerTask(cpus uint16, spec gres.Spec) string {
	var parts []string
	if cpus > 0 {
		parts = append(parts, "cpu="+strconv.Itoa(int(cpus)))
	}
	for _, item := range spec {
		name := "gres/" + item.Name
		if item.Type != "" {
			name += ":" + item.Type
		}
		parts = append(parts, name+"="+strconv.FormatUint(item.Count, 10))
	}
	return strings.Join(parts, ",")
}

// memory: what was asked for, or what the default came to.
func (j *BatchJob) memory(e *environ) {
	m := j.Request.Memory
	switch {
	case m.Per == job.MemoryPerNode && m.MB == 0, m.Per == job.MemoryPerNode:
		mb := m.MB
		if mb == 0 {
			mb = j.MemoryMB // all of the node's
		}
		e.number("SLURM_MEM_PER_NODE", mb)
	case m.Per == job.MemoryPerCPU:
		e.number("SLURM_MEM_PER_CPU", m.MB)
	case m.Per == job.MemoryPerGPU:
		e.number("SLURM_MEM_PER_GPU", m.MB)
	case j.MemoryMB > 0 && j.CPUs > 0:
		e.number("SLURM_MEM_PER_CPU", j.MemoryMB/uint64(j.CPUs))
	}
}

// devices: those of the node, by the node's numbers in Slurm's own variables.
func (j *BatchJob) devices(e *environ) {
	var ids []string
	var count uint64
	for _, d := range j.Devices {
		switch d.Name {
		case "gpu":
			count += d.Count
			for i := range d.Index.All {
				ids = append(ids, strconv.Itoa(i))
			}
		case "shard":
			e.number("SLURM_SHARDS_ON_NODE", d.Count)
		}
	}
	for _, v := range j.Visible {
		name, value, _ := strings.Cut(v, "=")
		e.set(name, value)
	}
	if count == 0 {
		return
	}
	e.number("SLURM_GPUS_ON_NODE", count)
	if len(ids) == 0 {
		return
	}
	e.set("SLURM_JOB_GPUS", strings.Join(ids, ","))
}

func (j *BatchJob) array(e *environ) {
	if j.ArrayJob == 0 {
		return
	}
	e.number("SLURM_ARRAY_JOB_ID", uint64(j.ArrayJob))
	e.number("SLURM_ARRAY_TASK_ID", uint64(j.ArrayTask))
	e.number("SLURM_ARRAY_TASK_COUNT", uint64(j.Bounds.Count))
	e.number("SLURM_ARRAY_TASK_MIN", uint64(j.Bounds.Min))
	e.number("SLURM_ARRAY_TASK_MAX", uint64(j.Bounds.Max))
	e.number("SLURM_ARRAY_TASK_STEP", uint64(j.Bounds.Step))
}

// het: one set of variables for each component, under Slurm's present and its
// old name.
func (j *BatchJob) het(e *environ) {
	if j.Het.Size == 0 {
		return
	}
	e.number("SLURM_HET_SIZE", uint64(j.Het.Size))
	for i, c := range j.Het.Components {
		names := make([]string, len(c.Nodes))
		cpus := make([]uint32, len(c.Nodes))
		tasks := make([]uint32, len(c.Nodes))
		for k, n := range c.Nodes {
			names[k], cpus[k], tasks[k] = n.Name, n.CPUs, max(1, n.Tasks)
		}
		for _, group := range []string{"_HET_GROUP_", "_PACK_GROUP_"} {
			suffix := group + strconv.Itoa(i)
			e.number("SLURM_JOB_ID"+suffix, uint64(c.ID))
			e.set("SLURM_JOB_NAME"+suffix, c.Name)
			e.some("SLURM_JOB_ACCOUNT"+suffix, c.Account)
			e.set("SLURM_JOB_PARTITION"+suffix, c.Partition)
			e.some("SLURM_JOB_QOS"+suffix, c.QOS)
			e.number("SLURM_JOB_NUM_NODES"+suffix, uint64(len(c.Nodes)))
			e.set("SLURM_JOB_NODELIST"+suffix, hostlist.Compress(names))
			e.set("SLURM_JOB_CPUS_PER_NODE"+suffix, CompressCounts(cpus))
			e.set("SLURM_TASKS_PER_NODE"+suffix, CompressCounts(tasks))
		}
	}
}

// environ is a list of NAME=value in which a name stands once.
type environ struct {
	entries []string
	at      map[string]int
}

func newEnviron(base []string) *environ {
	e := &environ{at: make(map[string]int, len(base)+64)}
	for _, entry := range base {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			e.set(name, value)
		}
	}
	return e
}

func (e *environ) set(name, value string) {
	if i, ok := e.at[name]; ok {
		e.entries[i] = name + "=" + value
		return
	}
	e.at[name] = len(e.entries)
	e.entries = append(e.entries, name+"="+value)
}

// some sets a variable unless the value is empty.
func (e *environ) some(name, value string) {
	if value != "" {
		e.set(name, value)
	}
}

func (e *environ) number(name string, n uint64) { e.set(name, strconv.FormatUint(n, 10)) }
