package admit

import (
	"slices"
	"strconv"
	"strings"

	"muster/job"
)

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
	if p.arbitrary() {
		out := p.listed(count)
		for i, n := range out {
			if n > room(&p.nodes[i])/p.cpusPerTask() && !p.req.Overcommit {
				return nil, false
			}
		}
		return out, len(p.req.Nodes) > 0
	}
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

// arbitrary tells whether the tasks go where the list of nodes says, one by one.
func (p *stepPlan) arbitrary() bool { return strings.HasPrefix(p.req.Dist, "arbitrary") }

// listed counts how often each node is named for a task. A list that is too short
// begins again.
func (p *stepPlan) listed(count uint32) []uint32 {
	out := make([]uint32, len(p.nodes))
	for task := range count {
		if at := p.nodeOf(task); at >= 0 {
			out[at]++
		}
	}
	return out
}

// nodeOf is the node that the list names for a task.
func (p *stepPlan) nodeOf(task uint32) int {
	name := p.req.Nodes[int(task)%len(p.req.Nodes)]
	return slices.IndexFunc(p.nodes, func(n stepNode) bool { return n.share.Name == name })
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
	if p.arbitrary() {
		for task := range sum(perNode) {
			n := &p.nodes[p.nodeOf(task)]
			n.ranks = append(n.ranks, task)
		}
		return
	}
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

func sum(list []uint32) uint32 {
	total := uint32(0)
	for _, n := range list {
		total += n
	}
	return total
}
