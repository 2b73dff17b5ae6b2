package sched

import "muster/job"

// A heterogeneous job starts with all its components or not at all.

// lookTogether judges all components of a heterogeneous job. Each uses the first
// partition of its list.
func (c *cycle) lookTogether(w *Waiting) (Verdict, bool) {
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
	spots, stuck := c.allAt(trials, c.now)
	if spots != nil {
		if why, ok := c.startAll(w, trials, spots); !ok {
			return Verdict{Reasons: []Why{why}}, false
		}
		return Verdict{}, true
	}
	v := Verdict{}
	c.planAll(trials, &v)
	v.Reasons = c.why(trials[stuck], v.Planned != 0)
	return v, false
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

func (c *cycle) startAll(w *Waiting, trials []*trial, spots []spot) (Why, bool) {
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
	}
	c.plan.Starts = append(c.plan.Starts, starts...)
	return Why{}, true
}

// planAll keeps room for all components at the earliest common moment.
func (c *cycle) planAll(trials []*trial, v *Verdict) {
	if c.planned >= c.budget.Planned || c.spent() {
		return
	}
	from := c.now
	for _, t := range trials {
		s, ok := c.soonest(t)
		if !ok {
			return
		}
		from = max(from, s.start)
	}
	for range maxTries {
		if spots, _ := c.allAt(trials, from); spots != nil {
			c.planned++
			v.Planned = from
			for i := range spots {
				v.Nodes = append(v.Nodes, c.nodeIDs(spots[i].placed)...)
			}
			return
		}
		next := never
		for _, t := range trials {
			next = min(next, c.changeAfter(t, from))
		}
		if from = next; from == never || c.spent() {
			return
		}
	}
}
