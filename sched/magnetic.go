package sched

import (
	"muster/job"
	"muster/partition"
)

// A magnetic reservation draws jobs that may use it though they do not ask for it
// (scontrol(1), Flags=MAGNETIC): they start in it if it holds now and has room, and
// wait as if it were not there if not.

// magnets lists the trials of a job in the reservations that draw it, by the order
// of the view.
func (c *cycle) magnets(w *Waiting, part int) []*trial {
	if !c.magnetic || w.Job.Request.Reservation != "" || w.Job.Owner == nil {
		return nil
	}
	var out []*trial
	for _, r := range c.view.Reservations {
		if r.Has(partition.Magnetic) && r.Active(c.now) && r.MayUse(w.Job.Owner.User, w.Job.Account) {
			out = append(out, c.trialOf(w.Class, part, r))
		}
	}
	return out
}

// drawn starts a job, or one task of an array, in one of the reservations that draw
// it.
func (c *cycle) drawn(j *job.Job, task uint32, magnets []*trial, p *pin) bool {
	for _, t := range magnets {
		s, fits := c.spotNow(task, t, nil)
		if !fits {
			continue
		}
		if _, ok := c.startAt(j, task, t, &s, p); ok {
			return true
		}
	}
	return false
}
