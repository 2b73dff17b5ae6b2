package sched

import (
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// where is the part of a partition that requests may use. All classes that name
// the same partition, features and nodes share one, so that each kind of node is
// judged once for all of them.
type where struct {
	partAt   int   // place in view.Partitions
	nodes    []int // usable nodes, in order of preference
	required []bool
	named    bool     // some of nodes are required
	missing  []int    // nodes that suit but may not get work now
	absent   []string // names of --nodelist that are not usable
	kinds    []kind   // the kinds of nodes, by first appearance
	bits     []uint64 // the usable nodes as a set of places in view.Nodes
	low      int      // first and last word of bits that is not empty
	high     int
	rising   bool // nodes is in ascending order
	subsets  map[string]*where
	proofs   proofs // of planned starts
	refused  proofs // of starts now
	unkept   proofs // of starts now if there were no reservations
}

// kind is a number of usable nodes that requests cannot tell apart.
type kind struct {
	group int
	first int // the first of them, as a place in view.Nodes
	host  *partition.Host
	count int
}

// whereKey is what decides which nodes a request may use.
type whereKey struct {
	part                    int
	resv                    *partition.Reservation
	constraint, prefer      string
	nodes, exclude          string
	sockets, cores, threads uint16
	tmpMB                   uint64
	sharing                 job.Sharing
	picks                   bool // nodes are a choice, not all needed
}

// groups sorts the nodes by likeness: requests judge one of each group.
func (c *cycle) groups() {
	c.group = make([]int32, len(c.view.Nodes))
	known := map[string]int32{}
	for i := range c.view.Nodes {
		like := c.view.Nodes[i].Host.Likeness()
		g, ok := known[like]
		if !ok {
			g = int32(len(known))
			known[like] = g
		}
		c.group[i] = g
	}
	c.groupCount = len(known)
}

// whereOf finds or makes the part of a partition that a class may use.
func (c *cycle) whereOf(cl *Class, part int, resv *partition.Reservation) *where {
	p := &cl.Request.Place
	s := &cl.Request.Size
	key := whereKey{
		part: part, resv: resv, constraint: p.Constraint, prefer: p.Prefer, nodes: strings.Join(p.Nodes, ","), exclude: strings.Join(p.Exclude, ","),
		sockets: s.SocketsPerNode, cores: s.CoresPerSocket, threads: s.ThreadsPerCore, tmpMB: p.TmpDiskMB, sharing: p.Sharing, picks: partition.PicksNodes(cl.Request),
	}
	if w := c.wheres[key]; w != nil {
		return w
	}
	w := &where{partAt: part}
	c.usable(w, cl, resv)
	w.index(c)
	c.wheres[key] = w
	return w
}

// verdict of a group of nodes: not looked at, unfit, fit.
const (
	groupUnknown = iota
	groupUnfit
	groupFit
)

// usable sorts the partition's nodes into those that the class may use.
func (c *cycle) usable(w *where, cl *Class, resv *partition.Reservation) {
	r := cl.Request
	fit := make([]uint8, c.groupCount)
	found, picks := map[string]bool{}, partition.PicksNodes(r)
	for _, i := range c.view.Partitions[w.partAt].Nodes {
		h := c.view.Nodes[i].Host
		g := &fit[c.group[i]]
		if *g == groupUnknown {
			*g = groupUnfit
			if partition.Suits(r, h) && cl.Features != nil && meetsAny(cl.Features, h.Node.FeaturesOf()) {
				*g = groupFit
			}
		}
		if *g == groupUnfit || slices.Contains(r.Place.Exclude, h.Node.Name) {
			continue
		}
		named := len(r.Place.Nodes) > 0 && slices.Contains(r.Place.Nodes, h.Node.Name)
		if picks && !named {
			continue
		}
		if resv.Binds() && !slices.Contains(resv.Nodes, h.Node.ID) {
			continue
		}
		wanted := named && !picks
		if !h.Node.Available() {
			w.missing = append(w.missing, i)
			continue
		}
		if wanted {
			found[h.Node.Name] = true
			w.named = true
		}
		w.nodes = append(w.nodes, i)
		w.required = append(w.required, wanted)
	}
	for _, name := range r.Place.Nodes {
		if !picks && !found[name] && !slices.Contains(w.absent, name) {
			w.absent = append(w.absent, name)
		}
	}
	if r.Place.Prefer != "" && cl.Prefer != nil {
		c.preferred(w, cl.Prefer)
	}
}

// preferred puts the nodes that --prefer names first; the order among them, and
// among the others, stays.
func (c *cycle) preferred(w *where, features *partition.Features) {
	var nodes []int
	var required []bool
	for _, first := range []bool{true, false} {
		for k, i := range w.nodes {
			if meetsAny(features, c.view.Nodes[i].Host.Node.FeaturesOf()) == first {
				nodes, required = append(nodes, i), append(required, w.required[k])
			}
		}
	}
	w.nodes, w.required = nodes, required
}

// meetsAny tells whether a node could be part of some placement.
func meetsAny(f *partition.Features, has []string) bool {
	return slices.ContainsFunc(f.Any, func(e partition.Expr) bool { return e.Matches(has) })
}

// index works out the sets that follow from the list of nodes.
func (w *where) index(c *cycle) {
	w.bits = make([]uint64, (len(c.view.Nodes)+63)/64)
	w.low, w.high, w.rising = len(w.bits), -1, true
	at := make([]int, c.groupCount)
	for k, i := range w.nodes {
		w.bits[i/64] |= 1 << (i % 64)
		w.low, w.high = min(w.low, i/64), max(w.high, i/64)
		w.rising = w.rising && (k == 0 || w.nodes[k-1] < i)
		g := c.group[i]
		if at[g] == 0 {
			w.kinds = append(w.kinds, kind{group: int(g), first: i, host: c.view.Nodes[i].Host})
			at[g] = len(w.kinds)
		}
		w.kinds[at[g]-1].count++
	}
}

// able is the part whose nodes could take some of a need if they were empty. The
// nodes that are required stay, able or not.
func (w *where) able(c *cycle, n *partition.Need) *where {
	var cost partition.Take
	least := leastTasks(n)
	name := make([]byte, len(w.kinds))
	none := true
	for k := range w.kinds {
		free := w.kinds[k].host.All()
		if n.Capacity(w.kinds[k].host, &free, least, &cost) < least {
			name[k], none = 1, false
		}
	}
	if none || w.named {
		return w
	}
	if s := w.subsets[string(name)]; s != nil {
		return s
	}
	unable := map[int]bool{}
	for k := range w.kinds {
		unable[w.kinds[k].group] = name[k] == 1
	}
	s := &where{partAt: w.partAt, missing: w.missing, absent: w.absent}
	for k, i := range w.nodes {
		if !unable[int(c.group[i])] {
			s.nodes, s.required = append(s.nodes, i), append(s.required, w.required[k])
		}
	}
	s.index(c)
	if w.subsets == nil {
		w.subsets = map[string]*where{}
	}
	w.subsets[string(name)] = s
	return s
}

// leastTasks is the fewest tasks with which a node can be part of a placement.
func leastTasks(n *partition.Need) int {
	switch {
	case n.Tasks == 0:
		return max(1, n.PerNode)
	case n.MaxNodes == 1:
		return n.Tasks
	}
	return 1
}
