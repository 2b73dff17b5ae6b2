package ctld

import (
	"testing"

	"muster/job"
	"muster/partition"
	"muster/state"
)

func TestWhoIsBehind(t *testing.T) {
	m, index := state.New(), uint64(0)
	apply := func(c state.Command) {
		t.Helper()
		index++
		res, err := m.Apply(index, &state.Entry{Now: 1, Commands: []state.Envelope{state.Seal(c, state.Actor{}, state.RequestID{})}})
		if err != nil || res[0].Code != state.OK {
			t.Fatalf("%T: %+v %v", c, res, err)
		}
	}
	c := partition.Cluster{Name: "c"}
	names := []string{"follows", "older", "unheard", "never", "marked", "marked follows"}
	for _, n := range names {
		c.Nodes = append(c.Nodes, partition.Node{Name: n})
	}
	for range 2 {
		apply(&state.Configure{Cluster: c})
	}
	for _, n := range names {
		if n != "never" {
			apply(&state.NodeRegister{Name: n, BootID: "b", Journal: "j"})
		}
	}
	apply(&state.NodesFollow{Serial: 2, Behind: []job.NodeID{5, 6}})
	has := func(node string) (uint64, bool) {
		serial, heard := map[string]uint64{"follows": 2, "older": 1, "marked": 1, "marked follows": 2}[node], node != "unheard"
		return serial, heard
	}
	for _, x := range []struct {
		name           string
		late, unheard  bool
		behind, follow []job.NodeID
	}{
		{"at once", false, false, nil, []job.NodeID{6}},
		{"late, under a leader newer than the configuration", true, false, []job.NodeID{2}, []job.NodeID{6}},
		{"late", true, true, []job.NodeID{2, 3}, []job.NodeID{6}},
	} {
		got := following(m.Root(), has, x.late, x.unheard)
		if got == nil || got.Serial != 2 {
			t.Fatalf("%s: %+v", x.name, got)
		}
		same(t, x.name+": behind", got.Behind, x.behind)
		same(t, x.name+": follow", got.Follow, x.follow)
	}
	apply(&state.NodesFollow{Serial: 2, Behind: []job.NodeID{2, 3}, Follow: []job.NodeID{6}})
	if got := following(m.Root(), has, true, true); got != nil {
		t.Errorf("nothing is new, and it says %+v", got)
	}
}
