package sched

import "muster/job"

// A heterogeneous job starts with all its components or not at all.

// lookTogether judges all components of a heterogeneous job. Each uses the first
// partition of its list.
func (c *cycle) lookTogether(w *Waiting, p *pin) (Verdict, bool) {
	trials := make([]*trial, len(w.Parts))
	var whys []Why
	for i, p := range w.Parts {
		part := -1
		if len(p.Job.Request.Partitions) > 0 {
			part = c.partition(p.Job.Request.Partitions[0])
		}
		one := Waiting{Job: p.Job, Class: p.Class}
		whys = append(whys, c.rules(&one, part)...)
		resv, not := c.reservation(p.Job, p.Class)
		whys = append(whys, not...)
		if part >= 0 {
			trials[i] = c.trialOf(p.Class, part, resv)
		}
	}
	if len(whys) > 0 {
		return Verdict{Reasons: whys}, false
	}
	spots, stuck := c.allNow(trials, p)
	if spots != nil {
		if why, ok := c.startAll(w, trials, spots, p); !ok {
			return Verdict{Reasons: []Why{why}}, false
		}
		return Verdict{}, true
	}
	v := Verdict{}
	c.planAll(w, trials, p, &v)
	v.Reasons = c.why(trials[stuck], v.Planned != 0)
	return v, false
}

// allNow gives all components room at once. Those with a promise get the promised
// nodes when it is due, else what disturbs no promise.
func (c *cycle) allNow(trials []*trial, p *pin) (spots []spot, stuck int) {
	if p == nil {
		return c.allAt(trials, c.now)
	}
	if p.start <= c.now {
		return c.allKept(p)
	}
	c.kept.careful = true
	defer func() { c.kept.careful = false }()
	if spots, stuck = c.allAt(trials, c.now); spots != nil {
		return spots, stuck
	}
	return c.allAt(p.trials, c.now)
}

// allAt gives all components room from one moment on, or none: then it tells
// which component found none.
func (c *cycle) allAt(trials []*trial, start job.Time) (spots []spot, stuck int) {
	for i, t := range trials {
		s, ok := c.at(t, start, t.limit, false)
		if !ok {
			for k := range spots {
				c.take(&spots[k], 1)
			}
			return nil, i
		}
		c.take(&s, -1)
		spots = append(spots, s)
	}
	return spots, 0
}

func (c *cycle) startAll(w *Waiting, trials []*trial, spots []spot, p *pin) (Why, bool) {
	var starts []Start
	for i, t := range trials {
		a, ok := c.allocation(t, &spots[i])
		why := Why{}
		if !ok {
			why = Why{job.ReasonResources, "cores or devices that should be free are held"}
		} else if c.ledger != nil {
			why = c.ledger.Holds(w.Parts[i].Job, &a, spots[i].limit)
		}
		if why.Reason != job.ReasonNone {
			for k := range spots {
				c.take(&spots[k], 1)
			}
			return why, false
		}
		c.occupy(&spots[i], &a)
		starts = append(starts, Start{Job: w.Parts[i].Job.ID, Task: job.NoTask, Alloc: a, Limit: spots[i].limit})
	}
	for i := range starts {
		if c.ledger != nil {
			c.ledger.Started(w.Parts[i].Job, &starts[i].Alloc, starts[i].Limit)
		}
		c.noteStart(starts[i].Job, &spots[i], p)
	}
	c.plan.Starts = append(c.plan.Starts, starts...)
	return Why{}, true
}

// planAll keeps room for all components: at the promised moment or a better one, or
// else at the earliest common one.
func (c *cycle) planAll(w *Waiting, trials []*trial, p *pin, v *Verdict) {
	if !c.mayPlan() {
		return
	}
	spots := c.keepAll(w, trials, p)
	if spots == nil {
		spots = c.allSoonest(trials, never)
	}
	if spots == nil {
		return
	}
	c.notePlanned()
	v.Planned = spots[0].start
	for i := range spots {
		id := w.Parts[i].Job.ID
		v.Nodes = append(v.Nodes, c.nodeIDs(spots[i].placed)...)
		c.give(id, job.NoTask, trials[i], &spots[i])
		c.noteTaking(id, &spots[i], p)
	}
}

// keepAll keeps a promise or betters it; nil if there is none or it cannot be kept.
func (c *cycle) keepAll(w *Waiting, trials []*trial, p *pin) []spot {
	if p == nil {
		return nil
	}
	c.kept.careful = true
	spots := c.allSoonest(trials, p.start)
	c.kept.careful = false
	if spots != nil {
		return spots
	}
	spots, stuck := c.allKept(p)
	if spots == nil {
		c.kept.causes[w.Job.ID] = c.blame(p.trials[stuck], p.start)
	}
	return spots
}

// allKept takes the room of a promise, or tells which component's is not free.
func (c *cycle) allKept(p *pin) (spots []spot, stuck int) {
	for i := range p.kept {
		if !c.free(p.trials[i], &p.kept[i]) {
			for k := range spots {
				c.take(&spots[k], 1)
			}
			return nil, i
		}
		c.take(&p.kept[i], -1)
		spots = append(spots, p.kept[i])
	}
	return spots, 0
}

// allSoonest finds the earliest common moment before one and takes the room then.
func (c *cycle) allSoonest(trials []*trial, before job.Time) []spot {
	from := c.now
	for _, t := range trials {
		try := *t
		s, ok := c.soonest(&try)
		if !ok {
			return nil
		}
		from = max(from, s.start)
	}
	for range maxTries {
		if from >= before || c.spent() {
			return nil
		}
		if spots, _ := c.allAt(trials, from); spots != nil {
			return spots
		}
		next := never
		for _, t := range trials {
			next = min(next, c.changeAfter(t, from))
		}
		from = next
	}
	return nil
}
