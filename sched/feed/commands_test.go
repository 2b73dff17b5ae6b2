package feed

import (
	"reflect"
	"testing"

	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
	"muster/test/machine"
)

func promiseOf(id job.ID, start job.Time) sched.Promise {
	return sched.Promise{Job: id, Task: job.NoTask, Start: start, Partition: "main", Shape: 9,
		Nodes: []sched.PromisedNode{{Node: 1, Take: partition.Take{Tasks: 1, CPUs: 2, Room: partition.Room{Cores: 1, MemoryMB: 5}}}}}
}

func TestOnlyChangedPromisesAreCommitted(t *testing.T) {
	m := state.New()
	ids := machine.Waiting(t, m, 4)
	stays, moves, goes, starts := ids[0], ids[1], ids[2], ids[3]
	first := &sched.Plan{Promises: []sched.Promise{promiseOf(stays, 10), promiseOf(moves, 10), promiseOf(goes, 10), promiseOf(starts, 10)}}
	c := Promises(first, m.Root())
	if len(c.Set) != 4 || len(c.Drop) != 0 {
		t.Fatalf("the first promises: %+v", c)
	}
	machine.Apply(t, m, c)
	if c := Promises(first, m.Root()); c != nil {
		t.Fatalf("nothing has changed, and %+v would be committed", c)
	}
	next := &sched.Plan{Promises: []sched.Promise{promiseOf(stays, 10), promiseOf(moves, 20)}, Starts: []sched.Start{{Job: starts}},
		Delays: []sched.Delay{{Job: moves, From: 10, To: 20, Cause: "node n1 is not available"}}}
	c = Promises(next, m.Root())
	want := &state.Promise{Drop: []job.ID{goes}, Delayed: []state.Delayed{{Job: moves, From: 10, To: 20, Cause: "node n1 is not available"}}}
	want.Set = []state.Planned{planned(&next.Promises[1])}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("committed would be %+v, want %+v", c, want)
	}
}

// The components of a heterogeneous job become one command, whatever else is
// planned between them; other jobs have one each.
func TestComponentsBecomeOneCommand(t *testing.T) {
	m := state.New()
	submit := func(n int) []job.ID {
		jobs := make([]state.NewJob, n)
		for i := range jobs {
			jobs[i].Request.Partitions = []string{"main"}
		}
		res, err := m.Apply(m.Root().Index()+1, &state.Entry{Now: 1, Commands: []state.Envelope{
			state.Seal(&state.Submit{Jobs: jobs}, state.Actor{}, state.RequestID{})}})
		if err != nil || res[0].Code != state.OK {
			t.Fatalf("submit: %v %+v", err, res)
		}
		return res[0].Jobs
	}
	het, plain := submit(2), submit(1)
	plan := &sched.Plan{Starts: []sched.Start{{Job: het[0]}, {Job: plain[0]}, {Job: het[1], Limit: 7}}}
	list := Commands(plan, m.Root())
	if len(list) != 2 {
		t.Fatalf("%d commands, want 2: %+v", len(list), list)
	}
	all, ok := list[0].(*state.StartHet)
	if !ok || len(all.Components) != 2 || all.Components[0].Job != het[0] || all.Components[1].Job != het[1] || all.Components[1].Limit != 7 {
		t.Errorf("first command: %+v, want components %v", list[0], het)
	}
	if one, ok := list[1].(*state.Start); !ok || one.Job != plain[0] {
		t.Errorf("second command: %+v, want the start of %d", list[1], plain[0])
	}
}
