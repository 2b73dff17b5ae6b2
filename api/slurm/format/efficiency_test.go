package format

import (
	"strings"
	"testing"

	"muster/api"
	"muster/job"
)

func TestEfficiency(t *testing.T) {
	done := api.JobRecord{
		ID: 7, Owner: api.JobOwner{User: "alice", Group: "users"}, State: job.Completed, End: &job.Result{ExitCode: 2},
		Used:    api.Resources{CPUs: 8, Nodes: 2, MemoryMB: 2048},
		Request: &job.Request{Interactive: true},
		Steps: []job.Step{
			{ID: 0, Usage: job.Usage{UserUS: 90_000_000, SystemUS: 9_600_000, MaxRSSKB: 524_288}},
			{ID: 1, Usage: job.Usage{UserUS: 400_000, MaxRSSKB: 1024}},
		},
	}
	done.Times.Start, done.Times.End = 1000, 101_000
	small, waits, runs, task := done, done, done, done
	small.Used = api.Resources{CPUs: 1, Nodes: 1, MemoryMB: 100}
	small.Memory.Per = job.MemoryPerCPU
	waits.State, waits.End = job.Pending, nil
	runs.State, runs.End = job.Running, nil
	task.Array = api.JobArray{JobID: 5, Task: 3}
	for name, c := range map[string]struct {
		record api.JobRecord
		want   []string
	}{
		"two nodes": {done, []string{
			"Job ID: 7", "Cluster: c", "User/Group: alice/users", "State: COMPLETED (exit code 2)", "Nodes: 2", "Cores per node: 4",
			"CPU Utilized: 00:01:40", "CPU Efficiency: 12.50% of 00:13:20 core-walltime", "Job Wall-clock time: 00:01:40",
			"Memory Utilized: 512.00 MB", "Memory Efficiency: 25.00% of 2.00 GB (1.00 GB/node)",
		}},
		"one core, memory by core": {small, []string{"Cores: 1", "CPU Efficiency: 100.00% of 00:01:40 core-walltime", "Memory Efficiency: 512.00% of 100.00 MB (100.00 MB/core)"}},
		"waits":                    {waits, []string{"State: PENDING", "Efficiency not available for jobs in the PENDING state."}},
		"runs":                     {runs, []string{"State: RUNNING", "Job Wall-clock time: 00:00:50", "WARNING: Efficiency statistics can only be obtained after the job has ended"}},
		"task of an array":         {task, []string{"Array Job ID: 5_3"}},
	} {
		text := string(AppendEfficiency(nil, &c.record, "c", 51_000))
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if name == "waits" && strings.Contains(text, "CPU Utilized") {
			t.Errorf("%s: has used something:\n%s", name, text)
		}
	}
}
