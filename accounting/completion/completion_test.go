package completion

import (
	"encoding/json"
	"strings"
	"testing"

	"muster/job"
)

// TestAppend reads the line back as another program would.
func TestAppend(t *testing.T) {
	j := &job.Job{
		ID: 9, State: job.Failed, Attempt: 2, Account: "phys", QOS: "normal", Owner: &job.Owner{User: "alice", UID: 1001},
		Request: &job.Request{Name: "a \"b\"\n", Partitions: []string{"gpu"}, Comment: "x", Batch: job.Batch{WorkDir: "/w"}},
		Array:   job.Array{JobID: 7, Task: 0}, End: job.Result{ExitCode: 3, Usage: job.Usage{UserUS: 1_500_000, MaxRSSKB: 10}},
		Alloc: &job.Allocation{CPUs: 8, MemoryMB: 100, Nodes: []job.Share{
			{Name: "n1", Devices: []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 2}}},
			{Name: "n2", Devices: []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 1}}},
		}},
		Steps: []job.Step{{ID: 0, Usage: job.Usage{SystemUS: 500_000, MaxRSSKB: 40}}, {ID: job.BatchStep, Usage: job.Usage{UserUS: 99_000_000}}},
	}
	j.Times = job.Times{Submit: 1000, Eligible: 2000, Start: 3000, End: 9999, Limit: 30}
	b, err := Append([]byte("before\n"), "c", 5, j)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutPrefix(string(b), "before\n")
	if !ok || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "}\n") {
		t.Fatalf("not one line behind what was there: %q", b)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"record": 5.0, "cluster": "c", "job_id": 9.0, "array_job_id": 7.0, "array_task_id": 0.0, "restart_cnt": 2.0, "name": "a \"b\"\n",
		"user": "alice", "uid": 1001.0, "partition": "gpu", "state": "FAILED", "exit_code": 3.0, "submit": 1.0, "end": 9.0, "time_limit_min": 30.0,
		"nodes": "n[1-2]", "node_cnt": 2.0, "cpus": 8.0, "cpu_seconds": 2.0, "max_rss_kb": 40.0, "work_dir": "/w", "comment": "x",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if g, _ := got["gres"].(map[string]any); g["gpu:a100"] != 3.0 {
		t.Errorf("gres is %v", got["gres"])
	}
}

// TestAJobThatNeverRan has nothing but what was asked for, and no limit is null.
func TestAJobThatNeverRan(t *testing.T) {
	j := &job.Job{ID: 1, State: job.Cancelled, Owner: new(job.Owner), Request: &job.Request{Name: "x"}, Times: job.Times{Limit: job.Unlimited}, Array: job.Array{}}
	b, err := Append(nil, "c", 1, j)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"state":"CANCELLED"`, `"time_limit_min":null`, `"nodes":""`, `"start":0`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if strings.Contains(string(b), "array_") || strings.Contains(string(b), "gres") {
		t.Errorf("has what it has not: %s", b)
	}
}
