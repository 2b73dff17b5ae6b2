package sched

import (
	"fmt"
	"strings"

	"muster/job"
	"muster/partition"
)

// why says what keeps a job of the trial from starting now. The first of a class
// works it out, for all of them.
func (c *cycle) why(t *trial) []Why {
	if t.whyNext != nil {
		return t.whyNext
	}
	if whys := c.never(t); whys != nil {
		t.whyNext = whys
		return whys
	}
	if whys := c.outside(t); whys != nil {
		t.whyNext = whys
		return whys
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
	if c.reserved == nil {
		return nil
	}
	if _, ok := c.at(t, c.now, t.limit, true); !ok {
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

// lack says what is asked and what is free.
func (c *cycle) lack(t *trial) string {
	var cost partition.Take
	free, cpus := 0, 0
	end := endOf(c.now, t.limit)
	for _, i := range t.nodes {
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

func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
