package sched

import (
	"fmt"
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// why says what keeps a job of the trial from starting now. The first of a class
// works it out, for all of them. A job with a planned start is not hopeless.
func (c *cycle) why(t *trial, planned bool) []Why {
	if t.whyNext != nil {
		return t.whyNext
	}
	if !planned {
		t.whyNext = c.never(t)
	}
	if t.whyNext == nil {
		t.whyNext = c.outside(t)
	}
	if t.whyNext != nil {
		return t.whyNext
	}
	lack := Why{job.ReasonResources, c.lack(t)}
	t.whyNext = []Why{{job.ReasonPriority, "jobs ahead of it wait for the same nodes"}, lack}
	if t.part.waits(c) {
		return t.whyNext
	}
	return []Why{lack}
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
	cands := make([]partition.Candidate, 0, len(nodes))
	for k, i := range nodes {
		h := c.view.Nodes[i].Host
		required := k < len(t.required) && t.required[k]
		cands = append(cands, partition.Candidate{Host: h, Free: h.All(), Index: i, Required: required})
	}
	keep := c.cands
	defer func() { c.cands = keep }()
	c.cands = cands
	_, ok := c.choose(t)
	return ok
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

// outside finds reasons that are no lack of cores, memory or devices: licences,
// and reservations of others.
func (c *cycle) outside(t *trial) []Why {
	end := endOf(c.now, t.limit)
	if _, ok := c.licensesAt(t, c.now, end); !ok {
		return []Why{{job.ReasonLicenses, "licences are in use: " + t.class.Request.Licenses}}
	}
	if c.reserved == nil || !c.onlyReserved(t, end) {
		return nil
	}
	for _, i := range t.nodes {
		r := c.blocked(i, c.now, end, t.resv)
		if r == nil {
			continue
		}
		if r.Maintenance() {
			return []Why{{job.ReasonReqNodeNotAvail, "Reserved for maintenance"}}
		}
		return []Why{{job.ReasonReqNodeNotAvail, "May be reserved for other job"}}
	}
	return nil
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
	_, ok := c.at(t, c.now, t.limit, true)
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
