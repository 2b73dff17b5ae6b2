package schedbench

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"muster/job"
	"muster/sched"
	"muster/sched/feed"
	"muster/sched/sim"
	"muster/state"
)

// sizeOf is a hundredth of the full size, or the part of it in per cent that
// SCHEDBENCH says.
func sizeOf() Size {
	part, err := strconv.Atoi(os.Getenv("SCHEDBENCH"))
	if err != nil || part < 1 {
		part = 1
	}
	s := Full()
	s.Nodes, s.Pending, s.Shapes = s.Nodes*part/100, s.Pending*part/100, s.Shapes*part/100
	return s
}

// cpu is what this process has used, in time on processors.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed runs f and reports what it took.
func timed(t *testing.T, what string, f func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, w := cpu(), time.Now()
	f()
	c, wall := cpu()-c, time.Since(w)
	runtime.ReadMemStats(&after)
	t.Logf("%-28s %8.1f ms CPU %8.1f ms wall, %d MB allocated, %d MB heap", what, c.Seconds()*1000, wall.Seconds()*1000,
		(after.TotalAlloc-before.TotalAlloc)>>20, after.HeapSys>>20)
}

// TestCycles measures a cold cycle that plans for all jobs, one as a controller makes
// it, and those after 100 ends and 100 submits, and checks that state takes what is
// planned. docs/benchmarks.md has the figures of SCHEDBENCH=100. Short, it leaves the
// first out.
func TestCycles(t *testing.T) {
	w, err := New(sizeOf())
	if err != nil {
		t.Fatal(err)
	}
	f := feed.New()
	var view *sched.View
	var plan *sched.Plan
	timed(t, "cold view", func() { view = f.Update(w.Root()) })
	if !testing.Short() {
		timed(t, "cold plan for all", func() { plan = view.Plan(w.Now(), sched.Budget{Planned: 1 << 30}) })
		summary(t, w.Root(), plan)
	}
	timed(t, "cold plan of a controller", func() { plan = view.Plan(w.Now(), sim.Budget()) })
	summary(t, w.Root(), plan)
	for range 3 {
		commit(t, w, plan)
		w.End(100)
		w.Submit(100)
		timed(t, "view after 100 + 100", func() { view = f.Update(w.Root()) })
		view.Promises = plan.Promises
		timed(t, "plan after 100 + 100", func() { plan = view.Plan(w.Now(), sim.Budget()) })
		summary(t, w.Root(), plan)
	}
}

func commit(t *testing.T, w *World, plan *sched.Plan) {
	t.Helper()
	for _, s := range plan.Starts {
		if err := w.Start(s.Job, s.Task, s.Alloc, s.Limit); err != nil {
			t.Fatal(err)
		}
	}
}

func summary(t *testing.T, root *state.Root, p *sched.Plan) {
	planned, none := 0, 0
	by := map[job.Reason]int{}
	for i := range p.Verdicts {
		v := &p.Verdicts[i]
		if v.Planned != 0 {
			planned++
		}
		if len(v.Reasons) == 0 {
			none++
			continue
		}
		by[v.Reasons[0].Reason]++
	}
	t.Logf("%d starts, %d verdicts, %d with a planned start, %d steps; reasons %v", len(p.Starts), len(p.Verdicts), planned, p.Steps, by)
	if none > 0 {
		t.Errorf("%d verdicts without a reason", none)
	}
	if root.JobCount() == 0 {
		t.Error("the world is empty")
	}
}
