// Package sched is the planner: a pure function from a view of the cluster, the
// time and a budget to a plan. It knows no raft, no storage and no clock.
package sched

import (
	"muster/job"
)

// Budget bounds one cycle, counted in steps (one look at one stretch of time of
// one node), so that a cycle can be recorded and replayed bit for bit.
type Budget struct {
	Steps  int // after so many no more starts are planned for later; 0: no bound
	Starts int // most starts in one plan, 0: no bound
	// Planned is the most planned starts that waiting jobs get; 0 is
	// DefaultPlanned, below 0 is none.
	Planned int
	// GridNodes is the number of nodes from which on the search works on a coarse
	// picture of the nodes first; 0 is DefaultGridNodes.
	GridNodes int
}

// Plan is what one cycle came to.
type Plan struct {
	Starts   []Start
	Preempt  []Preemption
	Verdicts []Verdict // for each waiting job that was looked at and not started
	// Promises are the planned starts of the first jobs in order, in the order of
	// the view; Delays are the promises of the view that are not kept.
	Promises []Promise
	Delays   []Delay
	Expired  []job.ID // waiting jobs that can no longer end before their deadline
	Steps    int
	Cut      bool // it has as many starts as it may; the next cycle goes on there
}

// Start is one job to start now.
type Start struct {
	Job   job.ID
	Task  uint32 // array index, job.NoTask for a plain job
	Alloc job.Allocation
	Limit job.Minutes
}

// Preemption ends a running job for another one.
type Preemption struct {
	Victim, For job.ID
	Attempt     uint32 // of the victim
	Requeue     bool
	Grace       uint32 // seconds between the notice to the victim and its end; 0: as for any other end
}

// Verdict is everything that holds one waiting job.
type Verdict struct {
	Job     job.ID
	Reasons []Why // the binding one first; never empty
	Planned job.Time
	Nodes   []job.NodeID
	Ahead   int // jobs before it in order
}

// Why is one reason with its particulars.
type Why struct {
	Reason job.Reason
	Detail string // for people: which node, which limit, how much is missing
}
