package sched

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/job"
	"muster/partition"
)

// keep makes a plan's promises those of the view, as committing them does.
func (w *world) keep(p *Plan) { w.Promises = p.Promises }

func (p *Plan) promise(id job.ID) *Promise {
	for i := range p.Promises {
		if p.Promises[i].Job == id {
			return &p.Promises[i]
		}
	}
	return nil
}

func (p *Plan) delay(id job.ID) *Delay {
	for i := range p.Delays {
		if p.Delays[i].Job == id {
			return &p.Delays[i]
		}
	}
	return nil
}

// end ends a running job before its limit.
func (w *world) end(id job.ID) {
	for i := range w.runs {
		if w.runs[i].Job == id {
			w.runs[i].until = w.now
		}
	}
	w.expire()
}

// ahead puts a job at the head of the queue.
func (w *world) ahead(f func(*job.Job)) job.ID {
	id := w.submit(f)
	last := len(w.Waiting) - 1
	w.Waiting = append([]Waiting{w.Waiting[last]}, w.Waiting[:last]...)
	return id
}

// steady applies plans until nothing starts any more and keeps the last promises.
func (w *world) steady() *Plan {
	for {
		p := w.plan()
		w.apply(p)
		w.keep(p)
		if len(p.Starts) == 0 {
			return p
		}
	}
}

func TestAPromiseIsKeptOnItsNodes(t *testing.T) {
	w := newWorld(2, 4)
	w.submit(ask(8, 10)) // both nodes
	a, b := w.submit(ask(4, 10)), w.submit(ask(4, 10))
	w.steady()
	// Another planner would put them the other way round.
	w.Promises[0].Nodes, w.Promises[1].Nodes = w.Promises[1].Nodes, w.Promises[0].Nodes
	want := w.Promises
	p := w.plan()
	for i, id := range []job.ID{a, b} {
		if got := p.promise(id); got.Start != want[i].Start || got.Nodes[0].Node != want[i].Nodes[0].Node {
			t.Errorf("job %d was promised %+v, now %+v", id, want[i], got)
		}
	}
	w.now = want[0].Start
	w.expire()
	p = w.plan()
	wantStarts(t, p, a, b)
	if got := nodesOf(p, a); got[0] != "n2" {
		t.Errorf("job %d starts on %v, it was promised n2", a, got)
	}
}

// A job ahead that could start earlier by taking what is promised to one behind it
// does not; without the promise it does.
func TestAnEarlierStartTakesNothingFromPromisesBehind(t *testing.T) {
	w := newWorld(2, 4)
	long := w.submit(func(j *job.Job) { ask(4, 60)(j); j.Request.Place.Nodes = []string{"n1"} })
	w.submit(func(j *job.Job) { ask(4, 10)(j); j.Request.Place.Nodes = []string{"n2"} })
	first := w.submit(func(j *job.Job) { ask(4, 100)(j); j.Request.Place.Exclude = []string{"n3"} })
	second := w.submit(func(j *job.Job) { ask(4, 10)(j); j.Request.Place.Nodes = []string{"n1"} })
	p := w.steady()
	if at := p.promise(first); at.Nodes[0].Node != 2 {
		t.Fatalf("job %d is promised %+v, want n2", first, at)
	}
	was := *p.promise(second)
	w.now += minute
	w.end(long) // n1 is free, nine minutes before n2
	p = w.plan()
	wantStarts(t, p, second)
	if len(p.Delays) > 0 || p.promise(first).Start > w.now+9*minute {
		t.Errorf("delays %+v, promises %+v", p.Delays, p.Promises)
	}
	w.Promises = nil
	wantStarts(t, w.plan(), first)
	if was.Start <= w.now {
		t.Errorf("job %d was promised %d already", second, was.Start)
	}
}

func TestWhatDelaysAPromise(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(w *world, runs, waits job.ID)
		cause string // part of it
		gone  bool   // there is no new start
	}{
		{"its node is lost", func(w *world, _, _ job.ID) {
			w.node(1, func(n *partition.Node) { n.State = partition.NodeDown })
		}, "node n2 is not available", true},
		{"a job ahead of it comes", func(w *world, _, _ job.ID) { w.ahead(ask(8, 30)) }, "which is ahead of it, needs node", false},
		{"a running job gets more time", func(w *world, runs, _ job.ID) {
			for i := range w.runs {
				if w.runs[i].Job == runs {
					w.runs[i].until += 60 * minute
				}
			}
			w.expire()
		}, "holds node n1 for longer", false},
		{"a reservation takes its nodes", func(w *world, _, _ job.ID) {
			w.Reservations = []*partition.Reservation{{Name: "maint", Start: w.now + 15*minute, End: w.now + 90*minute, Nodes: []job.NodeID{2}}}
		}, "reservation maint has node n2", false},
		{"it is held", func(w *world, _, waits job.ID) {
			for i := range w.Waiting {
				if w.Waiting[i].Job.ID == waits {
					j := *w.Waiting[i].Job
					j.Held = job.HeldByUser
					w.Waiting[i].Job = &j
				}
			}
		}, "held by its user", true},
		{"its limit is raised", func(w *world, _, waits job.ID) {
			w.Reservations = []*partition.Reservation{{Name: "later", Start: w.now + 40*minute, End: w.now + 90*minute, Nodes: []job.NodeID{1, 2}}}
			for i := range w.Waiting {
				if w.Waiting[i].Job.ID == waits {
					j, r := *w.Waiting[i].Job, *w.Waiting[i].Job.Request
					r.Timing.Limit = 50
					j.Request = &r
					w.Waiting[i] = Waiting{Job: &j, Class: NewClass(&r)}
				}
			}
		}, "its request or the limits of its partition were changed", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(3, 4)
			w.node(2, func(n *partition.Node) { n.State = partition.NodeDown })
			runs := w.submit(ask(8, 10))
			waits := w.submit(ask(8, 10))
			p := w.steady()
			was := p.promise(waits)
			if was == nil {
				t.Fatalf("job %d has no promise: %+v", waits, p)
			}
			c.do(w, runs, waits)
			p = w.plan()
			d := p.delay(waits)
			if d == nil || !strings.Contains(d.Cause, c.cause) || d.From != was.Start {
				t.Fatalf("delays %+v, want one from %d with %q", p.Delays, was.Start, c.cause)
			}
			now := p.promise(waits)
			if c.gone != (now == nil) || now != nil && (d.To != now.Start || now.Start <= was.Start) {
				t.Errorf("delay %+v, promise now %+v", d, now)
			}
		})
	}
}

// quietWorld is a queue of which nothing gets ahead later: no throttled array, and
// all in one partition.
func quietJob(t *rapid.T) func(*job.Job) {
	any := anyJob(t)
	return func(j *job.Job) {
		any(j)
		j.Request.Partitions = []string{"debug"}
		if j.Array.JobID != 0 {
			j.Array.Limit = 0
		}
	}
}

// While jobs end at their limits or before and others join at the end of the queue,
// no promise ever moves later.
func TestNothingInsideMovesAPromiseLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			w.submit(quietJob(t))
		}
		for range rapid.IntRange(1, 6).Draw(t, "cycles") {
			w.steady()
			was := w.Promises
			w.step(t, was)
			for range rapid.IntRange(0, 3).Draw(t, "behind") {
				w.submit(quietJob(t))
			}
			p := w.plan()
			if len(p.Delays) > 0 {
				t.Fatalf("delayed for nothing: %+v; promised was %+v", p.Delays, was)
			}
			started := map[job.ID]bool{}
			for _, s := range p.Starts {
				started[s.Job] = true
			}
			for _, old := range was {
				now := p.promise(old.Job)
				if !started[old.Job] && (now == nil || now.Task == old.Task && now.Start > old.Start) {
					t.Fatalf("job %d was promised %d, is now %+v at %d", old.Job, old.Start, now, w.now)
				}
			}
		}
	})
}

// step lets some time pass, not beyond the first promise, and ends some jobs early.
func (w *world) step(t *rapid.T, promises []Promise) {
	next := w.now + job.Time(rapid.IntRange(0, 30).Draw(t, "minutes"))*minute
	for _, p := range promises {
		next = min(next, max(w.now, p.Start))
	}
	w.now = next
	for i := range w.runs {
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			w.runs[i].until = w.now
		}
	}
	w.expire()
}

// Whatever happens outside, a promise that is not kept is named with its cause, and
// none that is kept is. What is promised never exceeds what there is: all promises
// of a plan together can be kept.
func TestEachBrokenPromiseIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			w.submit(anyJob(t))
		}
		for range rapid.IntRange(1, 4).Draw(t, "cycles") {
			w.steady()
			was := w.Promises
			w.step(t, was)
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				w.ahead(anyJob(t))
			case 1:
				at := rapid.IntRange(0, len(w.Nodes)-1).Draw(t, "node")
				w.node(at, func(n *partition.Node) { n.State = partition.NodeDown })
			case 2:
				for i := range w.runs {
					w.runs[i].until += 7 * minute
				}
				w.expire()
			}
			p := w.plan()
			for _, old := range was {
				now, d := p.promise(old.Job), p.delay(old.Job)
				later := now != nil && now.Task == old.Task && now.Start > old.Start
				if later && (d == nil || d.Cause == "" || d.To != now.Start) {
					t.Fatalf("job %d was promised %+v, is now %+v, and %+v says why", old.Job, old, now, d)
				}
				if d != nil && !later && now != nil {
					t.Fatalf("job %d is said to be delayed (%+v), and is promised %+v after %+v", old.Job, d, now, old)
				}
			}
			w.keep(p)
			w.apply(p)
			nothingTwice(t, w)
			again := w.plan()
			if len(again.Delays) > 0 {
				t.Fatalf("the promises of a plan cannot all be kept: %+v", again.Delays)
			}
		}
	})
}

// A plan that is cut leaves the promises of jobs that it did not reach as they are.
func TestACutPlanKeepsPromises(t *testing.T) {
	w := newWorld(1, 2)
	w.submit(ask(2, 10))
	for range 4 {
		w.submit(ask(1, 10))
	}
	w.steady()
	w.now = w.Promises[0].Start
	w.expire()
	p := w.Plan(w.now, Budget{Starts: 1})
	if len(p.Starts) != 1 || !p.Cut || len(p.Promises) != 3 || len(p.Delays) != 0 {
		t.Errorf("starts %d, cut %v, promises %+v, delays %+v", len(p.Starts), p.Cut, p.Promises, p.Delays)
	}
}
