package dispatch

import (
	"fmt"

	"muster/api/pb"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// Session is one node's connection to the leader, direct or through another
// controller. All its fields belong to the dispatcher's lock.
type Session struct {
	d      *Dispatcher
	name   string
	out    Outbox
	hello  *pb.Hello
	node   job.NodeID
	syncAt uint64 // the node may be told what to do from this index on; 0: not registered
	synced bool   // it was told everything once

	told    map[job.ID]*told
	sent    sentBlobs
	pending *pb.Desired           // changes gathered while a root is gone through
	reports map[uint64]*pb.Report // not yet committed, by number
	failed  bool                  // some of them must be proposed again
}

// told is what the node was last told about an attempt.
type told struct {
	attempt   uint32
	ending    bool
	suspended bool
	ended     bool // the node itself said that the script has ended
	released  bool // the node itself said that nothing is left
	endMS     int64
}

// Attach makes a session for a node that says hello. A session that the node
// had before is forgotten: the newest connection counts.
func (d *Dispatcher) Attach(hello *pb.Hello, out Outbox) *Session {
	s := &Session{d: d, name: hello.Name, out: out, hello: hello,
		told: map[job.ID]*told{}, reports: map[uint64]*pb.Report{}}
	d.mu.Lock()
	d.sessions[hello.Name] = s
	d.heard(hello.Name, nil)
	d.configs[hello.Name] = hello.Config
	known := s.registered(d.cfg.Core.Root())
	if known {
		s.syncAt = 1
	}
	d.mu.Unlock()
	if known {
		d.wake()
	} else {
		s.register()
	}
	return s
}

// registered tells whether the state already has what the node says: then its
// stream only took another way.
func (s *Session) registered(root *state.Root) bool {
	n, h := root.NodeNamed(s.name), s.hello
	return n != nil && n.State == partition.NodeUp && n.BootID == h.BootId && n.Journal == h.JournalId &&
		int64(n.Started) == h.StartedMs && h.Problem == "" &&
		n.Admin&(partition.NodeNotResponding|partition.NodeInvalidReg) == 0
}

// register proposes what the node found, and lets the loop go on from there.
func (s *Session) register() {
	d := s.d
	err := d.cfg.Core.Submit(state.Seal(registration(s.hello), nodeActor(s.name), state.RequestID{}),
		func(r state.Result, index uint64, err error) {
			if err == nil && r.Code != state.OK {
				err = fmt.Errorf("node %s cannot register: %s", s.name, r.Text)
			}
			if err != nil {
				d.cfg.Log.Warn("node not registered", "node", s.name, "err", err)
				s.out.Close(err)
				return
			}
			d.mu.Lock()
			s.syncAt = max(index, 1)
			d.mu.Unlock()
			d.wake()
		})
	if err != nil {
		s.out.Close(fmt.Errorf("node %s cannot register: %w", s.name, err))
	}
}

// Close forgets the session, unless the node has a newer one.
func (s *Session) Close() {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.sessions[s.name] == s {
		delete(s.d.sessions, s.name)
	}
}

// Receive takes one message of the node, other than its first hello.
func (s *Session) Receive(m *pb.FromNode) {
	d := s.d
	if r := m.Report; r != nil {
		s.report(r)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[s.name] != s {
		return
	}
	d.heard(s.name, m.Heartbeat)
	if m.SignalDone != nil {
		d.signalDone(m.SignalDone)
	}
	if h := m.Heartbeat; h != nil {
		d.configs[s.name] = h.Config
		d.sample(s.name, h.Usage)
		if h.HasRunning && s.synced {
			s.strays(h.Running)
		}
	}
}

// heard notes a sign of life.
func (d *Dispatcher) heard(node string, h *pb.Heartbeat) {
	l := d.live[node]
	l.At = d.cfg.Clock.Now()
	if h != nil {
		l.LoadHundredths, l.FreeMemoryMB = h.LoadHundredths, h.FreeMemoryMb
	}
	d.live[node] = l
}

func (d *Dispatcher) sample(node string, list []*pb.StepUsage) {
	for _, u := range list {
		if u.Attempt == nil || u.Usage == nil {
			continue
		}
		j := d.cfg.Core.Root().Job(job.ID(u.Attempt.Job))
		if j == nil || j.Attempt != u.Attempt.Attempt || !j.State.Active() {
			continue
		}
		byNode := d.usage[j.ID]
		if byNode == nil {
			byNode = map[string]job.Usage{}
			d.usage[j.ID] = byNode
		}
		byNode[node] = usageOf(u.Usage)
	}
}

// sync tells the node everything.
func (s *Session) sync(root *state.Root) {
	n := root.NodeNamed(s.name)
	if n == nil {
		s.out.Close(fmt.Errorf("node %s is not in the cluster file", s.name))
		return
	}
	s.node, s.synced = n.ID, true
	clear(s.told)
	has := map[state.AttemptID]bool{}
	for _, a := range s.hello.Running {
		has[state.AttemptID{Job: job.ID(a.Job), Attempt: a.Attempt}] = true
	}
	full := &pb.Desired{Full: true}
	for j := range root.OnNode(n.ID) {
		i := shareOn(j, n.ID)
		if i < 0 {
			continue
		}
		key := state.AttemptID{Job: j.ID, Attempt: j.Attempt}
		t := &told{attempt: j.Attempt, suspended: j.State == job.Suspended, endMS: s.endMS(root, j)}
		s.told[j.ID] = t
		switch {
		case !wanted(j):
			t.ending = true
			full.Ending = append(full.Ending, ending(j))
		case has[key]:
			full.Keep = append(full.Keep, &pb.Attempt{Job: uint32(j.ID), Attempt: j.Attempt})
			full.Limits = append(full.Limits, &pb.Limit{Attempt: attemptOf(j), EndMs: t.endMS})
			if t.suspended {
				full.Suspend = append(full.Suspend, attemptOf(j))
			}
		default:
			full.Launch = append(full.Launch, s.launch(root, n, j, i))
		}
	}
	m := s.d.message(root)
	m.Welcome = s.welcome(root)
	m.Desired = full
	s.out.Send(m)
}

func (s *Session) welcome(root *state.Root) *pb.Welcome {
	c := root.Cluster()
	if c == nil {
		return &pb.Welcome{}
	}
	w := &pb.Welcome{HeartbeatMs: c.Timers.Heartbeat, KillWaitS: c.Timers.KillWait, Cluster: c.Name,
		Controllers: s.d.cfg.Controllers, SamplingS: c.Timers.Sampling,
		OpenDevices: c.Policy.Devices.Open, NicVariables: c.Policy.Devices.NICVariables, Config: root.Configuration().Serial}
	if n := root.Node(s.node); n != nil {
		for i := range n.Gres.Devices {
			d := &n.Gres.Devices[i]
			w.Devices = append(w.Devices, &pb.Device{Name: d.Name, Type: d.Type, Index: uint32(d.Index), File: d.File, Uuid: d.UUID, Visible: d.Visible})
		}
	}
	return w
}

// strays ends attempts that the node runs and that should not be there.
func (s *Session) strays(running []*pb.Attempt) {
	for _, a := range running {
		id := job.ID(a.Job)
		if t := s.told[id]; t != nil && t.attempt == a.Attempt {
			continue
		}
		j := s.d.root.Job(id)
		if j != nil && j.Attempt == a.Attempt && shareOn(j, s.node) >= 0 {
			continue // of a root that the loop has not come to
		}
		m := s.d.message(s.d.root)
		m.Desired = &pb.Desired{Ending: []*pb.Ending{{Attempt: a, Now: true, AtMs: int64(s.d.cfg.Core.Now())}}}
		s.out.Send(m)
	}
}
