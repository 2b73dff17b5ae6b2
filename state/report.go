package state

import (
	"fmt"
	"slices"

	"muster/job"
	"muster/partition"
)

// maxLaunches is how often in a row a job may fail to be launched before it is
// held for somebody to look at.
const maxLaunches = 3

// oomSignal is what Slurm's exit codes say for a job that ran out of memory: 0:125.
const oomSignal = 125

// report takes in what a node says about an attempt. What does not belong to the
// present attempt and boot changes nothing.
func (m *Machine) report(c *Report) Result {
	r := m.edit(c.Job)
	n := m.work.NodeNamed(c.Node)
	switch {
	case r == nil:
		return Result{Code: Stale, Text: fmt.Sprintf("job %d is not known", c.Job)}
	case n == nil:
		return Result{Code: Stale, Text: fmt.Sprintf("node %s is not known", c.Node)}
	case r.Attempt != c.Attempt || r.Alloc == nil:
		return Result{Code: Stale, Text: fmt.Sprintf("job %d is at attempt %d, not %d", c.Job, r.Attempt, c.Attempt)}
	case c.BootID != "" && c.BootID != n.BootID:
		return Result{Code: Stale, Text: fmt.Sprintf("node %s has booted since", c.Node)}
	}
	at := r.Alloc.OnNode(n.ID)
	if at < 0 || r.Alloc.Nodes[at].Released {
		return Result{Code: Stale, Text: fmt.Sprintf("job %d holds nothing on node %s", c.Job, c.Node)}
	}
	if c.Drain != "" {
		m.drainItself(n, c.Drain)
	}
	if r.State.Active() {
		m.takeEnd(r, c, r.Alloc.BatchNode == n.ID || r.Alloc.BatchNode == 0 && at == 0)
	}
	if c.Released || c.Failed {
		r.Alloc = releaseShare(r.Alloc, at)
	}
	if r.State.Active() {
		m.put(r)
	} else {
		m.finish(r)
	}
	return Result{Jobs: []job.ID{c.Job}}
}

// drainItself takes a node out of service that says that its prolog or epilog
// failed (slurm.conf(5), Prolog and Epilog). What an admin has said of it stays.
func (m *Machine) drainItself(old *partition.Node, why string) {
	if old.Admin&partition.NodeDrain != 0 {
		return
	}
	n := *old
	n.Admin |= partition.NodeDrain
	m.nodeReason(&n, why, "root")
	m.putNode(n)
}

// takeEnd sets how an active job ended, if the report says that it did.
func (m *Machine) takeEnd(r *jobRow, c *Report, batch bool) {
	at := c.At
	if latest := max(m.work.now, c.Latest); at < r.Times.Start || at > latest {
		at = m.work.now
	}
	switch {
	case c.Failed:
		m.launchFailed(r, c, at)
	case c.Ended && batch:
		m.exited(r, c, at)
	case c.Released && (batch || r.Alloc.Unreleased() == 1):
		// Nothing is left and nobody saw how it ended: not a success.
		m.endAttempt(r, job.NodeFail, job.ReasonNodeDown, at)
	}
}

// exited works out the state from how the batch script ended. A committed wish
// for the end decides over what the script returned.
func (m *Machine) exited(r *jobRow, c *Report, at job.Time) {
	state, reason := job.Completed, job.ReasonNone
	res := c.Result
	switch {
	case c.OOM:
		state, reason = job.OutOfMemory, job.ReasonOutOfMemory
		res.ExitCode, res.Signal = 0, oomSignal
	case c.TimedOut:
		state, reason = job.Timeout, job.ReasonTimeLimit
	case res.Signal != 0:
		state, reason = job.Failed, job.ReasonRaisedSignal
	case res.ExitCode != 0:
		state, reason = job.Failed, job.ReasonNonZeroExitCode
	}
	r.LaunchFails = 0
	m.endAttempt(r, state, reason, at)
	res.By, res.ByUser, res.FailedNode = r.End.By, r.End.ByUser, r.End.FailedNode
	res.Derived, res.DerivedSig = r.End.Derived, r.End.DerivedSig
	r.End = res
}

// launchFailed ends an attempt that did not come to run. A batch job tries
// again, and after some tries is held; another one has failed.
func (m *Machine) launchFailed(r *jobRow, c *Report, at job.Time) {
	r.LaunchFails = min(r.LaunchFails+1, maxLaunches)
	if c.Drain != "" { // by the prolog: it is held at once
		r.LaunchFails = maxLaunches
	}
	r.Detail = c.Detail
	m.endAttempt(r, job.Failed, job.ReasonJobLaunchFailure, at)
	if r.Flags&requeueFlags == 0 && r.State == job.Failed && requeueable(r) {
		r.Flags |= job.Requeued | job.LaunchFailed
	}
	r.End.FailedNode = c.Node
	r.End.ExitCode = 1
}

const requeueFlags = job.Requeued | job.RequeueHold | job.SpecialExit

// requeueable tells whether a job may go back to the queue by itself.
func requeueable(r *jobRow) bool { return r.Request.Requeue && !r.Request.Interactive }

// endAttempt sets the final state of an active row: what a committed wish says,
// else the given one. The caller finishes the row.
func (m *Machine) endAttempt(r *jobRow, state job.State, reason job.Reason, at job.Time) {
	r.End = job.Result{}
	if c := r.Cancel; c != nil {
		state, reason = c.To, c.Reason
		r.Flags |= c.Flags & requeueFlags
		if state == job.Cancelled {
			r.End.By, r.End.ByUser = c.By, true
		}
	}
	if r.State == job.Suspended {
		r.Times.Suspend = at
	}
	r.State, r.Reason = state, reason
	r.Times.End = at
	closeSteps(r, at)
}

// releaseShare copies an allocation with one share released.
func releaseShare(a *job.Allocation, at int) *job.Allocation {
	next := *a
	next.Nodes = slices.Clone(a.Nodes)
	next.Nodes[at].Released = true
	return &next
}
