package sched

import (
	"cmp"
	"math"
	"math/bits"
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

// precedence is what a queue is ordered by in the balanced order, lower first:
// from the highest bit on the partition's tier, the priority, whether the job is
// overdue, and its class. Of equal ones the order stays.
type precedence struct {
	key uint64
	at  int // place in Slurm's order
}

// keyOf packs a precedence. A class is below 256.
func keyOf(tier int, priority uint32, class int) uint64 {
	return uint64(math.MaxUint16-min(tier, math.MaxUint16))<<41 | uint64(math.MaxUint32-priority)<<9 | notDue | uint64(class)
}

// notDue is set in the keys of all jobs but overdue ones.
const notDue = 1 << 8

// balancing is what a cycle has found out for the balanced order.
type balancing struct {
	looking entry              // that is being looked at
	planned map[classPart]bool // where a job has a planned start
	skipped []waiter           // that have none because another of their class has one
	lengths map[trialKey]int   // classes of length
	cpus    map[*Partition]uint64
}

// classPart is a class of length in a partition, by its place in the view.
type classPart struct{ part, class int }

// mayPlan tells whether the job that is looked at may have a planned start. In the
// balanced order only the first of each class and partition has one: planned
// starts of many hold up those that come later and are short.
func (c *cycle) mayPlan() bool {
	return c.planned < c.budget.Planned && !c.balancing.planned[classPart{c.balancing.looking.part, c.balancing.looking.class}]
}

// expect tells the jobs that have no planned start because the first of their
// class has one when they may start if nothing changes: the earliest room after
// all that is planned. Nothing is kept for them, so this comes when all starts are
// decided.
func (c *cycle) expect() {
	if len(c.balancing.skipped) == 0 {
		return
	}
	at := make(map[job.ID]int, len(c.plan.Verdicts))
	for i := range c.plan.Verdicts {
		at[c.plan.Verdicts[i].Job] = i
	}
	for _, w := range c.balancing.skipped[:min(len(c.balancing.skipped), DefaultPlanned)] {
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
	if c.balancing.planned == nil {
		c.balancing.planned = map[classPart]bool{}
	}
	c.balancing.planned[classPart{c.balancing.looking.part, c.balancing.looking.class}] = true
}

// balanced tells whether the cluster orders jobs of equal priority so.
func (c *cycle) balanced() bool {
	return c.view.Policy != nil && c.view.Policy.Order == partition.OrderBalanced
}

// balance puts entries, which are in Slurm's order, into the balanced order.
func (c *cycle) balance(list []entry) {
	same := c.samePriority(list)
	keys := make([]precedence, len(list))
	for i := range list {
		keys[i] = precedence{c.precedence(&list[i], same), i}
	}
	c.promote(list, keys)
	slices.SortFunc(keys, func(a, b precedence) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
	})
	sorted := make([]entry, len(list))
	for i, k := range keys {
		sorted[i] = list[k.at]
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

// precedence is the key of an entry, whose class it notes.
func (c *cycle) precedence(e *entry, same uint32) uint64 {
	w := &c.view.Waiting[e.at]
	priority := w.Job.Priority
	if same != 0 && !w.Job.FixedPriority && priority != 0 {
		priority = same
	}
	e.class = len(c.balancedClasses())
	if e.part >= 0 {
		e.class = c.classOf(w, e.part)
	}
	return keyOf(c.tier(e.part), priority, e.class)
}

// classOf is lengthClass, worked out once for all jobs of one shape.
func (c *cycle) classOf(w *Waiting, part int) int {
	key := trialKey{class: w.Class, part: part}
	if k, ok := c.balancing.lengths[key]; ok {
		return k
	}
	if c.balancing.lengths == nil {
		c.balancing.lengths = map[trialKey]int{}
	}
	k := c.lengthClass(w.Job, &c.view.Partitions[part])
	c.balancing.lengths[key] = k
	return k
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
	if n, ok := c.balancing.cpus[p]; ok {
		return n
	}
	n := uint64(0)
	for _, i := range p.Nodes {
		n += uint64(c.view.Nodes[i].Host.Size.CPUs)
	}
	if c.balancing.cpus == nil {
		c.balancing.cpus = map[*Partition]uint64{}
	}
	c.balancing.cpus[p] = n
	return n
}

// promote marks, of the jobs of one tier and priority, the oldest that is overdue.
// Only one at a time goes ahead: if all did, a backlog would turn the queue into
// one without any order but that of submission.
func (c *cycle) promote(list []entry, keys []precedence) {
	oldest := map[uint64]int{} // by the key without class
	for i := range list {
		j := c.view.Waiting[list[i].at].Job
		since := j.Times.Eligible
		if since == 0 || list[i].part < 0 || c.now-since+c.expected(j, list[i].part) <= dueTurnaround*1000 {
			continue
		}
		g := keys[i].key >> 9
		if k, ok := oldest[g]; !ok || since < c.view.Waiting[list[k].at].Job.Times.Eligible {
			oldest[g] = i
		}
	}
	if len(oldest) == 0 {
		return
	}
	for i := range list {
		if k, ok := oldest[keys[i].key>>9]; ok && list[k].at == list[i].at {
			keys[i].key &^= notDue
		}
	}
}

// expected is how long a job may run in a partition, in milliseconds; 0 of one
// without a limit, of which only the wait counts.
func (c *cycle) expected(j *job.Job, part int) job.Time {
	limit := c.view.Partitions[part].Limit(j.Request)
	if limit == job.Unlimited {
		return 0
	}
	return job.Time(limit) * 60_000
}

// squareRoot is the whole part of a square root, by Newton's method from above.
func squareRoot(n uint64) uint64 {
	if n < 2 {
		return n
	}
	x := uint64(1) << ((bits.Len64(n) + 1) / 2)
	for {
		next := (x + n/x) / 2
		if next >= x {
			return x
		}
		x = next
	}
}
