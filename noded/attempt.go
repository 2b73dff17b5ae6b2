package noded

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/job"
	"muster/noded/shepherd"
)

// phase is how far an attempt is.
type phase uint8

const (
	preparing phase = iota // files and control groups are being made
	starting               // the shepherd has it
	running
	finishing // the script has ended; what it left is being removed
	holding   // another node runs the script: nothing runs here yet
)

// attempt is one attempt of a job on this node. The loop owns it.
type attempt struct {
	key    shepherd.Key
	launch *pb.Launch
	index  uint64 // of the message that asked for it
	state  phase
	box    box
	pid    int
	cancel context.CancelFunc // of the preparation
	// begun: the prolog has been started, or there was none; so the epilog must run
	begun atomic.Bool
	// instance of the shepherd that it is meant for
	instance string

	ending    *pb.Ending // somebody wants its end
	timedOut  bool       // its end is that of its time limit
	suspended bool
	early     []*pb.Signal // came before it was known to run
	usage     pb.Usage     // highest samples
	stepsUsed pb.Usage     // by tasks of steps that have ended here

	next   func()      // goes on with the end when the line is in the output
	count  countdown   // to the time limit
	limit  *time.Timer // at the time limit
	before *time.Timer // --signal
	kill   *time.Timer // end of KillWait
}

func (a *attempt) stopTimers() {
	for _, t := range []*time.Timer{a.limit, a.before, a.kill} {
		if t != nil {
			t.Stop()
		}
	}
}

// after runs f in the loop in a while, if the attempt is still there.
func (n *Node) after(ctx context.Context, a *attempt, d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		n.do(ctx, func() {
			if n.attempts[a.key] == a {
				f()
			}
		})
	})
}

// armLimit sets the timers of the time limit.
func (n *Node) armLimit(ctx context.Context, a *attempt, endMS int64) {
	a.launch.EndMs = endMS
	left := a.count.set(endMS, n.leaderNow(), time.Now())
	for _, t := range []*time.Timer{a.limit, a.before} {
		if t != nil {
			t.Stop()
		}
	}
	if endMS == 0 || a.state == preparing || a.state == finishing || a.ending != nil {
		return
	}
	if a.leads() {
		a.limit = n.after(ctx, a, left, func() {
			a.timedOut = true
			n.end(ctx, a, &pb.Ending{Attempt: attemptOf(a.key), Why: "TIMEOUT"})
		})
	}
	s := a.launch.Signal
	if s.GetNumber() == 0 {
		return
	}
	a.before = n.after(ctx, a, left-time.Duration(s.BeforeS)*time.Second, func() {
		switch {
		case !s.Shell:
			n.stepSignal(a.key, s.Number, nil)
		case a.launch.Batch:
			n.client.Signal(&shepherd.Signal{Key: a.key, Number: s.Number})
		}
	})
}

// end begins the end of an attempt: the line in its output, SIGCONT and SIGTERM
// to all its processes, SIGKILL after KillWait.
func (n *Node) end(ctx context.Context, a *attempt, e *pb.Ending) {
	if a.ending != nil && !(e.Now && !a.ending.Now) {
		return
	}
	first := a.ending == nil
	a.ending = e
	switch a.state {
	case preparing:
		a.cancel()
		return
	case finishing:
		return // it ends anyway
	case starting:
		// running takes it up, unless its files hang.
		wait := n.goes.killWait
		if e.Now {
			wait = 0
		}
		a.kill = n.after(ctx, a, wait, func() { n.callOff(a) })
		return
	case holding:
		n.endHolding(ctx, a, first)
		return
	}
	if a.limit != nil {
		a.limit.Stop()
	}
	n.log.Info("job is ended", "job", a.key.Job, "attempt", a.key.Attempt, "why", e.Why, "now", e.Now)
	if !first {
		n.strike(ctx, a)
		return
	}
	// The line comes before the signal, unless the output file hangs.
	late := n.after(ctx, a, noteTime, func() { n.strike(ctx, a) })
	a.next = func() {
		late.Stop()
		n.strike(ctx, a)
	}
	n.client.Note(&shepherd.Note{Key: a.key, Text: endLine(a, fmt.Sprintf("JOB %d", a.key.Job), n.cfg.Name, e, n.leaderNow())})
}

// endHolding begins the end of an attempt of which only steps run here.
func (n *Node) endHolding(ctx context.Context, a *attempt, first bool) {
	if a.ending.Now || !n.hasTasks(a.key) {
		n.finish(ctx, a, a.held())
		return
	}
	if !first {
		return
	}
	n.noteSteps(a)
	n.signalAll(a, unix.SIGCONT)
	n.signalAll(a, unix.SIGTERM)
	a.kill = n.after(ctx, a, n.patience(a.ending), func() {
		if a.state == holding {
			n.finish(ctx, a, a.held())
		}
	})
}

// leads tells whether this node is the one that ends the attempt at its limit:
// that of the script, or without one the first.
func (a *attempt) leads() bool { return a.launch.Batch || a.launch.NodeIndex == 0 }

// held is how an attempt without a script ended here. That of the leading node
// is the end of the job, if its time was over.
func (a *attempt) held() *outcome {
	return &outcome{quiet: !a.timedOut, signal: uint32(unix.SIGTERM)}
}

// callOff ends an attempt that does not come to run.
func (n *Node) callOff(a *attempt) {
	if a.state == starting {
		n.client.Signal(&shepherd.Signal{Key: a.key, Number: uint32(unix.SIGKILL)})
	}
}

// noteTime is how long a line for the job's output may take.
const noteTime = time.Second

// strike sends the signals that end an attempt.
func (n *Node) strike(ctx context.Context, a *attempt) {
	a.next = nil
	if a.state != running {
		return
	}
	if a.suspended {
		a.suspended = false
		a.box.Freeze(false)
	}
	if a.ending.Now {
		n.killAll(ctx, a)
		return
	}
	if a.kill != nil {
		return
	}
	n.signalAll(a, unix.SIGCONT)
	n.signalAll(a, unix.SIGTERM)
	a.kill = n.after(ctx, a, n.patience(a.ending), func() { n.killAll(ctx, a) })
}

// patience is the time between SIGTERM and SIGKILL.
func (n *Node) patience(e *pb.Ending) time.Duration {
	if e.GraceS > 0 {
		return time.Duration(e.GraceS) * time.Second
	}
	return n.goes.killWait
}

// killAll kills every process of the attempt; its exit record follows.
func (n *Node) killAll(ctx context.Context, a *attempt) {
	if a.state != running {
		return
	}
	n.work(ctx, func() {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := a.box.Kill(limited); err != nil && ctx.Err() == nil {
			n.log.Error("job can't be killed", "job", a.key.Job, "err", err)
		}
	})
}

// signalAll sends a signal to every process of the attempt.
func (n *Node) signalAll(a *attempt, sig unix.Signal) {
	pids, err := a.box.PIDs()
	if err != nil {
		n.log.Error("signal not sent", "job", a.key.Job, "signal", int(sig), "err", err)
		return
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, sig); err != nil && err != unix.ESRCH {
			n.log.Error("signal not sent", "job", a.key.Job, "pid", pid, "signal", int(sig), "err", err)
		}
	}
}

// maxEarly bounds the signals that wait for a job to run.
const maxEarly = 64

// signal carries out a user's signal and answers it. One that comes while the job
// is being started is sent when it runs.
func (n *Node) signal(s *pb.Signal) *pb.SignalDone {
	done := &pb.SignalDone{Id: s.Id}
	a := n.attempts[keyOf(s.Attempt)]
	switch {
	case a == nil || a.state == finishing:
		done.Error = fmt.Sprintf("job %d has ended", s.GetAttempt().GetJob())
	case s.Number == 0 || s.Number > 64:
		done.Error = fmt.Sprintf("there is no signal %d", s.Number)
	case a.state == running || a.state == holding:
		n.sendSignal(a, s)
	case len(a.early) == maxEarly:
		done.Error = fmt.Sprintf("job %d has not started yet and %d signals wait for it; try again when it runs", a.key.Job, maxEarly)
	default:
		a.early = append(a.early, s)
	}
	return done
}

// sendSignal sends a signal to the part of a job that it is for.
func (n *Node) sendSignal(a *attempt, s *pb.Signal) {
	switch {
	case s.HasStep && s.Step == uint32(job.BatchStep), s.BatchOnly:
		if a.launch.Batch {
			n.client.Signal(&shepherd.Signal{Key: a.key, Number: s.Number})
		}
	case s.HasStep:
		n.stepSignal(a.key, s.Number, &s.Step)
	case s.Full:
		n.signalAll(a, unix.Signal(s.Number))
	default:
		n.stepSignal(a.key, s.Number, nil)
	}
}

// suspend stops all processes of an attempt, or lets them go on. One that has not
// begun, as far as is known here, is stopped when it has.
func (n *Node) suspend(a *attempt, on bool) {
	if a.state == preparing || a.state == starting {
		a.suspended = on
		return
	}
	if a.suspended == on || a.state != running || a.ending != nil {
		return
	}
	if err := a.box.Freeze(on); err != nil {
		n.log.Error("job not suspended or resumed", "job", a.key.Job, "suspend", on, "err", err)
		return
	}
	a.suspended = on
}

// endLine is the line that Slurm writes into a job's output when it is ended.
func endLine(a *attempt, what, node string, e *pb.Ending, now time.Time) string {
	why := ""
	switch e.Why {
	case "TIMEOUT", "DEADLINE":
		why = " DUE TO TIME LIMIT"
	case "PREEMPTED":
		why = " DUE TO PREEMPTION"
	case "NODE_FAIL":
		why = " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"
	case "REQUEUED":
		why = " DUE TO JOB REQUEUE"
	case "CANCELLED":
		why = " DUE to SIGNAL Terminated"
		if e.Now {
			why = " DUE to SIGNAL Killed"
		}
	}
	return cancelledLine(a.launch, what+" ON "+node, why, now)
}

// cancelledLine is the line of what is ended on a node, in the cluster's time.
func cancelledLine(l *pb.Launch, what, why string, now time.Time) string {
	if zone, err := time.LoadLocation(l.GetInfo().GetTimeZone()); err == nil && l.GetInfo().GetTimeZone() != "" {
		now = now.In(zone)
	}
	return fmt.Sprintf("slurmstepd: error: *** %s CANCELLED AT %s%s ***\n", what, now.Format("2006-01-02T15:04:05"), why)
}
