package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/job"
	"muster/partition"
)

// anyGrid is a world whose plans are made on the grid, however small it is: some
// jobs run, others wait.
func anyGrid(t *rapid.T) *world {
	w := anyWorld(t)
	for range rapid.IntRange(1, 10).Draw(t, "running") {
		w.submit(anyJob(t))
	}
	w.apply(w.plan())
	w.Waiting = nil
	for range rapid.IntRange(1, 14).Draw(t, "waiting") {
		w.submit(anyJob(t))
	}
	return w
}

// Each job that is placed on the grid gets the first column in which looking at
// every node would have placed it: sets, counts and proofs rule nothing out that
// fits.
func TestSweepMissesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := anyGrid(rt)
		c := newCycle(&w.View, w.now, Budget{GridNodes: 1, Planned: 1000})
		for i := range w.Waiting {
			j, cl := w.Waiting[i].Job, w.Waiting[i].Class
			part := rapid.IntRange(0, 1).Draw(rt, "partition")
			tr := c.trialOf(cl, part, nil)
			if tr.rows == nil || len(tr.absent) > 0 {
				continue
			}
			s, ok := c.soonest(tr)
			for _, at := range c.grid.start {
				if ok && at >= s.start {
					break
				}
				if fits(c, tr, at) {
					rt.Fatalf("job %d of %+v fits at %d, the grid says %d %v", j.ID, j.Request.Size, at, s.start, ok)
				}
			}
			if ok {
				c.take(&s, -1)
			}
		}
		gridIsTrue(rt, c)
	})
}

// fits looks at every node.
func fits(c *cycle, t *trial, at job.Time) bool {
	rows := t.rows
	t.rows = nil
	defer func() { t.rows = rows }()
	_, ok := c.at(t, at, t.limit, false)
	return ok
}

// gridIsTrue compares the sets and counts with the lines.
func gridIsTrue(t *rapid.T, c *cycle) {
	kept := c.grid
	c.makeGrid()
	if !slices.Equal(kept.sets, c.grid.sets) || !slices.Equal(kept.count, c.grid.count) || !slices.Equal(kept.now, c.grid.now) {
		t.Fatal("the grid that was kept is not the one that its lines give")
	}
	c.grid = kept
}

// What is taken and given back leaves no trace.
func TestTakingBackRestoresTheGrid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := anyGrid(rt)
		c := newCycle(&w.View, w.now, Budget{GridNodes: 1})
		s := spot{start: second(w.now + job.Time(rapid.IntRange(0, 5000).Draw(rt, "start"))*minute/2), placed: make([]partition.Placed, 1)}
		s.end = s.start + job.Time(rapid.IntRange(1, 5000).Draw(rt, "length"))*minute
		s.placed[0].At = rapid.IntRange(0, len(w.Nodes)-1).Draw(rt, "node")
		s.placed[0].Room = partition.Room{Cores: 1, MemoryMB: 500, Devices: []int64{1}}
		sets := slices.Clone(c.grid.sets)
		c.take(&s, -1)
		gridIsTrue(rt, c)
		c.take(&s, 1)
		if !slices.Equal(sets, c.grid.sets) {
			rt.Fatal("the grid is another than before")
		}
	})
}
