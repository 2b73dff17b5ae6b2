package state

import (
	"muster/job"
)

// putWaiting puts a pending row after working out when it may run and why it
// may not yet; a job that can never run is cancelled, if it asked for that.
func (m *Machine) putWaiting(r *jobRow) {
	outcome := dependencyOutcome(&r.Job)
	if outcome == job.FailedDep && r.Request.KillOnDep == job.Yes {
		if old := m.work.jobs.Get(uint64(r.ID)); old == nil || old.State != job.Pending {
			m.put(r) // every attempt begins as waiting
			r = m.edit(r.ID)
		}
		m.endWaiting(r, job.Cancelled, job.ReasonDependencyNeverSatisfied, false)
		return
	}
	t := &r.Times
	reason := m.holdBack(r, outcome)
	switch {
	case reason == job.ReasonBeginTime:
		t.Eligible, t.Accrue = r.Request.Timing.Begin, 0
	case reason != job.ReasonNone:
		t.Eligible, t.Accrue = 0, 0
	case t.Eligible == 0 || t.Eligible > m.work.now:
		t.Eligible, t.Accrue = m.work.now, m.work.now
	}
	if reason != r.Reason && (reason != job.ReasonNone || holdsBack(r.Reason)) {
		r.Reason = reason
		if !r.Held.Is() {
			r.Detail = ""
		}
	}
	m.put(r)
}

// holdBack is the reason in the record itself for not running yet.
func (m *Machine) holdBack(r *jobRow, outcome job.DependState) job.Reason {
	switch {
	case r.Held == job.HeldByUser && r.LaunchFails >= maxLaunches:
		return job.ReasonJobLaunchFailure
	case r.Held.Is():
		return heldReason(r.Held)
	case outcome == job.FailedDep:
		return job.ReasonDependencyNeverSatisfied
	case outcome == job.Unfulfilled:
		return job.ReasonDependency
	case r.Request.Timing.Begin > m.work.now:
		return job.ReasonBeginTime
	}
	return job.ReasonNone
}

// heldReason is the reason that a hold gives.
func heldReason(h job.Hold) job.Reason {
	switch h {
	case job.HeldByUser:
		return job.ReasonJobHeldUser
	case job.HeldByAdmin:
		return job.ReasonJobHeldAdmin
	}
	return job.ReasonNone
}

// holdsBack tells whether a reason is one that holdBack gives, and so must go
// when it no longer does.
func holdsBack(r job.Reason) bool {
	switch r {
	case job.ReasonJobLaunchFailure, job.ReasonJobHeldUser, job.ReasonJobHeldAdmin, job.ReasonBeginTime,
		job.ReasonDependency, job.ReasonDependencyNeverSatisfied:
		return true
	}
	return false
}

// endWaiting ends a job that holds nothing. byUser says that the sender of the
// command did it.
func (m *Machine) endWaiting(r *jobRow, to job.State, reason job.Reason, byUser bool) {
	r.State = to
	if reason != job.ReasonNone { // else it keeps the reason that it waited for, as in Slurm
		r.Reason = reason
	}
	r.Flags &^= job.SpecialExit
	r.Times.End = m.work.now
	r.End = job.Result{}
	if byUser && to == job.Cancelled {
		r.End.By, r.End.ByUser = m.by.UID, true
	}
	m.finish(r)
}

// finish puts an ended row. While nodes have not released it, it is completing;
// with nothing left to wait for, its record goes to the outbox and the job, if
// it is to be requeued, back to the queue.
func (m *Machine) finish(r *jobRow) {
	m.endComponents(r)
	if r.Alloc.Held() {
		r.Flags |= job.Completing
		m.put(r)
		return
	}
	r.Flags &^= job.Completing
	r.Cancel = nil
	if !m.put(r) {
		return
	}
	m.record(r)
	if r.Flags&(job.Requeued|job.RequeueHold|job.SpecialExit) != 0 {
		m.backToQueue(m.edit(r.ID))
	}
}

// endComponents ends what runs of a heterogeneous job whose first component has
// ended: the batch script, which ran there, was that of all.
func (m *Machine) endComponents(lead *jobRow) {
	if lead.Het.Leader != lead.ID {
		return
	}
	for _, id := range lead.Het.IDs[1:] {
		r := m.edit(id)
		if r == nil || !r.State.Active() {
			continue
		}
		r.Flags |= lead.Flags & requeueFlags
		m.endAttempt(r, lead.State, lead.Reason, lead.Times.End)
		r.End.ExitCode, r.End.Signal = lead.End.ExitCode, lead.End.Signal
		m.finish(r)
	}
}

// backToQueue makes an ended row wait for its next attempt.
func (m *Machine) backToQueue(r *jobRow) {
	held, special := r.Flags&(job.RequeueHold|job.SpecialExit) != 0, r.Flags&job.SpecialExit != 0
	r.State, r.Flags = job.Pending, 0
	r.Attempt++
	r.Alloc, r.Cancel, r.Steps, r.StepSeq = nil, nil, nil, 0
	r.End = job.Result{}
	r.SLUID = m.nextSLUID()
	r.Times = job.Times{Submit: r.Times.Submit, Requeued: m.work.now, Limit: r.Times.Limit}
	r.Reason, r.Detail = job.ReasonNone, ""
	if special {
		r.Flags = job.SpecialExit
	}
	switch {
	case r.LaunchFails >= maxLaunches:
		r.Held, r.Detail = job.HeldByUser, "launch failed requeued held"
	case special:
		r.Held, r.Detail = job.HeldByUser, "job requeued in special exit state"
	case held:
		r.Held, r.Detail = job.HeldByUser, "job requeued in held state"
	}
	if r.Held.Is() {
		r.Priority = 0
	} else if r.Priority == 0 {
		r.Priority = m.nextPriority()
	}
	m.putWaiting(r)
	m.requeueComponents(r)
}

// requeueComponents takes the other components of a heterogeneous job back to the
// queue when one went there by itself, since its node was lost, say: they start
// together or not at all. What somebody is ending otherwise stays so.
func (m *Machine) requeueComponents(one *jobRow) {
	lead := m.work.Job(one.Het.Leader)
	if lead == nil {
		return
	}
	for _, id := range lead.Het.IDs {
		r := m.edit(id)
		switch {
		case r == nil || id == one.ID || r.State == job.Pending:
		case r.State.Active() && r.Cancel == nil:
			r.Cancel = &job.Cancel{At: m.work.now, To: job.Cancelled, Flags: job.Requeued}
			m.put(r)
		case r.Terminal() && r.Attempt < one.Attempt && r.State != job.Cancelled:
			r.Flags |= job.Requeued
			m.backToQueue(r)
		case r.State.Ended() && !r.Terminal() && r.Flags&requeueFlags == 0:
			r.Flags |= job.Requeued // it is still cleaned up
			m.put(r)
		}
	}
}
