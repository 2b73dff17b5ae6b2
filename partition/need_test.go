package partition

import (
	"testing"

	"muster/gres"
	"muster/job"
)

func gpus(n uint64) gres.Spec { return gres.Spec{{Name: "gpu", Count: n}} }

// TestCountsOfOneKind: counts of one kind by job, node, task and socket are about the
// same devices; those of other kinds stay.
func TestCountsOfOneKind(t *testing.T) {
	disk := gres.Item{Name: "disk", Count: 1}
	for name, c := range map[string]struct {
		asked           job.GresRequest
		sockets         uint16
		node, task, all string
	}{
		"node and job":            {job.GresRequest{PerNode: gpus(2), PerJob: gpus(2)}, 0, "gpu:2", "", ""},
		"task and job":            {job.GresRequest{PerTask: gpus(1), PerJob: gpus(4)}, 0, "", "gpu:1", ""},
		"node and task":           {job.GresRequest{PerNode: gpus(4), PerTask: gpus(2)}, 0, "gpu:4", "", ""},
		"socket alone":            {job.GresRequest{PerSocket: gpus(1)}, 2, "gpu:2", "", ""},
		"socket gives way to job": {job.GresRequest{PerSocket: gpus(1), PerJob: gpus(4)}, 2, "", "", "gpu:4"},
		"another kind":            {job.GresRequest{PerNode: gpus(2), PerJob: append(gpus(2), disk)}, 0, "gpu:2", "", "disk:1"},
	} {
		r := &job.Request{Gres: c.asked, Size: job.Size{SocketsPerNode: c.sockets}}
		n := NewNeed(r, &Partition{}, &Policy{})
		if n.Gres.Node.String() != c.node || n.Gres.Task.String() != c.task || n.Gres.Job.String() != c.all {
			t.Errorf("%s: by node %q, task %q, job %q; want %q, %q, %q", name, n.Gres.Node, n.Gres.Task, n.Gres.Job, c.node, c.task, c.all)
		}
	}
}
