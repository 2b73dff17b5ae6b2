package state

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"muster/job"
)

func plain(id job.ID, start job.Time, nodes ...job.NodeID) Planned {
	p := Planned{Job: id, Task: job.NoTask, Start: start, Partition: "main", Shape: 7}
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, PlannedShare{Node: n, Tasks: 1, CPUs: 2, Cores: 1, MemoryMB: 100, Devices: []uint64{0, 1}})
	}
	return p
}

func promised(r *Root) map[job.ID]job.Time {
	out := map[job.ID]job.Time{}
	for _, p := range r.Promises() {
		out[p.Job] = p.Start
	}
	return out
}

func TestPromisesAreChangedOneByOne(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.submit(nil), w.submit(nil), w.submit(nil)
	w.must(&Promise{Set: []Planned{plain(c, 30, 3), plain(a, 10, 1)}})
	old := w.m.Root()
	w.must(&Promise{Set: []Planned{plain(b, 20, 2), plain(c, 25, 2, 3)}, Drop: []job.ID{a}})
	if got, want := fmt.Sprint(promised(w.m.Root())), fmt.Sprint(map[job.ID]job.Time{b: 20, c: 25}); got != want {
		t.Errorf("promised are %s, want %s", got, want)
	}
	if p := w.m.Root().PromiseOf(c); p == nil || !reflect.DeepEqual(*p, plain(c, 25, 2, 3)) {
		t.Errorf("the promise of job %d is %+v", c, p)
	}
	if got, want := fmt.Sprint(promised(old)), fmt.Sprint(map[job.ID]job.Time{a: 10, c: 30}); got != want {
		t.Errorf("the root before says now %s, want %s", got, want)
	}
	if old.SamePromises(w.m.Root()) {
		t.Error("roots with different promises are said to have the same")
	}
}

func TestAJobThatWaitsNoMoreHasNoPromise(t *testing.T) {
	w := newWorld(t)
	runs, cancelled, waits := w.submit(nil), w.submit(nil), w.submit(nil)
	w.must(&Promise{Set: []Planned{plain(runs, 10, 1), plain(cancelled, 10, 2), plain(waits, 10, 3)}})
	w.start(runs, "n1")
	w.must(&End{Targets: []Target{{Job: cancelled}}, To: job.Cancelled})
	if got := promised(w.m.Root()); len(got) != 1 || got[waits] != 10 {
		t.Errorf("promised are %v, want that of job %d alone", got, waits)
	}
	res := w.do(&Promise{Set: []Planned{plain(runs, 20, 1), plain(999, 20, 1)}, Delayed: []Delayed{{Job: runs}}})
	if len(res.Skipped) != 3 || len(w.m.Root().Promises()) != 1 {
		t.Errorf("promises of jobs that do not wait: %+v", res)
	}
}

func TestADelayIsInTheHistoryOfItsJob(t *testing.T) {
	w := newWorld(t)
	a := w.submit(nil)
	for i := range job.Time(maxDelays + 2) {
		w.must(&Promise{Delayed: []Delayed{{Job: a, From: i, To: i + 1, Cause: "node n2 is down"}}, Set: []Planned{plain(a, i+1, 1)}})
	}
	list := w.m.Root().Job(a).Delays
	if len(list) != maxDelays {
		t.Fatalf("%d delays are kept, want %d", len(list), maxDelays)
	}
	want := job.Delay{At: w.m.Root().Now(), From: maxDelays + 1, To: maxDelays + 2, Cause: "node n2 is down"}
	if got := list[maxDelays-1]; got != want {
		t.Errorf("the last delay is %+v, want %+v", got, want)
	}
}

func TestPromisesAreBounded(t *testing.T) {
	w := newWorld(t)
	p := &Promise{}
	for range MaxPromises + 1 {
		p.Set = append(p.Set, plain(w.submit(nil), 10, 1))
	}
	res := w.do(p)
	if len(res.Skipped) != 1 || len(w.m.Root().Promises()) != MaxPromises {
		t.Errorf("%d promises, %d skipped; want %d and 1", len(w.m.Root().Promises()), len(res.Skipped), MaxPromises)
	}
}

// Whatever is set and dropped, the list is what a plain map would hold, and a
// snapshot gives it back with the same hash.
func TestPromisesAreWhatAMapWouldHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		model := map[job.ID]job.Time{}
		var ids []job.ID
		for range 8 {
			ids = append(ids, w.submit(nil))
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			id := rapid.SampledFrom(ids).Draw(t, "job")
			switch at := job.Time(rapid.IntRange(1, 99).Draw(t, "at")); rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				w.do(&Promise{Drop: []job.ID{id}})
				delete(model, id)
			case 1:
				w.do(&End{Targets: []Target{{Job: id}}, To: job.Cancelled})
				delete(model, id)
			default:
				w.do(&Promise{Set: []Planned{plain(id, at, 1)}})
				if w.m.Root().Job(id).State == job.Pending {
					model[id] = at
				}
			}
		}
		if got := promised(w.m.Root()); fmt.Sprint(got) != fmt.Sprint(model) {
			t.Fatalf("promised are %v, want %v", got, model)
		}
		again := restored(t, snapshot(t, w.m.Root()))
		if fmt.Sprint(promised(again.Root())) != fmt.Sprint(model) || again.Root().Hash() != w.m.Root().Hash() {
			t.Fatal("a snapshot gives other promises back")
		}
	})
}
