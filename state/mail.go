package state

import (
	"muster/internal/wire"
	"muster/job"
)

// mostMails bounds the mails that are due. What comes beyond is not sent, and
// counted: a mail program that hangs must not fill the memory of the controllers.
const mostMails = 10_000

// mailRow is a mail that is due.
type mailRow struct {
	event job.MailEvent
	sum   Hash
}

// MailDue says that jobs have come near their time limits. The events of a job
// are struck off its request, as Slurm does, so that each comes once.
type MailDue struct{ List []LimitMail }

// LimitMail is one job with the events, of job.MailLimits, that are due.
type LimitMail struct {
	Job     job.ID
	Attempt uint32
	Events  uint32
}

// MailDone says that mails were sent, or given up.
type MailDone struct{ Numbers []uint64 }

// Kind implements Command.
func (*MailDue) Kind() Kind { return KindMailDue }

// Kind implements Command.
func (*MailDone) Kind() Kind { return KindMailDone }

// Code implements wire.Message.
func (d *MailDue) Code(c *wire.Coder) { wire.Slice(c, 1, &d.List) }

// Code implements wire.Message.
func (l *LimitMail) Code(c *wire.Coder) {
	wire.Uint(c, 1, &l.Job)
	wire.Uint(c, 2, &l.Attempt)
	wire.Uint(c, 3, &l.Events)
}

// Code implements wire.Message.
func (d *MailDone) Code(c *wire.Coder) { wire.Ints(c, 1, &d.Numbers) }

// mailOf puts the mails that a change of a record makes due into the table
// (sbatch(1), --mail-type). before is nil for a new record. A heterogeneous job has
// those of its first component.
func (m *Machine) mailOf(before *job.Job, r *jobRow) {
	types := r.Request.Mail.Types
	if types == 0 || r.Het.Leader != 0 && r.Het.Offset != 0 {
		return
	}
	if before == nil {
		before = &job.Job{State: job.Pending} // new, or split off an array
	}
	if r.Array.JobID != 0 && types&job.MailArrayTasks == 0 {
		m.mailOfArray(before, r)
		return
	}
	switch {
	case before.State == job.Pending && r.State == job.Running:
		m.mailDue(r, job.MailBegin)
	case r.State == job.Pending && r.Reason == job.ReasonDependencyNeverSatisfied && before.Reason != r.Reason,
		before.State == job.Pending && r.State == job.Cancelled && r.Reason == job.ReasonDependencyNeverSatisfied && before.Reason != r.Reason:
		m.mailDue(r, job.MailInvalidDepend)
	}
	again := r.Flags&requeueFlags != 0
	if !before.State.Ended() && r.State.Ended() {
		switch {
		case types&job.MailFail != 0 && r.State.Failure() && !(again && r.State == job.Preempted):
			m.mailDue(r, job.MailFail)
		case !again:
			m.mailDue(r, job.MailEnd)
		}
	}
	if r.State.Ended() && again && before.Flags&requeueFlags == 0 || before.Terminal() && r.State == job.Pending && r.Request.Cron.Spec == "" {
		m.mailDue(r, job.MailRequeue)
	}
}

// mailOfArray is mailOf for the tasks of an array that has mails as one: when the
// first task starts and when nothing more happens to any.
func (m *Machine) mailOfArray(before *job.Job, r *jobRow) {
	u := m.work.ArrayUse(r.Array.JobID)
	switch {
	case before.State == job.Pending && r.State == job.Running && u.Active == 1 && u.Good+u.Bad == 0:
		m.mailDue(r, job.MailBegin)
	case r.State == job.Pending && r.Reason == job.ReasonDependencyNeverSatisfied && before.Reason != r.Reason:
		m.mailDue(r, job.MailInvalidDepend)
	}
	if before.Terminal() || !r.Terminal() || !u.over() {
		return
	}
	own := m.work.jobs.Get(uint64(r.Array.JobID))
	if own == nil {
		own = r
	}
	e := event(own, 0)
	e.Low = ^uint32(0)
	for j := range m.work.Array(r.Array.JobID) {
		status := exitStatus(j)
		e.Low, e.High = min(e.Low, status), max(e.High, status)
		e.Requeued = e.Requeued || j.Attempt > 0
	}
	types := r.Request.Mail.Types
	if e.Requeued {
		m.queueMail(types, e, job.MailRequeue)
	}
	if types&job.MailFail != 0 && e.High >= 256 && e.High%256 == 0 {
		m.queueMail(types, e, job.MailFail)
		return
	}
	m.queueMail(types, e, job.MailEnd)
}

// exitStatus is how a task ended, as code*256+signal. One that did not run to its
// end counts as killed, so that an array with it is no plain success.
func exitStatus(j *job.Job) uint32 {
	status := j.End.ExitCode*256 + uint32(j.End.Signal)
	if j.State.ByController() {
		status = 0
	}
	if status == 0 && j.State != job.Completed {
		return 9
	}
	return status
}

// event makes the event of a record.
func event(r *jobRow, which uint32) job.MailEvent {
	e := job.MailEvent{
		Event: which, Job: r.ID, Array: r.Array.JobID, Task: r.Array.Task, Name: r.Request.Name, Owner: r.Owner.User, User: r.Request.Mail.User, State: r.State,
		Summary: r.Array.JobID != 0 && r.Request.Mail.Types&job.MailArrayTasks == 0,
	}
	if e.Summary {
		e.Job = e.Array
	}
	return e
}

// mailDue makes a mail about a record due, if its user wants it.
func (m *Machine) mailDue(r *jobRow, which uint32) {
	e := event(r, which)
	t := &r.Times
	switch {
	case which == job.MailBegin:
		e.Timed, e.Seconds = true, seconds(t.Start-t.Submit)
	case which&job.MailLimits != 0:
		e.Timed, e.Seconds = true, seconds(m.work.now-t.Start-suspendedFor(t))
	case which == job.MailInvalidDepend:
	case t.Start != 0 && t.End != 0:
		e.Timed, e.Seconds = true, seconds(t.End-t.Start-suspendedFor(t))
	}
	e.Low = r.End.ExitCode*256 + uint32(r.End.Signal)
	if r.State.ByController() {
		e.Low = 0
	}
	e.High = e.Low
	m.queueMail(r.Request.Mail.Types, e, which)
}

// seconds of a stretch; a negative one counts as none.
func seconds(t job.Time) uint32 { return uint32(max(t, 0) / 1000) }

// queueMail puts an event into the table if types has it.
func (m *Machine) queueMail(types uint32, e job.MailEvent, which uint32) {
	if types&which == 0 || m.work.cluster.Policy.MailProg == "" {
		return
	}
	if m.work.mails.Len() >= mostMails {
		m.work.counters.MailLost++
		return
	}
	e.Event = which
	m.work.counters.Mail++
	n := m.work.counters.Mail
	row := &mailRow{event: e}
	row.sum = m.sum.of(tableMails, n, &row.event)
	m.work.hash.add(row.sum)
	m.work.mails.Set(m.epoch, n, row)
}

// mailLimits takes in that jobs have come near their limits.
func (m *Machine) mailLimits(c *MailDue) Result {
	res := Result{}
	for _, l := range c.List {
		r := m.edit(l.Job)
		if r == nil || r.Attempt != l.Attempt || !r.State.Active() || r.Request.Mail.Types&l.Events&job.MailLimits == 0 {
			res.Skipped = append(res.Skipped, Skip{Job: l.Job, Code: Stale, Text: "does not run, or has had these mails"})
			continue
		}
		for bit := job.MailTimeLimit; bit <= job.MailTimeLimit50; bit <<= 1 {
			if l.Events&bit != 0 {
				m.mailDue(r, bit)
			}
		}
		req := *r.Request
		req.Mail.Types &^= l.Events & job.MailLimits
		r.Request = &req
		m.put(r)
		res.Jobs = append(res.Jobs, r.ID)
	}
	return res
}

// mailDone takes mails out of the table.
func (m *Machine) mailDone(c *MailDone) Result {
	for _, n := range c.Numbers {
		if row := m.work.mails.Get(n); row != nil {
			m.work.hash.sub(row.sum)
			m.work.mails.Set(m.epoch, n, nil)
		}
	}
	return Result{}
}
