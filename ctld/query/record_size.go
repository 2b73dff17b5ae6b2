package query

import (
	"slices"
	"strings"

	"muster/api"
	"muster/gres"
	"muster/job"
	"muster/partition"
	"muster/sched"
)

// verdictReason shows the reason that binds. Slurm adds particulars to one word
// only; all of them are for muster why.
func (v *view) verdictReason(r *api.JobRecord, whys []sched.Why) {
	if len(whys) == 0 {
		return
	}
	r.Reason = whys[0].Reason
	d := whys[0].Detail
	if r.Reason == job.ReasonReqNodeNotAvail && (strings.HasPrefix(d, "UnavailableNodes:") || strings.HasPrefix(d, "May be reserved")) {
		r.Detail = r.Reason.String() + ", " + d
	}
}

// signalTexts are what strsignal(3) says of the signals that end jobs.
func signalText(n uint8) string {
	texts := map[uint8]string{
		1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap",
		6: "Aborted", 7: "Bus error", 8: "Floating point exception", 9: "Killed", 10: "User defined signal 1",
		11: "Segmentation fault", 12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock",
		15: "Terminated", 24: "CPU time limit exceeded", 25: "File size limit exceeded", 31: "Bad system call",
	}
	if s, ok := texts[n]; ok {
		return s
	}
	return "Unknown signal"
}

// memory is the memory limit of a job after the defaults of partition and
// cluster (slurm.conf(5), DefMemPerCPU and its like).
func (v *view) memory(q *job.Request, p *partition.Partition) api.JobMemory {
	m := q.Memory
	if m.Per == job.MemoryUnset && p != nil {
		m = p.DefMemory
	}
	if m.Per == job.MemoryUnset {
		m = v.cluster.Policy.DefMemory
	}
	return api.JobMemory{Per: m.Per, MB: m.MB}
}

// largest is the size of the largest node of a partition.
func (v *view) largest(p *partition.Partition) partitionShape {
	if p == nil {
		return partitionShape{cpus: 1}
	}
	if s, ok := v.shape[p.Name]; ok {
		return s
	}
	var s partitionShape
	for _, id := range p.Nodes {
		if n := v.root.Node(id); n != nil {
			s.cpus = max(s.cpus, n.Declared.CPUs)
			s.memoryMB = max(s.memoryMB, n.Declared.MemoryMB)
		}
	}
	s.cpus = max(s.cpus, 1)
	v.shape[p.Name] = s
	return s
}

// count is how much a job holds or held, or the least that it asks for.
func (v *view) count(j *job.Job, p *partition.Partition) api.JobCount {
	s := &j.Request.Size
	c := api.JobCount{Tasks: s.Tasks}
	if a := j.Alloc; a != nil && j.State != job.Pending {
		c.Nodes, c.MaxNodes, c.CPUs = uint32(len(a.Nodes)), uint32(len(a.Nodes)), a.CPUs
		if c.Tasks == 0 {
			c.Tasks = max(1, uint32(s.TasksPerNode)) * c.Nodes
		}
		return c
	}
	nodes := leastNodes(s)
	if c.Tasks == 0 {
		c.Tasks = max(1, uint32(s.TasksPerNode)) * nodes
	}
	c.CPUs = max(s.MinCPUs, c.Tasks*uint32(max(s.CPUsPerTask, 1)))
	if s.Overcommit {
		c.CPUs = max(s.MinCPUs, nodes)
	}
	countWaiting(&c, j, nodes, v.largest(p).cpus)
	if s.MaxNodes > c.Nodes && !j.Held.Is() && !j.Request.Place.MinimalN && p != nil {
		c.Nodes = max(c.Nodes, min(s.MaxNodes, uint32(len(p.Nodes)))) // as many as there are
	}
	if per := j.Request.Gres.CPUsPerGPU; per > 0 {
		c.CPUs = max(c.CPUs, uint32(per)*askedGPUs(j.Request, &c))
	}
	return c
}

// leastNodes is the least number of nodes that follows from the counts alone.
func leastNodes(s *job.Size) uint32 {
	n := max(s.MinNodes, 1)
	if per := uint32(s.TasksPerNode); s.Tasks != 0 && per != 0 && s.MinNodes == 0 {
		n = (s.Tasks + per - 1) / per
	}
	return n
}

// countWaiting works out the range of nodes that a waiting job shows: the least
// is what the job would get if the partition were empty, or where that is not
// known, as for a held job, what follows from the counts and the CPUs of the
// largest node. There is no upper bound where none was asked for and none follows
// from a number of tasks.
func countWaiting(c *api.JobCount, j *job.Job, least, cpus uint32) {
	s := &j.Request.Size
	switch {
	case s.MaxNodes != 0:
		c.MaxNodes = s.MaxNodes
	case s.Tasks != 0 || s.TasksPerNode != 0:
		c.MaxNodes = max(c.Tasks, least)
	}
	switch {
	case s.LikelyNodes != 0 && !j.Held.Is():
		c.Nodes = s.LikelyNodes
	case s.TasksPerNode != 0:
		c.Nodes = max(least, c.Tasks/uint32(s.TasksPerNode))
	case s.CPUsPerTask > 1:
		c.Nodes = max(least, c.Tasks/max(1, cpus/uint32(s.CPUsPerTask)))
	case s.TasksPerCore != 0:
		c.Nodes = max(least, (c.Tasks+cpus-1)/cpus)
	default:
		c.Nodes = max(least, (c.CPUs+cpus-1)/cpus)
		if j.Held.Is() {
			c.MaxNodes = max(c.MaxNodes, c.Nodes)
		}
	}
}

// askedGPUs is how many GPUs a job asks for in all.
func askedGPUs(q *job.Request, c *api.JobCount) (n uint32) {
	for _, it := range askedGres(q, c) {
		if it.Name == "gpu" {
			n += uint32(it.Count)
		}
	}
	return n
}

// askedGres are the devices that a job asks for in all. Counts of one kind by
// job, node, task and socket are about the same devices.
func askedGres(q *job.Request, c *api.JobCount) (all []gres.Item) {
	g := &q.Gres
	for _, by := range []struct {
		spec  gres.Spec
		times uint64
	}{
		{g.PerJob, 1}, {g.PerNode, uint64(c.Nodes)}, {g.PerTask, uint64(c.Tasks)},
		{g.PerSocket, uint64(max(q.Size.SocketsPerNode, 1)) * uint64(c.Nodes)},
	} {
		var rest gres.Spec
		for _, it := range by.spec {
			if !slices.ContainsFunc(all, func(have gres.Item) bool { return have.Name == it.Name }) {
				rest = append(rest, it)
			}
		}
		all = addItems(all, rest, by.times)
	}
	return all
}

// asked is what a job asks for, as trackable resources.
func (v *view) asked(j *job.Job, c *api.JobCount, m api.JobMemory, p *partition.Partition) api.Resources {
	q := j.Request
	least := *c
	least.Nodes = leastNodes(&q.Size) // what was asked for, not what the tasks will take
	c = &least
	r := api.Resources{CPUs: c.CPUs, Nodes: c.Nodes, Billing: uint64(c.CPUs)}
	r.Gres = askedGres(q, c)
	switch m.Per {
	case job.MemoryPerCPU:
		r.MemoryMB = m.MB * uint64(c.CPUs)
	case job.MemoryPerGPU:
		for _, it := range r.Gres {
			if it.Name == "gpu" {
				r.MemoryMB += m.MB * it.Count
			}
		}
	default:
		if r.MemoryMB = m.MB * uint64(c.Nodes); m.MB == 0 {
			r.MemoryMB = v.largest(p).memoryMB * uint64(c.Nodes)
		}
	}
	return r
}

// addItems adds n times a list of devices, their types left out.
func addItems(to []gres.Item, spec gres.Spec, n uint64) []gres.Item {
	for _, it := range spec {
		to = addItem(to, it.Name, it.Count*n)
	}
	return to
}

func addItem(to []gres.Item, name string, n uint64) []gres.Item {
	for i := range to {
		if to[i].Name == name {
			to[i].Count += n
			return to
		}
	}
	return append(to, gres.Item{Name: name, Count: n})
}

// held is what an attempt holds or held, as trackable resources.
func held(a *job.Allocation) api.Resources {
	r := api.Resources{CPUs: a.CPUs, Nodes: uint32(len(a.Nodes)), MemoryMB: a.MemoryMB, Billing: a.Billing, Licenses: a.Licenses}
	if r.Billing == 0 {
		r.Billing = uint64(a.CPUs)
	}
	for i := range a.Nodes {
		for _, d := range a.Nodes[i].Devices {
			r.Gres = addItem(r.Gres, d.Name, d.Count)
		}
	}
	return r
}
