package query

import (
	"context"
	"slices"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
)

// acctJobs answers sacct: finished attempts from the ledger, then jobs that
// wait or run from the root. The root is taken first, so that a job that ends
// meanwhile is in one of the two; one that is in both is shown once, as ended.
func acctJobs(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.AcctQuery
	if err := decode(r, &q); err != nil {
		return err
	}
	root := core.Root()
	r.Index = root.Index()
	a := &acct{
		v: newView(core, root, q.Filter.Fields), q: &q, now: core.Now(),
		f: newFilter(&q.Filter, visible(root, r)),
	}
	if err := a.collect(ctx, core.Ledger()); err != nil {
		return err
	}
	s := &jobStream{ctx: ctx, r: r, list: api.JobList{Now: a.now, Cluster: a.v.cluster.Name, Zone: a.v.cluster.TimeZone}}
	for _, j := range a.found {
		rec, err := s.next()
		if err != nil {
			return err
		}
		a.v.fill(rec, j)
	}
	return s.close()
}

// acct gathers the jobs of one answer.
type acct struct {
	v     *view
	q     *api.AcctQuery
	f     *filter
	now   job.Time
	found []*job.Job
	last  map[job.ID]int // where the latest attempt of a job is in found
}

// collect gathers finished and present jobs, ordered by id then attempt.
func (a *acct) collect(ctx context.Context, ledger service.Ledger) error {
	a.last = map[job.ID]int{}
	ids := a.ids()
	to := job.Time(0) // a job that ended later may have been there before To
	users := a.q.Filter.Users
	if a.q.Filter.NotUser {
		users = nil
	}
	err := ledger.Jobs(ctx, a.q.From, to, ids, users, func(j *job.Job) bool {
		a.add(j)
		return ctx.Err() == nil
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(a.q.Filter.Jobs) > 0 {
		for i := range a.q.Filter.Jobs {
			for _, j := range a.v.find(&a.q.Filter.Jobs[i]) {
				a.present(j)
			}
		}
	} else {
		for j := range a.v.candidates(&a.q.Filter) {
			a.present(j)
		}
	}
	slices.SortStableFunc(a.found, func(x, y *job.Job) int {
		if x.ID != y.ID {
			return int(int64(x.ID) - int64(y.ID))
		}
		return int(int64(x.Attempt) - int64(y.Attempt))
	})
	return nil
}

// ids are the job ids that the ledger has to look for; nil means all.
func (a *acct) ids() []job.ID {
	var ids []job.ID
	for _, ref := range a.q.Filter.Jobs {
		ids = append(ids, ref.ID)
		if lead := a.v.root.Job(ref.ID); lead != nil && lead.Het.Leader == ref.ID {
			ids = append(ids, lead.Het.IDs...)
		}
	}
	return ids
}

// present adds a job of the root unless its end is in the ledger already.
func (a *acct) present(j *job.Job) {
	if i, ok := a.last[j.ID]; ok && a.found[i].Attempt >= j.Attempt && j.State != job.Pending {
		return
	}
	a.add(j)
}

// add takes a job into the answer if it belongs there. Of several attempts of a
// job only the latest stays, unless duplicates are asked for.
func (a *acct) add(j *job.Job) {
	if !a.referred(j) || !a.f.match(j) || !a.matches(j) || !a.inWindow(j) {
		return
	}
	if i, ok := a.last[j.ID]; ok && !a.q.Duplicates {
		if j.Attempt >= a.found[i].Attempt {
			a.found[i] = j
		}
		return
	}
	a.last[j.ID] = len(a.found)
	a.found = append(a.found, j)
}

// referred tells whether a job is one of those named, if any are.
func (a *acct) referred(j *job.Job) bool {
	refs := a.q.Filter.Jobs
	if len(refs) == 0 {
		return true
	}
	for i := range refs {
		ref := &refs[i]
		switch {
		case ref.HasTask:
			if j.Array.JobID == ref.ID && j.Array.Waiting == nil && j.Array.Task == ref.Task {
				return true
			}
		case ref.HasHet:
			if j.Het.Leader == ref.ID && j.Het.Offset == ref.Offset {
				return true
			}
		case j.ID == ref.ID || j.Array.JobID == ref.ID || j.Het.Leader == ref.ID:
			return true
		}
	}
	return false
}

// matches checks what only sacct can narrow by.
func (a *acct) matches(j *job.Job) bool {
	q := a.q
	if len(q.Groups) > 0 && !slices.Contains(q.Groups, j.Owner.Group) {
		return false
	}
	if len(q.WCKeys) > 0 && !slices.Contains(q.WCKeys, j.Request.WCKey) {
		return false
	}
	var nodes, cpus uint32
	if j.Alloc != nil {
		nodes, cpus = uint32(len(j.Alloc.Nodes)), j.Alloc.CPUs
	}
	return nodes >= q.MinNodes && (q.MaxNodes == 0 || nodes <= q.MaxNodes) &&
		cpus >= q.MinCPUs && (q.MaxCPUs == 0 || cpus <= q.MaxCPUs)
}

// inWindow tells whether the job was there between From and To; with states, that
// it was in one of them then (sacct(1), --state): waiting from its eligible
// time to its start, running from start to end, ended at its end.
func (a *acct) inWindow(j *job.Job) bool {
	t := &j.Times
	from, to := a.q.From, a.q.To
	end := t.End
	if !j.State.Ended() {
		end = 0
	}
	if !a.q.ByState {
		begin := t.Eligible
		if begin == 0 {
			begin = t.Submit
		}
		return overlap(begin, end, from, to)
	}
	states := a.q.Filter.States
	wants := func(s job.State) bool { return states>>s&1 != 0 }
	switch {
	case j.State.Ended() && wants(j.State) && overlap(t.End, t.End, from, to):
		return true
	case j.Flags&a.q.Filter.Flags != 0 && overlap(t.End, t.End, from, to):
		return true
	case wants(job.Pending) && t.Submit != 0 && overlap(waitFrom(t), t.Start, from, to) && (j.State == job.Pending || from != 0):
		return true
	case wants(job.Running) && t.Start != 0 && j.State != job.Pending && overlap(t.Start, end, from, to) && (j.State == job.Running || from != 0):
		return true
	}
	return wants(job.Suspended) && j.State == job.Suspended
}

func waitFrom(t *job.Times) job.Time {
	if t.Eligible != 0 {
		return t.Eligible
	}
	return t.Submit
}

// overlap tells whether [begin, end] meets [from, to); 0 is open for end, from
// and to.
func overlap(begin, end, from, to job.Time) bool {
	return (from == 0 || end == 0 || end >= from) && (to == 0 || begin < to)
}
