package sim

import (
	"math/rand"

	"muster/job"
	"muster/sched"
	"muster/state"
)

// stepsPerCycle is that of a controller.
const stepsPerCycle = 2_000_000

// Budget is what a controller gives each cycle.
func Budget() sched.Budget {
	return sched.Budget{Steps: stepsPerCycle, Planned: state.MaxPromises}
}

// Shuffle mixes the gaps between submits: the jobs stay in their order, and come
// as often, at other times.
func Shuffle(list []Task, seed int64) {
	if len(list) == 0 {
		return
	}
	gaps := make([]job.Time, len(list)-1)
	for i := range gaps {
		gaps[i] = list[i+1].At - list[i].At
	}
	rand.New(rand.NewSource(seed)).Shuffle(len(gaps), func(a, b int) { gaps[a], gaps[b] = gaps[b], gaps[a] })
	for i, gap := range gaps {
		list[i+1].At = list[i].At + gap
	}
}

// FirstSubmit is the earliest submit of all attempts, 0 if there is none.
func (r *Result) FirstSubmit() job.Time {
	first := job.Time(0)
	for i := range r.Spans {
		if t := r.Spans[i].Submit; first == 0 || t < first {
			first = t
		}
	}
	return first
}
