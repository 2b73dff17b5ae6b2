package admit

import (
	"fmt"
	"strings"
	"testing"

	"muster/api"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
)

// stepJobOf is a running job with 4 CPUs and 2 GPUs on each of two nodes.
func stepJobOf(c *fakeCore) *job.Job {
	j := &job.Job{ID: 5, State: job.Running, Request: &job.Request{}, Alloc: &job.Allocation{CPUs: 8}}
	for n := range c.Root().Nodes() {
		j.Alloc.Nodes = append(j.Alloc.Nodes, job.Share{Node: n.ID, Name: n.Name, CPUs: 4, Tasks: 1, MemoryMB: 400,
			Devices: []job.DeviceShare{{Name: "gpu", Count: 2, Index: bitset.Of(1, 3)}}})
	}
	return j
}

// shown writes a plan as node:ranks/CPUs.
func shown(p *stepPlan) string {
	var parts []string
	for _, n := range p.nodes {
		parts = append(parts, fmt.Sprintf("%s:%v/%d", n.share.Name, n.ranks, n.part.CPUs))
	}
	return strings.Join(parts, " ")
}

func TestLayout(t *testing.T) {
	c := newCore(t)
	for _, x := range []struct {
		name string
		req  api.StepRequest
		want string // or the text of the refusal
	}{
		{"nothing said: a task a node", api.StepRequest{}, "n1:[0]/4 n2:[1]/4"},
		{"fewer tasks than nodes", api.StepRequest{Tasks: 1}, "n1:[0]/4"},
		{"block", api.StepRequest{Tasks: 5}, "n1:[0 1 2 3]/4 n2:[4]/4"},
		{"cyclic", api.StepRequest{Tasks: 5, Dist: "cyclic"}, "n1:[0 2 4]/4 n2:[1 3]/4"},
		{"plane", api.StepRequest{Tasks: 6, Dist: "plane=2"}, "n1:[0 1 4 5]/4 n2:[2 3]/4"},
		{"plane, a task for each node", api.StepRequest{Tasks: 2, Dist: "plane=2"}, "n1:[0]/4 n2:[1]/4"},
		{"arbitrary", api.StepRequest{Tasks: 4, Dist: "arbitrary", Nodes: []string{"n2", "n1", "n2", "n2"}}, "n1:[1]/4 n2:[0 2 3]/4"},
		{"arbitrary, as many tasks as lines", api.StepRequest{Dist: "arbitrary", Nodes: []string{"n2", "n1", "n2"}}, "n1:[1]/4 n2:[0 2]/4"},
		{"arbitrary, too many on one", api.StepRequest{Dist: "arbitrary", Nodes: []string{"n2", "n2", "n2", "n2", "n2"}}, textMoreCPUs},
		{"arbitrary without a list", api.StepRequest{Tasks: 2, Dist: "arbitrary"}, textStepNodes},
		{"most tasks a node", api.StepRequest{Tasks: 3, TasksPerNode: 2}, "n1:[0 1]/4 n2:[2]/4"},
		{"tasks a node", api.StepRequest{TasksPerNode: 2}, "n1:[0 1]/4 n2:[2 3]/4"},
		{"one node", api.StepRequest{MinNodes: 1, MaxNodes: 1, Tasks: 3}, "n1:[0 1 2]/4"},
		{"a named node", api.StepRequest{MinNodes: 1, MaxNodes: 1, Tasks: 1, Nodes: []string{"n2"}}, "n2:[0]/4"},
		{"not a node", api.StepRequest{Tasks: 1, Exclude: []string{"n1"}}, "n2:[0]/4"},
		{"from the second node", api.StepRequest{Tasks: 1, Relative: 1}, "n2:[0]/4"},
		{"as much as needed", api.StepRequest{Tasks: 2, Exact: true, CPUsPerTask: 2, MinNodes: 1, MaxNodes: 1}, "n1:[0 1]/4"},
		{"one CPU", api.StepRequest{Tasks: 1, Exact: true}, "n1:[0]/1"},
		{"too many", api.StepRequest{Tasks: 9}, textMoreCPUs},
		{"too many CPUs a task", api.StepRequest{Tasks: 1, CPUsPerTask: 5}, textMoreCPUs},
		{"overcommitted", api.StepRequest{Tasks: 10, Overcommit: true}, "n1:[0 1 2 3 4]/4 n2:[5 6 7 8 9]/4"},
		{"a node of others", api.StepRequest{Nodes: []string{"n9"}}, textStepNodes},
		{"more nodes than there are", api.StepRequest{MinNodes: 3}, textStepNodes},
		{"too much memory", api.StepRequest{Memory: job.Memory{Per: job.MemoryPerNode, MB: 401}}, textMemory},
		{"too many GPUs", api.StepRequest{Tasks: 3, MinNodes: 1, MaxNodes: 1, Gres: perTask(1)}, textStepGres},
	} {
		if x.req.Relative == 0 {
			x.req.Relative = -1
		}
		p, busy, err := layOut(c.Root(), stepJobOf(c), &x.req)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case busy != "":
			got = "busy"
		default:
			got = shown(p)
		}
		if got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
	}
}

func perTask(gpus uint64) job.GresRequest {
	return job.GresRequest{PerTask: gres.Spec{{Name: "gpu", Count: gpus}}}
}

// TestLayoutBesideOthers: what running steps hold is waited for, unless the step
// overlaps; GPUs that are free are taken first.
func TestLayoutBesideOthers(t *testing.T) {
	c := newCore(t)
	j := stepJobOf(c)
	j.Steps = []job.Step{{State: job.Running, Nodes: []job.NodeID{j.Alloc.Nodes[0].Node}, Parts: []job.StepPart{
		{CPUs: 3, MemoryMB: 100, Devices: []job.DeviceShare{{Name: "gpu", Count: 1, Index: bitset.Of(1)}}}}}}
	one := api.StepRequest{Tasks: 1, MinNodes: 1, MaxNodes: 1, Relative: -1, Nodes: []string{"n1"}, Exact: true,
		Memory: job.Memory{Per: job.MemoryPerNode, MB: 10}, Gres: perTask(1)}
	p, busy, err := layOut(c.Root(), j, &one)
	if err != nil || busy != "" {
		t.Fatalf("one CPU is free: busy %q, err %v", busy, err)
	}
	if d := p.nodes[0].part.Devices; len(d) != 1 || !d[0].Index.Has(3) || d[0].Index.Len() != 1 {
		t.Errorf("devices %+v, want GPU 3, which is free", d)
	}
	two := one
	two.Tasks = 2
	for _, x := range []struct {
		name    string
		change  func(*api.StepRequest)
		waiting bool
	}{
		{"two CPUs are not free", func(*api.StepRequest) {}, true},
		{"shared", func(r *api.StepRequest) { r.Overlap = true }, false},
		{"there are two on the other node", func(r *api.StepRequest) { r.Nodes = nil; r.Gres = job.GresRequest{}; r.Tasks = 1; r.CPUsPerTask = 2 }, false},
	} {
		req := two
		x.change(&req)
		if _, busy, err := layOut(c.Root(), j, &req); err != nil || (busy != "") != x.waiting {
			t.Errorf("%s: busy %q, err %v, want waiting %v", x.name, busy, err, x.waiting)
		}
	}
}
