package state

import (
	"slices"

	"muster/internal/bitset"
	"muster/job"
)

// singletonKey is what a singleton waits for in byDepend: the name and user, as
// a number that no job id can be.
func singletonKey(j *job.Job) uint64 {
	return 1<<63 | nameHash(j.Request.Name, false)>>1 ^ uint64(j.Owner.UID)
}

// waitsFor is the key in byDepend of one dependency.
func waitsFor(j *job.Job, d *job.Dependency) uint64 {
	if d.Kind == job.DependSingleton {
		return singletonKey(j)
	}
	return uint64(d.On)
}

// appendDependencies lists what a waiting job waits for.
func appendDependencies(dst []entry, j *job.Job) []entry {
	for i := range j.Deps {
		if d := &j.Deps[i]; d.State == job.Unfulfilled && d.Due == 0 {
			e := entry{byDepend, key{waitsFor(j, d), uint64(j.ID)}}
			if !slices.Contains(dst[max(len(dst)-i, 0):], e) {
				dst = append(dst, e)
			}
		}
	}
	return dst
}

// dueAt is when a waiting job must be looked at again for its begin time or a
// delay of a dependency; 0: never.
func dueAt(j *job.Job) job.Time {
	var t job.Time
	if j.Reason == job.ReasonBeginTime {
		t = j.Request.Timing.Begin
	}
	for i := range j.Deps {
		if d := &j.Deps[i]; d.State == job.Unfulfilled && d.Due != 0 && (t == 0 || d.Due < t) {
			t = d.Due
		}
	}
	return t
}

// dependencyOutcome is what all dependencies of a job together come to.
func dependencyOutcome(j *job.Job) job.DependState {
	if len(j.Deps) == 0 {
		return job.Fulfilled
	}
	var count [3]int
	for i := range j.Deps {
		count[j.Deps[i].State]++
	}
	switch {
	case j.AnyDep && count[job.Fulfilled] > 0:
		return job.Fulfilled
	case j.AnyDep && count[job.FailedDep] == len(j.Deps):
		return job.FailedDep
	case !j.AnyDep && count[job.FailedDep] > 0:
		return job.FailedDep
	case !j.AnyDep && count[job.Fulfilled] == len(j.Deps):
		return job.Fulfilled
	}
	return job.Unfulfilled
}

// checkDependencies looks at every dependency of a waiting job that is still
// open. A failed one stays failed, whatever happens to the other job later.
func (m *Machine) checkDependencies(r *jobRow) {
	deps := slices.Clone(r.Deps)
	for i := range deps {
		if deps[i].State == job.Unfulfilled {
			deps[i].State = m.judge(r, &deps[i])
		}
	}
	r.Deps = deps
}

// tally counts the jobs or tasks that a dependency names by how far they are.
type tally struct{ waiting, active, good, bad uint32 }

func (t *tally) over() bool { return t.waiting+t.active == 0 }

// judge says how far one dependency is. A job that is no longer in memory has
// ended: good enough for after and afterany; for the others it counts as failed,
// since how it ended is not known here (who submits looks into the ledger and
// leaves out what is fulfilled).
func (m *Machine) judge(r *jobRow, d *job.Dependency) job.DependState {
	if d.Kind == job.DependSingleton {
		return m.judgeSingleton(r)
	}
	t, found := m.tally(r, d)
	switch d.Kind {
	case job.DependAfter:
		return m.judgeAfter(d, !found || t.waiting == 0)
	case job.DependAfterAny, job.DependAfterBurstBuffer:
		if !found || t.over() {
			return job.Fulfilled
		}
		return job.Unfulfilled
	}
	switch {
	case !found:
		return job.FailedDep
	case !t.over():
		return job.Unfulfilled
	case (t.bad == 0) == (d.Kind != job.DependAfterNotOK):
		return job.Fulfilled
	}
	return job.FailedDep
}

// judgeAfter: the delay runs from the first time that all had started, whatever
// becomes of them then.
func (m *Machine) judgeAfter(d *job.Dependency, started bool) job.DependState {
	if d.Due == 0 {
		if !started {
			return job.Unfulfilled
		}
		d.Due = m.work.now + job.Time(d.Delay)*60_000
	}
	if m.work.now < d.Due {
		return job.Unfulfilled
	}
	return job.Fulfilled
}

// judgeSingleton: no earlier job of that name and user may wait, and none may
// run; the tasks of one array, like those of one heterogeneous job, are one job.
func (m *Machine) judgeSingleton(r *jobRow) job.DependState {
	name := nameHash(r.Request.Name, false)
	from := key{name, uint64(r.Owner.UID) << 32}
	res := job.Fulfilled
	m.work.indices[byName].Ascend(from, func(k key) bool {
		if k.a != name || uint32(k.b>>32) != r.Owner.UID {
			return false
		}
		o := m.work.Job(k.jobOf())
		same := o.ID == r.ID || o.Request.Name != r.Request.Name ||
			r.Array.JobID != 0 && o.Array.JobID == r.Array.JobID || r.Het.Leader != 0 && o.Het.Leader == r.Het.Leader
		if !same && (o.State != job.Pending || o.SLUID < r.SLUID) {
			res = job.Unfulfilled
			return false
		}
		return true
	})
	return res
}

// tally finds what a dependency names. found is false if nothing of it is in
// memory.
func (m *Machine) tally(r *jobRow, d *job.Dependency) (t tally, found bool) {
	task := d.Task
	whole := m.work.ArrayUse(d.On)
	isArray := whole.tasks() > 0
	if d.Kind == job.DependAfterCorr && isArray && r.Array.JobID != 0 {
		task = r.Array.Task
		if r.Array.Waiting != nil {
			// Decided task by task, by correspond, but for tasks without a partner.
			partner := m.work.ArrayTask(d.On, uint32(r.Array.Waiting.Next(0))) != nil
			return tally{waiting: 1}, partner || !whole.over()
		}
	}
	switch {
	case task != job.NoTask:
		o := m.work.ArrayTask(d.On, task)
		if o == nil {
			return t, false
		}
		t.count(o)
		return t, true
	case isArray:
		return tally{whole.Waiting, whole.Active, whole.Good, whole.Bad}, true
	}
	o := m.work.Job(d.On)
	if o == nil {
		return t, false
	}
	t.count(o)
	for _, id := range o.Het.IDs {
		if c := m.work.Job(id); c != nil && id != o.ID {
			t.count(c)
		}
	}
	return t, true
}

func (t *tally) count(o *job.Job) {
	switch {
	case o.State == job.Pending:
		t.waiting++
	case !o.Terminal():
		t.active++
	case o.State == job.Completed:
		t.good++
	default:
		t.bad++
	}
}

// wake looks at the jobs that wait for those that started or ended, and for what
// follows from that, until nothing follows any more. Each round ends jobs for
// good, so it comes to an end.
func (m *Machine) wake() {
	for len(m.events) > 0 {
		id := m.events[0]
		m.events = m.events[1:]
		if o := m.work.jobs.Get(uint64(id)); o != nil {
			m.wakeDependents(o)
		}
	}
	m.events = m.events[:0]
}

func (m *Machine) wakeDependents(o *jobRow) {
	for i, on := range [...]uint64{uint64(o.ID), uint64(o.Array.JobID), uint64(o.Het.Leader)} {
		if on == 0 || i > 0 && on == uint64(o.ID) {
			continue
		}
		for _, id := range m.dependents(on) {
			m.look(id, o)
		}
	}
	if o.Terminal() {
		// The first that waits either goes now or stands before all others.
		if ids := m.dependents(singletonKey(&o.Job)); len(ids) > 0 {
			m.look(m.firstSubmitted(ids), o)
		}
	}
}

func (m *Machine) firstSubmitted(ids []job.ID) job.ID {
	return slices.MinFunc(ids, func(a, b job.ID) int {
		x, y := m.work.jobs.Get(uint64(a)), m.work.jobs.Get(uint64(b))
		return int(min(max(int64(x.SLUID)-int64(y.SLUID), -1), 1))
	})
}

func (m *Machine) dependents(on uint64) []job.ID {
	var ids []job.ID
	for k := range m.work.indices.equal(byDepend, on) {
		ids = append(ids, k.jobOf())
	}
	return ids
}

// look decides again about a waiting job after o started or ended.
func (m *Machine) look(id job.ID, o *jobRow) {
	r := m.edit(id)
	if r == nil || r.State != job.Pending {
		return
	}
	if r.Array.Waiting != nil && o.Array.JobID != 0 && m.correspond(r, o) {
		if r = m.edit(id); r.State != job.Pending || r.Array.Waiting == nil {
			return // it was the last of its array
		}
	}
	m.checkDependencies(r)
	m.putWaiting(r)
}

// correspond splits the tasks off a waiting array whose partners of equal index,
// by aftercorr, are among those that o stands for. It tells whether it did.
func (m *Machine) correspond(r *jobRow, o *jobRow) bool {
	if !o.Terminal() {
		return false
	}
	corr := func(d job.Dependency) bool { return d.Kind == job.DependAfterCorr && d.On == o.Array.JobID }
	if !slices.ContainsFunc(r.Deps, corr) {
		return false
	}
	tasks := bitset.Of()
	if o.Array.Waiting != nil {
		tasks = o.Array.Waiting.Clone()
	} else {
		tasks.Add(int(o.Array.Task))
	}
	tasks.Intersect(r.Array.Waiting)
	if tasks.Empty() {
		return false
	}
	part := m.splitOff(r, tasks)
	part.Deps = slices.Clone(part.Deps)
	for i := range part.Deps {
		switch d := &part.Deps[i]; {
		case !corr(*d) || d.State != job.Unfulfilled:
		case o.State == job.Completed:
			d.State = job.Fulfilled
		default:
			d.State = job.FailedDep
		}
	}
	m.checkDependencies(part)
	m.putWaiting(part)
	return true
}

// correspondAll does correspond for what ended before the array was submitted.
func (m *Machine) correspondAll(id job.ID) {
	for _, d := range m.work.Job(id).Deps {
		if d.Kind != job.DependAfterCorr {
			continue
		}
		var over []job.ID
		for o := range m.work.Array(d.On) {
			if o.Terminal() {
				over = append(over, o.ID)
			}
		}
		for _, on := range over {
			if r := m.work.jobs.Get(uint64(id)); r.State == job.Pending && r.Array.Waiting != nil {
				m.correspond(r, m.work.jobs.Get(uint64(on)))
			}
		}
	}
}
