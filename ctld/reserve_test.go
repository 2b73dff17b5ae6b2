package ctld

import (
	"log/slog"
	"testing"
	"time"

	"muster/job"
	"muster/partition"
	"muster/state"
)

// What a reservation becomes as time goes on: its next occurrence at the same time of
// day over a change of daylight saving, its end, or its end for want of jobs.
func TestReservationsInTime(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine has no tzdata: ", err)
	}
	at := func(day, hour, minute int) job.Time {
		return job.TimeOf(time.Date(2026, 10, day, hour, minute, 0, 0, zone))
	}
	saturday := at(24, 8, 0) // daylight saving ends on the 25th
	for _, c := range []struct {
		name  string
		flags []string
		now   job.Time
		start job.Time // 0: it is gone
	}{
		{"it lasts", []string{partition.Daily}, at(24, 8, 30), saturday},
		{"once", nil, at(24, 9, 0), 0},
		{"hourly", []string{partition.Hourly}, at(24, 9, 0), at(24, 9, 0)},
		{"daily", []string{partition.Daily}, at(24, 9, 0), at(25, 8, 0)},
		{"nobody led for days", []string{partition.Daily}, at(28, 12, 0), at(29, 8, 0)},
		{"weekly", []string{partition.Weekly}, at(24, 9, 0), at(31, 8, 0)},
		{"on weekdays", []string{partition.Weekday}, at(24, 9, 0), at(26, 8, 0)},
		{"at weekends", []string{partition.Weekend}, at(25, 12, 0), at(31, 8, 0)},
		{"without jobs, not for long enough", []string{"PURGE_COMP=00:30:00"}, at(24, 8, 29), saturday},
		{"without jobs for long enough", []string{"PURGE_COMP=00:30:00"}, at(24, 8, 30), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := state.New()
			index := uint64(0)
			apply := func(cmd state.Command) {
				t.Helper()
				index++
				res, err := m.Apply(index, &state.Entry{Now: saturday, Commands: []state.Envelope{state.Seal(cmd, state.Actor{}, state.RequestID{})}})
				if err != nil || res[0].Code != state.OK {
					t.Fatal(res, err)
				}
			}
			apply(&state.Configure{Cluster: partition.Cluster{Name: "c", TimeZone: "Europe/Berlin", Partitions: []partition.Partition{{Name: "main", NodeList: "ALL"}}}})
			apply(&state.Reservation{Create: true, Value: partition.Reservation{Name: "r", Start: saturday, End: at(24, 9, 0), Users: []string{"a"}, Flags: c.flags}})
			v := &reserving{log: slog.New(slog.DiscardHandler)}
			for _, now := range []job.Time{saturday, c.now} {
				for _, cmd := range v.due(m.Root(), now) {
					apply(cmd)
				}
			}
			r := m.Root().Reservation("r")
			switch {
			case r == nil && c.start != 0:
				t.Error("it is gone")
			case r != nil && (r.Start != c.start || r.End != c.start.Add(time.Hour)):
				t.Errorf("from %s to %s, want an hour from %s", r.Start.Std().In(zone), r.End.Std().In(zone), c.start.Std().In(zone))
			}
		})
	}
}
