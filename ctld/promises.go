package ctld

import (
	"reflect"
	"time"

	"muster/job"
	"muster/sched"
	"muster/state"
)

// promisesEvery bounds how often changed promises are committed: a plan may move
// many a little earlier, which is worth no entry of its own.
const promisesEvery = 2 * time.Second

// promiser commits what a plan changes in the promised starts, not more often than
// once in promisesEvery. What is left out is found again by the next plan, which
// is made from the promises that are committed.
type promiser struct{ last time.Time }

// commands are the changes to be committed now. wait is how long others must wait,
// 0 if there are none.
func (p *promiser) commands(plan *sched.Plan, root *state.Root, now time.Time) (list []state.Command, wait time.Duration) {
	change := changedPromises(plan, root)
	if change == nil {
		return nil, 0
	}
	if rest := promisesEvery - now.Sub(p.last); rest > 0 {
		return nil, rest
	}
	p.last = now
	return []state.Command{change}, 0
}

// changedPromises is what differs between the promises of a plan and those of the
// root it was made from; nil if nothing does.
func changedPromises(plan *sched.Plan, root *state.Root) *state.Promise {
	out := &state.Promise{}
	stay := make(map[job.ID]bool, len(plan.Promises))
	for _, n := range plan.Promises {
		if len(stay) == state.MaxPromises {
			break
		}
		stay[n.Job] = true
		next := planned(&n)
		if old := root.PromiseOf(n.Job); old == nil || !reflect.DeepEqual(*old, next) {
			out.Set = append(out.Set, next)
		}
	}
	starts := map[job.ID]bool{} // Apply drops their promises
	for _, s := range plan.Starts {
		starts[s.Job] = true
	}
	for _, old := range root.Promises() {
		if !stay[old.Job] && !starts[old.Job] {
			out.Drop = append(out.Drop, old.Job)
		}
	}
	for _, d := range plan.Delays {
		out.Delayed = append(out.Delayed, state.Delayed{Job: d.Job, From: d.From, To: d.To, Cause: d.Cause})
	}
	if len(out.Set)+len(out.Drop)+len(out.Delayed) == 0 {
		return nil
	}
	return out
}

// planned is a promise of the planner as state keeps it.
func planned(p *sched.Promise) state.Planned {
	out := state.Planned{Job: p.Job, Task: p.Task, Start: p.Start, Partition: p.Partition, Licenses: p.Licenses, Shape: p.Shape}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		s := state.PlannedShare{Node: n.Node, Tasks: uint32(n.Tasks), CPUs: uint32(n.CPUs), Cores: uint32(n.Cores), MemoryMB: uint64(max(0, n.MemoryMB))}
		for _, d := range n.Devices {
			s.Devices = append(s.Devices, uint64(max(0, d)))
		}
		out.Nodes = append(out.Nodes, s)
	}
	return out
}
