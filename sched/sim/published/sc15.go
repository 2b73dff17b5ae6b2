package published

import (
	"fmt"

	"muster/sched/sim/measure"
	"muster/sched/sim/trace"
)

// SC15Policies are the schedulers of the table of SC'15 that are rebuilt.
func SC15Policies() []string {
	return []string{"easy", "easy-clairvoyant", "easy-sjbf", "easy-sjbf-clairvoyant"}
}

// SC15Jobs keeps the jobs that SC'15 kept: those that ran, on some processors of
// the machine, with a limit. A job that ran past its limit is cut off there.
func SC15Jobs(w *trace.Workload) []trace.Job {
	out := make([]trace.Job, 0, len(w.Jobs))
	for _, j := range w.Jobs {
		if j.Run <= 0 || j.Procs <= 0 || j.Limit <= 0 || j.Procs > w.Procs {
			continue
		}
		j.Run = min(j.Run, j.Limit)
		out = append(out, j)
	}
	return out
}

// SC15 runs one scheduler of "Improving backfilling by using machine learning to
// predict running times" (Gaussier et al., SC'15) on a whole trace. The error
// names a policy that there is not.
func SC15(w *trace.Workload, policy string) (measure.Summary, error) {
	e := Easy{Procs: w.Procs}
	switch policy {
	case "easy":
	case "easy-clairvoyant":
		e.Clairvoyant = true
	case "easy-sjbf":
		e.ShortestFirst = true
	case "easy-sjbf-clairvoyant":
		e.Clairvoyant, e.ShortestFirst = true, true
	default:
		return measure.Summary{}, fmt.Errorf("sc15-kth has no policy %q; it has %v", policy, SC15Policies())
	}
	return measure.Of(e.Run(SC15Jobs(w))), nil
}
