package sched

import (
	"slices"

	"muster/job"
	"muster/partition"
)

// DefaultPlanned is how many waiting jobs get a planned start in one cycle when
// the budget does not say.
const DefaultPlanned = 200

// arrayPlanned is how many tasks of one array get a planned start.
const arrayPlanned = 10

// Plan decides which waiting jobs start now and when the others may. Jobs are
// looked at by partition tier, then priority, then id. A job that cannot start
// is given the earliest stretch of time that is free for it, which jobs behind it
// cannot take (conservative backfill), for the first jobs in order and while the
// budget's steps last. Every waiting job gets a start or a verdict, unless the plan
// is cut because it has as many starts as it may.
func (v *View) Plan(now job.Time, b Budget) *Plan {
	if b.Planned == 0 {
		b.Planned = DefaultPlanned
	}
	c := newCycle(v, now, b)
	c.plan.Verdicts = make([]Verdict, 0, len(v.Waiting))
	order := c.order()
	c.pinAll(order)
	for _, e := range order {
		if b.Starts > 0 && len(c.plan.Starts) >= b.Starts {
			c.plan.Cut = true
			break
		}
		c.look(e)
	}
	c.expect()
	c.settlePromises()
	return c.plan
}

// entry is a waiting record in one of its partitions.
type entry struct {
	at    int // place in view.Waiting
	part  int // place in view.Partitions, -1 if there is none
	state *several
	ahead int // waiting records before it
	class int // of its length, in the balanced order
}

// several is how far a job of several partitions is.
type several struct {
	left    int // partitions still to be looked at
	started bool
	verdict *Verdict
	planned *spot
	looked  []waiter // where no rule holds the job
}

// order lists the waiting records by tier; within a tier the order of the view,
// which is by priority, stays.
func (c *cycle) order() []entry {
	out := make([]entry, 0, len(c.view.Waiting))
	tiers := false
	for i := range c.view.Waiting {
		names := c.view.Waiting[i].Job.Request.Partitions
		var s *several
		if len(names) > 1 {
			s = &several{left: len(names)}
		}
		for _, name := range names {
			e := entry{at: i, part: c.partition(name), state: s, ahead: i}
			out = append(out, e)
			tiers = tiers || c.tier(e.part) != c.tier(out[0].part)
		}
		if len(names) == 0 {
			out = append(out, entry{at: i, part: -1, ahead: i})
		}
	}
	switch {
	case c.balanced():
		c.balance(out)
	case tiers:
		slices.SortStableFunc(out, func(a, b entry) int { return c.tier(b.part) - c.tier(a.part) })
	}
	return out
}

func (c *cycle) partition(name string) int {
	for i := range c.view.Partitions {
		if c.view.Partitions[i].Name == name {
			return i
		}
	}
	return -1
}

func (c *cycle) tier(part int) int {
	if part < 0 {
		return 0
	}
	return int(c.view.Partitions[part].PriorityTier)
}

// look judges one entry: it starts the job, or gives it a verdict.
func (c *cycle) look(e entry) {
	w := &c.view.Waiting[e.at]
	if e.state != nil && e.state.started {
		return
	}
	c.balancing.looking = e
	p := c.unpinned(w.Job.ID, e.part)
	var v Verdict
	started := false
	switch {
	case len(w.Parts) > 0:
		v, started = c.lookTogether(w, p)
	default:
		v, started = c.lookAlone(w, e, p)
	}
	v.Job, v.Ahead = w.Job.ID, e.ahead
	if e.state == nil {
		if !started {
			c.plan.Verdicts = append(c.plan.Verdicts, v)
		}
		return
	}
	c.merge(e.state, v, started)
	if s := e.state; s.left == 0 && !s.started {
		c.displaceInAny(s)
		c.plan.Verdicts = append(c.plan.Verdicts, *s.verdict)
	}
}

// merge brings the findings of a job's partitions together: the earliest planned
// start counts, and reasons that resources give come before those of rules.
func (c *cycle) merge(s *several, v Verdict, started bool) {
	s.left--
	s.started = started
	if started {
		return
	}
	switch {
	case s.verdict == nil:
		s.verdict = &v
	case v.Planned != 0 && (s.verdict.Planned == 0 || v.Planned < s.verdict.Planned):
		v.Reasons = append(slices.Clip(v.Reasons), s.verdict.Reasons...)
		s.verdict = &v
	default:
		s.verdict.Reasons = append(slices.Clip(s.verdict.Reasons), v.Reasons...)
	}
}

// lookAlone judges a plain job or the rest of an array in one partition. p is the
// promise that it has, nil if none.
func (c *cycle) lookAlone(w *Waiting, e entry, p *pin) (Verdict, bool) {
	j := w.Job
	whys := c.rules(w, e.part)
	tasks, throttled := c.tasks(w)
	if tasks == 0 {
		whys = append(whys, throttled...)
	}
	resv, not := c.reservation(j, w.Class)
	if whys = append(whys, not...); len(whys) > 0 {
		if len(not) == 0 {
			whys = append(whys, c.wouldLack(w, e.part, resv)...)
		}
		return Verdict{Reasons: whys}, false
	}
	if e.state != nil && e.state.planned != nil {
		c.take(e.state.planned, 1) // look again without what was kept in another partition
	}
	c.waitsForSwitches = c.patient(j)
	defer func() { c.waitsForSwitches = false }()
	t := c.trialOf(w.Class, e.part, resv)
	magnets := c.magnets(w, e.part)
	task := job.NoTask
	if j.Array.JobID != 0 && !j.IsArrayRest() {
		task = j.Array.Task // a task by itself: requeued, or apart for its dependency
	}
	for n := 0; ; n++ {
		if j.IsArrayRest() {
			if task = nextTask(j, task); task == job.NoTask {
				return Verdict{}, true
			}
		}
		if n == tasks {
			return Verdict{Reasons: throttled}, false
		}
		if c.drawn(j, task, magnets, p) {
			if !j.IsArrayRest() {
				return Verdict{}, true
			}
		} else if why, ok := c.start(j, task, t, p); !ok {
			return c.wait(waiter{j, task, t, p}, why, e.state), false
		}
		if !j.IsArrayRest() {
			return Verdict{}, true
		}
		if c.budget.Starts > 0 && len(c.plan.Starts) >= c.budget.Starts {
			return Verdict{Reasons: []Why{{job.ReasonPriority, "more tasks start in the next cycle"}}}, false
		}
	}
}

// wouldLack lists what a job would not get now, though other reasons hold it, too.
func (c *cycle) wouldLack(w *Waiting, part int, resv *partition.Reservation) []Why {
	if part < 0 || w.Class.Bad != "" {
		return nil
	}
	t := c.trialOf(w.Class, part, resv)
	if t.after <= c.now && !t.failed {
		if _, ok := c.atOnce(t); ok {
			return nil
		}
		t.failed = true
	}
	if hopeless := c.never(t); hopeless != nil {
		return hopeless
	}
	return c.shortages(t)
}

// nextTask is the lowest unstarted task after one, NoTask at the end.
func nextTask(j *job.Job, after uint32) uint32 {
	from := 0
	if after != job.NoTask {
		from = int(after) + 1
	}
	if i := j.Array.Waiting.Next(from); i >= 0 {
		return uint32(i)
	}
	return job.NoTask
}

// start starts a job now if it fits. If a limit holds it back, why says which.
func (c *cycle) start(j *job.Job, task uint32, t *trial, p *pin) (why Why, ok bool) {
	s, fits := c.spotNow(task, t, p)
	if !fits {
		return Why{}, false
	}
	return c.startAt(j, task, t, &s, p)
}

// startAt starts a job in the room that was found for it.
func (c *cycle) startAt(j *job.Job, task uint32, t *trial, s *spot, p *pin) (why Why, ok bool) {
	a, named := c.allocation(t, s)
	if !named {
		return Why{job.ReasonResources, "cores or devices that should be free are held"}, false
	}
	if c.ledger != nil {
		if why = c.ledger.Holds(j, &a, s.limit); why.Reason != job.ReasonNone {
			return why, false
		}
		c.ledger.Started(j, &a, s.limit)
	}
	c.take(s, -1)
	c.occupy(s, &a)
	c.noteStart(j.ID, s, p)
	c.plan.Starts = append(c.plan.Starts, Start{Job: j.ID, Task: task, Alloc: a, Limit: s.limit})
	return Why{}, true
}

// spotNow finds room for a job that starts now.
func (c *cycle) spotNow(task uint32, t *trial, p *pin) (spot, bool) {
	if p != nil {
		return c.pinNow(task, t, p)
	}
	if t.failed || t.after > c.now {
		return spot{}, false
	}
	s, fits := c.atOnce(t)
	if !fits {
		s, fits = c.shorter(t)
	}
	t.failed = !fits
	return s, fits
}

// shorter tries a job with --time-min at lower limits: the longest that fits.
func (c *cycle) shorter(t *trial) (spot, bool) {
	low := t.class.Request.Timing.MinLimit
	if low == 0 || low >= t.limit {
		return spot{}, false
	}
	best, ok := c.at(t, c.now, low, false)
	if !ok {
		return spot{}, false
	}
	high := min(t.limit, low+1<<20)
	for high-low > 1 {
		mid := low + (high-low)/2
		if s, fits := c.at(t, c.now, mid, false); fits {
			best, low = s, mid
		} else {
			high = mid
		}
	}
	return best, true
}

// wait gives a job that does not start now its verdict, and a planned start while
// there are still some to give.
func (c *cycle) wait(w waiter, why Why, s *several) Verdict {
	if why.Reason != job.ReasonNone {
		if s != nil && s.planned != nil {
			c.take(s.planned, -1) // released by lookAlone
		}
		return Verdict{Reasons: []Why{why}}
	}
	first := c.plannedStarts(w)
	if s != nil {
		s.looked = append(s.looked, w) // it displaces others when all its partitions were looked at
	} else if better, ok := c.displaceFor(w, first); ok {
		first = &better
	}
	v := Verdict{Reasons: c.why(w.trial, first != nil)}
	if s != nil && s.planned != nil { // kept in another partition, and released by lookAlone
		if first == nil || s.planned.start <= first.start {
			c.take(s.planned, -1)
			if first != nil {
				c.take(first, 1)
			}
			return v
		}
	}
	if first != nil {
		v.Planned, v.Nodes = first.start, c.nodeIDs(first.placed)
		c.give(w.job.ID, w.task, w.trial, first)
		if s != nil {
			s.planned = first
		}
	}
	return v
}

// waiter is a job that does not start now, or the first task of an array that does
// not, in one of its partitions.
type waiter struct {
	job   *job.Job
	task  uint32
	trial *trial
	pin   *pin // its promise, nil if it has none
}

// plannedStarts keeps the earliest room for a job, or for the next tasks of an
// array, and returns the first; nil if there is none or enough jobs have one.
func (c *cycle) plannedStarts(w waiter) *spot {
	j := w.job
	n := 1
	if j.IsArrayRest() && j.Array.Limit == 0 && len(j.Request.Partitions) == 1 {
		n = min(arrayPlanned, j.Array.Waiting.Len())
	}
	var first *spot
	for range n {
		if !c.mayPlan() {
			if first == nil && c.balanced() {
				c.balancing.skipped = append(c.balancing.skipped, w)
			}
			break
		}
		p, ok := c.planOne(w, first == nil)
		if !ok {
			break
		}
		c.notePlanned()
		c.take(&p, -1)
		c.noteTaking(j.ID, &p, w.pin)
		if first == nil {
			first = &p
		}
	}
	return first
}

func (c *cycle) nodeIDs(placed []partition.Placed) []job.NodeID {
	out := make([]job.NodeID, len(placed))
	for i := range placed {
		out[i] = c.view.Nodes[placed[i].At].Host.Node.ID
	}
	return out
}
