package admit

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"muster/api"
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
	// component: one part of a heterogeneous job is named, by JOB+OFFSET.
	component bool
}

// maxTaskWork bounds the array indices that one call may name, in steps of work.
const maxTaskWork = 64 << 20

// finder looks the names of one call up and counts what that costs.
type finder struct {
	root *state.Root
	work int
}

// named lists what a word of scontrol names: itself, or with name= or jobname= all
// jobs of that name, in the order of their ids.
func (f *finder) named(word string) ([]string, error) {
	name, ok := strings.CutPrefix(word, nameIs)
	if !ok {
		return []string{word}, nil
	}
	ids := make(map[job.ID]bool)
	for j := range f.root.JobsNamed(name) {
		ids[cmp.Or(j.Array.JobID, j.Het.Leader, j.ID)] = true
	}
	if len(ids) > maxTargets {
		return nil, api.Errorf(api.ErrInvalid, "more than %d jobs have the name %q: name them by their ids", maxTargets, name)
	}
	out := make([]string, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, idText(id))
	}
	return out, nil
}

// nameIs stands before the name of a job where a job id may stand.
const nameIs = "name="

// failure is the answer for a target that was not changed.
func (t *target) failure(text string) *api.Failure {
	out := &api.Failure{Target: t.name, Text: text}
	id, rest, ok := strings.Cut(t.name, "_")
	if ok {
		out.Target, out.Listed = id+"_["+strings.Trim(rest, "[]")+"]", true
	} else if len(t.records) > 0 && t.records[0].Array.JobID != 0 {
		var indices bitset.Set
		for _, j := range t.records {
			if j.IsArrayRest() {
				indices.Union(j.Array.Waiting)
			} else {
				indices.Add(int(j.Array.Task))
			}
		}
		out.Target, out.Listed = idText(t.records[0].Array.JobID)+"_["+slurm.FormatIndices(&indices)+"]", true
	}
	return out
}

// unchanged is the answer for a target that a command left as it was; nil if it
// changed at least one record.
func (t *target) unchanged(r *state.Result) *api.Failure {
	switch {
	case r.Code != state.OK:
		return t.failure(resultText(r.Code, r.Text))
	case len(r.Skipped) > 0 && len(r.Skipped) >= len(t.records):
		return t.failure(resultText(r.Skipped[0].Code, r.Skipped[0].Text))
	}
	return nil
}

// find looks a job's name up. No records: there is no such job in memory.
func (f *finder) find(text string) (target, error) {
	root := f.root
	n, err := slurm.ParseJobName(text)
	if err != nil {
		return target{name: text}, err
	}
	if n.Tasks != nil {
		if f.work += n.Tasks.Max()/64 + n.Tasks.Len(); f.work > maxTaskWork {
			return target{name: text}, errors.New("the call names too many array tasks: name fewer, or whole arrays")
		}
	}
	t := target{name: text, state: state.Target{Job: n.ID, Tasks: n.Tasks}}
	switch {
	case n.HasHet:
		t.records, t.component = component(root, n.ID, n.Offset), true
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
