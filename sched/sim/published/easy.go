package published

import (
	"cmp"
	"slices"

	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

// Easy is EASY backfilling on processors that are all alike (Lifka, "The
// ANL/IBM SP scheduling system", JSSPP 1995): jobs start in the order of
// submission; the first that does not fit is given the earliest start that the
// estimates allow, and jobs behind it start before it if they do not delay it.
// All that happens in one second is taken in before jobs are started.
type Easy struct {
	Procs       int
	Clairvoyant bool // estimates are the run times, not the limits
	// ShortestFirst looks at the jobs behind the first by estimate (EASY-SJBF,
	// Tsafrir et al., TPDS 2007).
	ShortestFirst bool
}

// easyRun is a schedule in the making. Jobs are named by their place in jobs.
type easyRun struct {
	*Easy
	jobs    []trace.Job
	out     []measure.Outcome
	free    int
	queue   []int32   // in order of submission
	behind  []int32   // the same, shortest estimate first
	ends    endHeap   // running jobs by when they end
	until   []expects // running jobs by when they are expected to end
	blocked bool      // the first in the queue does not fit, and shadow and extra are right
	shadow  int64     // when it can start
	extra   int       // processors that it leaves free then
}

// expects is a running job with the end that is expected.
type expects struct {
	end   int64
	job   int32
	procs int32
}

// Run schedules jobs, which must be in order of submission and fit the machine.
func (e *Easy) Run(jobs []trace.Job) []measure.Outcome {
	r := &easyRun{Easy: e, jobs: jobs, out: make([]measure.Outcome, len(jobs)), free: e.Procs}
	next := 0
	for next < len(jobs) || len(r.ends) > 0 {
		now := r.nextTime(next)
		ended := r.finish(now)
		fresh := next
		for next < len(jobs) && jobs[next].Submit == now {
			r.enqueue(int32(next))
			next++
		}
		switch {
		case ended || !r.blocked:
			r.schedule(now)
		default: // what was in the queue before still does not fit
			r.backfillNew(now, fresh, next)
		}
	}
	return r.out
}

func (r *easyRun) nextTime(next int) int64 {
	switch {
	case next == len(r.jobs):
		return r.ends[0].end
	case len(r.ends) == 0:
		return r.jobs[next].Submit
	}
	return min(r.ends[0].end, r.jobs[next].Submit)
}

// finish takes the jobs off that end now, and tells whether there were any.
func (r *easyRun) finish(now int64) bool {
	ended := false
	for len(r.ends) > 0 && r.ends[0].end == now {
		j := r.ends.pop()
		r.free += r.jobs[j].Procs
		at := r.expected(r.expect(j), j)
		r.until = slices.Delete(r.until, at, at+1)
		ended = true
	}
	return ended
}

func (r *easyRun) estimate(j int32) int64 {
	if r.Clairvoyant {
		return r.jobs[j].Run
	}
	return r.jobs[j].Estimate()
}

func (r *easyRun) expect(j int32) int64 { return r.out[j].Start + r.estimate(j) }

// expected is the place of a job in until.
func (r *easyRun) expected(end int64, j int32) int {
	at, _ := slices.BinarySearchFunc(r.until, expects{end: end, job: j}, func(a, b expects) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.job, b.job))
	})
	return at
}

func (r *easyRun) enqueue(j int32) {
	r.queue = append(r.queue, j)
	if r.ShortestFirst {
		r.behind = slices.Insert(r.behind, r.placeBehind(j), j)
	}
}

func (r *easyRun) placeBehind(j int32) int {
	at, _ := slices.BinarySearchFunc(r.behind, j, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.estimate(a), r.estimate(b)), cmp.Compare(a, b))
	})
	return at
}

func (r *easyRun) start(j int32, now int64) {
	x := &r.jobs[j]
	r.out[j] = measure.Outcome{Submit: x.Submit, Start: now, End: now + x.Run, Procs: int64(x.Procs)}
	r.free -= x.Procs
	r.ends.push(ending{now + x.Run, j, j})
	r.until = slices.Insert(r.until, r.expected(r.expect(j), j), expects{r.expect(j), j, int32(x.Procs)})
	if r.ShortestFirst {
		at := r.placeBehind(j)
		r.behind = slices.Delete(r.behind, at, at+1)
	}
}

// schedule starts all that may start.
func (r *easyRun) schedule(now int64) {
	started := 0
	for started < len(r.queue) && r.jobs[r.queue[started]].Procs <= r.free {
		r.start(r.queue[started], now)
		started++
	}
	r.queue = slices.Delete(r.queue, 0, started)
	if r.blocked = len(r.queue) > 0; !r.blocked {
		return
	}
	r.reserve(r.queue[0])
	if r.free == 0 {
		return
	}
	list := r.queue[1:]
	if r.ShortestFirst {
		list = slices.Clone(r.behind)
	}
	gone := 0
	for _, j := range list {
		if j != r.queue[0] && r.fits(j, now) {
			r.start(j, now)
			gone++
		}
	}
	if gone > 0 {
		r.queue = slices.DeleteFunc(r.queue, func(j int32) bool { return r.out[j].End > 0 })
	}
}

// reserve works out when a job can start, by what is expected of those that run.
func (r *easyRun) reserve(j int32) {
	free := r.free
	for i := 0; i < len(r.until); i++ {
		free += int(r.until[i].procs)
		if free < r.jobs[j].Procs || i+1 < len(r.until) && r.until[i+1].end == r.until[i].end {
			continue
		}
		r.shadow, r.extra = r.until[i].end, free-r.jobs[j].Procs
		return
	}
}

// fits tells whether a job may start before the first, and counts it if it then
// holds some of the extra processors.
func (r *easyRun) fits(j int32, now int64) bool {
	p := r.jobs[j].Procs
	switch {
	case p > r.free:
		return false
	case now+r.estimate(j) <= r.shadow:
		return true
	case p > r.extra:
		return false
	}
	r.extra -= p
	return true
}

// backfillNew looks only at jobs that just came; nothing has changed for those
// before them.
func (r *easyRun) backfillNew(now int64, from, to int) {
	fresh := make([]int32, 0, 8)
	for j := from; j < to; j++ {
		fresh = append(fresh, int32(j))
	}
	if r.ShortestFirst {
		slices.SortStableFunc(fresh, func(a, b int32) int { return cmp.Compare(r.estimate(a), r.estimate(b)) })
	}
	gone := false
	for _, j := range fresh {
		if r.fits(j, now) {
			r.start(j, now)
			gone = true
		}
	}
	if gone {
		tail := r.queue[len(r.queue)-len(fresh):]
		kept := slices.DeleteFunc(tail, func(j int32) bool { return r.out[j].End > 0 })
		r.queue = r.queue[:len(r.queue)-len(fresh)+len(kept)]
	}
}
