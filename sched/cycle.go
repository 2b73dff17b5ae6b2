package sched

import (
	"cmp"
	"slices"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// overdue is how long a job that should have ended is still expected to hold its
// nodes, in milliseconds.
const overdue = 1000

// cycle is one run of the planner: what is free over time, with what this plan
// has already given away.
type cycle struct {
	view       *View
	now        job.Time
	budget     Budget
	plan       *Plan
	lines      []line // by place in view.Nodes
	licenses   line   // devices stand for licences, by place in view.Licenses
	magnetic   bool // a reservation draws jobs
	reserved   [][]*partition.Reservation
	setAside   []int // nodes of reservations, ascending
	nextColumn int   // of a search that failed: before it no other can succeed
	roomyNodes []int // working memory of reasons
	busy       []*bitset.Set
	held       [][]*bitset.Set
	trials     map[trialKey]*trial
	wheres     map[whereKey]*where
	group      []int32 // of each node: its likeness
	groupCount int
	grid       *grid // nil for a small cluster
	placer     partition.Placer
	cands      []partition.Candidate
	earliest   []job.Time // working memory of the search
	sorted     []job.Time
	ledger     Ledger
	partCores  map[partNode]int // cores that this plan's starts hold, by partition
	planned    int
	balancing  balancing
	kept       *promises // nil: the view has none
	given      map[job.ID]Promise
	displacements
	wiring
	listed
	blockedParts []string // partitions in which a job waits for resources
	byID         map[job.NodeID]int
}

// partNode names a partition's part of a node.
type partNode struct {
	node int
	part string
}

func newCycle(v *View, now job.Time, b Budget) *cycle {
	c := &cycle{
		view: v, now: now, budget: b, plan: &Plan{},
		lines: make([]line, len(v.Nodes)), busy: make([]*bitset.Set, len(v.Nodes)), held: make([][]*bitset.Set, len(v.Nodes)),
		trials: map[trialKey]*trial{}, wheres: map[whereKey]*where{}, partCores: map[partNode]int{}, given: map[job.ID]Promise{},
		displacements: displacements{rivals: map[rivalsKey][]*victim{}, displaced: map[job.ID]bool{}},
	}
	for i := range v.Nodes {
		c.lines[i] = c.lineOf(&v.Nodes[i])
	}
	c.licenseLine()
	c.reservations()
	c.groups()
	if len(v.Nodes) >= c.gridNodes() {
		c.makeGrid()
	}
	if v.Limits != nil {
		c.ledger = v.Limits.Begin(now)
	}
	return c
}

// end is when a hold is expected to end.
func (c *cycle) end(until job.Time) job.Time {
	if until == 0 {
		return never
	}
	return second(max(until, c.now+overdue))
}

func (c *cycle) lineOf(n *Node) line {
	all := n.Host.All()
	l := newLine(c.now, &all)
	for i := range n.Holds {
		h := &n.Holds[i]
		l.change(c.now, c.end(h.Until), &h.Room, -1)
	}
	return l
}

func (c *cycle) licenseLine() {
	all := partition.Room{Devices: make([]int64, len(c.view.Licenses))}
	for i, l := range c.view.Licenses {
		all.Devices[i] = int64(l.Total)
	}
	c.licenses = newLine(c.now, &all)
	for i := range c.view.LicenseHolds {
		h := &c.view.LicenseHolds[i]
		r := c.licenseRoom(h.Licenses)
		c.licenses.change(c.now, c.end(h.Until), &r, -1)
	}
}

// licenseRoom counts licences by place in the view.
func (c *cycle) licenseRoom(list []job.License) partition.Room {
	r := partition.Room{Devices: make([]int64, len(c.view.Licenses))}
	for _, x := range list {
		for i := range c.view.Licenses {
			if c.view.Licenses[i].Name == x.Name {
				r.Devices[i] += int64(x.Count)
			}
		}
	}
	return r
}

// placeOf is the place of a node in the view.
func (c *cycle) placeOf(id job.NodeID) (int, bool) {
	if c.byID == nil {
		c.byID = make(map[job.NodeID]int, len(c.view.Nodes))
		for i := range c.view.Nodes {
			c.byID[c.view.Nodes[i].Host.Node.ID] = i
		}
	}
	i, ok := c.byID[id]
	return i, ok
}

// reservations notes for each node the reservations that have not ended, by
// ascending start.
func (c *cycle) reservations() {
	for _, r := range c.view.Reservations {
		if r.End != 0 && r.End <= c.now {
			continue
		}
		c.magnetic = c.magnetic || r.Has(partition.Magnetic)
		if c.reserved == nil {
			c.reserved = make([][]*partition.Reservation, len(c.view.Nodes))
		}
		for _, id := range r.Nodes {
			if i, ok := c.placeOf(id); ok {
				c.reserved[i] = append(c.reserved[i], r)
			}
		}
	}
	for i, list := range c.reserved {
		if len(list) > 0 {
			c.setAside = append(c.setAside, i)
		}
		slices.SortStableFunc(list, func(a, b *partition.Reservation) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name, b.Name))
		})
	}
}

// blocked is the reservation of others that a stretch of time on a node runs
// into, nil if there is none.
func (c *cycle) blocked(node int, from, to job.Time, own *partition.Reservation) *partition.Reservation {
	if c.reserved == nil {
		return nil
	}
	for _, r := range c.reserved[node] {
		if r == own {
			continue
		}
		if _, _, ok := r.Occurrence(from, to); ok {
			return r
		}
	}
	return nil
}
