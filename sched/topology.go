package sched

import (
	"slices"

	"muster/job"
	"muster/partition"
)

// defaultSwitchWait is how long a job that names no time waits for its switches
// (slurm.conf(5), max_switch_wait), in seconds.
const defaultSwitchWait = 300

// network is a topology with the nodes of the view in it.
type network struct {
	*partition.Topology
	leaf []int // of each node, -1 if it is in none
}

// wiring is what a cycle knows of the network.
type wiring struct {
	networks         map[string]*network
	waitsForSwitches bool // the job that is looked at does
}

// networkOf finds the topology of a partition; nil if its network is flat.
func (c *cycle) networkOf(p *Partition) *network {
	if p.Topology == "" {
		return nil
	}
	if n, known := c.networks[p.Topology]; known {
		return n
	}
	var n *network
	for _, t := range c.view.Topologies {
		if t.Name == p.Topology {
			n = &network{Topology: t, leaf: c.leaves(t)}
		}
	}
	if c.networks == nil {
		c.networks = map[string]*network{}
	}
	c.networks[p.Topology] = n
	return n
}

func (c *cycle) leaves(t *partition.Topology) []int {
	of := map[string]int{}
	for i := range t.Leaves {
		for _, name := range t.Leaves[i].Nodes {
			of[name] = i
		}
	}
	out := make([]int, len(c.view.Nodes))
	for i := range c.view.Nodes {
		out[i] = -1
		if l, ok := of[c.view.Nodes[i].Host.Node.Name]; ok {
			out[i] = l
		}
	}
	return out
}

// patient tells whether a job still waits for the switches that it wants.
func (c *cycle) patient(j *job.Job) bool {
	p := &j.Request.Place
	if p.Switches == 0 {
		return false
	}
	wait := job.Time(p.SwitchWait)
	if wait == 0 {
		wait = defaultSwitchWait
	}
	return c.now < j.Times.Eligible+wait*1000
}

// spreads tells whether it matters to a trial where in the network its nodes are.
func (t *trial) spreads() bool {
	return t.network != nil && (t.need.MinNodes > 1 || t.need.Tasks > 1 && t.need.MaxNodes != 1)
}

// near places on candidates that are near each other. Without demands on the
// network a job that nothing near suffices for gets what there is.
func (c *cycle) near(t *trial, need *partition.Need, cands []partition.Candidate) ([]partition.Placed, bool) {
	place := &t.class.Request.Place
	s := partition.Spread{Nodes: max(1, need.MinNodes), Segment: int(place.Segment)}
	if t.patient {
		s.Leaves = int(place.Switches)
	}
	strict := s.Segment > 0 || s.Leaves > 0
	byLeaf := make([][]int, len(t.network.Leaves))
	free := make([]int, len(byLeaf))
	for k := range cands {
		x := &cands[k]
		leaf := t.network.leaf[x.Index]
		if leaf >= 0 && need.Capacity(x.Host, &x.Free, leastTasks(need), &t.cost) >= leastTasks(need) {
			byLeaf[leaf] = append(byLeaf[leaf], k)
			free[leaf]++
		}
	}
	if t.named {
		free = ofRequired(cands, byLeaf, free)
	}
	if take, ok := t.network.Nearest(s, free); ok {
		if placed, ok := c.put(need, within(cands, byLeaf, take)); ok {
			return t.network.order(placed), true
		}
	}
	if strict {
		return nil, false
	}
	placed, ok := c.put(need, cands)
	return t.network.order(placed), ok
}

// ofRequired leaves only the nodes of leaves that have a node which the job must
// have. Where those do not suffice, no others are looked for nearby.
func ofRequired(cands []partition.Candidate, byLeaf [][]int, free []int) []int {
	out := make([]int, len(free))
	for leaf, list := range byLeaf {
		if slices.ContainsFunc(list, func(k int) bool { return cands[k].Required }) {
			out[leaf] = free[leaf]
		}
	}
	return out
}

// within are so many candidates of each leaf, those that the job must have first.
func within(cands []partition.Candidate, byLeaf [][]int, take []int) []partition.Candidate {
	var out []partition.Candidate
	for leaf, n := range take {
		list := byLeaf[leaf]
		slices.SortStableFunc(list, func(a, b int) int { return required(&cands[b]) - required(&cands[a]) })
		for _, k := range list[:n] {
			out = append(out, cands[k])
		}
	}
	for k := range cands { // what is left out makes the placement fail, if it is required
		if cands[k].Required && !slices.ContainsFunc(out, func(x partition.Candidate) bool { return x.Index == cands[k].Index }) {
			out = append(out, cands[k])
		}
	}
	return out
}

func required(x *partition.Candidate) int {
	if x.Required {
		return 1
	}
	return 0
}

// order puts the nodes of a placement, and so the ranks of the job, in the order of
// the network.
func (n *network) order(placed []partition.Placed) []partition.Placed {
	slices.SortStableFunc(placed, func(a, b partition.Placed) int { return n.leaf[a.At] - n.leaf[b.At] })
	return placed
}
