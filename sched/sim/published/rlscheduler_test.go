package published

import (
	"slices"
	"testing"

	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

func TestRLJobs(t *testing.T) {
	w := &trace.Workload{Procs: 8, Jobs: []trace.Job{
		{ID: 3, Run: 5, Procs: 2, Held: 4}, {ID: 1, Run: -1, Procs: 1, Held: 1}, {ID: 2, Run: 0, Procs: 1, Held: 1}, {ID: 4, Run: 1, Procs: 9, Held: 9},
	}}
	got := RLJobs(w)
	if len(got) != 2 || got[0].ID != 1 || got[0].Run != 10 || got[1].ID != 3 || got[1].Procs != 4 {
		t.Errorf("kept %+v", got)
	}
}

// The paper's scheduler stays with the job that it chose, and backfills only what
// surely ends before that one can start.
func TestRLRun(t *testing.T) {
	jobs := []trace.Job{asked(1, 10, 10, 3), asked(2, 5, 5, 4), asked(3, 2, 2, 4), asked(3, 7, 7, 1), asked(3, 8, 8, 1)}
	for _, c := range []struct {
		policy   string
		backfill bool
		want     []int64
	}{
		{"fcfs", false, []int64{1, 11, 16, 18, 18}},
		{"fcfs", true, []int64{1, 11, 16, 3, 18}}, // 3+8 is not before 11
		{"sjf", false, []int64{1, 11, 16, 18, 18}},
	} {
		r := rlRun{jobs: jobs, free: 4, score: rlScore(c.policy), backfill: c.backfill, out: make([]measure.Outcome, len(jobs))}
		if got := starts(r.run()); !slices.Equal(got, c.want) {
			t.Errorf("%s, backfill %v: starts %v, want %v", c.policy, c.backfill, got, c.want)
		}
	}
}

func TestRLRefuses(t *testing.T) {
	w := &trace.Workload{Procs: 8, Jobs: []trace.Job{asked(0, 1, 1, 1)}}
	if _, err := RLScheduler(w, "fcfs", false); err == nil {
		t.Error("a trace of one job has no windows")
	}
	if _, err := RLScheduler(w, "nice", false); err == nil {
		t.Error("there is no order nice")
	}
	if _, err := SC15(w, "nice"); err == nil {
		t.Error("there is no scheduler nice")
	}
}
