package sim

import (
	"slices"

	"muster/job"
)

// awaited has the IDs of the tasks that others depend on, with 0 for those that are
// not submitted yet.
func awaited(list []Task) map[job.ID]job.ID {
	ids := map[job.ID]job.ID{}
	for i := range list {
		for _, d := range list[i].New.Deps {
			if d.On != 0 {
				ids[d.On] = 0
			}
		}
	}
	return ids
}

// awaits tells whether a task depends on the task of an ID. Such jobs stay in
// memory when they have ended: state looks there for how they ended.
func (p *play) awaits(id job.ID) bool {
	_, ok := p.ids[id]
	return ok
}

// depsOf is a list of dependencies on tasks as one on jobs.
func (p *play) depsOf(deps []job.Dependency) []job.Dependency {
	deps = slices.Clone(deps)
	for i := range deps {
		if deps[i].On != 0 {
			deps[i].On = p.ids[deps[i].On]
		}
	}
	return deps
}

// taskOf is the place in Tasks of a job, or of a task of an array, which has an ID
// of its own once it is apart.
func (p *play) taskOf(j *job.Job) int {
	if j.Array.JobID != 0 {
		return p.of[j.Array.JobID]
	}
	return p.of[j.ID]
}

// runOf is how long a job runs if no limit ends it, in milliseconds.
func (p *play) runOf(j *job.Job) job.Time {
	t := &p.Tasks[p.taskOf(j)]
	if run, ok := t.Runs[j.Array.Task]; ok {
		return run
	}
	return t.Run
}
