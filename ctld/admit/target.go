package admit

import (
	"errors"

	"muster/api/slurm"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// target is what one job name stands for at present: records, and how the state
// is told of them.
type target struct {
	name    string // as scancel and scontrol print it
	records []*job.Job
	state   state.Target
}

// maxTaskWork bounds the array indices that one call may name, in steps of work.
const maxTaskWork = 64 << 20

// finder looks the names of one call up and counts what that costs.
type finder struct {
	root *state.Root
	work int
}

// find looks a job's name up. No records: there is no such job in memory.
func (f *finder) find(text string) (target, error) {
	root := f.root
	n, err := slurm.ParseJobName(text)
	if err != nil {
		return target{}, err
	}
	if n.Tasks != nil {
		if f.work += n.Tasks.Max()/64 + n.Tasks.Len(); f.work > maxTaskWork {
			return target{}, errors.New("the call names too many array tasks: name fewer, or whole arrays")
		}
	}
	t := target{name: text, state: state.Target{Job: n.ID, Tasks: n.Tasks}}
	switch {
	case n.HasHet:
		t.records = component(root, n.ID, n.Offset)
		if len(t.records) == 1 {
			t.state.Job = t.records[0].ID
		}
	case n.Tasks != nil:
		t.records = tasks(root, n.ID, n.Tasks)
	default:
		t.records, t.state = whole(root, n.ID)
	}
	return t, nil
}

// component finds one part of a heterogeneous job.
func component(root *state.Root, leader job.ID, offset uint32) []*job.Job {
	l := root.Job(leader)
	if l == nil || int(offset) >= len(l.Het.IDs) {
		return nil
	}
	if j := root.Job(l.Het.IDs[offset]); j != nil {
		return []*job.Job{j}
	}
	return nil
}

// tasks finds the records of some tasks of an array, each once.
func tasks(root *state.Root, id job.ID, indices *bitset.Set) []*job.Job {
	var out []*job.Job
	seen := make(map[job.ID]bool)
	for i := range indices.All {
		if j := root.ArrayTask(id, uint32(i)); j != nil && !seen[j.ID] {
			seen[j.ID] = true
			out = append(out, j)
		}
	}
	return out
}

// whole finds all records of an id: all of an array, all components of a
// heterogeneous job, or the one job. The id of one task that is not the array's
// own means that task alone.
func whole(root *state.Root, id job.ID) ([]*job.Job, state.Target) {
	j := root.Job(id)
	var out []*job.Job
	if j == nil || j.Array.JobID == id {
		for r := range root.Array(id) {
			out = append(out, r)
		}
		if len(out) > 0 {
			return out, state.Target{Job: id}
		}
	}
	switch {
	case j == nil:
		return nil, state.Target{Job: id}
	case j.Array.JobID != 0 && j.Array.Task != job.NoTask:
		return []*job.Job{j}, state.Target{Job: j.Array.JobID, Tasks: bitset.Of(int(j.Array.Task))}
	case len(j.Het.IDs) > 0:
		for _, id := range j.Het.IDs {
			if r := root.Job(id); r != nil {
				out = append(out, r)
			}
		}
		return out, state.Target{Job: id}
	}
	return []*job.Job{j}, state.Target{Job: id}
}

// allFinished tells whether nothing more happens to any of the records.
func allFinished(records []*job.Job) bool {
	for _, j := range records {
		if !j.State.Ended() || j.Flags&(job.Requeued|job.RequeueHold|job.SpecialExit) != 0 {
			return false
		}
	}
	return true
}

// nameOf is how scancel names a record.
func nameOf(j *job.Job) string {
	switch {
	case j.IsArrayRest():
		return idText(j.Array.JobID) + "_[" + slurm.FormatIndices(j.Array.Waiting) + "]"
	case j.Array.JobID != 0 && j.Array.Task != job.NoTask:
		return idText(j.Array.JobID) + "_" + idText(job.ID(j.Array.Task))
	case j.Het.Leader != 0:
		return idText(j.Het.Leader) + "+" + idText(job.ID(j.Het.Offset))
	}
	return idText(j.ID)
}
