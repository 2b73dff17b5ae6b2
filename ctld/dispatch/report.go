package dispatch

import (
	"math/rand/v2"
	"time"

	"muster/api/pb"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// nodeActor is who a node's own reports come from.
func nodeActor(node string) state.Actor { return state.Actor{Host: node} }

// maxReports bounds the reports of one node that wait for a commit; a node
// sends a report again on its next stream.
const maxReports = 65_536

// report proposes what a node says of an attempt, and acknowledges it once that
// is committed, whatever the state made of it.
func (s *Session) report(r *pb.Report) {
	d := s.d
	if r.Attempt == nil {
		d.cfg.Log.Warn("a report names no attempt; it is passed over", "node", s.name, "number", r.Number)
		s.ack(r.Number)
		return
	}
	d.mu.Lock()
	if len(s.reports) >= maxReports {
		d.mu.Unlock()
		return
	}
	s.reports[r.Number] = r
	if t := s.told[job.ID(r.Attempt.Job)]; t != nil && t.attempt == r.Attempt.Attempt {
		t.ended = t.ended || r.Ended
		t.released = t.released || r.Released || r.Failed
	}
	d.mu.Unlock()
	s.propose(r)
}

func (s *Session) propose(r *pb.Report) {
	d := s.d
	report := reportOf(s.name, s.hello.BootId, r)
	if report.At > d.cfg.Core.Now() { // it ended while nobody led, or the node's clock is ahead
		report.Latest = d.cfg.Core.WallNow()
	}
	err := d.cfg.Core.Submit(state.Seal(report, nodeActor(s.name), state.RequestID{}),
		func(res state.Result, _ uint64, err error) { s.reported(r, res, err) })
	if err != nil {
		s.reported(r, state.Result{}, err)
	}
}

func (s *Session) reported(r *pb.Report, res state.Result, err error) {
	d := s.d
	if err != nil {
		d.mu.Lock()
		s.failed = true
		d.mu.Unlock()
		d.wake()
		return
	}
	if res.Code != state.OK {
		d.cfg.Log.Debug("report changed nothing", "node", s.name, "job", r.Attempt.Job, "attempt", r.Attempt.Attempt, "why", res.Text)
	}
	d.mu.Lock()
	delete(s.reports, r.Number)
	d.mu.Unlock()
	s.ack(r.Number)
}

func (s *Session) ack(number uint64) {
	s.out.Send(&pb.ToNode{Term: s.d.cfg.Term, LeaderTimeMs: int64(s.d.cfg.Core.Now()), ReportAcks: []uint64{number}})
}

// retryTimer runs when some reports could not be proposed.
func (d *Dispatcher) retryTimer() <-chan time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sessions {
		if s.failed {
			return d.cfg.Clock.After(100*time.Millisecond + rand.N(100*time.Millisecond))
		}
	}
	return nil
}

// retryReports proposes once more what failed. State tells what it knows already.
func (d *Dispatcher) retryReports() {
	type pair struct {
		s *Session
		r *pb.Report
	}
	var again []pair
	d.mu.Lock()
	for _, s := range d.sessions {
		if s.failed {
			s.failed = false
			for _, r := range s.reports {
				again = append(again, pair{s, r})
			}
		}
	}
	d.mu.Unlock()
	for _, p := range again {
		p.s.propose(p.r)
	}
}

func reportOf(node, boot string, r *pb.Report) *state.Report {
	out := &state.Report{
		Job: job.ID(r.Attempt.Job), Attempt: r.Attempt.Attempt, Node: node, BootID: boot,
		Ended: r.Ended, OOM: r.Oom, TimedOut: r.TimedOut, Released: r.Released, Failed: r.Failed,
		Detail: clip(r.Detail), Drain: clip(r.Drain), At: job.Time(r.AtMs),
		Result: job.Result{ExitCode: r.ExitCode, Signal: uint8(min(r.ExitSignal, 255))},
	}
	if r.Usage != nil {
		out.Result.Usage = usageOf(r.Usage)
	}
	return out
}

// clip bounds a text that a node made.
func clip(s string) string {
	const most = 1024
	if len(s) > most {
		return s[:most]
	}
	return s
}

func usageOf(u *pb.Usage) job.Usage {
	return job.Usage{UserUS: u.UserUs, SystemUS: u.SystemUs, MaxRSSKB: u.MaxRssKb, MaxVMKB: u.MaxVmKb,
		MaxPages: u.MaxPages, ReadKB: u.ReadKb, WrittenKB: u.WrittenKb}
}

// registration is what a node found, as a command.
func registration(h *pb.Hello) *state.NodeRegister {
	r := &state.NodeRegister{
		Name: h.Name, BootID: h.BootId, Journal: h.JournalId, BootTime: job.Time(h.BootTimeMs), Started: job.Time(h.StartedMs),
		Address: h.Addresses, Port: uint16(min(h.Port, 65_535)), HostName: h.HostName, OS: h.Os, Arch: h.Arch, Version: h.Version,
		Problem: clip(h.Problem),
	}
	for _, a := range h.Running {
		r.Running = append(r.Running, state.AttemptID{Job: job.ID(a.Job), Attempt: a.Attempt})
	}
	f := h.Found
	if f == nil {
		return r
	}
	r.Found = partition.Shape{Boards: short(f.Boards), Sockets: short(f.Sockets), CoresPerSocket: short(f.CoresPerSocket),
		ThreadsPerCore: short(f.ThreadsPerCore), CPUs: f.Cpus, MemoryMB: f.MemoryMb, TmpDiskMB: f.TmpDiskMb}
	for _, dev := range f.Devices[:min(len(f.Devices), maxDevices)] {
		r.Gres.Gres.Devices = append(r.Gres.Gres.Devices, device(dev))
	}
	connections(&r.Gres.Gres, f)
	return r
}

func short(n uint32) uint16 { return uint16(min(n, 65_535)) }

// maxDevices bounds the devices of one node.
const maxDevices = 4096

// maxCore bounds the core numbers that a node may name for a device.
const maxCore = 1 << 16

// connections takes in network cards and links; a matrix that does not match is left out.
func connections(inv *gres.Inventory, f *pb.Inventory) {
	const most = 256 // GPUs and cards of one node
	gpus := 0
	for i := range inv.Devices {
		if inv.Devices[i].Name == "gpu" {
			gpus++
		}
	}
	n := gpus + len(f.Nics)
	if n > most || len(f.Links) != n*n {
		return
	}
	for _, c := range f.Nics {
		inv.NICs = append(inv.NICs, gres.NIC{Name: clip(c.Name), Role: gres.Role(min(c.Role, uint32(gres.Control))), RDMA: c.Rdma})
	}
	for _, l := range f.Links {
		inv.Links = append(inv.Links, gres.Link(l&0xffff))
	}
}

func device(d *pb.Device) gres.Device {
	g := gres.Device{Name: d.Name, Type: d.Type, Index: int(d.Index), File: d.File, UUID: d.Uuid}
	for _, c := range d.Cores {
		if c >= maxCore {
			continue
		}
		if g.Cores == nil {
			g.Cores = &bitset.Set{}
		}
		g.Cores.Add(int(c))
	}
	return g
}
