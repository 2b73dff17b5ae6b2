package partition

import (
	"testing"

	"muster/gres"
	"muster/job"
)

// mixed are two nodes: one with two GPUs of each of two types, one with three of
// the second.
func mixed() []Candidate {
	node := func(types ...string) Candidate {
		n := &Node{State: NodeUp, Declared: Shape{CPUs: 8, MemoryMB: 100}}
		for i, typ := range types {
			n.Gres.Devices = append(n.Gres.Devices, gres.Device{Name: "gpu", Type: typ, Index: i})
		}
		h := NewHost(n)
		return Candidate{Host: h, Free: h.All()}
	}
	list := []Candidate{node("a100", "a100", "h100", "h100"), node("h100", "h100", "h100")}
	for i := range list {
		list[i].Index = i
	}
	return list
}

func TestGPUsOfOneType(t *testing.T) {
	cases := []struct {
		name  string
		gres  job.GresRequest
		nodes uint32
		mix   bool
		want  []int // nodes; nil: no place
	}{
		{"two are there on the first", job.GresRequest{PerNode: spec("gpu", "", 2)}, 1, false, []int{0}},
		{"three of one type are not", job.GresRequest{PerNode: spec("gpu", "", 3)}, 1, false, []int{1}},
		{"three of any are", job.GresRequest{PerNode: spec("gpu", "", 3)}, 1, true, []int{0}},
		{"four of one type are nowhere", job.GresRequest{PerNode: spec("gpu", "", 4)}, 1, false, nil},
		{"named ones as they are named", job.GresRequest{PerNode: append(spec("gpu", "a100", 2), spec("gpu", "h100", 1)...)}, 1, false, []int{0}},
		{"of several nodes too", job.GresRequest{PerNode: spec("gpu", "", 2)}, 2, false, []int{0, 1}},
		{"by job: five of h100", job.GresRequest{PerJob: spec("gpu", "", 5)}, 2, false, []int{0, 1}},
		{"by job: six of one are not there", job.GresRequest{PerJob: spec("gpu", "", 6)}, 2, false, nil},
	}
	for _, c := range cases {
		r := &job.Request{Size: job.Size{MinNodes: c.nodes, MaxNodes: c.nodes}, Gres: c.gres}
		n := NewNeed(r, &Partition{}, &Policy{Devices: DevicePolicy{MixTypes: c.mix}})
		cands := mixed()
		placed, _, ok := new(Placer).Place(n, cands)
		if ok != (c.want != nil) || len(placed) != len(c.want) {
			t.Errorf("%s: %v on %d nodes, want %v", c.name, ok, len(placed), c.want)
			continue
		}
		types := map[string]bool{}
		for i, p := range placed {
			if p.At != c.want[i] {
				t.Errorf("%s: on node %d, want %d", c.name, p.At, c.want[i])
			}
			for k, count := range p.Devices {
				if count > 0 {
					types[cands[p.At].Host.Kinds[k].Type] = true
				}
			}
		}
		if named := c.gres.PerNode != nil && c.gres.PerNode[0].Type != ""; ok && !c.mix && !named && len(types) != 1 {
			t.Errorf("%s: GPUs of %d types", c.name, len(types))
		}
	}
}

func spec(name, typ string, count uint64) gres.Spec {
	return gres.Spec{{Name: name, Type: typ, Count: count}}
}
