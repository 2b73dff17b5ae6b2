package admit

import (
	"slices"
	"strconv"
	"strings"

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
}

// layOut places a step in its job. busy says which resource other steps hold
// that it has to wait for; the error is for what the job has no room for at all.
func layOut(root *state.Root, j *job.Job, req *api.StepRequest) (p *stepPlan, busy string, err error) {
	p = &stepPlan{req: req}
	if strings.HasPrefix(req.Dist, "arbitrary") {
		return nil, "", api.Errorf(api.ErrInvalid, "--distribution=arbitrary is not supported for steps: name the nodes with --nodelist and use block, cyclic or plane=N")
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
		if n := root.Node(s.Node); n == nil {
			continue
		}
		cpus, _, _ := j.FreeForStep(i)
		out = append(out, stepNode{share: s, at: i, free: cpus})
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
		want = len(req.Nodes)
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
	left := max(want, len(req.Nodes))
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

// taskCount is how many tasks there are: as many as asked for, else by node.
func (p *stepPlan) taskCount(j *job.Job) uint32 {
	switch {
	case p.req.Tasks > 0:
		return p.req.Tasks
	case p.req.TasksPerNode > 0:
		return p.req.TasksPerNode * uint32(len(p.nodes))
	}
	return uint32(len(p.nodes))
}

// spread says how many tasks each node gets; false if there is no room.
func (p *stepPlan) spread(j *job.Job, count uint32, room func(*stepNode) uint32) ([]uint32, bool) {
	if own, ok := p.jobsOwn(j, count); ok {
		return own, true
	}
	most := make([]uint32, len(p.nodes))
	for i := range p.nodes {
		most[i] = room(&p.nodes[i]) / p.cpusPerTask()
		if p.req.Overcommit {
			most[i] = count
		}
		if p.req.TasksPerNode > 0 {
			most[i] = min(most[i], p.req.TasksPerNode)
		}
	}
	out := make([]uint32, len(p.nodes))
	left := count
	stride := p.stride()
	give := func(i int, n uint32) {
		n = min(n, left, most[i]-out[i])
		out[i] += n
		left -= n
	}
	for i := range out { // every node has a task
		keep := min(left, uint32(len(out)-1-i)) // for the nodes after it
		give(i, max(1, min(stride, left-keep)))
	}
	switch {
	case p.req.Overcommit && stride == 0:
		each := (count + uint32(len(out)) - 1) / uint32(len(out))
		for i := range out {
			give(i, each-min(each, out[i]))
		}
	case stride > 0:
		for before := left + 1; left > 0 && left < before; {
			before = left
			for i := range out {
				give(i, stride)
			}
		}
	default:
		for i := range out {
			give(i, left)
		}
	}
	return out, left == 0
}

// jobsOwn is the layout of the job's own tasks, if the step is one of the same
// size on the same nodes.
func (p *stepPlan) jobsOwn(j *job.Job, count uint32) ([]uint32, bool) {
	if len(p.nodes) != len(j.Alloc.Nodes) || p.req.TasksPerNode > 0 || p.req.Exact || p.req.Dist != "" ||
		p.req.CPUsPerTask > uint32(max(1, j.Request.Size.CPUsPerTask)) {
		return nil, false
	}
	out := make([]uint32, len(p.nodes))
	sum := uint32(0)
	for i := range p.nodes {
		out[i] = p.nodes[i].share.Tasks
		if out[i] == 0 {
			return nil, false
		}
		sum += out[i]
	}
	return out, sum == count
}

// fill works out what the step holds on each node.
func (p *stepPlan) fill(j *job.Job, perNode []uint32) error {
	for i := range p.nodes {
		n := &p.nodes[i]
		n.part = job.StepPart{Tasks: perNode[i], CPUs: n.share.CPUs, MemoryMB: p.memory(n, perNode[i])}
		if p.req.Exact {
			n.part.CPUs = min(n.share.CPUs, perNode[i]*p.cpusPerTask())
		}
		if n.share.MemoryMB > 0 && n.part.MemoryMB > n.share.MemoryMB {
			return &api.Error{Kind: api.ErrInvalid, Text: textMemory}
		}
		if err := p.devices(j, n); err != nil {
			return err
		}
	}
	return nil
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
	_, _, free := j.FreeForStep(n.at)
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

// stride is how many tasks a node gets in turn: one with a cyclic distribution, N
// with plane=N (srun(1), --distribution); 0: node by node.
func (p *stepPlan) stride() uint32 {
	dist, _, _ := strings.Cut(p.req.Dist, ":")
	if dist == "cyclic" {
		return 1
	}
	size, plane := strings.CutPrefix(dist, "plane=")
	n, err := strconv.ParseUint(size, 10, 32)
	if !plane || err != nil {
		return 0
	}
	return uint32(min(n, maxStepTasks))
}

// rank numbers the tasks: node by node, or in turns of some for each node.
func (p *stepPlan) rank(perNode []uint32) {
	turn := p.stride()
	if turn == 0 {
		turn = maxStepTasks
	}
	next := uint32(0)
	for more := true; more; {
		more = false
		for i := range p.nodes {
			n := &p.nodes[i]
			for range min(turn, perNode[i]-uint32(len(n.ranks))) {
				n.ranks = append(n.ranks, next)
				next, more = next+1, true
			}
		}
	}
}

// wait says what other steps hold of what this one wants; "" if it can begin.
func (p *stepPlan) wait(j *job.Job) string {
	if p.req.Overlap || p.req.Hidden {
		return ""
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		cpus, memory, devices := j.FreeForStep(n.at)
		if n.part.CPUs > cpus || n.share.MemoryMB > 0 && n.part.MemoryMB > memory {
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
