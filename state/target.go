package state

import (
	"fmt"

	"muster/internal/bitset"
	"muster/job"
)

// each calls f with a row, free to change, for each record that a target names:
// tasks by ascending index, then the rest of an array. A rest of which only some
// tasks are meant is split first. f puts the row and returns why it could not.
func (m *Machine) each(res *Result, t Target, f func(r *jobRow) *Skip) {
	ids := m.targetIDs(t)
	if len(ids) == 0 {
		res.Skipped = append(res.Skipped, Skip{Job: t.Job, Code: NoSuchJob, Text: fmt.Sprintf("job %d is not known", t.Job)})
		return
	}
	for _, id := range ids {
		r := m.edit(id)
		if t.Tasks != nil && r.Array.Waiting != nil && r.State == job.Pending {
			r = m.splitTarget(r, t.Tasks)
		}
		if skip := f(r); skip != nil {
			res.Skipped = append(res.Skipped, *skip)
			continue
		}
		res.Jobs = append(res.Jobs, r.ID)
	}
}

// splitTarget makes a record of its own of those tasks of a rest that are meant.
func (m *Machine) splitTarget(rest *jobRow, tasks *bitset.Set) *jobRow {
	some := rest.Array.Waiting.Clone()
	some.Intersect(tasks)
	part := m.splitOff(rest, some)
	if part.ID != rest.ID {
		m.put(part)
		part = m.edit(part.ID)
	}
	return part
}

// targetIDs lists the records that a target names. An array's id means the whole
// array, a heterogeneous leader's all components.
func (m *Machine) targetIDs(t Target) []job.ID {
	var ids []job.ID
	for j := range m.work.Array(t.Job) {
		switch {
		case t.Tasks == nil,
			j.Array.Waiting == nil && t.Tasks.Has(int(j.Array.Task)),
			j.Array.Waiting != nil && j.Array.Waiting.Overlaps(t.Tasks):
			ids = append(ids, j.ID)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	j := m.work.Job(t.Job)
	if j == nil || t.Tasks != nil {
		return nil
	}
	if len(j.Het.IDs) > 0 {
		for _, id := range j.Het.IDs {
			if m.work.Job(id) != nil {
				ids = append(ids, id)
			}
		}
		return ids
	}
	return []job.ID{t.Job}
}

// summed makes a result of a list: the code of its one skip if nothing was done.
func (r Result) summed() Result {
	if len(r.Jobs) == 0 && len(r.Skipped) > 0 {
		r.Code, r.Text = r.Skipped[0].Code, r.Skipped[0].Text
	}
	return r
}

func skip(r *jobRow, code Code, format string, args ...any) *Skip {
	return &Skip{Job: r.ID, Code: code, Text: fmt.Sprintf("job %d ", r.ID) + fmt.Sprintf(format, args...)}
}
