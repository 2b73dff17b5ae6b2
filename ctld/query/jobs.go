package query

import (
	"context"
	"slices"

	"muster/api"
	"muster/ctld/service"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// errNoJob is Slurm's text for a job id that nobody knows.
func errNoJob() error { return api.Errorf(api.ErrNotFound, "Invalid job id specified") }

// jobs answers squeue and scontrol show job.
func jobs(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.JobQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	v := newView(core, root, q.Fields)
	s := &jobStream{ctx: ctx, r: r, list: api.JobList{Now: core.Now(), Cluster: v.cluster.Name, Zone: v.cluster.TimeZone}}
	for _, name := range q.Nodes {
		if root.NodeNamed(name) == nil {
			return api.Errorf(api.ErrNotFound, "%s%s", api.InvalidNode, name)
		}
	}
	f := newFilter(&q, visible(root, r))
	if len(q.Jobs) > 0 {
		return v.named(s, f, &q)
	}
	for j := range v.candidates(&q) {
		if !f.inState(j) || !f.match(j) {
			continue
		}
		rec, err := s.next()
		if err != nil {
			return err
		}
		v.fill(rec, j)
	}
	return s.close()
}

// visible is the uid whose jobs alone the caller may see where the cluster keeps
// jobs private (slurm.conf(5), PrivateData), or -1.
func visible(root *state.Root, r *service.Request) int64 {
	if !keptFrom(root, r, "jobs") {
		return -1
	}
	return int64(r.Caller.UID)
}

// candidates are the jobs that a query without job ids may mean: it uses an index
// where one narrows.
func (v *view) candidates(q *api.JobQuery) func(func(*job.Job) bool) {
	if len(q.Names) == 1 {
		return v.root.JobsNamed(q.Names[0])
	}
	return v.root.Jobs()
}

// named answers a query by job ids. A single id that is unknown is an error, as
// in Slurm; unknown ones among several are left out.
func (v *view) named(s *jobStream, f *filter, q *api.JobQuery) error {
	seen := map[job.ID]*bitset.Set{}
	for i := range q.Jobs {
		found := v.find(&q.Jobs[i])
		if len(found) == 0 && len(q.Jobs) == 1 && !v.emptyTask(&q.Jobs[i]) {
			return errNoJob()
		}
		for _, j := range found {
			if !f.inState(j) || !f.match(j) || again(seen, j) {
				continue
			}
			rec, err := s.next()
			if err != nil {
				return err
			}
			v.fill(rec, j)
		}
	}
	return s.close()
}

// emptyTask tells whether a reference names a task that an array, which is known,
// does not have. Slurm takes that for a job without anything to show.
func (v *view) emptyTask(ref *api.JobRef) bool { return ref.HasTask && v.isArray(ref.ID) }

// again tells whether a job was listed before, and remembers it. Parts of the
// rest of an array are apart from each other.
func again(seen map[job.ID]*bitset.Set, j *job.Job) bool {
	old, ok := seen[j.ID]
	if j.Array.Waiting == nil {
		seen[j.ID] = nil
		return ok && old == nil
	}
	if ok && old != nil && old.Overlaps(j.Array.Waiting) {
		return true
	}
	all := old.Clone()
	all.Union(j.Array.Waiting)
	seen[j.ID] = all
	return false
}

// find lists the jobs that a reference names, by ascending id. One task of an
// array that has not been started is shown alone.
func (v *view) find(ref *api.JobRef) []*job.Job {
	root := v.root
	if ref.HasTask {
		j := root.ArrayTask(ref.ID, ref.Task)
		if j == nil {
			return nil
		}
		return []*job.Job{oneTask(j, ref.Task)}
	}
	var found []*job.Job
	if ref.HasHet {
		if lead := root.Job(ref.ID); lead != nil && int(ref.Offset) < len(lead.Het.IDs) {
			if j := root.Job(lead.Het.IDs[ref.Offset]); j != nil {
				found = append(found, j)
			}
		}
		return found
	}
	for j := range root.Array(ref.ID) {
		found = append(found, j)
	}
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b *job.Job) int { return int(int64(a.ID) - int64(b.ID)) })
		return found
	}
	j := root.Job(ref.ID)
	if j == nil {
		return nil
	}
	found = append(found, j)
	if j.Het.Leader == j.ID {
		found = found[:0]
		for _, id := range j.Het.IDs {
			if c := root.Job(id); c != nil {
				found = append(found, c)
			}
		}
	}
	return found
}

// oneTask narrows the rest of an array to one of its tasks.
func oneTask(j *job.Job, task uint32) *job.Job {
	if !j.IsArrayRest() {
		return j
	}
	one := *j
	one.Array.Waiting = nil
	one.Array.Task = task
	return &one
}
