package sched

import (
	"fmt"
	"hash/fnv"
	"slices"

	"muster/job"
	"muster/partition"
)

// unpinned finds the promise of a job that is looked at in a partition. In the
// promise's own partition its room is given back to the kept picture.
func (c *cycle) unpinned(id job.ID, part int) *pin {
	if c.kept == nil {
		return nil
	}
	c.kept.looked[id] = true
	p := c.kept.pins[id]
	if p != nil && p.part == part {
		c.unpin(p)
	}
	return p
}

// pinNow finds room for a job that has a promise to start at once: on the promised
// nodes when it is due, else wherever that disturbs no promise.
func (c *cycle) pinNow(task uint32, t *trial, p *pin) (spot, bool) {
	own := p.trials[0]
	if p.start <= c.now && p.task == task && own.part == t.part {
		return p.kept[0], c.free(own, &p.kept[0])
	}
	if t.failed || t.after > c.now {
		return spot{}, false
	}
	return c.carefully(func() (spot, bool) {
		if !t.keptFailed {
			if s, ok := c.at(t, c.now, t.limit, false); ok {
				return s, true
			}
			if s, ok := c.shorter(t); ok {
				return s, true
			}
			t.keptFailed = true // the next of the class tries its own nodes only
		}
		if own.part != t.part {
			return spot{}, false
		}
		return c.at(own, c.now, t.limit, false)
	})
}

// planOne finds a later start: the promised one or a better one for a job that has
// a promise, the soonest for others. first is false for the further tasks of an
// array, which have no promise of their own.
func (c *cycle) planOne(w waiter, first bool) (spot, bool) {
	if w.pin == nil {
		return c.ifSteps(w.trial)
	}
	if w.pin.trials[0].part != w.trial.part {
		return spot{}, false // its promise is in another partition
	}
	if !first || w.pin.task != w.task {
		try := *w.trial
		return c.carefully(func() (spot, bool) { return c.ifSteps(&try) })
	}
	own := w.pin.trials[0]
	s := w.pin.kept[0]
	if !c.free(own, &s) {
		c.kept.causes[w.job.ID] = c.blame(own, w.pin.start)
		return c.ifSteps(w.trial)
	}
	if c.spent() {
		return s, true
	}
	if better, ok := c.carefully(func() (spot, bool) { return c.sooner(w.trial, own, w.pin.start) }); ok {
		return better, true
	}
	return s, true
}

// ifSteps finds the soonest start while there are steps left.
func (c *cycle) ifSteps(t *trial) (spot, bool) {
	if c.spent() {
		return spot{}, false
	}
	return c.soonest(t)
}

// sooner finds an earlier start than a promised one. What the class has looked at
// in vain is not looked at again, except on the promise's own nodes.
func (c *cycle) sooner(t, own *trial, before job.Time) (spot, bool) {
	if t.keptAfter < before {
		try := *t
		try.before, try.after = before, max(t.after, t.keptAfter)
		s, ok := c.soonest(&try)
		if ok {
			t.keptAfter = s.start
			return s, true
		}
		t.keptAfter = before
	}
	try := *own
	try.before = before
	return c.soonest(&try)
}

// shapeOf stands for all that a placement is made from but what is free: two trials
// of one shape take the same of the same free nodes.
func (t *trial) shapeOf() uint64 {
	if t.shape == 0 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %+v %d", Key(t.class.Request), *t.need, t.limit)
		t.shape = max(1, h.Sum64())
	}
	return t.shape
}

// onNodes is a trial of the same class on some of its nodes alone, all of them
// wanted, or says which of them cannot be had.
func (c *cycle) onNodes(t *trial, nodes []PromisedNode) (*trial, string) {
	need := *t.need
	need.MinNodes, need.MaxNodes, need.Counts = len(nodes), len(nodes), nil
	own := &trial{where: &where{partAt: t.partAt}, class: t.class, part: t.part, resv: t.resv, need: &need, limit: t.limit, least: len(nodes), after: c.now}
	if t.resv.Binds() {
		own.after = max(own.after, t.resv.Start)
	}
	for k := range nodes {
		i, ok := c.placeOf(nodes[k].Node)
		if !ok {
			return nil, "one of its nodes is no longer there"
		}
		h := c.view.Nodes[i].Host
		switch {
		case !h.Node.Available():
			return nil, "node " + h.Node.Name + " is not available"
		case t.bits[i/64]&(1<<(i%64)) == 0:
			return nil, "node " + h.Node.Name + " is no longer one that it may use"
		}
		own.nodes = append(own.nodes, i)
		own.required = append(own.required, !partition.PicksNodes(t.class.Request) && slices.Contains(t.class.Request.Place.Nodes, h.Node.Name))
	}
	return own, ""
}

// outsider says what keeps promised nodes from a job when the free picture has
// only what runs.
func (c *cycle) outsider(t *trial, start job.Time) string {
	end := endOf(start, t.limit)
	for _, i := range t.nodes {
		if r := c.blocked(i, start, end, t.resv); r != nil {
			return fmt.Sprintf("reservation %s has node %s", r.Name, c.view.Nodes[i].Host.Node.Name)
		}
	}
	for _, i := range t.nodes {
		n := &c.view.Nodes[i]
		for k := range n.Holds {
			if c.end(n.Holds[k].Until) > start {
				return fmt.Sprintf("job %d holds node %s for longer than it was to", n.Holds[k].Job, n.Host.Node.Name)
			}
		}
	}
	if len(t.class.Licenses.List) > 0 {
		return "licences are held for longer than they were to"
	}
	return "its request or its nodes were changed"
}

// blame says which job, now ahead, has taken what a promise needs.
func (c *cycle) blame(t *trial, start job.Time) string {
	end := endOf(start, t.limit)
	for _, kept := range []bool{false, true} {
		for i := range c.kept.taken {
			x := &c.kept.taken[i]
			if x.kept != kept || x.spot.start >= end || x.spot.end <= start {
				continue
			}
			for k := range x.spot.placed {
				if at := x.spot.placed[k].At; slices.Contains(t.nodes, at) {
					return fmt.Sprintf("job %d, which is ahead of it, needs node %s", x.job, c.view.Nodes[at].Host.Node.Name)
				}
			}
		}
	}
	return "jobs ahead of it need its nodes or licences"
}

// noteTaking notes who has taken a spot.
func (c *cycle) noteTaking(id job.ID, s *spot, p *pin) {
	if c.listing {
		c.takings = append(c.takings, taking{id, *s, p != nil})
	}
	if c.kept != nil {
		c.kept.taken = append(c.kept.taken, taking{id, *s, p != nil})
	}
}

// noteStart forgets the promise of a job that starts.
func (c *cycle) noteStart(id job.ID, s *spot, p *pin) {
	delete(c.given, id)
	c.noteTaking(id, s, p)
	if c.kept == nil {
		return
	}
	c.kept.started[id] = true
	if p != nil {
		c.unpin(p) // it may have started in another partition
	}
}

// settlePromises lists what the plan promises, and which promises it breaks.
func (c *cycle) settlePromises() {
	for i := range c.view.Waiting {
		w := &c.view.Waiting[i]
		if len(w.Parts) == 0 {
			c.settlePromise(w.Job.ID, w.Job.ID)
		}
		for k := range w.Parts {
			c.settlePromise(w.Parts[k].Job.ID, w.Job.ID)
		}
	}
}

// settlePromise does so for one job, which is looked at with another as leader.
func (c *cycle) settlePromise(id, leader job.ID) {
	next, given := c.given[id]
	k := c.kept
	if k == nil || k.of[id] == nil {
		if given {
			c.plan.Promises = append(c.plan.Promises, next)
		}
		return
	}
	old := k.of[id]
	if !k.looked[leader] { // the plan was cut before it
		c.plan.Promises = append(c.plan.Promises, *old)
		return
	}
	if given {
		c.plan.Promises = append(c.plan.Promises, next)
		if next.Task == old.Task && next.Start > old.Start {
			c.plan.Delays = append(c.plan.Delays, Delay{Job: id, From: old.Start, To: next.Start, Cause: c.cause(leader)})
		}
		return
	}
	if !k.started[id] && c.planned < c.budget.Planned {
		c.plan.Delays = append(c.plan.Delays, Delay{Job: id, From: old.Start, Cause: c.cause(leader)})
	}
}

// cause is why the promise of a job cannot be kept.
func (c *cycle) cause(id job.ID) string {
	if text := c.kept.causes[id]; text != "" {
		return text
	}
	for i := range c.plan.Verdicts {
		if v := &c.plan.Verdicts[i]; v.Job == id {
			return v.Reasons[0].Detail
		}
	}
	return "jobs ahead of it need its nodes"
}

// give promises a spot to a job.
func (c *cycle) give(id job.ID, task uint32, t *trial, s *spot) {
	p := Promise{Job: id, Task: task, Start: s.start, Partition: t.part.Name, Licenses: s.licenses, Shape: t.shapeOf()}
	for i := range s.placed {
		p.Nodes = append(p.Nodes, PromisedNode{Node: c.view.Nodes[s.placed[i].At].Host.Node.ID, Take: s.placed[i].Take})
	}
	c.given[id] = p
}
