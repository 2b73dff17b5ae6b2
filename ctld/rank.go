package ctld

import (
	"context"
	"time"

	"muster/ctld/service"
	"muster/job"
	"muster/sched"
	"muster/state"
)

// rankBatch is the most priorities in one command.
const rankBatch = 4096

// rank keeps the priorities of waiting jobs: all of them once in each period of
// calculation (PriorityCalcPeriod), after past use was brought up to date, and when the
// accounts or the configuration change; and at once those of jobs that came back to
// the queue, which have the lowest until then.
func (l *lead) rank(ctx context.Context) {
	var seen *state.Root
	var ranker *sched.Ranker
	for {
		root := l.gatherUse(ctx, l.c.store.Root())
		all := seen == nil || seen.UsageAt() != root.UsageAt() || seen.Book() != root.Book() || seen.Cluster() != root.Cluster()
		if all {
			ranker = service.Ranker(root)
		}
		if ranker != nil {
			l.rankJobs(ctx, ranker, root, seen, all)
		}
		seen = root
		select {
		case <-ctx.Done():
			return
		case <-l.c.store.Changed(root):
		case <-l.c.clock.After(max(l.usageDue(root), time.Second)):
		}
	}
}

// otherwise tells whether a changed job has to be ranked at once: it came back to
// the queue, or what it asks for is different.
func otherwise(old, j *job.Job) bool {
	return j.Priority == sched.MinPriority || old != nil && (old.Request != j.Request || old.QOS != j.QOS || old.Account != j.Account)
}

// rankJobs commits the priorities that are no longer right: of all waiting jobs,
// or of those that changed since a root.
func (l *lead) rankJobs(ctx context.Context, ranker *sched.Ranker, root, seen *state.Root, all bool) {
	var list []state.Priority
	now := l.c.store.Now()
	look := func(j *job.Job) {
		if j == nil || j.State != job.Pending || j.Held.Is() || j.FixedPriority || !all && !otherwise(seen.Job(j.ID), j) {
			return
		}
		if p := ranker.Rank(j, now).Priority; p != j.Priority {
			list = append(list, state.Priority{Job: j.ID, Priority: p})
		}
	}
	if all {
		for j := range root.Waiting() {
			look(j)
		}
	} else {
		for id := range root.DiffJobs(seen) {
			look(root.Job(id))
		}
	}
	for len(list) > 0 {
		n := min(len(list), rankBatch)
		if !l.propose(ctx, "priorities", &state.Reprioritize{List: list[:n]}) {
			return
		}
		list = list[n:]
	}
}
