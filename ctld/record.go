package ctld

import (
	"log/slog"

	"muster/job"
	"muster/sched"
	"muster/sched/cyclelog"
	"muster/state"
)

// recording is a planner whose cycles are recorded, for muster sim replay. Cycles
// in which nothing waits are not.
type recording struct {
	planner
	cycles *cyclelog.Log // nil: recording has failed
	log    *slog.Logger
}

// recorded makes a planner record its cycles if the controller is told to.
func (c *Controller) recorded(p planner) planner {
	if c.cfg.Cycles == "" {
		return p
	}
	cycles, err := cyclelog.Open(c.cfg.Cycles, c.cfg.KeepCycles)
	if err != nil {
		c.log.Warn("cycles of the planner are not recorded", "error", err)
		return p
	}
	return &recording{planner: p, cycles: cycles, log: c.log}
}

// plan implements planner. That a cycle cannot be recorded keeps no job waiting.
func (r *recording) plan(root *state.Root, now job.Time) *sched.Plan {
	plan := r.planner.plan(root, now)
	if r.cycles == nil || len(plan.Starts)+len(plan.Verdicts) == 0 {
		return plan
	}
	if err := r.cycles.Add(root, now, cycleBudget(), plan); err != nil {
		r.log.Warn("cycles of the planner are no longer recorded", "error", err)
		r.cycles = nil
	}
	return plan
}
