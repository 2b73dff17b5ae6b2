package noded

import (
	"context"
	"os"
	"slices"
	"time"

	"muster/api"
	"muster/api/pb"
	"muster/noded/shepherd"
)

// hello is the first message on a stream.
func (n *Node) hello() *pb.Hello {
	host := n.cfg.HostName
	if host == "" {
		host, _ = os.Hostname()
	}
	system, arch := system()
	version := n.cfg.Version
	if version == "" {
		version = api.SlurmVersion // of the commands that are spoken here
	}
	h := &pb.Hello{
		Name: n.cfg.Name, BootId: n.boot, JournalId: n.journal.id, StartedMs: n.started.UnixMilli(),
		BootTimeMs: n.inventory().Booted.UnixMilli(), Addresses: n.cfg.Addresses, Port: n.cfg.Port, HostName: host,
		Os: system, Arch: arch, Version: version, Found: n.inventory().message(),
		Problem: n.problem, Config: n.goes.config,
	}
	h.Running = n.present()
	return h
}

// present lists the attempts that are here, with those whose last report the
// leader has not acknowledged: to it they are still running.
func (n *Node) present() []*pb.Attempt {
	seen := map[shepherd.Key]bool{}
	for k := range n.attempts {
		seen[k] = true
	}
	for _, r := range n.reports {
		seen[keyOf(r.Attempt)] = true
	}
	out := make([]*pb.Attempt, 0, len(seen))
	for k := range seen {
		out = append(out, attemptOf(k))
	}
	slices.SortFunc(out, func(a, b *pb.Attempt) int { return int(int64(a.Job) - int64(b.Job)) })
	return out
}

// unacked lists the reports that the leader has not acknowledged, in order.
func (n *Node) unacked() []*pb.Report {
	out := make([]*pb.Report, 0, len(n.reports))
	for _, r := range n.reports {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *pb.Report) int { return int(int64(a.Number - b.Number)) })
	return out
}

// hear takes a message of the leader.
func (n *Node) hear(ctx context.Context, m *pb.ToNode) {
	if m.LeaderTimeMs != 0 {
		n.aheadNS.Store(int64(time.Until(time.UnixMilli(m.LeaderTimeMs))))
	}
	for _, number := range m.ReportAcks {
		n.acked(number)
	}
	if w := m.Welcome; w != nil {
		n.welcomed(w)
	}
	if m.Signal != nil {
		n.link.send(&pb.FromNode{SignalDone: n.signal(m.Signal)})
	}
	if m.Desired == nil {
		return
	}
	if m.Term < n.term || m.Term == n.term && m.Index < n.index {
		n.log.Debug("older message passed over", "term", m.Term, "index", m.Index)
		return
	}
	n.term, n.index = m.Term, m.Index
	n.reconcile(ctx, m.Desired, m.Index)
}

// welcomed takes over what the node goes by, and says so.
func (n *Node) welcomed(w *pb.Welcome) {
	if w.Config < n.goes.config {
		return // of a leader that was
	}
	if w.HeartbeatMs > 0 {
		n.setBeat(time.Duration(w.HeartbeatMs) * time.Millisecond)
	}
	if w.KillWaitS > 0 {
		n.goes.killWait = time.Duration(w.KillWaitS) * time.Second
	}
	if w.SamplingS > 0 {
		n.goes.sampling = time.Duration(w.SamplingS) * time.Second
	}
	n.learn(w)
	n.link.learn(w.Controllers)
	if w.Config != n.goes.config {
		n.goes.config = w.Config
		n.log.Info("the node goes by another configuration", "serial", w.Config)
		n.link.send(&pb.FromNode{Heartbeat: n.heartbeatMessage(firstBeat)})
	}
}

// firstBeat is the number of a heartbeat that is sent out of turn.
const firstBeat = 1

// reconcile acts on the difference between what should be here and what is.
func (n *Node) reconcile(ctx context.Context, d *pb.Desired, index uint64) {
	if d.Full {
		n.endOthers(ctx, d, index)
	}
	for _, l := range d.Launch {
		n.start(ctx, l, index)
	}
	for _, e := range d.Ending {
		k := keyOf(e.Attempt)
		if a := n.attempts[k]; a != nil {
			n.end(ctx, a, e)
		} else if !n.done.has(k) {
			n.neverHere(ctx, k, e)
		}
	}
	for _, l := range d.Limits {
		if a := n.attempts[keyOf(l.Attempt)]; a != nil {
			n.armLimit(ctx, a, l.EndMs)
		}
	}
	for _, s := range d.Suspend {
		if a := n.attempts[keyOf(s)]; a != nil {
			n.suspend(a, true)
		}
	}
	for _, s := range d.Resume {
		if a := n.attempts[keyOf(s)]; a != nil {
			n.suspend(a, false)
		}
	}
}

// endOthers ends the attempts that a full list lacks, unless they were launched
// from a later index than that of the list.
func (n *Node) endOthers(ctx context.Context, d *pb.Desired, index uint64) {
	listed := map[shepherd.Key]bool{}
	for _, l := range d.Launch {
		listed[keyOf(l.Attempt)] = true
	}
	for _, e := range d.Ending {
		listed[keyOf(e.Attempt)] = true
	}
	for _, k := range d.Keep {
		listed[keyOf(k)] = true
	}
	for k, a := range n.attempts {
		if !listed[k] && a.index <= index {
			n.end(ctx, a, &pb.Ending{Attempt: attemptOf(k), Now: true})
		}
	}
}

// neverHere answers an ending of an attempt that the node never had: nothing of
// it is here, and it did not succeed.
func (n *Node) neverHere(ctx context.Context, k shepherd.Key, e *pb.Ending) {
	a := &attempt{key: k, launch: &pb.Launch{Attempt: e.Attempt}, ending: e}
	n.attempts[k] = a
	n.finish(ctx, a, &outcome{signal: 15, quiet: e.Why == "", detail: "it was ended before it came to this node"})
}
