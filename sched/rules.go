package sched

import (
	"fmt"
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
)

// rules lists everything but resources that holds a waiting job, the binding
// reason first; nil lets it go on.
func (c *cycle) rules(w *Waiting, part int) []Why {
	j := w.Job
	whys := c.own(j)
	if c.late(j, part) {
		if !slices.Contains(c.plan.Expired, j.ID) { // a job is looked at in each of its partitions
			c.plan.Expired = append(c.plan.Expired, j.ID)
		}
		whys = append(whys, Why{job.ReasonDeadLine, "it can no longer end before its deadline"})
	}
	if w.Class.Bad != "" {
		whys = append(whys, Why{job.ReasonBadConstraints, w.Class.Bad})
	}
	if part < 0 {
		return append(whys, Why{job.ReasonPartitionDown, fmt.Sprintf("there is no partition %s", strings.Join(j.Request.Partitions, ","))})
	}
	p := &c.view.Partitions[part]
	if r := p.Holds(); r != job.ReasonNone {
		whys = append(whys, Why{r, fmt.Sprintf("partition %s starts no jobs", p.Name)})
	}
	if n := c.networkOf(p); j.Request.Place.Segment > 0 && (n == nil || !n.Block) {
		whys = append(whys, Why{job.ReasonBadConstraints, fmt.Sprintf("--segment is given, and the nodes of partition %s are in no blocks", p.Name)})
	}
	who := partition.Asker{Account: j.Account, QOS: j.QOS}
	if j.Owner != nil {
		who.UID, who.Groups = j.Owner.UID, j.Owner.GroupNames
	}
	if r, detail := p.Permit(j.Request, &who); r != job.ReasonNone {
		whys = append(whys, Why{r, detail})
	}
	if c.ledger != nil {
		if why := c.ledger.Bars(j, p.Name, p.Limit(j.Request)); why.Reason != job.ReasonNone {
			whys = append(whys, why)
		}
	}
	return beginBehindPartition(whys)
}

// beginBehindPartition puts the begin time behind what the partition says, as Slurm
// does: a user should not wait for the hour only to learn that the partition is down.
func beginBehindPartition(whys []Why) []Why {
	begin := slices.IndexFunc(whys, func(w Why) bool { return w.Reason == job.ReasonBeginTime })
	if begin < 0 {
		return whys
	}
	for at := len(whys) - 1; at > begin; at-- {
		switch whys[at].Reason {
		case job.ReasonPartitionDown, job.ReasonPartitionInactive, job.ReasonPartitionConfig, job.ReasonPartitionNodeLimit:
			why := whys[begin]
			copy(whys[begin:at], whys[begin+1:at+1])
			whys[at] = why
			return whys
		}
	}
	return whys
}

// own lists what holds a job by itself: a hold, dependencies, its begin time, and
// an earlier attempt that is not cleaned up.
func (c *cycle) own(j *job.Job) []Why {
	var whys []Why
	switch {
	case j.Held != job.NotHeld && j.Reason != job.ReasonNone && j.Detail != "":
		whys = append(whys, Why{j.Reason, j.Detail}) // held for what happened to it
	case j.Held == job.HeldByUser:
		whys = append(whys, Why{job.ReasonJobHeldUser, "held by its user: scontrol release"})
	case j.Held == job.HeldByAdmin, j.Priority == 0:
		whys = append(whys, Why{job.ReasonJobHeldAdmin, "held by an administrator"})
	}
	if why := dependency(j); why.Reason != job.ReasonNone {
		whys = append(whys, why)
	}
	if j.Request.Timing.Begin > c.now {
		whys = append(whys, Why{job.ReasonBeginTime, "its begin time has not come"})
	}
	if j.Flags&job.Completing != 0 {
		whys = append(whys, Why{job.ReasonCleaning, "its last attempt is still cleaned up"})
	}
	if len(whys) == 0 && (j.Times.Eligible == 0 || j.Times.Eligible > c.now) { // state starts no other
		why := Why{j.Reason, "it is not eligible to run yet"}
		if why.Reason == job.ReasonNone {
			why.Reason = job.ReasonBeginTime
		}
		whys = append(whys, why)
	}
	return whys
}

// dependency judges the conditions of a job as state has marked them.
func dependency(j *job.Job) Why {
	var open, failed, met int
	on := job.ID(0)
	for _, d := range j.Deps {
		switch d.State {
		case job.FailedDep:
			failed++
		case job.Fulfilled:
			met++
		default:
			if open++; on == 0 {
				on = d.On
			}
		}
	}
	switch {
	case len(j.Deps) == met, j.AnyDep && met > 0:
		return Why{}
	case failed > 0 && !j.AnyDep, failed == len(j.Deps):
		return Why{job.ReasonDependencyNeverSatisfied, "a job that it depends on ended otherwise than asked"}
	case on == 0:
		return Why{job.ReasonDependency, "another job of the same name and user comes first"}
	}
	return Why{job.ReasonDependency, fmt.Sprintf("waits for %d of %d conditions, the first on job %d", open, len(j.Deps), on)}
}

// late tells whether a job would pass its deadline if it started now.
func (c *cycle) late(j *job.Job, part int) bool {
	t := &j.Request.Timing
	if t.Deadline == 0 {
		return false
	}
	limit := t.MinLimit
	if limit == 0 {
		limit = t.Limit
	}
	if limit == 0 && part >= 0 {
		limit = c.view.Partitions[part].Limit(j.Request)
	}
	return limit != job.Unlimited && c.now+job.Time(limit)*60000 > t.Deadline || c.now >= t.Deadline
}

// tasks is how many tasks of a record may start now, and what the others wait
// for.
func (c *cycle) tasks(w *Waiting) (int, []Why) {
	j := w.Job
	if j.Array.Limit == 0 {
		return 1 << 30, nil
	}
	left := int(j.Array.Limit) - int(w.Active)
	if !j.IsArrayRest() { // a requeued task
		left = min(left, 1)
	}
	why := Why{job.ReasonJobArrayTaskLimit, fmt.Sprintf("%d tasks run, %d may at once", max(int(w.Active), int(j.Array.Limit)), j.Array.Limit)}
	return max(0, left), []Why{why}
}

// reservation finds the reservation that a job asks for: the first of its list
// that is active, else the next to come.
func (c *cycle) reservation(j *job.Job, cl *Class) (*partition.Reservation, []Why) {
	if j.Request.Reservation == "" {
		return nil, nil
	}
	names := strings.Split(j.Request.Reservation, ",")
	var next *partition.Reservation
	denied := ""
	for _, r := range c.view.Reservations {
		if !slices.Contains(names, r.Name) || r.End != 0 && r.End <= c.now {
			continue
		}
		user := ""
		if j.Owner != nil {
			user = j.Owner.User
		}
		if !r.MayUse(user, j.Account) {
			denied = r.Name
			continue
		}
		if r.Active(c.now) || r.Has(partition.Flex) {
			return r, nil
		}
		if next == nil || r.Start < next.Start {
			next = r
		}
	}
	switch {
	case next != nil:
		return next, []Why{{job.ReasonReservation, fmt.Sprintf("reservation %s has not begun", next.Name)}}
	case denied != "":
		return nil, []Why{{job.ReasonReservationInvalid, fmt.Sprintf("its user may not use reservation %s", denied)}}
	}
	return nil, []Why{{job.ReasonReservationDeleted, fmt.Sprintf("reservation %s is gone", j.Request.Reservation)}}
}
