package mail

import (
	"muster/job"
	"muster/state"
)

// limits watches running jobs that want mails about shares of their time limit. It
// keeps those of them, so that not all running jobs are gone through each time.
type limits struct {
	root    *state.Root
	watched map[job.ID]bool
}

// due lists the jobs with the events that have come since (sbatch(1), TIME_LIMIT
// and TIME_LIMIT_90, _80 and _50).
func (l *limits) due(root *state.Root, now job.Time) []state.LimitMail {
	if l.watched == nil {
		l.watched = map[job.ID]bool{}
	}
	for id := range root.DiffJobs(l.root) {
		j := root.Job(id)
		if j != nil && j.State == job.Running && j.Times.LimitEnd != 0 && j.Request.Mail.Types&job.MailLimits != 0 {
			l.watched[id] = true
		} else {
			delete(l.watched, id)
		}
	}
	l.root = root
	var list []state.LimitMail
	for id := range l.watched {
		j := root.Job(id)
		if events := reached(j, now); events != 0 {
			list = append(list, state.LimitMail{Job: id, Attempt: j.Attempt, Events: events})
		}
	}
	return list
}

// reached are the wanted events of a running job whose time has come: so much of
// the limit has passed, not counting time in suspension.
func reached(j *job.Job, now job.Time) uint32 {
	left := j.Times.LimitEnd - now
	limit := job.Time(j.Times.Limit) * 60_000
	events := uint32(0)
	for _, s := range []struct {
		event   uint32
		percent job.Time // of the limit that may be left
	}{{job.MailTimeLimit, 0}, {job.MailTimeLimit90, 10}, {job.MailTimeLimit80, 20}, {job.MailTimeLimit50, 50}} {
		if left <= limit*s.percent/100 {
			events |= s.event
		}
	}
	return events & j.Request.Mail.Types
}
