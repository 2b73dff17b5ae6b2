package sched

import (
	"fmt"
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// why says what keeps a job of the trial from starting now, the binding reason
// first. The first of a class works it out, for all of them. A job with a planned
// start is not hopeless.
func (c *cycle) why(t *trial, planned bool) []Why {
	if !planned {
		if hopeless := c.never(t); hopeless != nil {
			return hopeless
		}
	}
	short := c.shortages(t)
	if short[0].Reason != job.ReasonResources || !t.part.waits(c) {
		return short
	}
	if t.behind == nil {
		t.behind = append([]Why{{job.ReasonPriority, "jobs ahead of it wait for the same nodes"}}, short...)
	}
	return t.behind
}

// shortages lists all that a job of the trial would need and that is not there
// now: licences, nodes that are kept for others, room on nodes. It is asked when
// one of them is short.
func (c *cycle) shortages(t *trial) []Why {
	if t.short != nil {
		return t.short
	}
	end := endOf(c.now, t.limit)
	_, licensed := c.licensesAt(t, c.now, end)
	if !licensed {
		t.short = append(t.short, Why{job.ReasonLicenses, "licences are in use: " + t.class.Request.Licenses})
		if _, ok := c.place(t, c.now, end, false); ok {
			return t.short
		}
	}
	if why := c.keptForOthers(t, end); why.Reason != job.ReasonNone {
		t.short = append(t.short, why)
	} else {
		t.short = append(t.short, Why{job.ReasonResources, c.lack(t)})
	}
	return t.short
}

// waits tells whether a job ahead already waits for resources of the partition;
// from now on one does.
func (p *Partition) waits(c *cycle) bool {
	for _, name := range c.blockedParts {
		if name == p.Name {
			return true
		}
	}
	c.blockedParts = append(c.blockedParts, p.Name)
	return false
}

// never tells why a job could not start even if all usable nodes were empty, nil
// if it could.
func (c *cycle) never(t *trial) []Why {
	if t.judged {
		return t.hopeless
	}
	t.judged = true
	switch {
	case len(t.absent) > 0:
		t.hopeless = []Why{{job.ReasonReqNodeNotAvail, "UnavailableNodes:" + strings.Join(t.absent, ",")}}
	case c.fitsEmpty(t, t.nodes):
	case len(t.missing) > 0 && c.fitsEmpty(t, append(append([]int{}, t.nodes...), t.missing...)):
		t.hopeless = []Why{{job.ReasonReqNodeNotAvail, "UnavailableNodes:" + c.names(t.missing)}}
	default:
		t.hopeless = []Why{{job.ReasonBadConstraints, fmt.Sprintf("no nodes of partition %s can ever meet the request", t.part.Name)}}
	}
	return t.hopeless
}

// fitsEmpty tries the request on nodes without jobs.
func (c *cycle) fitsEmpty(t *trial, nodes []int) bool {
	if t.plain && t.need.Tasks == 0 && !t.named { // kinds of nodes suffice
		fit := 0
		for k := range t.kinds {
			fit += t.kinds[k].count // all of them can take a part: see able
		}
		if fit >= t.least {
			return true
		}
	}
	keep := c.cands
	defer func() { c.cands = keep }()
	if most := t.mostNodes(); most > 0 && c.fitsKinds(t, most) {
		return true
	}
	cands := make([]partition.Candidate, 0, len(nodes))
	for k, i := range nodes {
		h := c.view.Nodes[i].Host
		required := k < len(t.required) && t.required[k]
		cands = append(cands, partition.Candidate{Host: h, Free: h.All(), Index: i, Required: required})
	}
	c.cands = cands
	_, ok := c.choose(t)
	return ok
}

// fitsKinds tries the request on so many empty nodes of each kind.
func (c *cycle) fitsKinds(t *trial, most int) bool {
	c.cands = nil
	for k := range t.kinds {
		x := partition.Candidate{Host: t.kinds[k].host, Free: t.kinds[k].host.All(), Index: t.kinds[k].first}
		for range min(most, t.kinds[k].count) {
			c.cands = append(c.cands, x)
		}
	}
	_, ok := c.choose(t)
	return ok
}

// mostNodes is the most nodes that a placement of the trial can have, 0 if it
// matters which nodes of a kind they are. So many of each kind tell as much as all.
func (t *trial) mostNodes() int {
	n := t.need
	if t.named || n.Contiguous || t.class.Request.Place.Segment > 0 || t.patient || t.class.Features == nil || len(n.Gres.Job) > 0 {
		return 0
	}
	most := max(1, n.MinNodes, n.MaxNodes)
	if n.MaxNodes == 0 {
		most = max(most, n.Tasks)
	}
	for _, k := range n.Counts {
		most = max(most, int(k))
	}
	for i := range t.class.Features.Groups {
		most += t.class.Features.Groups[i].Count
	}
	return most
}

// names lists at most eight nodes.
func (c *cycle) names(nodes []int) string {
	var out []string
	for k, i := range nodes {
		if k == 8 {
			out = append(out, fmt.Sprintf("and %d more", len(nodes)-k))
			break
		}
		out = append(out, c.view.Nodes[i].Host.Node.Name)
	}
	return strings.Join(out, ",")
}

// keptForOthers is the reason of a job that only reservations of others keep from
// starting now.
func (c *cycle) keptForOthers(t *trial, end job.Time) Why {
	if c.reserved == nil || !c.unless(&t.unkept, t, func() bool { return c.onlyReserved(t, end) }) {
		return Why{}
	}
	for _, i := range t.nodes {
		switch r := c.blocked(i, c.now, end, t.resv); {
		case r == nil:
		case r.Maintenance():
			return Why{job.ReasonReqNodeNotAvail, "Reserved for maintenance"}
		default:
			return Why{job.ReasonReqNodeNotAvail, "May be reserved for other job"}
		}
	}
	return Why{}
}

// onlyReserved tells whether a job could start now if there were no reservations
// of others.
func (c *cycle) onlyReserved(t *trial, end job.Time) bool {
	if t.rows != nil && len(t.class.Features.Groups) == 0 && len(t.class.Features.Any) == 1 {
		// Most often none of the nodes kept for others has room: then the rest need
		// not be looked at.
		c.cands = c.cands[:0]
		any := slices.ContainsFunc(c.setAside, func(i int) bool {
			if t.bits[i/64]&(1<<(i%64)) == 0 || c.blocked(i, c.now, end, t.resv) == nil {
				return false
			}
			x := c.addCandidate(t, i, false, c.now, end)
			fit := t.need.Capacity(x.Host, &x.Free, leastTasks(t.need), &t.cost)
			c.cands = c.cands[:0]
			return fit > 0
		})
		if !any {
			return false
		}
	}
	_, ok := c.place(t, c.now, end, true)
	return ok
}

// lack says what is asked and what is free.
func (c *cycle) lack(t *trial) string {
	var cost partition.Take
	free, cpus := 0, 0
	end := endOf(c.now, t.limit)
	nodes := t.nodes
	if t.rows != nil {
		nodes = c.roomy(t, end)
	}
	for _, i := range nodes {
		h := c.view.Nodes[i].Host
		c.lines[i].least(c.now, end, &t.room)
		cpus += t.room.Cores * h.Threads
		if c.blocked(i, c.now, end, t.resv) == nil && t.need.Capacity(h, &t.room, 1, &cost) > 0 {
			free++
		}
	}
	n := t.need
	switch {
	case n.Whole:
		return fmt.Sprintf("needs %s without other jobs; %d are free", count(n.MinNodes, "node"), free)
	case n.Tasks > 0 && n.MinNodes <= 1:
		return fmt.Sprintf("needs %s of %s; %d nodes have room for one, %d CPUs are free in all",
			count(n.Tasks, "task"), count(n.CPUsPerTask, "CPU"), free, cpus)
	}
	return fmt.Sprintf("needs %s with room for %s; %d are free", count(n.MinNodes, "node"), count(max(1, n.PerNode)*n.CPUsPerTask, "CPU"), free)
}

// roomy lists the nodes that the grid does not rule out for a job that starts now.
func (c *cycle) roomy(t *trial, end job.Time) []int {
	c.roomyNodes = c.roomyNodes[:0]
	first, last := c.grid.from(c.now), c.grid.until(end)
	for word := t.low; word <= t.high; word++ {
		for set, _ := c.inWord(t, word, first, last, true); set != 0; {
			c.roomyNodes = append(c.roomyNodes, word*64+lowest(&set))
		}
	}
	return c.roomyNodes
}

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
