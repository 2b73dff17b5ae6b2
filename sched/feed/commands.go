package feed

import (
	"reflect"

	"muster/job"
	"muster/sched"
	"muster/state"
)

// Commands turns a plan into commands: preemptions first, since starts need
// what they free.
func Commands(plan *sched.Plan, root *state.Root) []state.Command {
	var list []state.Command
	for _, v := range plan.Preempt {
		attempt := v.Attempt
		end := &state.End{Targets: []state.Target{{Job: v.Victim}}, To: job.Preempted, Attempt: &attempt, Grace: v.Grace}
		if v.Requeue {
			end.Flags = job.Requeued
		}
		list = append(list, end)
	}
	if len(plan.Expired) > 0 {
		end := &state.End{To: job.Deadline, Reason: job.ReasonDeadLine}
		for _, id := range plan.Expired {
			end.Targets = append(end.Targets, state.Target{Job: id})
		}
		list = append(list, end)
	}
	return append(list, starts(plan, root)...)
}

// starts makes one command of each start, and one of all components of a
// heterogeneous job: it starts as a whole or not at all.
func starts(plan *sched.Plan, root *state.Root) []state.Command {
	var list []state.Command
	together := map[job.ID]*state.StartHet{} // by leader
	for _, s := range plan.Starts {
		one := state.Start{Job: s.Job, Task: s.Task, Alloc: s.Alloc, Limit: s.Limit}
		j := root.Job(s.Job)
		if j == nil || j.Het.Leader == 0 {
			list = append(list, &one)
			continue
		}
		all := together[j.Het.Leader]
		if all == nil {
			all = &state.StartHet{}
			together[j.Het.Leader] = all
			list = append(list, all)
		}
		all.Components = append(all.Components, one)
	}
	return list
}

// Promises is what differs between the promises of a plan and those of the
// root it was made from; nil if nothing does.
func Promises(plan *sched.Plan, root *state.Root) *state.Promise {
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
