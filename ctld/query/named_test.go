package query

import (
	"errors"
	"testing"

	"muster/api"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// What squeue -j and -w do with names that nothing has.
func TestUnknownNames(t *testing.T) {
	c := newCore(t)
	array := c.submit(t, func(n *state.NewJob) { n.Tasks = bitset.Of(1, 2) })
	ask := func(q *api.JobQuery) (int, error) {
		q.AnyState = true
		var list api.JobList
		err := c.call(t, 0, api.MethodJobs, q, &list)
		return len(list.Jobs), err
	}
	for _, one := range []struct {
		name string
		q    api.JobQuery
		jobs int
		text string
	}{
		{"a job that is not there", api.JobQuery{Jobs: []api.JobRef{{ID: 999}}}, 0, "Invalid job id specified"},
		{"one of two", api.JobQuery{Jobs: []api.JobRef{{ID: 999}, {ID: array}}}, 1, ""},
		{"a task that the array has", api.JobQuery{Jobs: []api.JobRef{{ID: array, HasTask: true, Task: 2}}}, 1, ""},
		{"a task that it has not", api.JobQuery{Jobs: []api.JobRef{{ID: array, HasTask: true, Task: 9}}}, 0, ""},
		{"a task of no array", api.JobQuery{Jobs: []api.JobRef{{ID: 999, HasTask: true, Task: 1}}}, 0, "Invalid job id specified"},
		{"a node that is not there", api.JobQuery{Nodes: []string{"n1", "n9"}}, 0, "Invalid node name n9"},
		{"a node", api.JobQuery{Nodes: []string{"n1"}}, 0, ""},
	} {
		n, err := ask(&one.q)
		var refused *api.Error
		text := ""
		if errors.As(err, &refused) {
			text = refused.Text
		}
		if n != one.jobs || text != one.text {
			t.Errorf("%s: %d jobs and %q, want %d and %q", one.name, n, text, one.jobs, one.text)
		}
	}
}

// CPUs that come with GPUs count before the job has started.
func TestCPUsOfGPUs(t *testing.T) {
	c := newCore(t)
	gpus := func(n uint64) gres.Spec { return gres.Spec{{Name: "gpu", Count: n}} }
	for _, one := range []struct {
		name string
		gres job.GresRequest
		cpus uint32
	}{
		{"none asked for", job.GresRequest{PerJob: gpus(2)}, 2},
		{"by job", job.GresRequest{PerJob: gpus(2), CPUsPerGPU: 3}, 6},
		{"by task", job.GresRequest{PerTask: gpus(2), CPUsPerGPU: 2}, 8},
		{"by node", job.GresRequest{PerNode: gpus(4), CPUsPerGPU: 1}, 4},
		{"fewer than the tasks need", job.GresRequest{PerJob: gpus(1), CPUsPerGPU: 1}, 2},
	} {
		id := c.submit(t, func(n *state.NewJob) { n.Request.Gres = one.gres })
		var list api.JobList
		if err := c.call(t, 0, api.MethodJobs, &api.JobQuery{AnyState: true, Jobs: []api.JobRef{{ID: id}}, Fields: api.JobResources}, &list); err != nil {
			t.Fatal(err)
		}
		if r := list.Jobs[0]; r.Count.CPUs != one.cpus || r.Asked.CPUs != one.cpus {
			t.Errorf("%s: %d CPUs, %d in TRES, want %d", one.name, r.Count.CPUs, r.Asked.CPUs, one.cpus)
		}
	}
}
