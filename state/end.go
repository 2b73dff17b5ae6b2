package state

import (
	"fmt"
	"muster/job"
)

// end asks for the end of jobs: waiting ones end at once, running ones get a
// wish that their nodes are told of.
func (m *Machine) end(c *End) Result {
	res := Result{}
	for _, t := range c.Targets {
		m.each(&res, t, func(r *jobRow) *Skip { return m.endOne(r, c) })
	}
	return res.summed()
}

func (m *Machine) endOne(r *jobRow, c *End) *Skip {
	if !c.To.Ended() || c.To == job.Completed {
		return skip(r, Invalid, "cannot be made to end as %s", c.To)
	}
	if c.Attempt != nil && *c.Attempt != r.Attempt {
		return skip(r, Stale, "is at another attempt")
	}
	if c.To == job.Cancelled && c.Flags&requeueFlags == 0 && r.Request.Cron.Spec != "" {
		m.cancelCron(r)
		m.put(r)
		r = m.edit(r.ID)
	}
	switch {
	case r.Terminal():
		return skip(r, AlreadyDone, "has already ended")
	case r.State == job.Pending && c.Flags&requeueFlags != 0:
		return skip(r, WrongState, "is not running")
	case r.State == job.Pending && !r.State.CanBecome(c.To):
		return skip(r, WrongState, "is waiting and cannot end as %s", c.To)
	case r.State == job.Pending:
		if c.Detail != "" {
			r.Detail = c.Detail
		}
		m.endWaiting(r, c.To, c.Reason, true)
	case r.State.Active():
		m.wish(r, c)
	case r.Flags&requeueFlags != 0 && c.Flags&requeueFlags == 0:
		r.Flags &^= requeueFlags | job.LaunchFailed // it does not go back to the queue
		m.finish(r)
	default:
		return skip(r, AlreadyDone, "is already completing")
	}
	return nil
}

// wish sets the committed wish for the end of a running attempt. The first one
// stands, but a plain end takes a requeue off one that would be requeued.
func (m *Machine) wish(r *jobRow, c *End) {
	if old := r.Cancel; old != nil && (old.Flags&requeueFlags == 0 || c.Flags&requeueFlags != 0) {
		return
	}
	r.Cancel = &job.Cancel{By: m.by.UID, At: m.work.now, To: c.To, Flags: c.Flags & requeueFlags, Reason: c.Reason, Grace: c.Grace}
	if c.Detail != "" {
		r.Detail = c.Detail
	}
	m.put(r)
}

// requeue puts running or ended batch jobs back into the queue.
func (m *Machine) requeue(c *Requeue) Result {
	res := Result{}
	for _, t := range c.Targets {
		if j := m.work.Job(t.Job); j != nil && j.Het.Leader != 0 && j.Het.Leader != j.ID {
			// As in Slurm (ESLURM_NOT_HET_JOB_LEADER): they start together again.
			res.Skipped = append(res.Skipped, Skip{Job: t.Job, Code: WrongState, Text: fmt.Sprintf("job %d is a component of job %d, which is requeued as a whole", t.Job, j.Het.Leader)})
			continue
		}
		m.each(&res, t, func(r *jobRow) *Skip { return m.requeueOne(r, c) })
	}
	return res.summed()
}

func (m *Machine) requeueOne(r *jobRow, c *Requeue) *Skip {
	flags := job.Requeued
	switch {
	case c.Special:
		flags = job.SpecialExit
	case c.Hold.Is():
		flags = job.RequeueHold
	}
	switch {
	case r.Request.Interactive || !r.Request.Requeue:
		return skip(r, NotRequeueable, "may not be requeued")
	case r.State == job.Pending && flags == job.Requeued:
		return skip(r, WrongState, "is waiting already")
	case r.State == job.Pending:
		m.holdRequeued(r, c)
	case r.Array.Waiting != nil:
		return skip(r, WrongState, "is a part of an array that never ran")
	case r.State.Active():
		if r.Cancel != nil && r.Cancel.Flags&requeueFlags == 0 {
			return skip(r, WrongState, "is being ended")
		}
		r.Cancel = &job.Cancel{By: m.by.UID, At: m.work.now, To: job.Cancelled, Flags: flags}
		notBefore(r, c.Begin)
		m.put(r)
	case !r.Terminal():
		r.Flags = r.Flags&^requeueFlags | flags
		notBefore(r, c.Begin)
		m.put(r)
	default:
		r.Flags |= flags
		notBefore(r, c.Begin)
		m.backToQueue(r)
	}
	return nil
}

// notBefore puts off a job's next start.
func notBefore(r *jobRow, begin job.Time) {
	if begin > r.Request.Timing.Begin {
		req := *r.Request
		req.Timing.Begin = begin
		r.Request = &req
	}
}

// holdRequeued holds a job that waits already.
func (m *Machine) holdRequeued(r *jobRow, c *Requeue) {
	r.Held, r.Priority, r.Detail = job.HeldByUser, 0, "job requeued in held state"
	if c.Special {
		r.Flags |= job.SpecialExit
		r.Detail = "job requeued in special exit state"
	}
	m.putWaiting(r)
}

// suspend stops running jobs, or lets stopped ones go on. A suspended job keeps
// its cores, memory and devices; its time limit stands still.
func (m *Machine) suspend(c *Suspend) Result {
	res := Result{}
	for _, t := range c.Targets {
		m.each(&res, t, func(r *jobRow) *Skip { return m.suspendOne(r, c.Resume) })
	}
	return res.summed()
}

func (m *Machine) suspendOne(r *jobRow, resume bool) *Skip {
	now, t := m.work.now, &r.Times
	switch {
	case resume && r.State == job.Suspended:
		r.State = job.Running
		if t.LimitEnd != 0 {
			t.LimitEnd += now - t.Suspend
		}
		t.Suspend = now
	case !resume && r.State == job.Running:
		r.State = job.Suspended
		t.PreSusp += now - max(t.Suspend, t.Start)
		t.Suspend = now
	case !resume && r.State == job.Suspended:
		return nil // it is what is asked for
	case r.State == job.Pending:
		return skip(r, WrongState, "is waiting")
	case r.State.Ended():
		return skip(r, AlreadyDone, "has already ended")
	default:
		return skip(r, WrongState, "is %s", r.State)
	}
	m.put(r)
	return nil
}

// update replaces parts of jobs.
func (m *Machine) update(c *Update) Result {
	res := Result{}
	m.each(&res, c.Target, func(r *jobRow) *Skip { return m.updateOne(r, c) })
	return res.summed()
}

func (m *Machine) updateOne(r *jobRow, c *Update) *Skip {
	pending := r.State == job.Pending
	switch {
	case r.Terminal():
		return skip(r, AlreadyDone, "has already ended")
	case !pending && (c.Deps != nil || c.Priority != nil):
		return skip(r, WrongState, "is no longer pending execution")
	case c.Priority != nil && *c.Priority == 0:
		return skip(r, Invalid, "cannot have priority 0 but by a hold")
	}
	if c.Request != nil {
		req := *c.Request
		r.Request = &req
	}
	if c.Comment != nil {
		req := *r.Request
		req.Comment = *c.Comment
		r.Request = &req
	}
	if c.Account != nil {
		r.Account = *c.Account
	}
	if c.QOS != nil {
		r.QOS = *c.QOS
	}
	if c.Throttle != nil {
		r.Array.Limit = *c.Throttle
	}
	m.updateLimit(r, c)
	m.updateHold(r, c)
	if !pending {
		m.put(r)
		return nil
	}
	if c.Deps != nil {
		r.Deps, r.AnyDep = c.Deps.List, c.Deps.Any
	}
	m.checkDependencies(r)
	m.putWaiting(r)
	return nil
}

func (m *Machine) updateLimit(r *jobRow, c *Update) {
	if c.Limit == nil {
		return
	}
	r.Times.Limit = *c.Limit
	if r.State == job.Pending {
		req := *r.Request
		req.Timing.Limit = *c.Limit
		r.Request = &req
		return
	}
	r.Times.LimitEnd = limitEnd(r.Times.Start, *c.Limit, suspendedFor(&r.Times))
}

// suspendedFor is how long, in milliseconds, a job was suspended before it was
// last suspended or resumed; a suspension that lasts is added when it ends.
func suspendedFor(t *job.Times) job.Time {
	if t.Suspend == 0 {
		return 0
	}
	return t.Suspend - t.Start - t.PreSusp
}

// updateHold holds or releases a job. One that runs goes on; the hold keeps it in
// the queue if it comes back there (scontrol(1), hold).
func (m *Machine) updateHold(r *jobRow, c *Update) {
	switch {
	case c.Held != nil && c.Held.Is():
		r.Held, r.Priority, r.Detail = *c.Held, 0, ""
	case c.Held != nil && r.Held.Is():
		r.Held, r.Detail, r.LaunchFails = job.NotHeld, "", 0
		r.Flags &^= job.SpecialExit
		r.Priority, r.FixedPriority = 0, false
	}
	if c.Held != nil && r.State != job.Pending {
		r.Reason = heldReason(r.Held)
	}
	if c.Priority != nil && !r.Held.Is() {
		r.Priority, r.FixedPriority = *c.Priority, true
	}
	if !r.Held.Is() && r.Priority == 0 {
		r.Priority = m.nextPriority()
	}
}
