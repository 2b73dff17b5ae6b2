package state

import (
	"fmt"
	"slices"
	"testing"

	"muster/internal/bitset"
	"muster/job"
)

func (w *world) array(f func(*NewJob), tasks ...int) job.ID {
	w.t.Helper()
	return w.submit(func(n *NewJob) {
		n.Tasks = bitset.Of(tasks...)
		if f != nil {
			f(n)
		}
	})
}

// startTask starts one task on core 0 of a node and returns its id.
func (w *world) startTask(array job.ID, task uint32, node string) job.ID {
	w.t.Helper()
	rest := w.m.Root().ArrayTask(array, task)
	return w.must(w.startCmd(rest.ID, task, 0, node)).Jobs[0]
}

// tasks lists an array as state:index words.
func (w *world) tasks(array job.ID) []string {
	var out []string
	for j := range w.m.Root().Array(array) {
		if j.Array.Waiting != nil {
			out = append(out, fmt.Sprintf("%s:%v", j.State, j.Array.Waiting.Slice()))
		} else {
			out = append(out, fmt.Sprintf("%s:%d", j.State, j.Array.Task))
		}
	}
	return out
}

func (w *world) tasksAre(array job.ID, want ...string) {
	w.t.Helper()
	if got := w.tasks(array); !slices.Equal(got, want) {
		w.t.Fatalf("array %d is %q, want %q", array, got, want)
	}
}

// Started tasks get new ids; the last one has the array's own, as in Slurm.
func TestArrayIDs(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 1, 2, 9)
	w.tasksAre(a, "PENDING:[1 2 9]")
	one, two, nine := w.startTask(a, 1, "n1"), w.startTask(a, 2, "n2"), w.startTask(a, 9, "n3")
	if one != a+1 || two != a+2 || nine != a {
		t.Errorf("tasks 1, 2 and 9 of array %d have ids %d, %d and %d", a, one, two, nine)
	}
	w.tasksAre(a, "RUNNING:1", "RUNNING:2", "RUNNING:9")
	if j := w.m.Root().ArrayTask(a, 9); j.ID != a || j.Array.Waiting != nil {
		t.Errorf("task 9 is %+v", j)
	}
	if w.m.Root().ArrayTask(a, 3) != nil {
		t.Error("there is a task 3")
	}
	w.exit(one, 0)
	w.exit(two, 1)
	want := ArrayUse{ID: a, Active: 1, Good: 1, Bad: 1, LastEnd: w.now - 1000}
	if u := w.m.Root().ArrayUse(a); u != want {
		t.Errorf("counts %+v, want %+v", u, want)
	}
}

func TestArrayThrottle(t *testing.T) {
	w := newWorld(t)
	a := w.array(func(n *NewJob) { n.Limit = 1 }, 0, 1)
	id := w.startTask(a, 0, "n1")
	w.refuse(NoLongerFits, w.startCmd(a, 1, 0, "n2"))
	two := uint32(2)
	w.must(&Update{Target: Target{Job: a}, Throttle: &two})
	w.startTask(a, 1, "n2")
	w.exit(id, 0)
}

func TestCancelTasks(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 1, 2, 3, 4, 5)
	w.startTask(a, 1, "n1")
	w.cancel(Target{Job: a, Tasks: bitset.Of(2, 3)})
	w.tasksAre(a, "RUNNING:1", "PENDING:[4 5]", "CANCELLED:[2 3]")
	w.cancel(Target{Job: a, Tasks: bitset.Of(1, 5)})
	if j := w.m.Root().ArrayTask(a, 1); j.Cancel == nil || j.State != job.Running {
		t.Errorf("task 1 is not being cancelled: %+v", j)
	}
	if res := w.cancel(Target{Job: a, Tasks: bitset.Of(2)}); res.Code != AlreadyDone {
		t.Errorf("task 2 again: %+v", res)
	}
	w.cancel(Target{Job: a})
	w.exit(w.m.Root().ArrayTask(a, 1).ID, 0)
	if u := w.m.Root().ArrayUse(a); u.Bad != 5 || !u.over() {
		t.Errorf("counts %+v", u)
	}
	ends := 0
	for _, j := range w.m.Root().OutboxJobs(0) {
		ends += max(1, j.Array.Waiting.Len())
	}
	if ends != 5 {
		t.Errorf("%d ends of tasks were recorded, want 5", ends)
	}
}

func TestHoldOneTask(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 1, 2, 3)
	held, none := job.HeldByUser, job.NotHeld
	w.must(&Update{Target: Target{Job: a, Tasks: bitset.Of(2)}, Held: &held})
	w.tasksAre(a, "PENDING:2", "PENDING:[1 3]")
	two := w.m.Root().ArrayTask(a, 2)
	w.is(two.ID, job.Pending, job.ReasonJobHeldUser)
	w.is(a, job.Pending, job.ReasonNone)
	w.must(&Update{Target: Target{Job: a, Tasks: bitset.Of(2)}, Held: &none})
	w.must(w.startCmd(two.ID, 2, 0, "n1"))
}

// A refused change of some tasks loses none of them.
func TestRefusedChangeKeepsTasks(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 1, 2, 3)
	zero := uint32(0)
	w.refuse(Invalid, &Update{Target: Target{Job: a, Tasks: bitset.Of(1, 2)}, Priority: &zero})
	if u := w.m.Root().ArrayUse(a); u.Waiting != 3 {
		t.Errorf("%d tasks are left, want 3: %v", u.Waiting, w.tasks(a))
	}
}

func TestArrayIsPurgedWhole(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 0, 1)
	one := w.startTask(a, 0, "n1")
	w.exit(one, 0)
	_, next := w.m.Root().OutboxRange()
	w.must(&OutboxDone{Through: next - 1})
	if res := w.do(&Purge{Jobs: []job.ID{one}}); len(res.Skipped) != 1 {
		t.Fatalf("a task was purged while another waits: %+v", res)
	}
	if n := len(slices.Collect(w.m.Root().FinishedBefore(w.now + 1))); n != 0 {
		t.Errorf("%d records are to be purged", n)
	}
	w.cancel(Target{Job: a})
	w.must(&OutboxDone{Through: next})
	got := slices.Collect(w.m.Root().FinishedBefore(w.now + 1))
	if len(got) != 1 || got[0].ID != a {
		t.Fatalf("to be purged: %v", got)
	}
	w.must(&Purge{Jobs: []job.ID{a}})
	if n := w.m.Root().JobCount(); n != 0 {
		t.Errorf("%d records are left", n)
	}
}

// A requeued task waits as a record of its own and runs again.
func TestRequeueTask(t *testing.T) {
	w := newWorld(t)
	a := w.array(nil, 0, 1)
	one := w.startTask(a, 0, "n1")
	w.must(&Requeue{Targets: []Target{{Job: a, Tasks: bitset.Of(0)}}})
	w.exit(one, 0)
	w.tasksAre(a, "PENDING:0", "PENDING:[1]")
	w.must(w.startCmd(one, 0, 0, "n1"))
	if j := w.job(one); j.Attempt != 1 {
		t.Errorf("attempt %d", j.Attempt)
	}
}
