// Package machine applies commands to a state machine in tests that need no raft.
package machine

import (
	"testing"

	"muster/job"
	"muster/state"
)

// Apply applies commands to a machine as one entry, a millisecond after the last.
func Apply(t testing.TB, m *state.Machine, list ...state.Command) []state.Result {
	t.Helper()
	e := &state.Entry{Now: m.Root().Now() + 1}
	for _, c := range list {
		e.Commands = append(e.Commands, state.Seal(c, state.Actor{}, state.RequestID{}))
	}
	res, err := m.Apply(m.Root().Index()+1, e)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Waiting submits n jobs, each in an entry of its own.
func Waiting(t testing.TB, m *state.Machine, n int) []job.ID {
	t.Helper()
	var ids []job.ID
	for range n {
		one := state.NewJob{Request: job.Request{Partitions: []string{"main"}}}
		ids = append(ids, Apply(t, m, &state.Submit{Jobs: []state.NewJob{one}})[0].Jobs...)
	}
	return ids
}
