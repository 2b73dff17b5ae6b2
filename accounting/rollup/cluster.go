package rollup

import (
	"muster/accounting"
	"muster/internal/wire"
	"muster/job"
)

// Cluster is what became of the cluster's time in one hour or more, in
// resource-seconds.
type Cluster struct {
	Reported  accounting.Amounts // of all nodes that had registered
	Allocated accounting.Amounts
	Down      accounting.Amounts // nodes down or drained
	Maint     accounting.Amounts // reservations with the flag MAINT
	Wanted    accounting.Amounts // CPUs of eligible jobs, for as long as they waited
}

// Code implements wire.Message.
func (u *Cluster) Code(c *wire.Coder) {
	for i, l := range u.lists() {
		wire.Slice(c, i+1, (*[]accounting.Amount)(l))
	}
}

func (u *Cluster) lists() []*accounting.Amounts {
	return []*accounting.Amounts{&u.Reported, &u.Allocated, &u.Down, &u.Maint, &u.Wanted}
}

// Add takes another one in.
func (u *Cluster) Add(o *Cluster) {
	mine, theirs := u.lists(), o.lists()
	for i := range mine {
		addAll(mine[i], *theirs[i], 1)
	}
}

// Parts is what became of one resource's time, in resource-seconds. What nodes that
// drain still did counts as allocated. Idle and planned are what is left.
type Parts struct {
	Allocated, Down, PlannedDown, Idle, Planned, Reported uint64
	Over                                                  uint64 // wanted beyond what was idle
}

// PartsOf divides one hour (sreport(1), cluster Utilization). The parts add up to
// Reported: where the sources overlap, as a drained node that still runs jobs, down
// gives way to allocated.
func (u *Cluster) PartsOf(resource string) Parts {
	get := func(l accounting.Amounts) uint64 { n, _ := l.Get(resource); return n }
	p := Parts{Reported: get(u.Reported), Allocated: get(u.Allocated)}
	left := p.Reported - min(p.Reported, p.Allocated)
	p.Down = min(left, get(u.Down))
	left -= p.Down
	p.PlannedDown = min(left, get(u.Maint))
	left -= p.PlannedDown
	p.Planned = min(left, get(u.Wanted))
	p.Over = get(u.Wanted) - p.Planned
	p.Idle = left - p.Planned
	p.Reported = max(p.Reported, p.Allocated)
	return p
}

// Plus is the sum of two stretches.
func (p Parts) Plus(o Parts) Parts {
	return Parts{p.Allocated + o.Allocated, p.Down + o.Down, p.PlannedDown + o.PlannedDown, p.Idle + o.Idle, p.Planned + o.Planned, p.Reported + o.Reported, p.Over + o.Over}
}

// event adds an event for some seconds of one hour.
func (u *Cluster) event(e *accounting.Event, seconds uint64) {
	switch {
	case e.Kind == accounting.Reserved && e.Maint:
		addAll(&u.Maint, e.Has, seconds)
	case e.Kind == accounting.Reserved:
	default:
		addAll(&u.Reported, e.Has, seconds)
		if e.Kind != accounting.NodeInService {
			addAll(&u.Down, e.Has, seconds)
		}
	}
}

// waits is the stretch in which an attempt, or a job that waits, was eligible and
// did not run, and how many CPUs it wanted.
func waits(j *job.Job, now int64) (from, to int64, cpus uint64) {
	from, to = j.Times.Eligible.Unix(), now
	if j.State != job.Pending {
		to = j.Times.Start.Unix()
	}
	if from == 0 || to == 0 {
		return 0, 0, 0
	}
	cpus = uint64(max(1, j.Request.Size.MinCPUs))
	if j.Alloc != nil && j.State != job.Pending {
		cpus = uint64(j.Alloc.CPUs)
	}
	if j.Array.Waiting != nil {
		cpus *= uint64(j.Array.Waiting.Len())
	}
	return from, to, cpus
}

// Runs is the stretch for which an attempt holds or held its allocation; from >= to
// if it never did.
func Runs(j *job.Job, now int64) (from, to int64) {
	if j.Alloc == nil || j.State == job.Pending || j.Times.Start == 0 {
		return 0, 0
	}
	if j.State.Ended() {
		now = j.Times.End.Unix()
	}
	return j.Times.Start.Unix(), now
}
