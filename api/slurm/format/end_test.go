package format

import (
	"testing"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
)

func TestEndTime(t *testing.T) {
	const start, limit, end = job.Time(1_000_000), job.Minutes(10), job.Time(1_200_000)
	for _, one := range []struct {
		name  string
		state job.State
		times job.Times
		want  job.Time
	}{
		{"waiting without a plan", job.Pending, job.Times{Limit: limit}, 0},
		{"waiting with a plan", job.Pending, job.Times{Planned: start, Limit: limit}, start.Add(limit.Duration())},
		{"running", job.Running, job.Times{Start: start, LimitEnd: start.Add(limit.Duration())}, start.Add(limit.Duration())},
		{"running without a limit", job.Running, job.Times{Start: start}, 0},
		{"ended", job.Completed, job.Times{Start: start, LimitEnd: start.Add(limit.Duration()), End: end}, end},
	} {
		if got := EndTime(&api.JobRecord{State: one.state, Times: one.times}); got != one.want {
			t.Errorf("%s: ends at %d, want %d", one.name, got, one.want)
		}
	}
}

func TestTextsOfGPUJobs(t *testing.T) {
	r := &api.JobRecord{Memory: api.JobMemory{Per: job.MemoryPerGPU, MB: 70}, Request: &job.Request{Gres: job.GresRequest{PerTask: gres.Spec{{Name: "gpu", Count: 2}}}}}
	table := Names("MinMemory:|,tres-bind:|,StdOut:|", JobFields())
	if got, want := string(table.AppendRow(nil, &Context{Unit: slurm.Exact}, r)), "70M|gres/gpu:per_task:2|slurm-%j.out|\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
