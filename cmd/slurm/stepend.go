package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/internal/hostlist"
)

// say prints a line of srun's own.
func (s *stepIO) say(format string, args ...any) {
	fmt.Fprintf(s.c.in.stderr, "srun: "+format+"\n", args...)
}

// id is the step as messages name it.
func (s *stepIO) id() string { return fmt.Sprintf("StepId=%d.%d", s.grant.Job, s.grant.Step) }

// abort ends all tasks at once.
func (s *stepIO) abort() {
	s.aborted()
	s.ending.Store(true)
	s.send(&api.StepInput{Signal: 9, Ends: api.EndsKilled})
}

// aborted says, once, that the step is being ended.
func (s *stepIO) aborted() {
	if !s.abortSaid.Swap(true) {
		s.exits.flush(s.c.in)
		s.say("Job step aborted: Waiting up to %d seconds for job step to finish.", s.grant.KillWait+2)
	}
}

// endAfterFailure ends the other tasks when one has failed (srun(1), -K): by
// SIGTERM, and after the cluster's KillWait by SIGKILL.
func (s *stepIO) endAfterFailure() {
	s.exits.flush(s.c.in)
	s.say("Terminating %s", s.id())
	s.ending.Store(true)
	s.send(&api.StepInput{Signal: 15, Ends: api.EndsFailure})
	s.later = append(s.later, time.AfterFunc(time.Duration(s.grant.KillWait)*time.Second, func() {
		s.send(&api.StepInput{Signal: 9})
	}))
}

// endAfterFirst ends what still runs some time after the first task has ended
// (srun(1), -W).
func (s *stepIO) endAfterFirst() {
	s.say("First task exited %ds ago", s.c.o.Run.Wait)
	s.sayTasks()
	s.say("Terminating %s", s.id())
	s.abort()
}

// sayTasks says which tasks run and which have ended.
func (s *stepIO) sayTasks() {
	s.mu.Lock()
	var running, exited []uint32
	for rank := range s.grant.Tasks {
		if s.over[rank] {
			exited = append(exited, s.start.Before+rank)
		} else {
			running = append(running, s.start.Before+rank)
		}
	}
	s.mu.Unlock()
	for _, l := range []struct {
		tasks []uint32
		state string
	}{{running, "running"}, {exited, "exited"}} {
		if len(l.tasks) > 0 {
			s.say("%s %s: %s", s.id(), taskList(l.tasks), l.state)
		}
	}
}

// taskList writes tasks as messages name them: task 3, tasks 0-1,5.
func taskList(tasks []uint32) string {
	word := "task "
	if len(tasks) > 1 {
		word = "tasks "
	}
	return word + strings.Trim(ranks(tasks), "[]")
}

// ranks writes numbers of tasks as a list of hosts is written: 3, [0-1,5].
func ranks(tasks []uint32) string {
	names := make([]string, len(tasks))
	for i, t := range slices.Sorted(slices.Values(tasks)) {
		names[i] = strconv.FormatUint(uint64(t), 10)
	}
	return hostlist.Compress(names)
}

// verbose tells whether -v was given.
func (s *stepIO) verbose() bool { return s.c.o.Act.Verbose > 0 }

// sayLaunch says with -v what is launched where.
func (s *stepIO) sayLaunch() {
	if !s.verbose() {
		return
	}
	g := s.grant
	names, cpus := make([]string, len(g.Nodes)), make([]uint32, len(g.Nodes))
	for i, n := range g.Nodes {
		names[i], cpus[i] = n.Name, n.CPUs
	}
	s.say("jobid %d: nodes(%d):`%s', cpu counts: %s", g.Job, len(g.Nodes), hostlist.Compress(names), cpuCounts(cpus))
	bound := "(null type)"
	if b := s.c.o.Run.CPUBind; b != nil && b.Type() != "" {
		bound = strings.TrimSuffix(b.Type(), ":")
	}
	s.say("CpuBindType=%s", bound)
	for _, n := range g.Nodes {
		s.say("launching %s on host %s, %d tasks: %s", s.id(), n.Name, len(n.Tasks), ranks(n.Tasks))
	}
}

// cpuCounts writes counts of CPUs with how often each comes: 4(x1),1(x2).
func cpuCounts(counts []uint32) string {
	var parts []string
	for i := 0; i < len(counts); {
		k := i
		for k < len(counts) && counts[k] == counts[i] {
			k++
		}
		parts = append(parts, fmt.Sprintf("%d(x%d)", counts[i], k-i))
		i = k
	}
	return strings.Join(parts, ",")
}

// startedOn says with -v when all tasks of a node run.
func (s *stepIO) startedOn(node uint32) {
	if !s.verbose() || int(node) >= len(s.running) {
		return
	}
	if s.running[node]++; s.running[node] == len(s.grant.Nodes[node].Tasks) {
		s.say("Node %s, %d tasks started", s.grant.Nodes[node].Name, s.running[node])
	}
}

// finish stops what waits and says the last word on a step that was ended by
// SIGTERM.
func (s *stepIO) finish() {
	for _, t := range s.later {
		t.Stop()
	}
	s.exits.flush(s.c.in)
	if s.code == 128+15 && !s.abortSaid.Load() {
		s.say("Force Terminated %s", s.id())
	}
}

// barrier gathers what the nodes of an MPI program have at a barrier, and gives
// all of it to all of them when each is there.
func (s *stepIO) barrier(b *api.PMIBarrier) {
	s.gathered.Pairs = append(s.gathered.Pairs, b.Pairs...)
	if s.arrived++; s.arrived == len(s.grant.Nodes) {
		s.send(&api.StepInput{Barrier: &s.gathered})
		s.arrived, s.gathered.Pairs = 0, nil
	}
}
