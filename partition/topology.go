package partition

import (
	"fmt"
	"slices"
)

// Topology is a part of the network: a tree of switches (Slurm's topology/tree), or
// blocks of nodes that are near each other (topology/block).
type Topology struct {
	Name   string
	Block  bool
	Leaves []Leaf // in the order of the cluster file
}

// Leaf is a switch that nodes hang on, or a block.
type Leaf struct {
	Name  string
	Nodes []string // by name
	Above []string // the switches above it, the nearest first
}

// Check tells what is wrong with a topology: a node in two leaves, or a leaf
// without nodes.
func (t *Topology) Check() error {
	in := map[string]string{}
	for i := range t.Leaves {
		l := &t.Leaves[i]
		if len(l.Nodes) == 0 {
			return fmt.Errorf("topology %s: %s has no nodes", t.Name, l.Name)
		}
		for _, n := range l.Nodes {
			if other, twice := in[n]; twice {
				return fmt.Errorf("topology %s: node %s is in %s and in %s", t.Name, n, other, l.Name)
			}
			in[n] = l.Name
		}
	}
	return nil
}

// Spread says how a job is to lie in the network.
type Spread struct {
	Nodes   int // how many it needs
	Segment int // so many of them, or a multiple, in each leaf; 0: as it comes
	Leaves  int // most leaves, 0: no bound
}

// Nearest chooses how many nodes to take of each leaf, when so many are free there:
// from the lowest part of the tree that has enough, and there from the fewest leaves,
// of which the last is the one that is left with the least; of equal parts from the
// one with the fewest free nodes. For up to eight leaves this is tested against all choices: no
// other takes a smaller part of the tree, nor fewer leaves of it. It is false when
// there is not enough, or only with more leaves than allowed.
func (t *Topology) Nearest(s Spread, free []int) ([]int, bool) {
	unit := max(1, s.Segment)
	if s.Nodes%unit != 0 {
		return nil, false
	}
	usable := make([]int, len(free))
	for i, n := range free {
		usable[i] = n / unit * unit
	}
	for height := 0; ; height++ {
		var best []int
		least := [2]int{} // leaves, free nodes
		pools, more := t.pools(s.Nodes, usable, height)
		for _, pool := range pools {
			take, leaves := fewest(s.Nodes, usable, pool)
			cost := [2]int{leaves, sum(usable, pool)}
			if (s.Leaves == 0 || leaves <= s.Leaves) && (best == nil || slices.Compare(cost[:], least[:]) < 0) {
				best, least = take, cost
			}
		}
		if best != nil || !more {
			return best, best != nil
		}
	}
}

// pools lists the leaves of each part of the tree of a height that has enough free
// nodes. Above the tree there is the whole, as the last.
func (t *Topology) pools(nodes int, free []int, height int) (pools [][]int, more bool) {
	parts := map[string][]int{}
	var names []string
	for i := range t.Leaves {
		name := "\x00" // the whole
		if height == 0 {
			name = fmt.Sprint(i)
		} else if height <= len(t.Leaves[i].Above) {
			name = t.Leaves[i].Above[height-1]
		}
		more = more || name != "\x00"
		if parts[name] == nil {
			names = append(names, name)
		}
		parts[name] = append(parts[name], i)
	}
	for _, name := range names {
		if sum(free, parts[name]) >= nodes {
			pools = append(pools, parts[name])
		}
	}
	return pools, more
}

func sum(free, leaves []int) int {
	n := 0
	for _, i := range leaves {
		n += free[i]
	}
	return n
}

// fewest takes nodes from the fewest leaves of a pool.
func fewest(nodes int, free, pool []int) (take []int, leaves int) {
	take = make([]int, len(free))
	for left := nodes; left > 0; {
		at := -1
		for _, i := range pool {
			if take[i] > 0 || free[i] == 0 {
				continue
			}
			if at < 0 || better(free[i], free[at], left) {
				at = i
			}
		}
		take[at] = min(left, free[at])
		left -= take[at]
		leaves++
	}
	return take, leaves
}

// better tells whether a leaf with a free nodes is rather taken than one with b: the
// smallest that suffices, else the largest.
func better(a, b, left int) bool {
	if a >= left && b >= left {
		return a < b
	}
	return a > b
}
