package sched

import (
	"cmp"
	"fmt"
	"slices"

	"muster/job"
)

// Explanation is all that the planner can say of one waiting job.
type Explanation struct {
	Verdict
	// Before are jobs ahead in order that have been given, now or for later, nodes
	// that this one could use: the first of them, by the time at which they start.
	Before []Before
	// Sooner are changes of the request with each of which it would start sooner:
	// of each kind the smallest that does.
	Sooner []Change
}

// Before is one job ahead.
type Before struct {
	Job   job.ID
	Start job.Time // when it is to start
	Nodes int      // how many nodes that the other could use it takes
}

// Change is a change of a request.
type Change struct {
	What  string // for people
	Start job.Time
}

// listed are the takings of a cycle that is made for an explanation.
type listed struct {
	listing bool // note them
	takings []taking
}

// mostBefore is how many jobs ahead an explanation names.
const mostBefore = 5

// Explain plans all jobs ahead of one and says what holds that one, and what would
// help. It is false if the job does not wait by itself: an explanation of a
// component of a heterogeneous job is that of its leader.
func (v *View) Explain(now job.Time, b Budget, id job.ID) (*Explanation, bool) {
	b.Planned = len(v.Waiting) + 1
	c := newCycle(v, now, b)
	order := c.order()
	at := slices.IndexFunc(order, func(e entry) bool { return c.holds(e, id) })
	if at < 0 {
		return nil, false
	}
	c.pinAll(order)
	c.listing = true
	for _, e := range order[:at] {
		c.look(e)
	}
	c.listing = false
	x := &explainer{cycle: c, waiting: &v.Waiting[order[at].at]}
	out := &Explanation{}
	x.before(out)
	x.changes(out)
	for _, e := range order[at:] { // in all of its partitions
		if c.holds(e, id) {
			c.look(e)
		}
	}
	if last := len(c.plan.Verdicts) - 1; last >= 0 && c.plan.Verdicts[last].Job == x.waiting.Job.ID {
		out.Verdict = c.plan.Verdicts[last]
	} else { // it starts in this cycle
		out.Verdict = Verdict{Job: x.waiting.Job.ID, Planned: now, Ahead: order[at].at,
			Reasons: []Why{{job.ReasonNone, "it starts with the next cycle of the scheduler"}}}
		out.Before, out.Sooner = nil, nil
	}
	return out, true
}

// holds tells whether an entry is of a job, or of one of its components.
func (c *cycle) holds(e entry, id job.ID) bool {
	w := &c.view.Waiting[e.at]
	return w.Job.ID == id || slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Job.ID == id })
}

// explainer tries changes of one job's request in a cycle in which all jobs ahead
// have been looked at.
type explainer struct {
	*cycle
	waiting *Waiting
	base    job.Time // when it can start as it is, never if it cannot
}

// trial is that of a request in a partition, nil if rules hold it there.
func (x *explainer) trial(r *job.Request, part int) *trial {
	j := *x.waiting.Job
	j.Request = r
	w := Waiting{Job: &j, Class: NewClass(r)}
	if part < 0 || len(x.rules(&w, part)) > 0 {
		return nil
	}
	resv, not := x.reservation(&j, w.Class)
	if len(not) > 0 {
		return nil
	}
	return x.trialOf(w.Class, part, resv)
}

// earliest is when a request could start in a partition, never if it cannot.
func (x *explainer) earliest(r *job.Request, part int) job.Time {
	t := x.trial(r, part)
	if t == nil {
		return never
	}
	if s, ok := x.soonest(t); ok {
		return s.start
	}
	return never
}

// before names the jobs ahead that take nodes which the job could use.
func (x *explainer) before(out *Explanation) {
	r := x.waiting.Job.Request
	if len(r.Partitions) == 0 {
		return
	}
	t := x.trial(r, x.partition(r.Partitions[0]))
	if t == nil {
		return
	}
	for _, g := range x.takings {
		b := Before{Job: g.job, Start: g.spot.start}
		for i := range g.spot.placed {
			if at := g.spot.placed[i].At; t.bits[at/64]&(1<<(at%64)) != 0 {
				b.Nodes++
			}
		}
		if b.Nodes > 0 {
			out.Before = append(out.Before, b)
		}
	}
	slices.SortFunc(out.Before, func(a, b Before) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Job, b.Job))
	})
	out.Before = out.Before[:min(mostBefore, len(out.Before))]
}

// changes tries fewer nodes, a shorter limit, less memory and other partitions.
// For a job that rules hold, none of them helps.
func (x *explainer) changes(out *Explanation) {
	r := x.waiting.Job.Request
	if len(x.waiting.Parts) > 0 || len(r.Partitions) == 0 {
		return
	}
	part := x.partition(r.Partitions[0])
	t := x.trial(r, part)
	if t == nil {
		return
	}
	x.base = x.earliest(r, part)
	if x.base == x.now {
		return
	}
	add := func(start job.Time, format string, args ...any) {
		if start < x.base {
			out.Sooner = append(out.Sooner, Change{What: fmt.Sprintf(format, args...), Start: start})
		}
	}
	if n, start := x.most(part, t.need.MinNodes-1, func(q *job.Request, n int) { setNodes(q, n) }); n > 0 {
		add(start, "%s in place of %d (--nodes)", count(n, "node"), t.need.MinNodes)
	}
	if n, start := x.most(part, int(min(t.limit, 1<<20))-1, func(q *job.Request, n int) { q.Timing.Limit = job.Minutes(n) }); n > 0 {
		add(start, "a limit of %s (--time)", count(n, "minute"))
	}
	x.lessMemory(part, t, add)
	for p := range x.view.Partitions {
		name := x.view.Partitions[p].Name
		if slices.Contains(r.Partitions, name) {
			continue
		}
		q := *r
		q.Partitions = []string{name}
		add(x.earliest(&q, p), "partition %s (--partition)", name)
	}
}

// lessMemory tries to name memory, or less of it.
func (x *explainer) lessMemory(part int, t *trial, add func(job.Time, string, ...any)) {
	if !t.need.Track || len(t.kinds) == 0 {
		return
	}
	free := t.kinds[0].host.All()
	if !t.need.Cost(t.kinds[0].host, &free, leastTasks(t.need), nil, &t.cost) {
		return
	}
	perNode := t.cost.MemoryMB
	set := func(q *job.Request, n int) { q.Memory = job.Memory{Per: job.MemoryPerNode, MB: uint64(n)} }
	if n, start := x.most(part, int(perNode)-1, set); n > 0 {
		add(start, "%d MB of memory on each node in place of %d (--mem)", n, perNode)
	}
}

// most is the largest number up to high with which a request starts sooner, by
// halving: 0 if there is none.
func (x *explainer) most(part, high int, set func(*job.Request, int)) (int, job.Time) {
	best, start := 0, never
	for low := 1; low <= high; {
		mid := low + (high-low)/2
		q := *x.waiting.Job.Request
		set(&q, mid)
		if at := x.earliest(&q, part); at < x.base {
			best, start, low = mid, at, mid+1
		} else {
			high = mid - 1
		}
	}
	return best, start
}

// setNodes asks for so many nodes, and for no more tasks than they have now.
func setNodes(q *job.Request, n int) {
	s := &q.Size
	if s.Tasks > 0 && s.MinNodes > 0 {
		s.Tasks = max(uint32(n), s.Tasks*uint32(n)/s.MinNodes)
	}
	s.MinNodes, s.MaxNodes, s.NodeCounts = uint32(n), uint32(n), nil
}
