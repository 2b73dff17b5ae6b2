package state

import (
	"muster/internal/bitset"
	"muster/job"
)

// edit returns a copy of a row to change and put; nil if there is none.
func (m *Machine) edit(id job.ID) *jobRow {
	old := m.work.jobs.Get(uint64(id))
	if old == nil {
		return nil
	}
	r := new(jobRow)
	*r = *old
	return r
}

// put is the only way into the job table: it checks the transition and keeps
// indices, use, shared records, events and the list of sums to be made. The row
// must not be changed after. An illegal change is refused and becomes the fault of
// the command.
func (m *Machine) put(r *jobRow) bool {
	old := m.work.jobs.Get(uint64(r.ID))
	var before *job.Job
	if old != nil {
		before = &old.Job
	}
	if err := job.CheckTransition(before, &r.Job); err != nil {
		if m.fault == nil {
			m.fault = err
		}
		return false
	}
	m.share(r)
	r.tasks = r.countTasks()
	m.now = appendEntries(m.now[:0], &r.Job)
	if old == nil {
		m.dirty = append(m.dirty, r.ID)
		m.work.indices.update(nil, m.now)
	} else {
		if old.summed {
			m.work.hash.sub(old.sum)
			m.dirty = append(m.dirty, r.ID)
		}
		m.old = appendEntries(m.old[:0], before)
		m.work.indices.update(m.old, m.now)
		m.unshare(old)
	}
	r.summed = false
	m.recount(before, &r.Job)
	m.recountArray(old, r)
	m.recountHeld(old, r)
	m.refinish(before, &r.Job)
	m.chargeEnd(old, r)
	m.work.jobs.Set(m.epoch, uint64(r.ID), r)
	ended := r.Terminal() && (before == nil || !before.Terminal())
	if before != nil && before.State == job.Pending && r.State != job.Pending {
		m.unpromise(r.ID)
	}
	started := r.State == job.Running && (before == nil || before.State == job.Pending)
	if ended || started {
		m.events = append(m.events, r.ID)
	}
	m.mailOf(before, r)
	return true
}

// remove takes a terminal job out of the table.
func (m *Machine) remove(old *jobRow) {
	if old.summed {
		m.work.hash.sub(old.sum)
	}
	m.old = appendEntries(m.old[:0], &old.Job)
	m.work.indices.update(m.old, nil)
	m.recount(&old.Job, nil)
	m.recountArray(old, nil)
	m.recountHeld(old, nil)
	m.work.jobs.Set(m.epoch, uint64(old.ID), nil)
	m.refinish(&old.Job, nil)
	m.unshare(old)
}

// sumDirty brings the sums of all jobs that this entry changed into the hash.
func (m *Machine) sumDirty() {
	for _, id := range m.dirty {
		r := m.work.jobs.Get(uint64(id))
		if r == nil || r.summed {
			continue
		}
		r.sum, r.summed = m.sum.row(tableJobs, uint64(id), r), true
		m.work.hash.add(r.sum)
	}
	m.dirty = m.dirty[:0]
}

// countTasks is the number of array tasks a row stands for. It is kept because
// the set of a rest that this epoch made is changed in place.
func (r *jobRow) countTasks() uint32 {
	switch {
	case r.Array.JobID == 0:
		return 0
	case r.Array.Waiting != nil:
		return uint32(r.Array.Waiting.Len())
	}
	return 1
}

// splitOff takes some waiting tasks out of an array's rest. It returns a copy of
// the row for them, not yet put: with a new id, or, if nothing would be left,
// with the rest's own: so the last task gets the array's own id, as in Slurm.
func (m *Machine) splitOff(rest *jobRow, tasks *bitset.Set) *jobRow {
	n := uint32(tasks.Len())
	part := m.edit(rest.ID)
	if n < rest.tasks {
		left := m.edit(rest.ID)
		if left.fresh != m.epoch {
			left.Array.Waiting, left.fresh = left.Array.Waiting.Clone(), m.epoch
		}
		left.Array.Waiting.Subtract(tasks)
		m.put(left)
		part.ID = m.nextJob()
		part.SLUID = m.nextSLUID()
	}
	part.Array.Waiting = nil
	if n == 1 {
		part.Array.Task = uint32(tasks.Max())
	} else {
		part.Array.Waiting, part.fresh = tasks.Clone(), m.epoch
	}
	part.summed = false
	return part
}

func (m *Machine) nextJob() job.ID {
	id := m.work.counters.Job
	m.work.counters.Job++
	return id
}

func (m *Machine) nextSLUID() uint64 {
	n := m.work.counters.SLUID
	m.work.counters.SLUID++
	return n
}

// nextPriority counts down, as Slurm's basic priority does, but not to 0. With
// multifactor priority it is the lowest, until the leader has worked it out.
func (m *Machine) nextPriority() uint32 {
	if m.work.cluster.Policy.Priority.Multifactor {
		return 1
	}
	p := m.work.counters.Priority
	m.work.counters.Priority = max(p-1, 1)
	return p
}
