package query

import (
	"testing"

	"muster/api"
	"muster/gres"
	"muster/job"
)

// TestAskedGres: counts of one kind are about the same devices; that of the job says
// how many there are in all.
func TestAskedGres(t *testing.T) {
	gpus := func(n uint64) gres.Spec { return gres.Spec{{Name: "gpu", Count: n}} }
	c := &api.JobCount{Nodes: 2, Tasks: 4}
	for want, g := range map[uint64]job.GresRequest{
		2: {PerNode: gpus(2), PerJob: gpus(2)}, 6: {PerNode: gpus(3)}, 8: {PerTask: gpus(2), PerSocket: gpus(1)}, 4: {PerSocket: gpus(2)}, 0: {},
	} {
		if got := askedGPUs(&job.Request{Gres: g}, c); got != uint32(want) {
			t.Errorf("%+v asks for %d GPUs, want %d", g, got, want)
		}
	}
}

// TestCountWaiting: what a waiting job shows of its nodes, on nodes of 8 CPUs.
func TestCountWaiting(t *testing.T) {
	held := job.Job{Held: job.HeldByUser}
	for name, c := range map[string]struct {
		job         job.Job
		size        job.Size
		tasks, cpus uint32
		least       uint32
		from, to    uint32
	}{
		"as an empty partition would give": {size: job.Size{Tasks: 8, LikelyNodes: 2}, tasks: 8, cpus: 8, least: 1, from: 2, to: 8},
		"a held job was not looked at":     {job: held, size: job.Size{Tasks: 16, LikelyNodes: 4}, tasks: 16, cpus: 16, least: 1, from: 2, to: 16},
		"a held job of one task":           {job: held, tasks: 1, cpus: 1, least: 1, from: 1, to: 1},
		"held, CPUs of a task":             {job: held, size: job.Size{CPUsPerTask: 4}, tasks: 1, cpus: 4, least: 1, from: 1},
		"tasks of each node":               {size: job.Size{Tasks: 8, TasksPerNode: 2}, tasks: 8, cpus: 8, least: 4, from: 4, to: 8},
		"an upper bound":                   {size: job.Size{MinNodes: 1, MaxNodes: 3}, tasks: 1, cpus: 1, least: 1, from: 1, to: 3},
		"nothing but CPUs":                 {tasks: 1, cpus: 17, least: 1, from: 3},
	} {
		j := c.job
		j.Request = &job.Request{Size: c.size}
		got := api.JobCount{Tasks: c.tasks, CPUs: c.cpus}
		countWaiting(&got, &j, c.least, 8)
		if got.Nodes != c.from || got.MaxNodes != c.to {
			t.Errorf("%s: %d to %d nodes, want %d to %d", name, got.Nodes, got.MaxNodes, c.from, c.to)
		}
	}
}
