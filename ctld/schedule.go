package ctld

import (
	"context"
	"time"

	"muster/job"
	"muster/sched"
	"muster/sched/feed"
	"muster/state"
)

const (
	// restShare: the scheduler rests at least as long as a cycle took, so that
	// it uses half of a processor at most while the queue is busy.
	restShare = 1
	// cycleEvery is how often a cycle runs while jobs wait and nothing changes:
	// reservations begin and promises come due by the clock alone.
	cycleEvery = 5 * time.Second
)

// planner is the planner with its view of the cluster.
type planner interface {
	plan(root *state.Root, now job.Time) *sched.Plan
}

// schedule plans whenever the state has changed, until ctx ends.
func (l *lead) schedule(ctx context.Context) {
	p := l.c.recorded(newPlanner())
	promises := &promiser{}
	for {
		root := l.c.store.Root()
		start := l.c.clock.Now()
		changed, again := l.cycle(ctx, p, promises, root)
		rest := l.c.clock.Now().Sub(start) * restShare
		if changed {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-l.c.store.Changed(root):
		case <-l.c.clock.After(again):
		}
		select {
		case <-ctx.Done():
			return
		case <-l.c.clock.After(min(rest, time.Second)):
		}
	}
}

// cycle plans once and commits the starts and the promises. It tells whether there
// is more to do at once (the plan was cut), and else after how long a cycle is due
// though nothing changes.
func (l *lead) cycle(ctx context.Context, p planner, promises *promiser, root *state.Root) (more bool, again time.Duration) {
	start := l.c.clock.Now()
	plan := p.plan(root, l.c.store.Now())
	took := l.c.clock.Now().Sub(start)
	list := feed.Commands(plan, root)
	promised, wait := promises.commands(plan, root, start)
	list = append(list, promised...)
	l.publish(plan)
	l.tellDelays(plan, promised)
	l.c.stats.cycle(took, len(plan.Verdicts)+len(plan.Starts), len(plan.Starts))
	if len(list) > 0 && !l.propose(ctx, "starts", list...) {
		return false, cycleEvery
	}
	if wait > 0 {
		return plan.Cut, min(wait, cycleEvery)
	}
	return plan.Cut, cycleEvery
}

// tellDelays logs the promises that are broken, when that is committed.
func (l *lead) tellDelays(plan *sched.Plan, promised []state.Command) {
	if len(promised) == 0 {
		return
	}
	for _, d := range plan.Delays {
		l.c.log.Info("a promised start moves later", "job", d.Job, "from", d.From, "to", d.To, "cause", d.Cause)
	}
}

// publish shows the verdicts to readers. A plan that was cut says nothing of the
// jobs that it did not come to: their last verdict stays.
func (l *lead) publish(plan *sched.Plan) {
	old, _ := l.c.words.all()
	if len(plan.Verdicts) == 0 && len(old) == 0 {
		return
	}
	table := make(map[job.ID]sched.Verdict, len(plan.Verdicts))
	if plan.Cut {
		root := l.c.store.Root()
		for id, v := range old {
			if j := root.Job(id); j != nil && j.State == job.Pending {
				table[id] = v
			}
		}
	}
	for _, v := range plan.Verdicts {
		table[v.Job] = v
	}
	l.c.words.set(table)
}
