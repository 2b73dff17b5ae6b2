package ctld

import (
	"log/slog"
	"testing"
	"time"

	"muster/job"
	"muster/partition"
	"muster/state"
)

// A job of a crontab that has ended is put back once, to its next time in the
// cluster's zone; others are left alone.
func TestRecurring(t *testing.T) {
	m := state.New()
	index := uint64(0)
	now := job.TimeOf(time.Date(2026, 12, 1, 10, 30, 0, 0, time.UTC))
	apply := func(c state.Command) state.Result {
		t.Helper()
		index++
		res, err := m.Apply(index, &state.Entry{Now: now, Commands: []state.Envelope{state.Seal(c, state.Actor{}, state.RequestID{})}})
		if err != nil || res[0].Code != state.OK {
			t.Fatal(res, err)
		}
		return res[0]
	}
	apply(&state.Configure{Cluster: partition.Cluster{Name: "c", TimeZone: "Europe/Berlin", Partitions: []partition.Partition{{Name: "main", NodeList: "ALL"}}}})
	entry := func(spec string) state.NewJob {
		return state.NewJob{Owner: job.Owner{UID: 9}, Request: job.Request{Partitions: []string{"main"}, Requeue: true, Cron: job.Cron{Spec: spec}}}
	}
	ids := apply(&state.SetCrontab{Table: state.Crontab{UID: 9, Text: "x\n"}, Jobs: []state.NewJob{entry("0 12 * * *"), entry("@yearly")}}).Jobs
	plain := apply(&state.Submit{Jobs: []state.NewJob{{Request: job.Request{Partitions: []string{"main"}}}}}).Jobs[0]
	c := recurring{log: slog.New(slog.DiscardHandler)}
	if list := c.due(m.Root(), now); len(list) != 0 {
		t.Fatalf("before anything ended: %v", list)
	}
	// Deadline: ended by the controller, as a run that is over would be.
	apply(&state.End{Targets: []state.Target{{Job: ids[0]}, {Job: plain}}, To: job.Deadline})
	list := c.due(m.Root(), now)
	if len(list) != 1 {
		t.Fatalf("after the end of two jobs: %v", list)
	}
	requeue := list[0].(*state.Requeue)
	if want := time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC); requeue.Targets[0].Job != ids[0] || !requeue.Begin.Std().Equal(want) {
		t.Errorf("%+v begins %s, want %s", requeue, requeue.Begin.Std().UTC(), want)
	}
	apply(requeue)
	if list := c.due(m.Root(), now); len(list) != 0 {
		t.Errorf("once more: %v", list)
	}
	if list := (&recurring{log: c.log}).due(m.Root(), now); len(list) != 0 {
		t.Errorf("a new leader: %v", list)
	}
}
