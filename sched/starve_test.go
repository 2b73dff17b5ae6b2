package sched

import (
	"slices"
	"testing"
)

// A job that needs all nodes starts by its first planned time, though jobs of one
// node never stop coming behind it, with and without the grid.
func TestNobodyStarves(t *testing.T) {
	for _, grid := range []int{0, 1} {
		w := newWorld(4, 8)
		w.grid = grid
		stream := func() { // more work than the cluster has room for
			for range 3 {
				w.submit(ask(8, 7))
				w.submit(ask(4, 3))
			}
		}
		stream()
		w.apply(w.plan())
		big := w.submit(whole(4, 5))
		v := w.plan().verdict(big)
		if v == nil || v.Planned == 0 {
			t.Fatalf("grid %d: no planned start: %+v", grid, v)
		}
		starts := false
		for w.now < v.Planned+minute && !starts { // there is a cycle once a minute
			p := w.plan()
			starts = slices.Contains(started(p), big)
			w.apply(p)
			w.now += minute
			w.expire()
			stream()
		}
		if !starts {
			t.Errorf("grid %d: job %d was to start at %d and waits at %d", grid, big, v.Planned, w.now)
		}
	}
}
