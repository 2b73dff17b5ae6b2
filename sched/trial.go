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
}

// trial is what a cycle has found out about a class in a partition. It holds for
// all jobs of the class, since a cycle only ever takes away.
type trial struct {
	class    *Class
	part     *Partition
	resv     *partition.Reservation
	need     *partition.Need
	limit    job.Minutes
	nodes    []int // usable nodes, in order of preference
	required []bool
	missing  []int    // nodes that suit but may not get work now
	absent   []string // names of --nodelist that are not usable
	after    job.Time // no job of the class can start before
	failed   bool     // one could not start now
	whyFirst []Why    // verdict of the first that waits
	whyNext  []Why    // verdict of those behind it
	hopeless []Why    // it could not start on all usable nodes if they were empty
	judged   bool     // hopeless is worked out
	room     partition.Room
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
	key := trialKey{cl, part, resv}
	if t := c.trials[key]; t != nil {
		return t
	}
	p := &c.view.Partitions[part]
	t := &trial{class: cl, part: p, resv: resv, after: c.now, need: partition.NewNeed(cl.Request, p.Partition, c.view.Policy)}
	t.limit = p.Limit(cl.Request)
	t.need.MaxNodes = capNodes(t.need, p)
	if resv != nil {
		t.after = max(t.after, resv.Start)
	}
	c.usable(t)
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

// usable sorts the partition's nodes into those that the class may use.
func (c *cycle) usable(t *trial) {
	r := t.class.Request
	seen := 0
	for _, i := range t.part.Nodes {
		h := c.view.Nodes[i].Host
		if slices.Contains(r.Place.Exclude, h.Node.Name) || !partition.Suits(r, h) || t.class.Features == nil ||
			!meetsAny(t.class.Features, h.Node.FeaturesOf()) {
			continue
		}
		if t.resv != nil && !slices.Contains(t.resv.Nodes, h.Node.ID) {
			continue
		}
		wanted := len(r.Place.Nodes) > 0 && slices.Contains(r.Place.Nodes, h.Node.Name)
		if !h.Node.Available() {
			t.missing = append(t.missing, i)
			if wanted {
				t.absent = append(t.absent, h.Node.Name)
				seen++
			}
			continue
		}
		if wanted {
			seen++
		}
		t.nodes = append(t.nodes, i)
		t.required = append(t.required, wanted)
	}
	if seen < len(r.Place.Nodes) {
		for _, name := range r.Place.Nodes {
			if !c.has(t, name) && !slices.Contains(t.absent, name) {
				t.absent = append(t.absent, name)
			}
		}
	}
	t.failed = len(t.absent) > 0
	if r.Place.Prefer != "" && t.class.Prefer != nil {
		c.preferred(t)
	}
}

// preferred puts the nodes that --prefer names first; the order among them, and
// among the others, stays.
func (c *cycle) preferred(t *trial) {
	var nodes []int
	var required []bool
	for _, first := range []bool{true, false} {
		for k, i := range t.nodes {
			if meetsAny(t.class.Prefer, c.view.Nodes[i].Host.Node.FeaturesOf()) == first {
				nodes, required = append(nodes, i), append(required, t.required[k])
			}
		}
	}
	t.nodes, t.required = nodes, required
}

func (c *cycle) has(t *trial, name string) bool {
	return slices.ContainsFunc(t.nodes, func(i int) bool { return c.view.Nodes[i].Host.Node.Name == name })
}

// meetsAny tells whether a node could be part of some placement.
func meetsAny(f *partition.Features, has []string) bool {
	return slices.ContainsFunc(f.Any, func(e partition.Expr) bool { return e.Matches(has) })
}

// place tries to place a job of the trial over a stretch of time.
func (c *cycle) place(t *trial, from, to job.Time, ignoreResv bool) ([]partition.Placed, bool) {
	c.cands = c.cands[:0]
	c.plan.Steps += len(t.nodes)
	for k, i := range t.nodes {
		if !ignoreResv && c.blocked(i, from, to, t.resv) != nil {
			if t.required[k] {
				return nil, false
			}
			continue
		}
		c.addCandidate(i, t.required[k], from, to)
		if most := int(t.part.MaxCPUsNode); most > 0 {
			x := &c.cands[len(c.cands)-1]
			x.Free.Cores = min(x.Free.Cores, max(0, most/x.Host.Threads-c.coresOf(i, t.part.Name)))
		}
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

// addCandidate appends a node with what is free there; it reuses the memory of
// the candidates before.
func (c *cycle) addCandidate(node int, required bool, from, to job.Time) {
	n := len(c.cands)
	if n < cap(c.cands) {
		c.cands = c.cands[:n+1]
	} else {
		c.cands = append(c.cands, partition.Candidate{})
	}
	x := &c.cands[n]
	x.Host, x.Index, x.Required = c.view.Nodes[node].Host, node, required
	c.lines[node].least(from, to, &x.Free)
}

// choose places on the candidates, with the class's features. Placed.At is a
// place in view.Nodes then.
func (c *cycle) choose(t *trial) ([]partition.Placed, bool) {
	f := t.class.Features
	if t.part.LLN {
		slices.SortStableFunc(c.cands, func(a, b partition.Candidate) int { return b.Free.Cores - a.Free.Cores })
	}
	if f.Plain() {
		return c.put(t.need, c.cands)
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
		if placed, ok := c.put(need, cands); ok {
			return placed, true
		}
	}
	return nil, false
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
