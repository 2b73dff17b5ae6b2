package ctld

import (
	"testing"
	"time"

	"muster/job"
	"muster/partition"
)

func TestSilenceOfNodes(t *testing.T) {
	const s = time.Second
	marked := partition.NodeNotResponding
	type node struct {
		silence time.Duration
		admin   partition.NodeFlag
	}
	for _, c := range []struct {
		name             string
		nodes            []node
		fell, back, lost []job.NodeID
	}{
		{"all well", []node{{1 * s, 0}, {29 * s, 0}}, nil, nil, nil},
		{"one falls silent", []node{{1 * s, 0}, {31 * s, 0}}, []job.NodeID{2}, nil, nil},
		{"and is not marked twice", []node{{1 * s, 0}, {100 * s, marked}}, nil, nil, nil},
		{"one answers again", []node{{1 * s, marked}}, nil, []job.NodeID{1}, nil},
		{"one is given up", []node{{1 * s, 0}, {301 * s, marked}}, nil, nil, []job.NodeID{2}},
		{"two together are shown, not given up", []node{{1 * s, 0}, {301 * s, marked}, {310 * s, marked}}, nil, nil, nil},
		{"two one after the other are given up", []node{{1 * s, 0}, {301 * s, marked}, {400 * s, marked}}, nil, nil, []job.NodeID{2, 3}},
		{"two together for very long", []node{{1 * s, 0}, {3001 * s, marked}, {3002 * s, marked}}, nil, nil, []job.NodeID{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watch{silent: 30 * s, timeout: 300 * s}
			for i, n := range c.nodes {
				w.add(&partition.Node{ID: job.NodeID(i + 1), State: partition.NodeUp, Admin: n.admin}, n.silence)
			}
			same(t, "fell silent", w.fell, c.fell)
			same(t, "answer again", w.back, c.back)
			same(t, "given up", w.lost(), c.lost)
		})
	}
}

func TestOneOfManyNodesIsGivenUp(t *testing.T) {
	w := watch{silent: 30 * time.Second, timeout: 300 * time.Second}
	for i := range 100 {
		silence := time.Second
		if i < 5 {
			silence = 301 * time.Second
		}
		w.add(&partition.Node{ID: job.NodeID(i + 1), State: partition.NodeUp, Admin: partition.NodeNotResponding}, silence)
	}
	if got := len(w.lost()); got != 5 {
		t.Errorf("5 of 100 nodes silent together: %d given up, want 5", got)
	}
	w.add(&partition.Node{ID: 200, State: partition.NodeUp}, 302*time.Second)
	if got := len(w.lost()); got != 0 {
		t.Errorf("6 of 101 nodes silent together: %d given up, want none", got)
	}
}

func TestNodesThatAreNotUpAreLeftAlone(t *testing.T) {
	w := watch{silent: time.Second, timeout: 2 * time.Second}
	for _, s := range []partition.NodeState{partition.NodeUnknown, partition.NodeDown, partition.NodeFuture} {
		w.add(&partition.Node{ID: 1, State: s}, time.Hour)
	}
	if list := w.commands(); len(list) != 0 {
		t.Errorf("%d commands about nodes that are not up", len(list))
	}
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	equal := len(got) == len(want)
	for i := 0; equal && i < len(got); i++ {
		equal = got[i] == want[i]
	}
	if !equal {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
