package ctld

import (
	"muster/job"
	"muster/sched"
	"muster/sched/feed"
	"muster/state"
)

// stepsPerCycle bounds one cycle of the planner; a plan that is cut goes on in
// the next one.
const stepsPerCycle = 2_000_000

// follower is the planner with a view that follows the roots.
type follower struct{ feed *feed.Feed }

func newPlanner() planner { return follower{feed.New()} }

func (f follower) plan(root *state.Root, now job.Time) *sched.Plan {
	return f.feed.Update(root).Plan(now, cycleBudget())
}

// cycleBudget is what each cycle may use.
func cycleBudget() sched.Budget {
	return sched.Budget{Steps: stepsPerCycle, Planned: state.MaxPromises}
}
