package sched

import (
	"cmp"
	"slices"

	"muster/job"
	"muster/partition"
)

// The balanced order puts short jobs before long ones where priority makes no
// difference. Most jobs of most clusters are short and hold little of the
// machine, so that they wait far less while the others wait hardly longer. What
// keeps the others from starving:
//
//   - Within a class of length jobs stay in the order of submission.
//   - The first waiting job of each class and partition has a planned start,
//     which jobs behind it do not delay.
//   - The oldest job that waits for so long that it can no longer end within
//     dueTurnaround of its submission comes before all others of its priority.
//
// The numbers were chosen by simulation, one set for all traces
// (docs/simulator.md).

// dueTurnaround is the turnaround in seconds after which a job is overdue.
const dueTurnaround = 4 * 86_400

// balancedClasses are the upper bounds of the classes of length, in seconds, of
// a job that asks for all CPUs of its partition. A job that asks for less may be
// longer by the fourth root of the ratio: size counts, but less than length.
func (c *cycle) balancedClasses() []uint32 {
	if own := c.view.Policy.OrderClasses; len(own) > 0 {
		return own
	}
	return []uint32{135, 2550}
}

// precedence is what a queue is ordered by in the balanced order, lower first.
type precedence struct {
	tier     int // higher first
	priority uint32
	due      job.Time // submission of the job that is overdue, else never
	class    int
}

// classPart is a class of length in a partition, by its place in the view.
type classPart struct{ part, class int }

// mayPlan tells whether the job that is looked at may have a planned start. In the
// balanced order only the first of each class and partition has one: planned
// starts of many hold up those that come later and are short.
func (c *cycle) mayPlan() bool {
	return c.planned < c.budget.Planned && !c.classPlanned[classPart{c.looking.part, c.looking.class}]
}

// expect tells the jobs that have no planned start because the first of their
// class has one when they may start if nothing changes: the earliest room after
// all that is planned. Nothing is kept for them, so this comes when all starts are
// decided.
func (c *cycle) expect() {
	if len(c.skipped) == 0 {
		return
	}
	at := make(map[job.ID]int, len(c.plan.Verdicts))
	for i := range c.plan.Verdicts {
		at[c.plan.Verdicts[i].Job] = i
	}
	for _, w := range c.skipped[:min(len(c.skipped), DefaultPlanned)] {
		i, waits := at[w.job.ID]
		if !waits || c.plan.Verdicts[i].Planned != 0 {
			continue
		}
		s, ok := c.ifSteps(w.trial)
		if !ok {
			continue
		}
		c.take(&s, -1)
		c.plan.Verdicts[i].Planned, c.plan.Verdicts[i].Nodes = s.start, c.nodeIDs(s.placed)
	}
}

// notePlanned counts a planned start of the job that is looked at.
func (c *cycle) notePlanned() {
	c.planned++
	if !c.balanced() {
		return
	}
	if c.classPlanned == nil {
		c.classPlanned = map[classPart]bool{}
	}
	c.classPlanned[classPart{c.looking.part, c.looking.class}] = true
}

// balanced tells whether the cluster orders jobs of equal priority so.
func (c *cycle) balanced() bool {
	return c.view.Policy != nil && c.view.Policy.Order == partition.OrderBalanced
}

// balance puts entries, which are in Slurm's order, into the balanced order.
func (c *cycle) balance(list []entry) {
	same := c.samePriority(list)
	keys := make([]precedence, len(list))
	at := make([]int, len(list))
	for i := range list {
		at[i] = i
		keys[i] = c.precedence(&list[i], same)
		list[i].class = keys[i].class
	}
	c.promote(list, keys)
	slices.SortStableFunc(at, func(a, b int) int {
		x, y := &keys[a], &keys[b]
		return cmp.Or(cmp.Compare(y.tier, x.tier), cmp.Compare(y.priority, x.priority), cmp.Compare(x.due, y.due), cmp.Compare(x.class, y.class))
	})
	sorted := make([]entry, len(list))
	for i, k := range at {
		sorted[i] = list[k]
		sorted[i].ahead = i
	}
	copy(list, sorted)
}

// samePriority is the priority that stands for all that nobody set, in a cluster
// without multifactor priority: there it only numbers the jobs. It is the highest
// of them, so that a priority that somebody set is before all of them or behind.
func (c *cycle) samePriority(list []entry) uint32 {
	if c.view.Policy.Priority.Multifactor {
		return 0
	}
	same := MinPriority
	for i := range list {
		if j := c.view.Waiting[list[i].at].Job; !j.FixedPriority {
			same = max(same, j.Priority)
		}
	}
	return same
}

func (c *cycle) precedence(e *entry, same uint32) precedence {
	j := c.view.Waiting[e.at].Job
	p := precedence{tier: c.tier(e.part), priority: j.Priority, due: never, class: len(c.balancedClasses())}
	if same != 0 && !j.FixedPriority && j.Priority != 0 {
		p.priority = same
	}
	if e.part >= 0 {
		p.class = c.lengthClass(j, &c.view.Partitions[e.part])
	}
	return p
}

// lengthClass is the class of a job's length in a partition.
func (c *cycle) lengthClass(j *job.Job, p *Partition) int {
	bounds := c.balancedClasses()
	limit := p.Limit(j.Request)
	if limit == job.Unlimited {
		return len(bounds)
	}
	cpus := max(1, uint64(j.Request.Size.MinCPUs))
	// The root of the ratio of all CPUs to those asked for, in 256ths.
	root := squareRoot(squareRoot(max(1, c.partCPUs(p)) << 32 / cpus))
	for k, bound := range bounds {
		if uint64(limit)*60*256 <= uint64(bound)*root {
			return k
		}
	}
	return len(bounds)
}

// partCPUs is the number of CPUs of a partition's nodes.
func (c *cycle) partCPUs(p *Partition) uint64 {
	if n, ok := c.cpusOf[p]; ok {
		return n
	}
	n := uint64(0)
	for _, i := range p.Nodes {
		n += uint64(c.view.Nodes[i].Host.Size.CPUs)
	}
	if c.cpusOf == nil {
		c.cpusOf = map[*Partition]uint64{}
	}
	c.cpusOf[p] = n
	return n
}

// promote marks, of the jobs of one tier and priority, the oldest that is overdue.
// Only one at a time goes ahead: if all did, a backlog would turn the queue into
// one without any order but that of submission.
func (c *cycle) promote(list []entry, keys []precedence) {
	type group struct {
		tier     int
		priority uint32
	}
	oldest := map[group]int{}
	for i := range list {
		j := c.view.Waiting[list[i].at].Job
		since := j.Times.Eligible
		if since == 0 || list[i].part < 0 {
			continue
		}
		limit := c.view.Partitions[list[i].part].Limit(j.Request)
		if limit == job.Unlimited {
			limit = 0 // it never ends: only its wait counts
		}
		if c.now-since+job.Time(limit)*60_000 <= dueTurnaround*1000 {
			continue
		}
		g := group{keys[i].tier, keys[i].priority}
		if k, ok := oldest[g]; !ok || since < c.view.Waiting[list[k].at].Job.Times.Eligible {
			oldest[g] = i
		}
	}
	for i := range list {
		if k, ok := oldest[group{keys[i].tier, keys[i].priority}]; ok && list[k].at == list[i].at {
			keys[i].due = c.view.Waiting[list[i].at].Job.Times.Eligible
		}
	}
}

// squareRoot is the whole part of a square root.
func squareRoot(n uint64) uint64 {
	low, high := uint64(0), uint64(1)<<32
	for high-low > 1 {
		mid := low + (high-low)/2
		if mid*mid <= n {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
