package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"muster/api/pb"
	"muster/internal/bitset"
	"muster/internal/clock"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// cluster is a real state machine under a dispatcher, without raft: commands
// are applied as they are proposed.
type cluster struct {
	t       *testing.T
	mu      sync.Mutex
	m       *state.Machine
	index   uint64
	now     job.Time
	changes chan struct{}
	refuse  error // what Submit fails with
	clock   *clock.Fake
}

var script = []byte("#!/bin/sh\ntrue\n")

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, m: state.New(), now: 1_800_000_000_000, changes: make(chan struct{}), clock: clock.NewFake(time.Unix(1_800_000_000, 0))}
	conf := partition.Cluster{Name: "test", TimeZone: "UTC",
		Partitions: []partition.Partition{{Name: "debug", NodeList: "n[1-2]", Default: true, Nodes: []job.NodeID{1, 2}}},
		Timers:     partition.Timers{KillWait: 5, Heartbeat: 1000, NodeTimeout: 300, Silent: 30, MinJobAge: 300},
		Policy:     partition.Policy{Requeue: true}}
	for _, name := range []string{"n1", "n2"} {
		conf.Nodes = append(conf.Nodes, partition.Node{Name: name,
			Declared: partition.Shape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 1000}})
	}
	c.must(&state.Configure{Cluster: conf})
	return c
}

// apply commits one command.
func (c *cluster) apply(e state.Envelope) state.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index++
	c.now += 10
	r, err := c.m.Apply(c.index, &state.Entry{Now: c.now, Commands: []state.Envelope{e}})
	if err != nil {
		c.t.Fatal(err)
	}
	close(c.changes)
	c.changes = make(chan struct{})
	return r[0]
}

func (c *cluster) must(cmd state.Command) state.Result {
	c.t.Helper()
	r := c.apply(state.Seal(cmd, state.Actor{User: "root"}, state.RequestID{}))
	if r.Code != state.OK {
		c.t.Fatalf("%T refused: %+v", cmd, r)
	}
	return r
}

// Root implements Core.
func (c *cluster) Root() *state.Root { return c.m.Root() }

// Changed implements Core.
func (c *cluster) Changed(r *state.Root) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m.Root() != r {
		ch := make(chan struct{})
		close(ch)
		return ch
	}
	return c.changes
}

// Now implements Core.
func (c *cluster) Now() job.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// WallNow implements Core.
func (c *cluster) WallNow() job.Time { return c.Now() }

// Submit implements Core.
func (c *cluster) Submit(e state.Envelope, done func(state.Result, uint64, error)) error {
	c.mu.Lock()
	refuse := c.refuse
	c.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	r := c.apply(e)
	c.mu.Lock()
	index := c.index
	c.mu.Unlock()
	done(r, index, nil)
	return nil
}

// LocalBlob implements Core.
func (c *cluster) LocalBlob(job.Hash) ([]byte, error) { return script, nil }

// lead starts a dispatcher.
func (c *cluster) lead(term uint64) *Dispatcher {
	ctx, cancel := context.WithCancel(context.Background())
	d := New(Config{Term: term, Core: c, Log: slog.New(slog.DiscardHandler), Clock: c.clock, Controllers: []string{"c1:1"}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	c.t.Cleanup(func() {
		cancel()
		<-done
	})
	return d
}

func (c *cluster) job(id job.ID) *job.Job { return c.m.Root().Job(id) }

// submit queues a job and starts it on the nodes.
func (c *cluster) start(nodes ...string) job.ID {
	c.t.Helper()
	r := c.must(&state.Submit{Jobs: []state.NewJob{{
		Owner:    job.Owner{UID: 1000, GID: 100, User: "user", Group: "users", Groups: []uint32{100}},
		Request:  job.Request{Name: "j", Partitions: []string{"debug"}, Requeue: true, Batch: job.Batch{Script: job.Hash{1}, WorkDir: "/"}},
		Priority: 1,
	}}})
	c.startAgain(r.Jobs[0], nodes...)
	return r.Jobs[0]
}

func (c *cluster) startAgain(id job.ID, nodes ...string) {
	c.t.Helper()
	a := job.Allocation{Partition: "debug"}
	for _, name := range nodes {
		n := c.m.Root().NodeNamed(name)
		a.Nodes = append(a.Nodes, job.Share{Node: n.ID, Name: name, CPUs: 1, Cores: bitset.Of(int(id) % 8), MemoryMB: 10, Tasks: 1})
		a.CPUs++
		a.MemoryMB += 10
	}
	a.BatchNode = a.Nodes[0].Node
	c.must(&state.Start{Job: id, Task: job.NoTask, Alloc: a, Limit: 5})
}

// fakeNode is a node's end of a session.
type fakeNode struct {
	c    *cluster
	name string
	boot string
	box  *Mailbox
	s    *Session
	num  uint64
	seen []*pb.ToNode
}

func (c *cluster) hello(name, boot string, running ...*pb.Attempt) *pb.Hello {
	return &pb.Hello{Name: name, BootId: boot, JournalId: "j-" + name, StartedMs: int64(len(boot)), Running: running,
		Found: &pb.Inventory{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, Cpus: 8, MemoryMb: 1000}}
}

// connect says hello and returns the node with everything that it was told.
func (c *cluster) connect(d *Dispatcher, name, boot string, running ...*pb.Attempt) (*fakeNode, *pb.ToNode) {
	c.t.Helper()
	n := &fakeNode{c: c, name: name, boot: boot, box: NewMailbox()}
	n.s = d.Attach(c.hello(name, boot, running...), n.box)
	m := n.until(func(m *pb.ToNode) bool { return m.Welcome != nil })
	if m.Desired == nil || !m.Desired.Full {
		c.t.Fatalf("node %s was welcomed without the whole of what it should run: %v", name, m)
	}
	return n, m
}

// until looks through the messages that came, and waits for more, until one is
// as wanted.
func (n *fakeNode) until(ok func(*pb.ToNode) bool) *pb.ToNode {
	n.c.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		for _, m := range n.seen {
			if ok(m) {
				return m
			}
		}
		select {
		case <-n.box.Ready():
		case <-deadline:
			n.c.t.Fatalf("node %s: no such message among %v", n.name, n.seen)
		}
		list, err := n.box.Take()
		n.seen = append(n.seen, list...)
		if err != nil {
			n.c.t.Fatalf("node %s: stream ended: %v", n.name, err)
		}
	}
}

func (n *fakeNode) launch(id job.ID) *pb.Launch {
	n.c.t.Helper()
	var found *pb.Launch
	n.until(func(m *pb.ToNode) bool {
		for _, l := range m.GetDesired().GetLaunch() {
			if l.Attempt.Job == uint32(id) {
				found = l
			}
		}
		return found != nil
	})
	return found
}

func (n *fakeNode) ending(id job.ID) *pb.Ending {
	n.c.t.Helper()
	var found *pb.Ending
	n.until(func(m *pb.ToNode) bool {
		for _, e := range m.GetDesired().GetEnding() {
			if e.Attempt.Job == uint32(id) {
				found = e
			}
		}
		return found != nil
	})
	return found
}

// report sends a report and waits until it is acknowledged.
func (n *fakeNode) report(r *pb.Report) {
	n.c.t.Helper()
	n.num++
	r.Number = n.num
	n.s.Receive(&pb.FromNode{Report: r})
	n.until(func(m *pb.ToNode) bool {
		for _, a := range m.ReportAcks {
			if a == r.Number {
				return true
			}
		}
		return false
	})
}

// nothing checks that no message waits, once the dispatcher has seen all.
func (n *fakeNode) nothing(what string) {
	n.c.t.Helper()
	n.c.t.Log(what)
	n.s.d.follow(n.c.Root())
	list, _ := n.box.Take()
	for _, m := range list {
		if m.Desired != nil {
			n.c.t.Errorf("%s: node %s was told %v", what, n.name, m.Desired)
		}
	}
}

func attempt(id job.ID, n uint32) *pb.Attempt { return &pb.Attempt{Job: uint32(id), Attempt: n} }

func TestAJobsWay(t *testing.T) {
	c := newCluster(t)
	d := c.lead(3)
	n1, m := c.connect(d, "n1", "boot1")
	if m.Term != 3 || m.Welcome.KillWaitS != 5 || m.Welcome.Cluster != "test" || len(m.Desired.Launch) != 0 {
		t.Errorf("welcome: %v", m)
	}
	id := c.start("n1")
	l := n1.launch(id)
	if !l.Batch || l.BootId != "boot1" || l.JournalId != "j-n1" || l.Uid != 1000 || string(l.Script.ScriptData) != string(script) ||
		l.EndMs != int64(c.job(id).Times.LimitEnd) || len(l.Nodes) != 1 || l.Info.ArrayTask != job.NoTask {
		t.Errorf("launch: %v", l)
	}
	n1.report(&pb.Report{Attempt: attempt(id, 0), Ended: true, ExitCode: 3, Released: true})
	if j := c.job(id); j.State != job.Failed || j.End.ExitCode != 3 || !j.Terminal() {
		t.Errorf("after the report: %v flags %v code %d", j.State, j.Flags, j.End.ExitCode)
	}
	n1.nothing("after the job's end")
	// The same script again: the node has it.
	if l := n1.launch(c.start("n1")); len(l.Script.ScriptData) != 0 || len(l.Script.Script) == 0 {
		t.Errorf("the second launch carries the script once more")
	}
}

func TestCancelOnTwoNodes(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	n2, _ := c.connect(d, "n2", "b2")
	id := c.start("n1", "n2")
	if l := n1.launch(id); !l.Batch || l.NodeIndex != 0 {
		t.Errorf("the first node: %v", l)
	}
	if l := n2.launch(id); l.Batch || l.NodeIndex != 1 || l.Script != nil {
		t.Errorf("the second node: %v", l)
	}
	c.must(&state.End{Targets: []state.Target{{Job: id}}, To: job.Cancelled})
	for _, n := range []*fakeNode{n1, n2} {
		if e := n.ending(id); e.Why != "CANCELLED" || e.Now {
			t.Errorf("node %s: %v", n.name, e)
		}
	}
	n1.report(&pb.Report{Attempt: attempt(id, 0), Ended: true, ExitSignal: 15})
	n2.report(&pb.Report{Attempt: attempt(id, 0), Released: true})
	if j := c.job(id); j.Flags&job.Completing == 0 {
		t.Errorf("completing while a node still cleans up: %v %v", j.State, j.Flags)
	}
	n1.report(&pb.Report{Attempt: attempt(id, 0), Released: true})
	if j := c.job(id); j.State != job.Cancelled || !j.Terminal() {
		t.Errorf("in the end: %v %v", j.State, j.Flags)
	}
}

func TestTheOtherNodesAreToldWhenTheScriptEnds(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	n2, _ := c.connect(d, "n2", "b2")
	id := c.start("n1", "n2")
	n1.launch(id)
	n2.launch(id)
	n1.report(&pb.Report{Attempt: attempt(id, 0), Ended: true})
	if e := n2.ending(id); e.Why != "" {
		t.Errorf("the second node: %v", e)
	}
	n1.nothing("the node whose script ended cleans up by itself")
}

func TestReconnect(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	kept, lost, ended := c.start("n1"), c.start("n1"), c.start("n1")
	for _, id := range []job.ID{kept, lost, ended} {
		n1.launch(id)
	}
	n1.s.Close()
	c.must(&state.End{Targets: []state.Target{{Job: ended}}, To: job.Cancelled})
	_, m := c.connect(d, "n1", "b1", attempt(kept, 0), attempt(ended, 0))
	full := m.Desired
	if len(full.Keep) != 1 || full.Keep[0].Job != uint32(kept) {
		t.Errorf("keep %v, want job %d", full.Keep, kept)
	}
	if len(full.Launch) != 1 || full.Launch[0].Attempt.Job != uint32(lost) {
		t.Errorf("launch %v, want job %d", full.Launch, lost)
	}
	if len(full.Ending) != 1 || full.Ending[0].Attempt.Job != uint32(ended) {
		t.Errorf("ending %v, want job %d", full.Ending, ended)
	}
}

func TestANewLeaderBuildsAllFromTheState(t *testing.T) {
	c := newCluster(t)
	n1, _ := c.connect(c.lead(1), "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	before := c.Root().Index()
	_, m := c.connect(c.lead(2), "n1", "b1", attempt(id, 0))
	if m.Term != 2 || len(m.Desired.Keep) != 1 || len(m.Desired.Launch) != 0 {
		t.Errorf("the new leader said %v", m)
	}
	if got := c.Root().Index(); got != before {
		t.Errorf("a node that the state knows registered again: index %d, was %d", got, before)
	}
	if c.job(id).State != job.Running {
		t.Errorf("the job is %v", c.job(id).State)
	}
}

func TestAnotherBootGetsNoOldAttempt(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	_, m := c.connect(d, "n1", "boot2")
	if len(m.Desired.Launch) != 0 || len(m.Desired.Keep) != 0 {
		t.Errorf("after a reboot: %v", m.Desired)
	}
	if j := c.job(id); j.State == job.Running || j.Attempt == 0 && !j.State.Ended() {
		t.Errorf("the job that ran on the earlier boot: %v attempt %d", j.State, j.Attempt)
	}
}

func TestANodeThatWasGivenUpEndsItsJobs(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	c.must(&state.NodeSilent{Nodes: []job.NodeID{c.Root().NodeNamed("n1").ID}, Down: true, Reason: "Not responding"})
	if e := n1.ending(id); !e.Now || e.Attempt.Attempt != 0 {
		t.Errorf("told %v", e)
	}
}

// A node that an admin sets down is alive: it ends its jobs, and only what it
// says gives their shares back.
func TestANodeSetDownIsToldToEndItsJobs(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	c.must(&state.NodeAdmin{Names: []string{"n1"}, State: "DOWN"})
	if e := n1.ending(id); e.Now || e.Why != "NODE_FAIL" {
		t.Errorf("told %v", e)
	}
	if j := c.job(id); j.Terminal() || j.State != job.NodeFail {
		t.Errorf("before the node's word: %v %v", j.State, j.Flags)
	}
	n1.report(&pb.Report{Attempt: attempt(id, 0), Ended: true, ExitSignal: 15, Released: true})
	if j := c.job(id); j.Flags&job.Completing != 0 {
		t.Errorf("after the node's word: %v %v", j.State, j.Flags)
	}
}

func TestLimitSuspensionAndStrays(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	limit := job.Minutes(60)
	c.must(&state.Update{Target: state.Target{Job: id}, Limit: &limit})
	m := n1.until(func(m *pb.ToNode) bool { return len(m.GetDesired().GetLimits()) > 0 })
	if got, want := m.Desired.Limits[0].EndMs, int64(c.job(id).Times.Start)+3_600_000; got != want {
		t.Errorf("the new limit ends it at %d, want %d", got, want)
	}
	c.must(&state.Suspend{Targets: []state.Target{{Job: id}}})
	n1.until(func(m *pb.ToNode) bool { return len(m.GetDesired().GetSuspend()) == 1 })
	c.must(&state.Suspend{Targets: []state.Target{{Job: id}}, Resume: true})
	n1.until(func(m *pb.ToNode) bool { return len(m.GetDesired().GetResume()) == 1 })
	n1.s.Receive(&pb.FromNode{Heartbeat: &pb.Heartbeat{HasRunning: true, Running: []*pb.Attempt{attempt(id, 0), attempt(999, 2)}}})
	if e := n1.ending(999); !e.Now || e.Attempt.Attempt != 2 {
		t.Errorf("a stray attempt: %v", e)
	}
}

func TestReportsAreTriedAgain(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	c.mu.Lock()
	c.refuse = fmt.Errorf("queue full")
	c.mu.Unlock()
	n1.s.Receive(&pb.FromNode{Report: &pb.Report{Number: 7, Attempt: attempt(id, 0), Ended: true, Released: true}})
	if list, _ := n1.box.Take(); len(list) != 0 {
		t.Fatalf("acknowledged before it was committed: %v", list)
	}
	c.mu.Lock()
	c.refuse = nil
	c.mu.Unlock()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for acked := false; !acked; {
		<-tick.C // the dispatcher's wait begins at a moment that only it knows
		c.clock.Advance(time.Second)
		list, _ := n1.box.Take()
		for _, m := range list {
			acked = acked || len(m.ReportAcks) == 1 && m.ReportAcks[0] == 7
		}
	}
	if !c.job(id).Terminal() {
		t.Errorf("acknowledged, but the job is %v", c.job(id).State)
	}
}

func TestSignals(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	n1, _ := c.connect(d, "n1", "b1")
	id := c.start("n1")
	n1.launch(id)
	done := make(chan error, 1)
	go func() { done <- d.Signal(context.Background(), Signal{Job: id, Number: 10, Batch: true}) }()
	m := n1.until(func(m *pb.ToNode) bool { return m.Signal != nil })
	if s := m.Signal; s.Number != 10 || !s.BatchOnly || s.Attempt.Job != uint32(id) {
		t.Errorf("signal: %v", s)
	}
	n1.s.Receive(&pb.FromNode{SignalDone: &pb.SignalDone{Id: m.Signal.Id}})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := d.Signal(context.Background(), Signal{Job: 4242, Number: 10}); err == nil {
		t.Error("a job that is not there took a signal")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Signal(ctx, Signal{Job: id, Number: 10}); err == nil {
		t.Error("a signal that no node took was reported as sent")
	}
}

func TestUnknownNodesAreRefused(t *testing.T) {
	c := newCluster(t)
	d := c.lead(1)
	box := NewMailbox()
	d.Attach(c.hello("n9", "b"), box)
	<-box.Ready()
	if _, err := box.Take(); err == nil {
		t.Error("a node that the cluster file does not name was taken in")
	}
}
