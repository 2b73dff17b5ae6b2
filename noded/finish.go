package noded

import (
	"context"
	"errors"
	"time"

	"muster/api/pb"
	"muster/noded/cgroup"
	"muster/noded/shepherd"
)

// outcome is how an attempt ended on this node.
type outcome struct {
	code, signal uint32
	failed       bool // it could not be launched
	quiet        bool // no script ran here: there is nothing to say but that it is released
	detail       string
	drain        string // why the node must get no more jobs
	at           int64  // milliseconds since the epoch; 0: now
	usage        pb.Usage
	steps        pb.Usage // what tasks of steps used, which have records of their own
}

// exited takes an exit record.
func (n *Node) exited(ctx context.Context, e shepherd.Exit) {
	a := n.attempts[e.Key]
	if a == nil {
		if n.done.has(e.Key) {
			n.client.Taken(e.Key)
		}
		return
	}
	if a.state == finishing {
		return
	}
	n.finish(ctx, a, &outcome{code: e.Status, signal: e.Signal, at: e.At,
		usage: pb.Usage{UserUs: e.UserUS, SystemUs: e.SystemUS, MaxRssKb: e.MaxRSSKB}})
}

// finish removes what is left of an attempt, and reports its end. A job that
// leaves nothing behind, as nearly all do, is reported ended and released at
// once.
func (n *Node) finish(ctx context.Context, a *attempt, o *outcome) {
	a.stopTimers()
	a.state = finishing
	o.steps.UserUs, o.steps.SystemUs = a.stepsUsed.UserUs, a.stepsUsed.SystemUs
	if o.at == 0 {
		o.at = n.leaderNow().UnixMilli()
	}
	n.work(ctx, func() {
		r := &pb.Report{Attempt: attemptOf(a.key), AtMs: o.at, TimedOut: a.timedOut}
		if !o.quiet {
			r.Ended, r.Failed = !o.failed, o.failed
			r.ExitCode, r.ExitSignal, r.Detail = o.code, o.signal, o.detail
		}
		r.Drain = o.drain
		if a.box == nil {
			n.release(ctx, a, o, r)
			return
		}
		used := a.box.Final()
		r.Oom = used.OOMKills > 0
		if r.Ended {
			r.Usage = usageOf(a, o, used)
		}
		err := a.box.Remove()
		if errors.Is(err, cgroup.ErrBusy) {
			// Of the attempt something lives on. The job has ended; its share of
			// the node is given back when all is gone.
			n.tell(ctx, a, r)
			r = &pb.Report{Attempt: attemptOf(a.key)}
			err = n.clear(ctx, a)
			r.AtMs = n.leaderNow().UnixMilli()
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			n.log.Error("control group stays", "job", a.key.Job, "err", err)
		}
		n.release(ctx, a, o, r)
	})
}

// clear kills what a job left behind, for as long as it takes: its share is not
// given to another job while anything of it lives.
func (n *Node) clear(ctx context.Context, a *attempt) error {
	if left, err := a.box.PIDs(); err == nil && len(left) > 0 {
		n.log.Info("processes that outlive their job are killed", "job", a.key.Job, "attempt", a.key.Attempt, "count", len(left))
	}
	for try := 1; ; try++ {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		err := a.box.Kill(limited)
		cancel()
		if err == nil {
			if err = a.box.Remove(); !errors.Is(err, cgroup.ErrBusy) {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.log.Error("processes of a job do not die", "job", a.key.Job, "try", try, "err", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// usageOf is what an attempt used but for its steps: the box knows all processes,
// those of steps too, the exit record only those that were waited for.
func usageOf(a *attempt, o *outcome, used cgroup.Stats) *pb.Usage {
	u := &pb.Usage{UserUs: o.usage.UserUs, SystemUs: o.usage.SystemUs, MaxRssKb: max(o.usage.MaxRssKb, a.usage.MaxRssKb)}
	if used.UserUS+used.SystemUS > 0 {
		u.UserUs = max(u.UserUs, used.UserUS-min(used.UserUS, o.steps.UserUs))
		u.SystemUs = max(u.SystemUs, used.SystemUS-min(used.SystemUS, o.steps.SystemUs))
	}
	return u
}

// release runs the epilog, cleans up and sends the last report of an attempt. That
// the job has ended is said before the epilog.
func (n *Node) release(ctx context.Context, a *attempt, o *outcome, r *pb.Report) {
	if a.launch.GetPrograms().GetEpilog() != "" && a.begun.Load() {
		if r.Ended {
			n.tell(ctx, a, r)
			r = &pb.Report{Attempt: attemptOf(a.key)}
		}
		if drain := n.epilog(ctx, a, o); drain != "" && r.Drain == "" {
			r.Drain = drain
		}
		if ctx.Err() != nil {
			return
		}
		r.AtMs = n.leaderNow().UnixMilli()
	}
	r.Released = true
	n.tell(ctx, a, r)
}

// tell puts a report into the journal and, when it is there, sends it. What was
// made for the attempt goes only when its last report is on disk.
func (n *Node) tell(ctx context.Context, a *attempt, r *pb.Report) {
	n.do(ctx, func() {
		n.journal.number(r)
		n.journal.put(r, func() {
			if r.Released {
				n.removeFiles(a.key, a.launch.Batch)
			}
			n.do(ctx, func() { n.told(a, r) })
		})
	})
}

// journalTrouble takes no more work while reports can't be written: with err the
// node is shown as unfit, with nil as well again.
func (n *Node) journalTrouble(ctx context.Context, err error) {
	problem := ""
	if err != nil {
		problem = "the node can not keep the reports of its jobs: " + err.Error()
	}
	n.do(ctx, func() {
		if (n.problem == "") == (problem == "") {
			return
		}
		n.problem = problem
		if err != nil {
			n.log.Error("reports can't be kept, no more jobs are taken; is the disk full?", "err", err)
		} else {
			n.log.Info("reports are kept again, jobs are taken")
		}
		n.link.again()
	})
}

// told goes on when a report is on disk.
func (n *Node) told(a *attempt, r *pb.Report) {
	n.reports[r.Number] = r
	n.link.send(&pb.FromNode{Report: r})
	if !r.Released {
		return
	}
	if a.launch.Batch {
		n.client.Taken(a.key)
	}
	n.done.add(a.key)
	n.shows.forget(a.key)
	n.changed = true
	delete(n.attempts, a.key)
}

// acked forgets a report that the leader has.
func (n *Node) acked(number uint64) {
	if n.reports[number] == nil {
		return
	}
	delete(n.reports, number)
	n.journal.forget(number)
}
