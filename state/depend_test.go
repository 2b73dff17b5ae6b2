package state

import (
	"slices"
	"testing"

	"muster/internal/bitset"
	"muster/job"
)

func after(kind job.DependKind, on ...job.ID) func(*NewJob) {
	return func(n *NewJob) {
		for _, id := range on {
			n.Deps = append(n.Deps, job.Dependency{Kind: kind, On: id, Task: job.NoTask})
		}
	}
}

// What each kind comes to when the other job starts, succeeds, fails, or is
// cancelled before it started.
func TestDependencyKinds(t *testing.T) {
	const wait, never, none = job.ReasonDependency, job.ReasonDependencyNeverSatisfied, job.ReasonNone
	for name, c := range map[string]struct {
		kind                           job.DependKind
		started, good, bad, notStarted job.Reason
	}{
		"after":       {job.DependAfter, none, none, none, none},
		"afterany":    {job.DependAfterAny, wait, none, none, none},
		"afterok":     {job.DependAfterOK, wait, none, never, never},
		"afternotok":  {job.DependAfterNotOK, wait, never, none, none},
		"aftercorr":   {job.DependAfterCorr, wait, none, never, never},
		"burstbuffer": {job.DependAfterBurstBuffer, wait, none, none, none},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			good, bad, gone := w.submit(nil), w.submit(nil), w.submit(nil)
			x, y, z := w.submit(after(c.kind, good)), w.submit(after(c.kind, bad)), w.submit(after(c.kind, gone))
			w.is(x, job.Pending, wait)
			w.refuse(NoLongerFits, w.startCmd(x, job.NoTask, 0, "n4"))
			w.start(good, "n1")
			w.start(bad, "n2")
			w.is(x, job.Pending, c.started)
			w.exit(good, 0)
			w.exit(bad, 1)
			w.cancel(Target{Job: gone})
			w.is(x, job.Pending, c.good)
			w.is(y, job.Pending, c.bad)
			w.is(z, job.Pending, c.notStarted)
		})
	}
}

func TestDependencyOnUnknownJob(t *testing.T) {
	w := newWorld(t)
	w.is(w.submit(after(job.DependAfterAny, 77)), job.Pending, job.ReasonNone)
	w.is(w.submit(after(job.DependAfterOK, 77)), job.Pending, job.ReasonDependencyNeverSatisfied)
}

func TestAllOrAny(t *testing.T) {
	w := newWorld(t)
	a, b := w.submit(nil), w.submit(nil)
	all := w.submit(after(job.DependAfterOK, a, b))
	anyOf := w.submit(func(n *NewJob) {
		after(job.DependAfterOK, a, b)(n)
		n.AnyDep = true
	})
	w.start(a, "n1")
	w.exit(a, 0)
	w.is(all, job.Pending, job.ReasonDependency)
	w.is(anyOf, job.Pending, job.ReasonNone)
	w.start(b, "n1")
	w.exit(b, 1)
	w.is(all, job.Pending, job.ReasonDependencyNeverSatisfied)
	// A failed one stays failed, whatever happens to the other job later.
	w.must(&Requeue{Targets: []Target{{Job: b}}})
	w.start(b, "n1")
	w.exit(b, 0)
	w.is(all, job.Pending, job.ReasonDependencyNeverSatisfied)
	w.must(&Update{Target: Target{Job: all}, Deps: &Dependencies{}})
	w.is(all, job.Pending, job.ReasonNone)
}

// A chain of jobs that want to be cancelled goes with its first.
func TestKillOnInvalidDependency(t *testing.T) {
	w := newWorld(t)
	first := w.submit(nil)
	last := first
	for range 5 {
		on := last
		last = w.submit(func(n *NewJob) {
			after(job.DependAfterOK, on)(n)
			n.Request.KillOnDep = job.Yes
		})
	}
	w.cancel(Target{Job: first})
	w.is(last, job.Cancelled, job.ReasonDependencyNeverSatisfied)
	if n := len(slices.Collect(w.m.Root().Waiting())); n != 0 {
		t.Errorf("%d jobs still wait", n)
	}
	at := w.submit(func(n *NewJob) {
		after(job.DependAfterOK, first)(n)
		n.Request.KillOnDep = job.Yes
	})
	w.is(at, job.Cancelled, job.ReasonDependencyNeverSatisfied)
	if got := w.ends(at); len(got) != 1 {
		t.Errorf("recorded %v", got)
	}
}

func TestAfterWithDelay(t *testing.T) {
	w := newWorld(t)
	a := w.submit(nil)
	x := w.submit(func(n *NewJob) {
		n.Deps = []job.Dependency{{Kind: job.DependAfter, On: a, Task: job.NoTask, Delay: 2}}
	})
	w.start(a, "n1")
	w.is(x, job.Pending, job.ReasonDependency)
	w.now += 118_000
	w.must(&Tick{})
	w.is(x, job.Pending, job.ReasonDependency)
	w.must(&Tick{})
	w.is(x, job.Pending, job.ReasonNone)
}

func TestSingleton(t *testing.T) {
	w := newWorld(t)
	single := func(n *NewJob) { n.Deps = []job.Dependency{{Kind: job.DependSingleton, Task: job.NoTask}} }
	a := w.submit(nil)
	x, y := w.submit(single), w.submit(single)
	other := w.submit(func(n *NewJob) { single(n); n.Owner.UID = 7 })
	w.is(other, job.Pending, job.ReasonNone)
	w.is(x, job.Pending, job.ReasonDependency)
	w.start(a, "n1")
	w.exit(a, 1)
	w.is(x, job.Pending, job.ReasonNone)
	w.is(y, job.Pending, job.ReasonDependency)
	w.start(x, "n1")
	w.exit(x, 0)
	w.is(y, job.Pending, job.ReasonNone)
}

func TestDependencyOnArray(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 0, 1)
	all, one := w.submit(after(job.DependAfterOK, a)), w.submit(func(n *NewJob) {
		n.Deps = []job.Dependency{{Kind: job.DependAfterOK, On: a, Task: 1}}
	})
	w.exit(w.startTask(a, 1, "n1"), 0)
	w.is(one, job.Pending, job.ReasonNone)
	w.is(all, job.Pending, job.ReasonDependency)
	w.exit(w.startTask(a, 0, "n1"), 0)
	w.is(all, job.Pending, job.ReasonNone)
}

// aftercorr lets each task go with its partner, whether that ends before the
// array is submitted or after; a task without a partner never runs.
func TestAfterCorr(t *testing.T) {
	for name, early := range map[string]bool{"partners end first": true, "partners end later": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.array(nil, 0, 1, 2)
			run := func() {
				w.exit(w.startTask(a, 0, "n1"), 0)
				w.exit(w.startTask(a, 1, "n1"), 1)
			}
			if early {
				run()
			}
			x := w.array(after(job.DependAfterCorr, a), 0, 1, 2, 3)
			if !early {
				run()
			}
			root := w.m.Root
			w.is(root().ArrayTask(x, 0).ID, job.Pending, job.ReasonNone)
			w.is(root().ArrayTask(x, 1).ID, job.Pending, job.ReasonDependencyNeverSatisfied)
			w.is(root().ArrayTask(x, 2).ID, job.Pending, job.ReasonDependency)
			w.exit(w.startTask(a, 2, "n1"), 0)
			w.is(root().ArrayTask(x, 2).ID, job.Pending, job.ReasonNone)
			w.is(root().ArrayTask(x, 3).ID, job.Pending, job.ReasonDependencyNeverSatisfied)
		})
	}
}

func TestAfterCorrOfCancelledRest(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 0, 1, 2)
	x := w.array(after(job.DependAfterCorr, a), 0, 1, 2)
	w.cancel(Target{Job: a, Tasks: bitset.Of(0, 1)})
	w.is(w.m.Root().ArrayTask(x, 0).ID, job.Pending, job.ReasonDependencyNeverSatisfied)
	w.is(w.m.Root().ArrayTask(x, 2).ID, job.Pending, job.ReasonDependency)
	if u := w.m.Root().ArrayUse(x); u.Waiting != 3 {
		t.Errorf("%d tasks wait, want 3", u.Waiting)
	}
}

func TestHeterogeneous(t *testing.T) {
	w := newWorld(t)
	ids := w.must(&Submit{Jobs: []NewJob{newJob(), newJob()}}).Jobs
	if ids[1] != ids[0]+1 {
		t.Errorf("ids %v are not consecutive", ids)
	}
	if h := w.job(ids[0]).Het; h.Leader != ids[0] || !slices.Equal(h.IDs, ids) {
		t.Errorf("leader: %+v", h)
	}
	if h := w.job(ids[1]).Het; h.Leader != ids[0] || h.Offset != 1 || h.IDs != nil {
		t.Errorf("component 1: %+v", h)
	}
	w.cancel(Target{Job: ids[0]})
	w.is(ids[1], job.Cancelled, job.ReasonNone)
}

// A delay that runs goes on when the other job goes back to the queue.
func TestDelayOutlivesARequeue(t *testing.T) {
	w := newWorld(t)
	a := w.submit(nil)
	x := w.submit(func(n *NewJob) {
		n.Deps = []job.Dependency{{Kind: job.DependAfter, On: a, Task: job.NoTask, Delay: 1}}
	})
	w.start(a, "n1")
	w.must(&Requeue{Targets: []Target{{Job: a}}})
	w.exit(a, 0)
	w.is(x, job.Pending, job.ReasonDependency)
	w.now += 60_000
	w.must(&Tick{})
	w.is(x, job.Pending, job.ReasonNone)
}
