package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/job"
	"muster/partition"
)

// change is testCluster with something else in its first node.
func change(f func(*partition.Node)) partition.Cluster {
	c := testCluster("n1", "n2", "n3", "n4")
	f(&c.Nodes[0])
	return c
}

// A job holds core 0 and a device of n1. What leaves it its place is taken; all else
// is refused with its number and the node, changes nothing, and ends it if forced.
func TestNoConfigurationEndsAJobUnforced(t *testing.T) {
	for name, c := range map[string]struct {
		file partition.Cluster
		why  string // part of the refusal; "" if it is taken
	}{
		"more memory":     {change(func(n *partition.Node) { n.Declared.MemoryMB = 9000 }), ""},
		"memory enough":   {change(func(n *partition.Node) { n.Declared.MemoryMB = 100 }), ""},
		"memory too low":  {change(func(n *partition.Node) { n.Declared.MemoryMB = 99 }), "jobs hold 100 MB, the node would have 99"},
		"memory kept off": {change(func(n *partition.Node) { n.Declared.MemSpecMB = 7901 }), "jobs hold 100 MB, the node would have 99"},
		"fewer CPUs":      {change(func(n *partition.Node) { n.Declared.CPUs, n.Declared.CoresPerSocket = 2, 2 }), "other sockets, cores or threads"},
		"other sockets":   {change(func(n *partition.Node) { n.Declared.Sockets, n.Declared.CoresPerSocket = 2, 2 }), "other sockets, cores or threads"},
		"cores kept off":  {change(func(n *partition.Node) { n.Declared.CoreSpec = 4 }), "jobs hold 1 CPUs"},
		"no such device":  {change(func(n *partition.Node) { n.Gres.Devices = n.Gres.Devices[:1] }), "jobs hold devices gpu"},
		"other weight":    {change(func(n *partition.Node) { n.Weight = 7 }), ""},
		"node removed":    {testCluster("n2", "n3", "n4"), "the node is removed"},
		"others removed":  {testCluster("n1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.submit(func(n *NewJob) { n.Request.Requeue = false })
			start := w.startCmd(id, job.NoTask, 0, "n1")
			start.Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 1, Index: members([]job.NodeID{1})}}
			w.must(start)
			res := w.do(&Configure{Cluster: c.file})
			if c.why == "" {
				if res.Code != OK {
					t.Fatalf("refused: %+v", res)
				}
				w.is(id, job.Running, job.ReasonNone)
				return
			}
			if res.Code != InUse || !strings.Contains(res.Text, fmt.Sprintf("job %d on n1", id)) || !strings.Contains(res.Text, c.why) {
				t.Fatalf("%+v, want a refusal that says %q of job %d on n1", res, c.why, id)
			}
			w.is(id, job.Running, job.ReasonNone)
			if n := len(w.m.Root().Configurations()); n != 1 {
				t.Fatalf("%d configurations are remembered after a refusal", n)
			}
			w.must(&Configure{Cluster: c.file, Force: true})
			if got := w.job(id).State; got != job.NodeFail {
				t.Errorf("after force it is %s", got)
			}
			checkRoot(t, w.m.Root())
		})
	}
}

// Jobs that may be started again are, and what a node still holds of them stays in
// the book until the node has ended it.
func TestForcedOutJobsAreRequeued(t *testing.T) {
	w := newWorld(t)
	id := w.submit(func(n *NewJob) { n.Request.NoKill = true })
	w.start(id, "n2", "n1")
	w.must(&Configure{Cluster: change(func(n *partition.Node) { n.Declared.Sockets = 2 }), Force: true})
	if u := w.m.Root().NodeUse(w.node("n1").ID); u == nil || u.CPUs != 1 {
		t.Fatalf("n1 has not ended it, and holds %+v", u)
	}
	w.exit(id, 0)
	w.is(id, job.Pending, job.ReasonNone)
	if got := w.ends(id); !slices.Equal(got, []string{"NODE_FAIL"}) {
		t.Errorf("recorded ends: %v", got)
	}
}

// Of a node that is gone nobody could tell that a fenced job has ended.
func TestForceRemovesNoNodeUnderAFencedJob(t *testing.T) {
	w := newWorld(t)
	id := w.submit(func(n *NewJob) { n.Request.Partitions = []string{"fenced"} })
	start := w.startCmd(id, job.NoTask, 0, "n1")
	start.Alloc.Partition = "fenced"
	w.must(start)
	without := &Configure{Cluster: testCluster("n2"), Force: true}
	w.refuse(InUse, without)
	w.cancel(Target{Job: id})
	w.refuse(InUse, without)
	w.exit(id, 0)
	w.must(without)
}

func TestReservationsLoseNodesOnlyByForce(t *testing.T) {
	w := newWorld(t)
	for name, nodes := range map[string][]job.NodeID{"both": {1, 4}, "gone": {4}, "other": {2}} {
		w.must(&Reservation{Create: true, Value: partition.Reservation{Name: name, Start: 1, Nodes: nodes}})
	}
	next := &Configure{Cluster: testCluster("n1", "n2", "n3")}
	if res := w.do(next); res.Code != InUse || !strings.Contains(res.Text, "reservation both") || !strings.Contains(res.Text, "reservation gone") {
		t.Fatalf("not refused by name: %+v", res)
	}
	next.Force = true
	w.must(next)
	r := w.m.Root()
	if r.Reservation("gone") != nil || !slices.Equal(r.Reservation("both").Nodes, []job.NodeID{1}) || r.Reservation("other") == nil {
		t.Errorf("reservations after: %+v %+v", r.Reservation("gone"), r.Reservation("both"))
	}
	checkRoot(t, r)
}

// What a node said of itself stays, until the file says something else than before.
func TestNodesKeepWhatTheyReported(t *testing.T) {
	w := newWorld(t)
	found := partition.Node{}
	found.Gres.Devices = slices.Clone(testCluster("n1").Nodes[0].Gres.Devices)
	found.Gres.Devices[0].File = "/dev/gpu0"
	w.must(&NodeRegister{Name: "n1", BootID: "boot1", Journal: "jn1", Address: []string{"10.0.0.1"}, Gres: found})
	w.must(&Configure{Cluster: change(func(n *partition.Node) { n.Weight = 3 })})
	n := w.node("n1")
	if n.Weight != 3 || len(n.Gres.Devices) != 2 || n.Gres.Devices[0].File != "/dev/gpu0" || !slices.Equal(n.Address, []string{"10.0.0.1"}) {
		t.Errorf("after another weight: %+v", n)
	}
	w.must(&Configure{Cluster: change(func(n *partition.Node) {
		n.Gres.Devices, n.Address = n.Gres.Devices[:1], []string{"10.0.0.9"}
	})})
	if n := w.node("n1"); len(n.Gres.Devices) != 1 || n.Gres.Devices[0].File != "/dev/gpu0" || !slices.Equal(n.Address, []string{"10.0.0.9"}) {
		t.Errorf("after other devices: %+v", n)
	}
}

func TestConfigurationsAreRemembered(t *testing.T) {
	w := newWorld(t)
	text := func(s string) partition.Cluster {
		c := testCluster("n1")
		c.Source = s
		return c
	}
	w.must(&Configure{Cluster: text("second"), Base: 1})
	w.refuse(Conflict, &Configure{Cluster: text("late"), Base: 1})
	w.must(&Configure{Cluster: text("third"), Base: 2, Undo: 1, Force: true})
	got := w.m.Root().Configuration()
	want := Configuration{Serial: 3, At: w.now, By: w.by, Forced: true, Undo: 1, Source: "third"}
	if got != want {
		t.Errorf("in force: %+v, want %+v", got, want)
	}
	for i := range 2 * MaxConfigurations {
		w.must(&Configure{Cluster: text(fmt.Sprint("number ", i+4))})
	}
	list := w.m.Root().Configurations()
	if len(list) != MaxConfigurations || list[0].Serial != MaxConfigurations+4 || list[len(list)-1].Source != "number 67" {
		t.Errorf("%d remembered, from %d to %q", len(list), list[0].Serial, list[len(list)-1].Source)
	}
	sameRoots(t, w.m.Root(), restored(t, snapshot(t, w.m.Root())).Root())
}

func TestNodesThatAreBehindGetNoJob(t *testing.T) {
	w := newWorld(t)
	n1, n2 := w.node("n1").ID, w.node("n2").ID
	running := w.submit(nil)
	w.start(running, "n1")
	w.must(&Configure{Cluster: testCluster("n1", "n2")})
	w.refuse(Stale, &NodesFollow{Serial: 1, Behind: []job.NodeID{n1}})
	w.must(&NodesFollow{Serial: 2, Behind: []job.NodeID{n1, 99}})
	w.is(running, job.Running, job.ReasonNone)
	id := w.submit(nil)
	w.refuse(NoLongerFits, w.startCmd(id, job.NoTask, 1, "n1"))
	w.register("n1", "boot1", AttemptID{Job: running})
	w.refuse(NoLongerFits, w.startCmd(id, job.NoTask, 1, "n1"))
	w.must(&NodesFollow{Serial: 2, Behind: []job.NodeID{n2}, Follow: []job.NodeID{n1}})
	w.must(w.startCmd(id, job.NoTask, 1, "n1"))
	if n := w.node("n2"); n.Admin&partition.NodeBehind == 0 || n.Reason != behindReason {
		t.Errorf("n2 is not behind: %+v", n)
	}
	if n := w.node("n1"); n.Reason != "" {
		t.Errorf("n1 follows, and has the reason %q", n.Reason)
	}
}
