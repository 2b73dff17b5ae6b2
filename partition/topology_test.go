package partition

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyTree draws up to eight leaves below up to three switches below one at the top.
func anyTree(t *rapid.T) (*Topology, []int) {
	tree := &Topology{Name: "t"}
	var free []int
	for range rapid.IntRange(1, 8).Draw(t, "leaves") {
		up := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "above")
		tree.Leaves = append(tree.Leaves, Leaf{Above: []string{up, "top"}})
		free = append(free, rapid.IntRange(0, 6).Draw(t, "free"))
	}
	return tree, free
}

// cost is the height of the part of the tree that leaves span, and their number.
func (t *Topology) cost(leaves []int) (height, count int) {
	if len(leaves) <= 1 {
		return 0, len(leaves)
	}
	up := t.Leaves[leaves[0]].Above[0]
	if slices.ContainsFunc(leaves, func(i int) bool { return t.Leaves[i].Above[0] != up }) {
		return 2, len(leaves)
	}
	return 1, len(leaves)
}

// No choice of leaves is nearer than the one that is made, and none that suffices
// is missed.
func TestNearestIsTheNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree, free := anyTree(rt)
		s := Spread{Segment: rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(rt, "segment"), Leaves: rapid.IntRange(0, 4).Draw(rt, "most")}
		unit := max(1, s.Segment)
		s.Nodes = unit * rapid.IntRange(1, 12).Draw(rt, "units")
		best := [2]int{3, 99}
		for set := 1; set < 1<<len(free); set++ {
			var leaves []int
			sum := 0
			for i := range free {
				if set&(1<<i) != 0 {
					leaves = append(leaves, i)
					sum += free[i] / unit * unit
				}
			}
			h, n := tree.cost(leaves)
			if sum >= s.Nodes && (s.Leaves == 0 || n <= s.Leaves) && (h < best[0] || h == best[0] && n < best[1]) {
				best = [2]int{h, n}
			}
		}
		take, ok := tree.Nearest(s, free)
		if ok != (best[1] < 99) {
			rt.Fatalf("found %v %v, the best choice has height and leaves %v", take, ok, best)
		}
		if !ok {
			return
		}
		var leaves []int
		sum := 0
		for i, n := range take {
			if n > free[i] || n%unit != 0 {
				rt.Fatalf("takes %d of %d free nodes in segments of %d", n, free[i], unit)
			}
			if sum += n; n > 0 {
				leaves = append(leaves, i)
			}
		}
		if h, n := tree.cost(leaves); sum != s.Nodes || h != best[0] || n != best[1] {
			rt.Fatalf("takes %v: %d nodes, height %d, %d leaves; best is %v", take, sum, h, n, best)
		}
	})
}

func TestTopologyCheck(t *testing.T) {
	ok := &Topology{Leaves: []Leaf{{Name: "a", Nodes: []string{"n1"}}, {Name: "b", Nodes: []string{"n2"}}}}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []*Topology{
		{Leaves: []Leaf{{Name: "a"}}},
		{Leaves: []Leaf{{Name: "a", Nodes: []string{"n1"}}, {Name: "b", Nodes: []string{"n1"}}}},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
