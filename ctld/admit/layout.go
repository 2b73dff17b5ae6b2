package admit

import (
	"slices"

	"muster/api"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// stepPlan is where the tasks of a step go.
type stepPlan struct {
	req     *api.StepRequest
	nodes   []stepNode
	perTask []job.DeviceShare
}

// stepNode is one node of a plan.
type stepNode struct {
	share *job.Share
	at    int // number of the share in the allocation
	free  uint32
	part  job.StepPart
	ranks []uint32
	room  job.StepRoom // what other steps leave
	// threads of a core.
	threads uint32
}

// layOut places a step in its job. busy says which resource other steps hold
// that it has to wait for; the error is for what the job has no room for at all.
func layOut(root *state.Root, j *job.Job, req *api.StepRequest) (p *stepPlan, busy string, err error) {
	p = &stepPlan{req: req}
	if p.arbitrary() && len(req.Nodes) == 0 {
		return nil, "", &api.Error{Kind: api.ErrInvalid, Text: textStepNodes, Hint: "--distribution=arbitrary needs a list of nodes: --nodelist or SLURM_HOSTFILE"}
	}
	if p.arbitrary() && req.Tasks == 0 {
		req.Tasks = uint32(len(req.Nodes))
	}
	nodes, err := p.candidates(root, j)
	if err != nil {
		return nil, "", err
	}
	if err := p.choose(j, nodes); err != nil {
		return nil, "", err
	}
	count := p.taskCount(j)
	if count > maxStepTasks {
		return nil, "", api.Errorf(api.ErrInvalid, "a step has at most %d tasks", maxStepTasks)
	}
	full := func(n *stepNode) uint32 { return n.share.CPUs }
	perNode, ok := p.spread(j, count, full)
	if !ok {
		return nil, "", tooMany("%d tasks of %d CPUs do not fit on the chosen nodes of job %d", count, p.cpusPerTask(), j.ID)
	}
	if req.Exact && !req.Overlap && !req.Overcommit {
		// As many CPUs as the tasks need: where they are free now.
		free := func(n *stepNode) uint32 { return n.free }
		if perNode, ok = p.spread(j, count, free); !ok {
			return nil, textNodesBusy, nil
		}
	}
	if err := p.fill(j, perNode); err != nil {
		return nil, "", err
	}
	p.rank(perNode)
	return p, p.wait(j), nil
}

// maxStepTasks bounds the tasks of one step.
const maxStepTasks = 100_000

func (p *stepPlan) cpusPerTask() uint32 { return max(1, p.req.CPUsPerTask) }

// candidates are the job's nodes that the step may use.
func (p *stepPlan) candidates(root *state.Root, j *job.Job) ([]stepNode, error) {
	req := p.req
	var out []stepNode
	for i := range j.Alloc.Nodes {
		s := &j.Alloc.Nodes[i]
		if s.Released || slices.Contains(req.Exclude, s.Name) || req.Relative > 0 && i < int(req.Relative) {
			continue
		}
		n := root.Node(s.Node)
		if n == nil {
			continue
		}
		room := j.RoomForStep(i)
		out = append(out, stepNode{share: s, at: i, free: room.CPUs, room: room, threads: max(1, uint32(n.Declared.ThreadsPerCore))})
	}
	for _, name := range req.Nodes {
		if !slices.ContainsFunc(out, func(n stepNode) bool { return n.share.Name == name }) {
			return nil, &api.Error{Kind: api.ErrInvalid, Text: textStepNodes, Hint: "node " + name + " is not one of the job's, or excluded"}
		}
	}
	if len(out) == 0 {
		return nil, &api.Error{Kind: api.ErrInvalid, Text: textStepNodes, Hint: "no node of the job is left for the step"}
	}
	return out, nil
}

// choose picks the nodes: those named first, then, of the others, in their
// order, as many as are wanted. A step that takes no more than it needs prefers
// those on which a task finds free CPUs.
func (p *stepPlan) choose(j *job.Job, all []stepNode) error {
	req := p.req
	want := len(all)
	switch {
	case req.MaxNodes > 0:
		want = int(req.MaxNodes)
	case req.MinNodes > 0:
		want = int(req.MinNodes)
	case len(req.Nodes) > 0:
		want = distinct(req.Nodes)
	}
	if req.Tasks > 0 {
		want = min(want, int(req.Tasks))
	}
	if int(req.MinNodes) > len(all) {
		return &api.Error{Kind: api.ErrInvalid, Text: "Requested node configuration is not available"}
	}
	named := func(n *stepNode) bool { return slices.Contains(req.Nodes, n.share.Name) }
	roomy := func(n *stepNode) bool { return !req.Exact || n.free >= p.cpusPerTask() }
	picked := make([]bool, len(all))
	left := max(want, distinct(req.Nodes))
	for _, pass := range []func(*stepNode) bool{named, roomy, func(*stepNode) bool { return true }} {
		for i := range all {
			if left > 0 && !picked[i] && pass(&all[i]) {
				picked[i] = true
				left--
			}
		}
	}
	for i := range all {
		if picked[i] {
			p.nodes = append(p.nodes, all[i])
		}
	}
	return nil
}

func distinct(names []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(names))))
}

// fill works out what the step holds on each node.
func (p *stepPlan) fill(j *job.Job, perNode []uint32) error {
	for i := range p.nodes {
		n := &p.nodes[i]
		n.part = job.StepPart{Tasks: perNode[i], CPUs: n.share.CPUs, MemoryMB: p.memory(n, perNode[i])}
		if p.req.Exact {
			n.part.CPUs = min(n.share.CPUs, perNode[i]*p.cpusPerTask())
		}
		n.part.Cores = n.cores()
		if n.share.MemoryMB > 0 && n.part.MemoryMB > n.share.MemoryMB {
			return &api.Error{Kind: api.ErrInvalid, Text: textMemory}
		}
		if err := p.devices(j, n); err != nil {
			return err
		}
	}
	return nil
}

// cores are those of the part: all of the share's, or as many as its CPUs need,
// free ones first.
func (n *stepNode) cores() *bitset.Set {
	if n.share.Cores.Empty() || n.part.CPUs >= n.share.CPUs {
		return n.share.Cores
	}
	want := int((n.part.CPUs + n.threads - 1) / n.threads)
	out := &bitset.Set{}
	for _, free := range []bool{true, false} {
		for c := range n.share.Cores.All {
			if out.Len() < want && n.room.Cores.Has(c) == free {
				out.Add(c)
			}
		}
	}
	return out
}

// memory of the step on a node: what it asked for, else all of the job's.
func (p *stepPlan) memory(n *stepNode, tasks uint32) uint64 {
	m := p.req.Memory
	switch {
	case m.Per == job.MemoryPerNode && m.MB > 0:
		return m.MB
	case m.Per == job.MemoryPerCPU && m.MB > 0:
		return min(m.MB*uint64(tasks*p.cpusPerTask()), n.share.MemoryMB)
	}
	return n.share.MemoryMB
}

// devices chooses the devices of the step on a node: what it asks for by node or
// by task, or all that the job has there.
func (p *stepPlan) devices(j *job.Job, n *stepNode) error {
	want, asked := p.wanted(n.part.Tasks)
	free := n.room.Devices
	for k := range n.share.Devices {
		d := &n.share.Devices[k]
		if !asked {
			n.part.Devices = append(n.part.Devices, *d)
			continue
		}
		at := slices.IndexFunc(want, func(it gres.Item) bool { return it.Name == d.Name && (it.Type == "" || it.Type == d.Type) })
		if at < 0 || want[at].Count == 0 {
			continue
		}
		take := min(want[at].Count, d.Count)
		want[at].Count -= take
		n.part.Devices = append(n.part.Devices, pickDevices(d, take, free[d.Name]))
	}
	for _, it := range want {
		if it.Count > 0 {
			return &api.Error{Kind: api.ErrInvalid, Text: textStepGres, Hint: "the job has not so many " + it.Name + " on node " + n.share.Name}
		}
	}
	return nil
}

// wanted are the devices that a node's part of the step asks for.
func (p *stepPlan) wanted(tasks uint32) (want gres.Spec, asked bool) {
	q := &p.req.Gres
	add := func(spec gres.Spec, times uint64) {
		asked = asked || len(spec) > 0
		for _, it := range spec {
			it.Count *= times
			want = append(want, it)
		}
	}
	switch {
	case len(q.PerTask) > 0:
		add(q.PerTask, uint64(tasks))
		p.perTask = nil
		for _, it := range q.PerTask {
			p.perTask = append(p.perTask, job.DeviceShare{Name: it.Name, Type: it.Type, Count: it.Count})
		}
	case len(q.PerNode) > 0:
		add(q.PerNode, 1)
	case len(q.PerJob) > 0 && len(p.nodes) == 1:
		add(q.PerJob, 1)
	}
	return want, asked
}

// pickDevices takes some of a kind of device, free ones first.
func pickDevices(d *job.DeviceShare, count uint64, free *bitset.Set) job.DeviceShare {
	out := job.DeviceShare{Name: d.Name, Type: d.Type, Count: count}
	if d.Index == nil {
		return out
	}
	out.Index = bitset.Of()
	for _, freeOnly := range []bool{true, false} {
		for x := range d.Index.All {
			if uint64(out.Index.Len()) < count && !out.Index.Has(x) && (!freeOnly || free.Has(x)) {
				out.Index.Add(x)
			}
		}
	}
	return out
}

// wait says what other steps hold of what this one wants; "" if it can begin.
func (p *stepPlan) wait(j *job.Job) string {
	if p.req.Overlap || p.req.Hidden {
		return ""
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		cpus, memory, devices := n.room.CPUs, n.room.MemoryMB, n.room.Devices
		if n.part.CPUs > cpus || n.share.MemoryMB > 0 && n.part.MemoryMB > memory {
			return textNodesBusy
		}
		cores := n.part.Cores.Clone()
		if cores.Subtract(n.room.Cores); !cores.Empty() {
			return textNodesBusy
		}
		for _, d := range n.part.Devices {
			if d.Index == nil {
				continue
			}
			rest := d.Index.Clone()
			rest.Subtract(devices[d.Name])
			if !rest.Empty() {
				return textNodesBusy
			}
		}
	}
	return ""
}
