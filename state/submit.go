package state

import (
	"slices"

	"muster/job"
)

// submit puts new jobs into the queue. The request was checked before; here only
// what would break the state is refused.
func (m *Machine) submit(c *Submit) Result {
	if len(c.Jobs) == 0 {
		return Result{Code: Invalid, Text: "a submit without a job"}
	}
	for i := range c.Jobs {
		if t := c.Jobs[i].Tasks; t != nil && (t.Empty() || len(c.Jobs) > 1) {
			return Result{Code: Invalid, Text: "an array needs at least one index and cannot be part of a heterogeneous job"}
		}
	}
	if why := m.maySubmit(c.Jobs); why != "" {
		return Result{Code: OverLimit, Text: why}
	}
	ids := make([]job.ID, len(c.Jobs))
	for i := range ids {
		ids[i] = m.nextJob()
	}
	for i := range c.Jobs {
		r := m.newRow(&c.Jobs[i], ids[i])
		if len(ids) > 1 {
			r.Het = job.Het{Leader: ids[0], Offset: uint32(i)}
			if i == 0 {
				r.Het.IDs = slices.Clone(ids)
			}
		}
		m.enqueue(r)
	}
	return Result{Jobs: ids}
}

// newRow makes the record of a new job.
func (m *Machine) newRow(n *NewJob, id job.ID) *jobRow {
	r := &jobRow{Job: job.Job{
		ID: id, Owner: &n.Owner, Request: &n.Request, State: job.Pending, Priority: n.Priority, Held: n.Held,
		Array: job.Array{Task: job.NoTask}, Deps: n.Deps, AnyDep: n.AnyDep,
		FixedPriority: n.Fixed, Account: n.Account, QOS: n.QOS, SLUID: m.nextSLUID(),
		Times: job.Times{Submit: m.work.now, Limit: n.Request.Timing.Limit},
	}}
	if n.Tasks != nil {
		bounds := n.Bounds
		r.Array = job.Array{JobID: id, Task: job.NoTask, Waiting: n.Tasks, Range: n.Range, Limit: n.Limit, Bounds: &bounds}
		r.fresh = m.epoch
	}
	switch {
	case r.Held.Is():
		r.Priority = 0
	case r.Priority == 0:
		r.Priority = m.nextPriority()
	}
	return r
}

// enqueue puts a new row, with its dependencies judged for the first time.
func (m *Machine) enqueue(r *jobRow) {
	partners := r.Array.Waiting != nil && slices.ContainsFunc(r.Deps, func(d job.Dependency) bool {
		return d.Kind == job.DependAfterCorr && d.State == job.Unfulfilled
	})
	if partners {
		m.putWaiting(r)
		m.correspondAll(r.ID)
		if r = m.edit(r.ID); r.State != job.Pending || r.Array.Waiting == nil {
			return // all its tasks were split off
		}
	}
	if len(r.Deps) > 0 {
		m.checkDependencies(r)
	}
	m.putWaiting(r)
}
