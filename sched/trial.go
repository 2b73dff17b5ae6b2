package sched

import (
	"slices"

	"muster/job"
	"muster/partition"
)

// trialKey names one class in one partition and reservation.
type trialKey struct {
	class *Class
	part  int
	resv  *partition.Reservation
	// patient: jobs that still wait for the switches which they want.
	patient bool
}

// trial is what a cycle has found out about a class in a partition. It holds for
// all jobs of the class, since a cycle only ever takes away.
type trial struct {
	*where
	class    *Class
	part     *Partition
	resv     *partition.Reservation
	need     *partition.Need
	limit    job.Minutes
	rows     []int    // rows of the grid that a node must be in
	floor    level    // the least that a node must have free
	min      least    // the same in numbers
	uneven   bool     // it needs different amounts of different kinds of nodes
	since    []uint16 // by word of nodes from low on: no window that begins before this column
	least    int      // fewest nodes
	plain    bool     // the first nodes that suffice are the answer
	after    job.Time // no job of the class can start before
	failed   bool     // one could not start now
	short    []Why    // what is not there now
	behind   []Why    // the same for those that wait behind others
	hopeless []Why    // it could not start on all usable nodes if they were empty
	judged   bool     // hopeless is worked out
	before   job.Time // starts from here on are of no use; 0: no bound
	shape    uint64   // see shapeOf
	// What jobs with a promise have found out: that one could not start now, and up
	// to when there was no earlier start for one.
	keptFailed bool
	keptAfter  job.Time
	room       partition.Room
	cost       partition.Take
	network    *network // nil: flat
	patient    bool     // it still waits for its switches
}

// length is how long a job of the trial holds its nodes when started at t.
func (t *trial) length(start job.Time) job.Time {
	if t.limit == job.Unlimited {
		return never
	}
	return job.Time(t.limit) * 60000
}

// trialOf finds or makes the trial of a class in a partition.
func (c *cycle) trialOf(cl *Class, part int, resv *partition.Reservation) *trial {
	key := trialKey{cl, part, resv, c.waitsForSwitches}
	if t := c.trials[key]; t != nil {
		return t
	}
	p := &c.view.Partitions[part]
	t := &trial{class: cl, part: p, resv: resv, after: c.now, need: partition.NewNeed(cl.Request, p.Partition, c.view.Policy)}
	t.limit = p.Limit(cl.Request)
	t.network, t.patient = c.networkOf(p), c.waitsForSwitches
	t.need.MaxNodes = capNodes(t.need, p)
	if resv.Binds() {
		t.after = max(t.after, resv.Start)
	}
	t.where = c.whereOf(cl, part, resv).able(c, t.need)
	t.failed = len(t.absent) > 0
	t.least = max(1, t.need.MinNodes)
	if len(t.need.Counts) > 0 {
		t.least = int(t.need.Counts[0])
	}
	c.onGrid(t)
	c.trials[key] = t
	return t
}

// capNodes keeps the most nodes of a range within the partition's limit.
func capNodes(n *partition.Need, p *Partition) int {
	if p.MaxNodes == 0 {
		return n.MaxNodes
	}
	if n.MaxNodes == 0 {
		return max(n.MinNodes, int(p.MaxNodes))
	}
	return max(n.MinNodes, min(n.MaxNodes, int(p.MaxNodes)))
}

// place tries to place a job of the trial over a stretch of time.
func (c *cycle) place(t *trial, from, to job.Time, ignoreResv bool) ([]partition.Placed, bool) {
	c.cands = c.cands[:0]
	if t.rows != nil && !ignoreResv {
		return c.placeByGrid(t, from, to)
	}
	c.plan.Steps += len(t.nodes)
	for k, i := range t.nodes {
		if !ignoreResv && c.blocked(i, from, to, t.resv) != nil {
			if t.required[k] {
				return nil, false
			}
			continue
		}
		c.addCandidate(t, i, t.required[k], from, to)
	}
	return c.choose(t)
}

// coresOf is how many cores of a node jobs of a partition hold (slurm.conf(5),
// MaxCPUsPerNode), this plan's starts included.
func (c *cycle) coresOf(node int, part string) int {
	sum := c.partCores[partNode{node, part}]
	for i := range c.view.Nodes[node].Holds {
		if h := &c.view.Nodes[node].Holds[i]; h.Partition == part {
			sum += h.Room.Cores
		}
	}
	return sum
}

// addCandidate appends a node with what is free there for the partition; it reuses
// the memory of the candidates before.
func (c *cycle) addCandidate(t *trial, node int, required bool, from, to job.Time) *partition.Candidate {
	n := len(c.cands)
	if n < cap(c.cands) {
		c.cands = c.cands[:n+1]
	} else {
		c.cands = append(c.cands, partition.Candidate{})
	}
	x := &c.cands[n]
	x.Host, x.Index, x.Required = c.view.Nodes[node].Host, node, required
	c.line(node).least(from, to, &x.Free)
	if c.kept != nil && c.kept.careful { // a promise that is about to move may be counted twice there
		x.Free.Cores, x.Free.MemoryMB = max(0, x.Free.Cores), max(0, x.Free.MemoryMB)
		for k, n := range x.Free.Devices {
			x.Free.Devices[k] = max(0, n)
		}
	}
	if most := int(t.part.MaxCPUsNode); most > 0 {
		x.Free.Cores = min(x.Free.Cores, max(0, most/x.Host.Threads-c.coresOf(node, t.part.Name)))
	}
	return x
}

// choose places on the candidates, with the class's features. Placed.At is a
// place in view.Nodes then.
func (c *cycle) choose(t *trial) ([]partition.Placed, bool) {
	f := t.class.Features
	if t.part.LLN {
		slices.SortStableFunc(c.cands, func(a, b partition.Candidate) int { return b.Free.Cores - a.Free.Cores })
	}
	if f.Plain() {
		return c.lay(t, t.need, c.cands)
	}
	for i := range f.Any {
		var cands []partition.Candidate
		for _, x := range c.cands {
			if f.Any[i].Matches(x.Host.Node.FeaturesOf()) {
				cands = append(cands, x)
			}
		}
		need, ok := c.counted(t.need, f.Groups, cands)
		if !ok {
			continue
		}
		if placed, ok := c.lay(t, need, cands); ok {
			return placed, true
		}
	}
	return nil, false
}

// lay places with regard to the network, if there is one.
func (c *cycle) lay(t *trial, need *partition.Need, cands []partition.Candidate) ([]partition.Placed, bool) {
	if t.spreads() && !need.Contiguous {
		return c.near(t, need, cands)
	}
	return c.put(need, cands)
}

func (c *cycle) put(need *partition.Need, cands []partition.Candidate) ([]partition.Placed, bool) {
	placed, _, ok := c.placer.Place(need, cands)
	if !ok {
		return nil, false
	}
	for i := range placed {
		placed[i].At = cands[placed[i].At].Index
	}
	slices.SortFunc(placed, func(a, b partition.Placed) int { return a.At - b.At })
	return placed, true
}

// counted marks for each counted feature so many nodes as required.
func (c *cycle) counted(need *partition.Need, groups []partition.Group, cands []partition.Candidate) (*partition.Need, bool) {
	if len(groups) == 0 {
		return need, true
	}
	var cost partition.Take
	total := 0
	for _, g := range groups {
		left := g.Count
		total += g.Count
		for i := range cands {
			x := &cands[i]
			if left > 0 && !x.Required && g.Expr.Matches(x.Host.Node.FeaturesOf()) && need.Capacity(x.Host, &x.Free, 1, &cost) > 0 {
				x.Required = true
				left--
			}
		}
		if left > 0 {
			return nil, false
		}
	}
	wider := *need
	wider.MinNodes = max(need.MinNodes, total)
	if wider.MaxNodes > 0 {
		wider.MaxNodes = max(wider.MaxNodes, wider.MinNodes)
	}
	return &wider, true
}
