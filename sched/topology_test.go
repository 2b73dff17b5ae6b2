package sched

import (
	"fmt"
	"slices"
	"testing"

	"muster/job"
	"muster/partition"
)

// inBlocks puts the nodes of a world into leaves of so many, two below each switch.
func inBlocks(w *world, size int, block bool) {
	t := &partition.Topology{Name: "net", Block: block}
	for i := range w.Nodes {
		if i%size == 0 {
			t.Leaves = append(t.Leaves, partition.Leaf{Name: fmt.Sprintf("s%d", i/size), Above: []string{fmt.Sprintf("up%d", i/size/2), "top"}})
		}
		l := &t.Leaves[len(t.Leaves)-1]
		l.Nodes = append(l.Nodes, w.Nodes[i].Host.Node.Name)
	}
	if block {
		for i := range t.Leaves {
			t.Leaves[i].Above = nil
		}
	}
	w.Topologies = []*partition.Topology{t}
	w.Partitions[0].Topology = "net"
}

// whole is a job of so many whole nodes.
func whole(nodes uint32, limit job.Minutes) func(*job.Job) {
	return func(j *job.Job) {
		j.Request.Size.MinNodes, j.Request.Size.MaxNodes = nodes, nodes
		j.Request.Place.Sharing = job.Exclusive
		j.Request.Timing.Limit = limit
	}
}

// busy holds some nodes for an hour.
func (w *world) busy(names ...string) {
	for _, n := range names {
		w.submit(func(j *job.Job) { whole(1, 60)(j); j.Request.Place.Nodes = []string{n} })
	}
	w.apply(w.plan())
	w.Waiting = nil
}

func TestPlacesNearEachOther(t *testing.T) {
	for _, c := range []struct {
		name  string
		busy  []string
		block bool
		set   func(*job.Job)
		want  []string // nil: it waits
	}{
		{"in the leaf that it fills best", []string{"n1", "n5", "n6"}, false, whole(2, 10), []string{"n7", "n8"}},
		{"below one switch", []string{"n1", "n2", "n5", "n6"}, false, whole(5, 10), []string{"n9", "n10", "n11", "n12", "n13"}},
		{"in the fewest leaves", []string{"n2", "n3", "n9", "n10", "n11"}, false, whole(6, 10), []string{"n1", "n4", "n5", "n6", "n7", "n8"}},
		{"in segments", []string{"n1", "n5", "n9"}, true, func(j *job.Job) { whole(4, 10)(j); j.Request.Place.Segment = 2 }, []string{"n13", "n14", "n15", "n16"}},
		{"in whole segments only", []string{"n1", "n5", "n9", "n13"}, true, func(j *job.Job) { whole(6, 10)(j); j.Request.Place.Segment = 2 }, []string{"n2", "n3", "n6", "n7", "n10", "n11"}},
		{"not in parts of segments", []string{"n1", "n5", "n9", "n13"}, true, func(j *job.Job) { whole(4, 10)(j); j.Request.Place.Segment = 4 }, nil},
		{"not on more switches than wanted", []string{"n1", "n5", "n9", "n13"}, false, func(j *job.Job) { whole(4, 10)(j); j.Request.Place.Switches = 1 }, nil},
		{"on more after the wait", []string{"n1", "n5", "n9", "n13"}, false, func(j *job.Job) {
			whole(4, 10)(j)
			j.Request.Place.Switches, j.Request.Place.SwitchWait = 1, 60
			j.Times.Eligible = 1
		}, []string{"n2", "n3", "n4", "n6"}},
		{"with the nodes that it names", nil, false, func(j *job.Job) { whole(2, 10)(j); j.Request.Place.Nodes = []string{"n6"} }, []string{"n5", "n6"}},
	} {
		for _, grid := range []int{0, 1} {
			t.Run(fmt.Sprint(c.name, grid), func(t *testing.T) {
				w := newWorld(16, 4)
				w.grid = grid
				w.now = 1_000_000_000
				inBlocks(w, 4, c.block)
				w.busy(c.busy...)
				id := w.submit(func(j *job.Job) { j.Times.Eligible = w.now; c.set(j) })
				p := w.plan()
				if got := nodesOf(p, id); !slices.Equal(got, c.want) {
					t.Fatalf("got %v, want %v; %+v", got, c.want, p.Verdicts)
				}
				if v := p.verdict(id); c.want == nil && v.Planned == 0 {
					t.Errorf("it has no planned start: %+v", v)
				}
			})
		}
	}
}

// Ranks follow the network, also where the cluster file has its nodes in another
// order.
func TestRanksFollowTheNetwork(t *testing.T) {
	w := newWorld(4, 4)
	w.Topologies = []*partition.Topology{{Name: "net", Leaves: []partition.Leaf{{Name: "a", Nodes: []string{"n1", "n3"}}, {Name: "b", Nodes: []string{"n2", "n4"}}}}}
	w.Partitions[0].Topology = "net"
	id := w.submit(whole(4, 10))
	if got, want := nodesOf(w.plan(), id), []string{"n1", "n3", "n2", "n4"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A segment means nothing where there are no blocks: the job says so.
func TestSegmentsNeedBlocks(t *testing.T) {
	w := newWorld(4, 4)
	id := w.submit(func(j *job.Job) { whole(2, 10)(j); j.Request.Place.Segment = 2 })
	wantReason(t, w.plan(), id, job.ReasonBadConstraints)
}
