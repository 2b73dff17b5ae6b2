package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

// RLPolicies are the orders of RLScheduler's tables that need no training.
func RLPolicies() []string { return []string{"fcfs", "wfp3", "uni", "sjf", "f1"} }

// rlWindow is how many jobs one window has.
const rlWindow = 1024

// rlWindows are the first jobs of the ten windows that the tables are means of:
// what the paper's generator draws from seed 1 for a trace of 10,000 jobs.
func rlWindows() [10]int { return [10]int{1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085} }

// RLResult is one cell of the tables: means over the windows.
type RLResult struct {
	Slowdown    float64 // mean bounded slowdown
	Utilization float64 // until the last start
	MaxWait     float64 // of the longest waits, in seconds
}

// RLJobs keeps the jobs that RLScheduler kept, by ascending id. A job holds the
// larger of the processors asked for and allocated.
func RLJobs(w *trace.Workload) []trace.Job {
	out := make([]trace.Job, 0, len(w.Jobs))
	for _, j := range w.Jobs {
		if j.Run < 0 {
			j.Run = 10
		}
		if j.Run == 0 || j.Procs > w.Procs {
			continue
		}
		j.Procs = max(j.Procs, j.Held)
		out = append(out, j)
	}
	slices.SortStableFunc(out, func(a, b trace.Job) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Windows runs f on each of the ten windows, as on a machine that is empty before
// and gets no jobs after, and takes the means. It fails if the trace is too short.
func Windows(w *trace.Workload, f func([]trace.Job) []measure.Outcome) (RLResult, error) {
	jobs := RLJobs(w)
	var sum RLResult
	starts := rlWindows()
	for _, from := range starts {
		if from+rlWindow > len(jobs) {
			return RLResult{}, fmt.Errorf("the trace has %d jobs that ran, the windows need 10,000", len(jobs))
		}
		s := measure.Of(f(jobs[from : from+rlWindow]))
		sum.Slowdown += s.MeanSlowdown
		sum.Utilization += s.UtilizationToLastStart(w.Procs)
		sum.MaxWait += float64(s.MaxWait)
	}
	n := float64(len(starts))
	return RLResult{sum.Slowdown / n, sum.Utilization / n, sum.MaxWait / n}, nil
}

// RLScheduler runs one order of RLScheduler (Zhang et al., SC'20), with or without
// its backfill. The error names a policy that there is not.
func RLScheduler(w *trace.Workload, policy string, backfill bool) (RLResult, error) {
	score := rlScore(policy)
	if score == nil {
		return RLResult{}, fmt.Errorf("rlscheduler has no policy %q; it has %v", policy, RLPolicies())
	}
	return Windows(w, func(jobs []trace.Job) []measure.Outcome {
		r := rlRun{jobs: jobs, free: w.Procs, score: score, backfill: backfill, out: make([]measure.Outcome, len(jobs))}
		return r.run()
	})
}

// rlScore is the score by which the job with the lowest is chosen. WFP3 and UNI
// have the time of the start, not yet known and therefore -1, where the time of
// the choice should stand: the published columns come from that.
func rlScore(policy string) func(*trace.Job) float64 {
	switch policy {
	case "fcfs":
		return func(j *trace.Job) float64 { return float64(j.Submit) }
	case "sjf":
		return func(j *trace.Job) float64 { return float64(j.Estimate()) }
	case "f1":
		return func(j *trace.Job) float64 {
			return math.Log10(float64(j.Estimate()))*float64(j.Procs) + 870*math.Log10(float64(j.Submit))
		}
	case "wfp3":
		return func(j *trace.Job) float64 {
			return -math.Pow(float64(-1-j.Submit)/float64(j.Estimate()), 3) * float64(j.Procs)
		}
	case "uni":
		return func(j *trace.Job) float64 {
			return -(float64(-1-j.Submit) + 1e-15) / (math.Log2(float64(j.Procs)+1e-15) * float64(j.Estimate()))
		}
	}
	return nil
}

// rlRun is one window in the making. The scheduler of the paper takes the job
// with the lowest score and waits until it fits, whatever comes meanwhile.
type rlRun struct {
	jobs     []trace.Job
	out      []measure.Outcome
	score    func(*trace.Job) float64
	backfill bool
	now      int64
	next     int // next job to arrive
	free     int
	queue    []int32 // in order of arrival
	running  endHeap // of jobs that end together, the one that started first ends first
	started  int32
}

func (r *rlRun) run() []measure.Outcome {
	for r.next < len(r.jobs) || len(r.queue) > 0 {
		if len(r.queue) == 0 {
			r.step()
			continue
		}
		j := r.choose()
		if r.jobs[j].Procs > r.free {
			r.wait(j)
		}
		r.start(j)
	}
	return r.out
}

// choose is the waiting job with the lowest score; of several, the one that was
// submitted first.
func (r *rlRun) choose() int32 {
	return slices.MinFunc(r.queue, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.score(&r.jobs[a]), r.score(&r.jobs[b])), cmp.Compare(r.jobs[a].Submit, r.jobs[b].Submit))
	})
}

// wait lets time pass until a job fits. With backfill, others start that fit and
// that are expected to end before it can start.
func (r *rlRun) wait(j int32) {
	until := r.expected(j)
	for r.jobs[j].Procs > r.free {
		if r.backfill {
			for _, k := range slices.Clone(r.queue) {
				if x := &r.jobs[k]; x.Procs <= r.free && r.now+x.Estimate() < until {
					r.start(k)
				}
			}
		}
		r.step()
	}
}

// expected is when a job can start by the limits of those that run.
func (r *rlRun) expected(j int32) int64 {
	list := make([]expects, 0, len(r.running))
	for _, e := range r.running {
		list = append(list, expects{r.out[e.job].Start + r.jobs[e.job].Estimate(), e.job, int32(r.jobs[e.job].Procs)})
	}
	slices.SortFunc(list, func(a, b expects) int { return cmp.Compare(a.end, b.end) })
	free, at := r.free, r.now
	for _, e := range list {
		free += int(e.procs)
		at = e.end
		if free >= r.jobs[j].Procs {
			break
		}
	}
	return at
}

// step goes on to the next event: one arrival, or one end if that comes first.
func (r *rlRun) step() {
	if r.next < len(r.jobs) && (len(r.running) == 0 || r.jobs[r.next].Submit <= r.running[0].end) {
		r.now = max(r.now, r.jobs[r.next].Submit)
		r.queue = append(r.queue, int32(r.next))
		r.next++
		return
	}
	r.now = max(r.now, r.running[0].end)
	r.free += r.jobs[r.running.pop()].Procs
}

func (r *rlRun) start(j int32) {
	x := &r.jobs[j]
	r.queue = slices.DeleteFunc(r.queue, func(k int32) bool { return k == j })
	r.out[j] = measure.Outcome{Submit: x.Submit, Start: r.now, End: r.now + x.Run, Procs: int64(x.Procs)}
	r.free -= x.Procs
	r.started++
	r.running.push(ending{r.now + x.Run, r.started, j})
}
