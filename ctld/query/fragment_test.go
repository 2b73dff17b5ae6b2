package query

import (
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/state"
)

func TestAskOfOneNode(t *testing.T) {
	cases := []struct {
		name string
		q    job.Request
		want gres.Ask
	}{
		{"CPUs only", job.Request{Size: job.Size{Tasks: 4, CPUsPerTask: 2}}, gres.Ask{CPUs: 8, Share: gres.Whole}},
		{"by node, with a type", job.Request{Gres: job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Type: "a100", Count: 2}, {Name: "nvme", Count: 5}}}},
			gres.Ask{CPUs: 1, Count: 2, Share: gres.Whole, Types: 1}},
		{"by task", job.Request{Size: job.Size{Tasks: 3}, Gres: job.GresRequest{PerTask: gres.Spec{{Name: "gpu", Count: 2}}}}, gres.Ask{CPUs: 3, Count: 6, Share: gres.Whole}},
		{"of several nodes, one node's part", job.Request{Size: job.Size{MinNodes: 2, Tasks: 8, TasksPerNode: 4}, Gres: job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Count: 4}}}},
			gres.Ask{CPUs: 4, Count: 4, Share: gres.Whole}},
		{"memory by GPU", job.Request{Memory: job.Memory{Per: job.MemoryPerGPU, MB: 100}, Gres: job.GresRequest{PerJob: gres.Spec{{Name: "gpu", Count: 3}}}},
			gres.Ask{CPUs: 1, Memory: 300, Count: 3, Share: gres.Whole}},
	}
	for _, c := range cases {
		f := &fragments{at: map[string]int{}}
		if got := f.ask(&c.q); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestRoomOfANode(t *testing.T) {
	f := &fragments{root: new(state.Root), at: map[string]int{"a100": 0}}
	n := &partition.Node{Declared: partition.Shape{CPUs: 8, MemoryMB: 100}}
	n.Gres.Devices = []gres.Device{{Name: "gpu", Type: "h100"}, {Name: "gpu", Type: "h100", Index: 1}, {Name: "tpu", Cores: bitset.Of(1)}}
	r, ok := f.room(n, true)
	if !ok || r.CPUs != 8 || r.Memory != 100 || r.Type != 1 || len(r.Free) != 2 || r.Free[1] != gres.Whole {
		t.Errorf("room %+v, %v", r, ok)
	}
	n.Gres.Devices = n.Gres.Devices[2:]
	if r, ok := f.room(n, true); ok {
		t.Errorf("a node without GPUs is %+v", r)
	}
}
