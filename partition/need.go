package partition

import (
	"cmp"
	"strings"

	"muster/gres"
	"muster/job"
)

// Need is what a request asks of nodes in one partition, with all defaults
// filled in: the arithmetic of sbatch(1) in one place.
type Need struct {
	MinNodes, MaxNodes int // MaxNodes 0: no limit
	Counts             []uint32
	Tasks              int // of the whole job; 0: PerNode tasks on each node
	PerNode            int // most tasks on a node, 0: no limit
	CPUsPerTask        int
	CPUsPerGPU         int
	MinCPUs            int // least CPUs that each node has free (--mincpus); one that names no number of tasks takes them
	TasksPerCore       int
	TasksPerSocket     int
	TasksPerGPU        int
	ThreadsUsed        int // CPUs of a core that tasks may use, 0: all
	Overcommit         bool
	Memory             job.Memory // MB 0 per node: all of it
	MaxMemory          int64      // most MB on a node, 0: no limit (MaxMemPerNode)
	Gres               Gres
	Whole              bool // exclusive
	CoreSpec           int
	Cores              bool // CPUs are charged by whole cores
	Track              bool // memory is consumed
	Spread, Fewest     bool
	Contiguous         bool
	// CoresNear: only cores beside the devices will do (--gres-flags=enforce-binding);
	// CoresAny: it does not matter which (disable-binding).
	CoresNear, CoresAny bool
	MixTypes            bool // GPUs may be of several types, though none is named
}

// Gres is what a Need asks of devices.
type Gres struct{ Node, Task, Job gres.Spec }

// NewNeed works out what a request needs in a partition.
func NewNeed(r *job.Request, p *Partition, pol *Policy) *Need {
	s := &r.Size
	n := &Need{
		MinNodes: int(max(1, s.MinNodes)), MaxNodes: int(s.MaxNodes), Counts: s.NodeCounts,
		Tasks: int(s.Tasks), PerNode: int(s.TasksPerNode), CPUsPerTask: int(max(1, s.CPUsPerTask)),
		CPUsPerGPU: int(r.Gres.CPUsPerGPU), MinCPUs: int(s.MinCPUsPerNode),
		TasksPerCore: int(s.TasksPerCore), TasksPerSocket: int(s.TasksPerSocket), TasksPerGPU: int(s.TasksPerGPU),
		ThreadsUsed: int(s.ThreadsPerCore), Overcommit: s.Overcommit,
		Memory: memoryOf(r.Memory, p, pol), Cores: pol.AllocCores, Track: pol.TrackMemory,
		Spread: r.Place.Spread, Fewest: r.Place.MinimalN, Contiguous: r.Place.Contiguous,
		CoreSpec: int(s.CoreSpec),
	}
	if r.Place.Hint == "nomultithread" {
		n.ThreadsUsed = 1
	}
	n.Whole = r.Place.Sharing == job.Exclusive || n.CoreSpec > 0 || s.ThreadSpec > 0 ||
		strings.EqualFold(p.OverSubscribe, "EXCLUSIVE")
	n.MixTypes = pol.Devices.MixTypes
	n.setGres(&r.Gres, s)
	for word := range strings.SplitSeq(strings.ToLower(r.Gres.Flags), ",") {
		n.CoresNear = n.CoresNear || word == "enforce-binding"
		n.CoresAny = n.CoresAny || word == "disable-binding"
	}
	n.setNodes(s, len(r.Place.Nodes))
	n.limitMemory(p, pol)
	return n
}

// PicksNodes tells whether --nodelist names more nodes than the least that the job
// asks for. Then it takes its nodes from among them, as in Slurm; else it needs all.
func PicksNodes(r *job.Request) bool {
	return r.Size.MinNodes > 0 && len(r.Place.Nodes) > int(r.Size.MinNodes)
}

// setNodes settles how node and task counts bound each other; named is the length
// of --nodelist, whose nodes are all wanted when -N does not say otherwise.
func (n *Need) setNodes(s *job.Size, named int) {
	if gpus := n.Gres.Job.Count("gpu"); n.Tasks == 0 && n.TasksPerGPU > 0 && gpus > 0 && gpus < 1<<20 {
		n.Tasks = int(gpus) * n.TasksPerGPU
	}
	if s.MinNodes == 0 && s.MaxNodes == 0 && len(s.NodeCounts) == 0 {
		if n.Tasks > 0 && n.PerNode > 0 {
			n.MinNodes = (n.Tasks + n.PerNode - 1) / n.PerNode
		}
		n.MinNodes = max(n.MinNodes, named)
		if n.Tasks == 0 && zero(n.Gres.Job) {
			n.MaxNodes = n.MinNodes
		}
	}
	if n.Tasks > 0 && n.MaxNodes > n.Tasks {
		n.MaxNodes = max(n.Tasks, n.MinNodes)
	}
	if n.MaxNodes > 0 && n.MaxNodes < n.MinNodes {
		n.MaxNodes = n.MinNodes
	}
}

// setGres gathers the lists; what is asked by socket counts by node, since
// --gpus-per-socket needs --sockets-per-node. Counts of one kind by job, node,
// task and socket are about the same devices. Those by node and by task agree
// with that of the job (the commands see to it) and say all; those by socket give
// way to it.
func (n *Need) setGres(g *job.GresRequest, s *job.Size) {
	n.Gres.Node = g.PerNode
	bySocket := without(without(g.PerSocket, g.PerNode), g.PerJob)
	for range max(1, s.SocketsPerNode) {
		if sum, ok := n.Gres.Node.Add(bySocket); ok {
			n.Gres.Node = sum
		}
	}
	n.Gres.Task = without(g.PerTask, n.Gres.Node)
	n.Gres.Job = without(without(g.PerJob, n.Gres.Node), n.Gres.Task)
}

// without leaves the kinds out that another list has.
func without(list, other gres.Spec) (rest gres.Spec) {
	for _, it := range list {
		if other.Count(it.Name) == 0 {
			rest = append(rest, it)
		}
	}
	return rest
}

// memoryOf fills in the default: the partition's, the cluster's, else all of the
// node's memory.
func memoryOf(m job.Memory, p *Partition, pol *Policy) job.Memory {
	if m.Per != job.MemoryUnset {
		return m
	}
	m = cmp.Or(p.DefMemory, pol.DefMemory)
	switch {
	case m.Per != job.MemoryUnset:
	case pol.TrackMemory:
		m.Per = job.MemoryPerNode
	default:
		m.Per = job.MemoryPerCPU // nothing asked, nothing counted
	}
	return m
}

// limitMemory applies MaxMemPerNode and MaxMemPerCPU (slurm.conf(5)): a job that
// asks for more memory per CPU than it may gets more CPUs for each task instead.
func (n *Need) limitMemory(p *Partition, pol *Policy) {
	most := cmp.Or(p.MaxMemory, pol.MaxMemory)
	if most.Per == job.MemoryPerNode {
		n.MaxMemory = int64(min(most.MB, 1<<40))
	}
	if most.Per != job.MemoryPerCPU || most.MB == 0 || n.Memory.Per != job.MemoryPerCPU || n.Memory.MB <= most.MB {
		return
	}
	k := (n.Memory.MB + most.MB - 1) / most.MB
	if k > 1<<16 {
		k = 1 << 16 // no node has that many CPUs: the job cannot run
	}
	n.CPUsPerTask *= int(k)
	n.Memory.MB = (n.Memory.MB + k - 1) / k
}

// TotalTasks is the number of tasks on a given number of nodes.
func (n *Need) TotalTasks(nodes int) int {
	if n.Tasks > 0 {
		return n.Tasks
	}
	return nodes * max(1, n.PerNode)
}

// Take is what a job gets of one node.
type Take struct {
	Tasks, CPUs int
	Room
}

// Cost is what t tasks take of a host. extra is what the node gives towards the
// job's own list of devices (Gres.Job), by kind; nil is nothing. free is what the
// choice of kinds is made from. It is false when the devices are not there or
// t tasks can never be on that node.
func (n *Need) Cost(h *Host, free *Room, t int, extra []int64, k *Take) bool {
	k.Tasks = t
	k.Devices = k.Devices[:0]
	if !n.devices(h, free, t, extra, k) {
		return false
	}
	gpus := 0
	for i, c := range k.Devices {
		if h.Kinds[i].Name == "gpu" {
			gpus += int(c)
		}
	}
	if n.TasksPerGPU > 0 && gpus > 0 && t > gpus*n.TasksPerGPU || n.TasksPerSocket > 0 && t > int(h.Size.Sockets)*n.TasksPerSocket {
		return false
	}
	cpus := t * n.CPUsPerTask
	if n.Overcommit {
		cpus = 1
	}
	if n.Tasks > 0 && !n.Overcommit {
		cpus = max(cpus, n.PerNode*n.CPUsPerTask) // for as many tasks as may be there, as in Slurm
	}
	if n.Tasks == 0 {
		cpus = max(cpus, n.MinCPUs)
	}
	cpus = max(cpus, gpus*n.CPUsPerGPU)
	usable := h.Threads
	if n.ThreadsUsed > 0 {
		usable = min(usable, n.ThreadsUsed)
	}
	k.Cores = (cpus + usable - 1) / usable
	if n.TasksPerCore > 0 && !n.Overcommit {
		k.Cores = max(k.Cores, (t+n.TasksPerCore-1)/n.TasksPerCore)
	}
	k.CPUs = cpus
	if n.Cores || usable < h.Threads {
		k.CPUs = k.Cores * h.Threads
	}
	if n.Whole {
		if k.Cores > h.Cores-n.coreSpec(h) {
			return false
		}
		k.Cores = h.Cores
		k.CPUs = (h.Cores - n.coreSpec(h)) * h.Threads
	}
	k.MemoryMB = n.memory(h, k.CPUs, gpus)
	return k.MemoryMB <= h.all.MemoryMB && (n.MaxMemory == 0 || k.MemoryMB <= n.MaxMemory)
}

// coreSpec is how many cores a job leaves to the system beyond the node's own.
func (n *Need) coreSpec(h *Host) int { return max(0, n.CoreSpec-int(h.Size.CoreSpec)) }

func (n *Need) devices(h *Host, free *Room, t int, extra []int64, k *Take) bool {
	if len(h.Kinds) == 0 {
		return zero(n.Gres.Node) && zero(n.Gres.Task)
	}
	if cap(k.Devices) < len(h.Kinds) {
		k.Devices = make([]int64, len(h.Kinds))
	}
	k.Devices = k.Devices[:len(h.Kinds)]
	clear(k.Devices)
	if n.Whole && len(n.Gres.Node) == 0 && len(n.Gres.Task) == 0 && len(extra) == 0 {
		copy(k.Devices, h.all.Devices)
		return true
	}
	copy(k.Devices, extra)
	if !n.Gres.Node.Match(h.Kinds, free.Devices, k.Devices) {
		return false
	}
	if len(n.Gres.Task) > 0 {
		all := make(gres.Spec, len(n.Gres.Task))
		for i, it := range n.Gres.Task {
			all[i] = gres.Item{Name: it.Name, Type: it.Type, Count: it.Count * uint64(t)}
		}
		if !all.Match(h.Kinds, free.Devices, k.Devices) {
			return false
		}
	}
	if n.Whole {
		copy(k.Devices, h.all.Devices)
	}
	return true
}

func zero(s gres.Spec) bool {
	for _, it := range s {
		if it.Count > 0 {
			return false
		}
	}
	return true
}

// memory is what the job takes of a node's memory, in MB.
func (n *Need) memory(h *Host, cpus, gpus int) int64 {
	mb := int64(min(n.Memory.MB, 1<<40))
	switch {
	case n.Memory.Per == job.MemoryPerCPU:
		return mb * int64(cpus)
	case n.Memory.Per == job.MemoryPerGPU:
		return mb * int64(gpus)
	case mb == 0 && n.MaxMemory > 0:
		return min(n.MaxMemory, h.all.MemoryMB)
	case mb == 0:
		return h.all.MemoryMB
	}
	return mb
}

// Inside tells whether a take fits into what is free.
func (n *Need) Inside(k *Take, free *Room) bool {
	if k.Cores > free.Cores || n.Track && k.MemoryMB > free.MemoryMB {
		return false
	}
	for i, c := range k.Devices {
		if c > free.Devices[i] {
			return false
		}
	}
	return true
}

// Capacity is the most tasks, up to want, that a host with so much free can take;
// 0 when it cannot take the job at all. k is the cost of that many.
func (n *Need) Capacity(h *Host, free *Room, want int, k *Take) int {
	if free.Cores == 0 || free.Cores*h.Threads < n.MinCPUs {
		return 0
	}
	fits := func(t int) bool { return n.Cost(h, free, t, nil, k) && n.Inside(k, free) }
	if n.PerNode > 0 {
		want = min(want, n.PerNode)
	}
	if !n.Overcommit {
		want = min(want, free.Cores*h.Threads)
	}
	if want <= 0 {
		return 0
	}
	if fits(want) {
		return want
	}
	lo, hi := 0, want // lo fits (0: nothing known), hi does not
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo > 0 {
		fits(lo)
	}
	return lo
}

// Suits tells whether the shape of a node is as the request wants it
// (--sockets-per-node and alike, --tmp, --core-spec).
func Suits(r *job.Request, h *Host) bool {
	switch r.Place.Sharing {
	case job.ExclusiveUser, job.ExclusiveMCS, job.ExclusiveTopo:
		return false // not supported: such a job must not share what it wants for itself
	}
	s, z := &r.Size, &h.Size
	if cpus := int(z.Sockets) * int(z.CoresPerSocket) * int(z.ThreadsPerCore); cpus > 0 && int(max(s.TasksPerCore, s.TasksPerSocket)) > cpus {
		return false
	}
	return s.SocketsPerNode <= z.Sockets && s.CoresPerSocket <= z.CoresPerSocket &&
		s.ThreadsPerCore <= z.ThreadsPerCore && r.Place.TmpDiskMB <= z.TmpDiskMB
}
