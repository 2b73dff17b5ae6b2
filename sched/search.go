package sched

import (
	"slices"

	"muster/job"
	"muster/partition"
)

// maxTries bounds the places in time that are tried for one job.
const maxTries = 64

// spot is a placement in time.
type spot struct {
	start, end job.Time
	limit      job.Minutes
	placed     []partition.Placed
	licenses   []job.License
}

// at tries to place a job of the trial at one moment.
func (c *cycle) at(t *trial, start job.Time, limit job.Minutes, ignoreResv bool) (spot, bool) {
	s := spot{start: start, limit: limit}
	s.end = endOf(start, limit)
	if t.resv.Binds() && t.resv.End != 0 {
		left := job.Minutes((t.resv.End - start) / 60000)
		if start < t.resv.Start || t.resv.End <= start || left == 0 {
			return s, false
		}
		if s.end > t.resv.End { // a job ends with its reservation
			s.limit, s.end = left, endOf(start, left)
		}
	}
	var ok bool
	if s.licenses, ok = c.licensesAt(t, start, s.end); !ok {
		return s, false
	}
	s.placed, ok = c.place(t, start, s.end, ignoreResv)
	return s, ok
}

func endOf(start job.Time, limit job.Minutes) job.Time {
	if limit == job.Unlimited {
		return never
	}
	return second(plus(start, job.Time(limit)*60000))
}

// licensesAt chooses the licences of a job that are free over a stretch of time.
func (c *cycle) licensesAt(t *trial, from, to job.Time) ([]job.License, bool) {
	want := &t.class.Licenses
	if len(want.List) == 0 {
		return nil, true
	}
	c.licensesLine().least(from, to, &t.room)
	free := func(x job.License) bool {
		for i := range c.view.Licenses {
			if c.view.Licenses[i].Name == x.Name {
				return t.room.Devices[i] >= int64(x.Count)
			}
		}
		return false
	}
	if want.Any {
		for _, x := range want.List {
			if free(x) {
				return []job.License{x}, true
			}
		}
		return nil, false
	}
	for _, x := range want.List {
		if !free(x) {
			return nil, false
		}
	}
	return want.List, true
}

// soonest finds the earliest placement of a job of the trial, not before t.after.
// It is false when there is none within the steps allowed.
func (c *cycle) soonest(t *trial) (spot, bool) {
	least := t.least
	if len(t.nodes) < least || len(t.absent) > 0 || t.hopeless != nil {
		return spot{}, false
	}
	if t.rows != nil {
		return c.sweep(t)
	}
	c.earliest = c.earliest[:0]
	for range t.nodes {
		c.earliest = append(c.earliest, 0)
	}
	from := t.after
	for range maxTries {
		from = c.ready(t, from, least)
		if from == never || t.before != 0 && from >= t.before || c.spent() {
			return spot{}, false
		}
		if s, ok := c.at(t, from, t.limit, false); ok {
			t.after = from
			return s, true
		}
		if from = c.changeAfter(t, from); from == never {
			return spot{}, false
		}
	}
	return spot{}, false
}

// ready is the first time, not before from, at which enough nodes could each take
// some part of the job.
func (c *cycle) ready(t *trial, from job.Time, least int) job.Time {
	for range maxTries {
		length := t.length(from)
		c.sorted = c.sorted[:0]
		latest := from
		for k, i := range t.nodes {
			if c.earliest[k] < from {
				c.earliest[k] = c.nodeReady(t, i, from, length)
			}
			c.sorted = append(c.sorted, c.earliest[k])
			if t.required[k] {
				latest = max(latest, c.earliest[k])
			}
		}
		slices.Sort(c.sorted)
		latest = max(latest, c.sorted[least-1])
		if latest == from || latest == never {
			return latest
		}
		from = latest
	}
	return never
}

// nodeReady is when a node first has room for some part of a job.
func (c *cycle) nodeReady(t *trial, node int, from, length job.Time) job.Time {
	h := c.view.Nodes[node].Host
	var cost partition.Take
	want := 1
	if t.need.Tasks == 0 {
		want = max(1, t.need.PerNode)
	} else if t.need.MaxNodes == 1 {
		want = t.need.Tasks
	}
	fit := func(r *partition.Room) bool { return t.need.Capacity(h, r, want, &cost) > 0 }
	if want > 1 {
		fit = func(r *partition.Room) bool { return t.need.Capacity(h, r, want, &cost) == want }
	}
	for range maxTries {
		start, looks := c.line(node).first(from, length, fit)
		c.plan.Steps += looks
		if start == never {
			return never
		}
		r := c.blocked(node, start, plus(start, length), t.resv)
		if r == nil || t.resv != nil {
			return start
		}
		_, end, _ := r.Occurrence(start, plus(start, length))
		if end == 0 {
			return never
		}
		from = end
	}
	return never
}

// changeAfter is the first time past from at which any of the class's nodes, or
// a licence that it needs, changes.
func (c *cycle) changeAfter(t *trial, from job.Time) job.Time {
	next := never
	for _, i := range t.nodes {
		next = min(next, c.line(i).after(from))
		if c.reserved != nil {
			for _, r := range c.reserved[i] {
				if r.End > from {
					next = min(next, r.End)
				}
			}
		}
	}
	if len(t.class.Licenses.List) > 0 {
		next = min(next, c.licensesLine().after(from))
	}
	return next
}

// spent tells whether the steps of the cycle are used up.
func (c *cycle) spent() bool { return c.budget.Steps > 0 && c.plan.Steps >= c.budget.Steps }

// take gives a spot's resources away, or with sign 1 gives them back.
func (c *cycle) take(s *spot, sign int) {
	for i := range s.placed {
		p := &s.placed[i]
		c.lines[p.At].change(s.start, s.end, &p.Room, sign)
		switch {
		case c.grid == nil:
		case sign < 0:
			c.grid.lower(c, p.At, s.start, s.end, &p.Room)
		default:
			c.grid.redraw(c, p.At, s.start, s.end)
		}
	}
	if len(s.licenses) > 0 {
		r := c.licenseRoom(s.licenses)
		c.licenses.change(s.start, s.end, &r, sign)
	}
	if c.kept != nil {
		c.kept.follow(c, s, sign)
	}
}
