package dispatch

import (
	"slices"
	"testing"

	"muster/api/pb"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// reconfigured is the cluster's configuration with some nodes and another KillWait.
func (c *cluster) reconfigured(killWait uint32, nodes ...string) {
	c.t.Helper()
	next := *c.Root().Cluster()
	next.Timers.KillWait = killWait
	next.Nodes = nil
	for _, name := range nodes {
		next.Nodes = append(next.Nodes, partition.Node{Name: name,
			Declared: partition.Shape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 1000}})
	}
	next.Partitions = slices.Clone(next.Partitions)
	next.Partitions[0].NodeList = "ALL"
	c.must(&state.Configure{Cluster: next, Force: true})
}

// A node is told of a new configuration before it is told of a job that was started
// under it, and says that it has it.
func TestNodesAreToldOfAConfigurationFirst(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, first := c.connect(d, "n1", "boot1")
	if first.Welcome.Config != 1 {
		t.Fatalf("the first welcome is of configuration %d", first.Welcome.Config)
	}
	c.reconfigured(77, "n1", "n2")
	id := c.start("n1")
	n1.launch(id)
	told := slices.IndexFunc(n1.seen, func(m *pb.ToNode) bool { return m.Welcome.GetConfig() == 2 })
	launched := slices.IndexFunc(n1.seen, func(m *pb.ToNode) bool { return len(m.GetDesired().GetLaunch()) > 0 })
	if told < 0 || told > launched || n1.seen[told].Welcome.KillWaitS != 77 {
		t.Errorf("the configuration came at %d, the launch at %d of %v", told, launched, n1.seen)
	}
	if serial, heard := d.Config("n1"); serial != 0 || !heard {
		t.Errorf("before it said so, n1 goes by %d (heard: %t)", serial, heard)
	}
	n1.s.Receive(&pb.FromNode{Heartbeat: &pb.Heartbeat{Config: 2}})
	if serial, _ := d.Config("n1"); serial != 2 {
		t.Errorf("n1 goes by %d", serial)
	}
	if _, heard := d.Config("n2"); heard {
		t.Error("n2 was never there")
	}
}

// A node that is taken out ends what it runs and loses its stream; taken in again it
// registers as a new one.
func TestARemovedNodeEndsItsJobs(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "boot1")
	n2, _ := c.connect(d, "n2", "boot1")
	id := c.start("n1")
	n1.launch(id)
	c.reconfigured(5, "n2")
	n2.until(func(m *pb.ToNode) bool { return m.Welcome.GetConfig() == 2 })
	var list []*pb.ToNode
	err := error(nil)
	for err == nil {
		<-n1.box.Ready()
		var more []*pb.ToNode
		more, err = n1.box.Take()
		list = append(list, more...)
	}
	ended := false
	for _, m := range list {
		for _, e := range m.GetDesired().GetEnding() {
			ended = ended || e.Attempt.Job == uint32(id) && e.Now
		}
	}
	if !ended {
		t.Errorf("n1 was not told to end job %d: %v", id, list)
	}
	if j := c.job(id); j.State != job.Pending {
		t.Errorf("the job is %s", j.State)
	}
	c.reconfigured(5, "n1", "n2")
	again, m := c.connect(d, "n1", "boot1", attempt(id, 0))
	if len(m.Desired.Keep)+len(m.Desired.Launch) != 0 {
		t.Errorf("the new n1 should run %v", m.Desired)
	}
	other := c.start("n1")
	again.launch(other)
}
