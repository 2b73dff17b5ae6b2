package state

import (
	"slices"
	"testing"

	"muster/job"
	"muster/partition"
)

func (w *world) node(name string) *partition.Node { return w.m.Root().NodeNamed(name) }

// A node that comes back with another boot id ends what it no longer holds,
// once, and goes on with what it lists.
func TestNodeReboots(t *testing.T) {
	w := newWorld(t)
	again, no, kept := w.submit(nil), w.submit(func(n *NewJob) { n.Request.Requeue = false }), w.submit(nil)
	w.must(w.startCmd(again, job.NoTask, 0, "n1", "n2"))
	w.must(w.startCmd(no, job.NoTask, 1, "n1"))
	w.must(w.startCmd(kept, job.NoTask, 2, "n1"))
	w.register("n1", "boot2", AttemptID{Job: kept})
	w.is(no, job.NodeFail, job.ReasonNodeDown)
	if j := w.job(no); !j.Terminal() || j.End.FailedNode != "n1" {
		t.Errorf("the job that may not be requeued: %+v", j)
	}
	w.is(kept, job.Running, job.ReasonNone)
	if j := w.job(again); j.State != job.NodeFail || j.Flags&job.Requeued == 0 || j.Flags&job.Completing == 0 {
		t.Errorf("the job that n2 still holds: %s", job.Word(j.State, j.Flags, false))
	}
	w.must(&Report{Job: again, Node: "n2", Released: true})
	w.is(again, job.Pending, job.ReasonNone)
	if w.job(again).Attempt != 1 {
		t.Errorf("attempt %d, want 1", w.job(again).Attempt)
	}
	w.register("n1", "boot2", AttemptID{Job: kept})
	w.refuse(Stale, &Report{Job: kept, Node: "n1", BootID: "boot1", Ended: true, Released: true})
	for _, id := range []job.ID{again, no} {
		if n := len(w.ends(id)); n != 1 {
			t.Errorf("job %d has %d ends", id, n)
		}
	}
}

// A daemon that restarts under its jobs ends none.
func TestNodeDaemonRestarts(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	w.register("n1", "boot1") // the launch has not reached it yet
	w.is(id, job.Running, job.ReasonNone)
	w.register("n1", "boot1", AttemptID{Job: id})
	w.is(id, job.Running, job.ReasonNone)
}

func TestSilentNode(t *testing.T) {
	w := newWorld(t)
	id, stays, fenced := w.submit(nil), w.submit(func(n *NewJob) { n.Request.NoKill = true }), w.submit(nil)
	w.must(w.startCmd(id, job.NoTask, 0, "n1"))
	w.must(w.startCmd(stays, job.NoTask, 1, "n2", "n1"))
	s := w.startCmd(fenced, job.NoTask, 2, "n1")
	s.Alloc.Partition = "fenced"
	w.must(s)
	n1 := w.node("n1").ID
	w.must(&NodeSilent{Nodes: []job.NodeID{n1}})
	w.is(id, job.Running, job.ReasonNone)
	w.refuse(NoLongerFits, w.startCmd(w.submit(nil), job.NoTask, 3, "n1"))
	w.must(&NodeSilent{Nodes: []job.NodeID{n1}, Down: true})
	w.is(id, job.Pending, job.ReasonNone)
	w.is(stays, job.Running, job.ReasonNone)
	if j := w.job(stays); !j.Alloc.Nodes[1].Released {
		t.Error("the lost node's share of a --no-kill job is still held")
	}
	if j := w.job(fenced); j.State != job.NodeFail || !j.Alloc.Held() {
		t.Errorf("in the fenced partition: %s", job.Word(j.State, j.Flags, false))
	}
	if n := w.node("n1"); n.State != partition.NodeDown || n.Reason != lostReason {
		t.Errorf("node: %+v", n)
	}
	w.register("n1", "boot1") // back, and it holds nothing
	w.is(fenced, job.Pending, job.ReasonNone)
	if n := w.node("n1"); n.State != partition.NodeUp || n.Admin != 0 || n.Reason != "" {
		t.Errorf("back: %+v", n)
	}
}

func TestAdminDown(t *testing.T) {
	w := newWorld(t)
	a, b := w.submit(func(n *NewJob) { n.Request.Requeue = false }), w.submit(nil)
	w.must(w.startCmd(a, job.NoTask, 0, "n3"))
	w.must(w.startCmd(b, job.NoTask, 1, "n3"))
	why := "test"
	w.must(&NodeAdmin{Names: []string{"n3"}, State: "DOWN", Reason: &why})
	if n := w.node("n3"); n.State != partition.NodeDown || n.Reason != "test" || n.ReasonBy != "user" {
		t.Errorf("down: %+v", n)
	}
	for _, id := range []job.ID{a, b} { // the node is there and cleans up
		w.must(&Report{Job: id, Node: "n3", Ended: true, Released: true, Result: job.Result{Signal: 9}})
	}
	w.is(a, job.NodeFail, job.ReasonNodeDown)
	w.is(b, job.Pending, job.ReasonNone)
	w.register("n3", "boot1")
	if n := w.node("n3"); n.State != partition.NodeDown {
		t.Error("a node that an admin set down returned by itself")
	}
	w.must(&NodeAdmin{Names: []string{"n3"}, State: "RESUME"})
	w.start(b, "n3")
	w.refuse(NoSuchNode, &NodeAdmin{Names: []string{"n3", "n9"}, State: "DOWN"})
	w.refuse(Invalid, &NodeAdmin{Names: []string{"n3"}, State: "SIDEWAYS"})
	w.is(b, job.Running, job.ReasonNone)
}

// A node that an admin set down, and that then falls silent, holds nothing up.
func TestDownNodeFallsSilent(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	w.must(&NodeAdmin{Names: []string{"n1"}, State: "DOWN"})
	if w.job(id).Flags&job.Completing == 0 {
		t.Error("released before the node said so")
	}
	w.must(&NodeSilent{Nodes: []job.NodeID{w.node("n1").ID}})
	w.is(id, job.Pending, job.ReasonNone)
}

func TestConfigureAgain(t *testing.T) {
	w := newWorld(t)
	id := w.submit(func(n *NewJob) { n.Request.Requeue = false })
	w.start(id, "n4")
	n1 := w.node("n1").ID
	w.must(&Configure{Cluster: testCluster("n5", "n1"), Force: true})
	w.is(id, job.NodeFail, job.ReasonNodeDown)
	if w.node("n4") != nil || w.node("n1").ID != n1 || w.node("n1").State != partition.NodeUp || w.node("n5").ID != 5 {
		t.Errorf("nodes after: %+v %+v", w.node("n1"), w.node("n5"))
	}
	if p := w.m.Root().Partition("main"); !slices.Equal(p.Nodes, []job.NodeID{5, n1}) {
		t.Errorf("partition has %v", p.Nodes)
	}
	bad := testCluster("n1")
	bad.Partitions[0].NodeList = "n[1-2]"
	w.refuse(Invalid, &Configure{Cluster: bad})
	if w.node("n5") == nil {
		t.Error("a refused configuration changed the nodes")
	}
}

func TestProblemKeepsWorkAway(t *testing.T) {
	w := newWorld(t)
	w.must(&NodeRegister{Name: "n1", BootID: "boot1", Journal: "jn1", Problem: "Low RealMemory"})
	w.refuse(NoLongerFits, w.startCmd(w.submit(nil), job.NoTask, 0, "n1"))
	w.register("n1", "boot1")
	if n := w.node("n1"); n.Admin != 0 || n.Reason != "" {
		t.Errorf("after a good registration: %+v", n)
	}
}

// A drain that is lifted takes its reason along, unless the node is down as well.
func TestUndrainTakesReason(t *testing.T) {
	for also, want := range map[string]string{"": "", "DOWN": "disk", "FAIL": "disk"} {
		w := newWorld(t)
		reason := "disk"
		w.must(&NodeAdmin{Names: []string{"n1"}, State: "DRAIN", Reason: &reason})
		if also != "" {
			w.must(&NodeAdmin{Names: []string{"n1"}, State: also})
		}
		w.must(&NodeAdmin{Names: []string{"n1"}, State: "UNDRAIN"})
		if got := w.node("n1").Reason; got != want {
			t.Errorf("also %q: reason %q, want %q", also, got, want)
		}
	}
}
