package ctld

import (
	"testing"

	"muster/job"
	"muster/sched"
	"muster/state"
)

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
	list := commands(plan, m.Root())
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
