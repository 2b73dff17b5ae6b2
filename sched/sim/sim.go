// Package sim runs a cluster in virtual time: the replicated state and the planner
// are the real ones, the nodes and their jobs are played.
package sim

import (
	"fmt"

	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/sched/cyclelog"
	"muster/sched/sim/measure"
	"muster/state"
)

// Task is one submit of a workload: a job or an array.
type Task struct {
	At   job.Time            // when it is submitted
	Run  job.Time            // how long it runs if no limit ends it, in milliseconds
	Runs map[uint32]job.Time // the same of an array's tasks, by index; nil: Run
	// ID is what the dependencies of later tasks name it by, 0: none does. The
	// dependencies of New are on such IDs, not on those of jobs.
	ID  job.ID
	New state.NewJob
}

// Setup is all that a run depends on.
type Setup struct {
	Cluster partition.Cluster
	Tasks   []Task // by ascending At
	Budget  sched.Budget
	Record  *cyclelog.Log // nil: cycles are not recorded
}

// Span is one attempt of a job that has ended.
type Span struct {
	Job        job.ID
	Task       int    // its place in Setup.Tasks
	Index      uint32 // in its array, job.NoTask for a plain job
	Submit     job.Time
	Start, End job.Time
	CPUs       uint32
	Devices    uint64 // GPUs
	Nodes      []job.NodeID
	Partition  string
	Final      bool // no later attempt follows
	State      job.State
}

// Result is what a run came to.
type Result struct {
	Spans   []Span // by their ends
	Unstart int    // jobs that never ran, each task of an array counted
	Cycles  int    // of the planner
	Refused int    // starts that state refused
	Delays  int    // promises that could not be kept
	CPUs    uint64 // of the cluster
	Devices uint64 // GPUs of the cluster
	Plans   int    // steps of all cycles
	Hash    state.Hash
}

// Summary measures the final attempts.
func (r *Result) Summary() measure.Summary { return measure.Of(r.Outcomes()) }

// Outcomes are the final attempts, with times in whole seconds.
func (r *Result) Outcomes() []measure.Outcome {
	list := make([]measure.Outcome, 0, len(r.Spans))
	for i := range r.Spans {
		if s := &r.Spans[i]; s.Final {
			list = append(list, measure.Outcome{Submit: int64(s.Submit) / 1000, Start: int64(s.Start) / 1000, End: int64(s.End) / 1000, Procs: int64(s.CPUs)})
		}
	}
	return list
}

// Allocated is the share of the GPUs' time, from the first submit to the last
// end, that jobs held: from 0 to 1.
func (r *Result) Allocated() float64 {
	var held, first, last job.Time
	for i := range r.Spans {
		s := &r.Spans[i]
		held += (s.End - s.Start) * job.Time(s.Devices)
		if i == 0 || s.Submit < first {
			first = s.Submit
		}
		last = max(last, s.End)
	}
	if r.Devices == 0 || last <= first {
		return 0
	}
	return float64(held) / (float64(r.Devices) * float64(last-first))
}

// Run plays a workload on a cluster until nothing is left to happen. It is
// deterministic. Errors are of a cluster or a workload that state refuses; a job
// that can never start is no error.
func Run(s *Setup) (*Result, error) {
	p, err := newPlay(s)
	if err != nil {
		return nil, fmt.Errorf("simulation: %w", err)
	}
	for p.moveOn() {
		if err := p.turn(); err != nil {
			return nil, fmt.Errorf("simulation at %d ms: %w", p.now, err)
		}
	}
	return p.finish(), nil
}
