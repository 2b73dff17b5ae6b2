package ctld

import (
	"context"
	"time"

	"muster/job"
	"muster/state"
)

const (
	// lookEvery is the grain of what is due by the clock: begin times,
	// deadlines, time limits that a node did not enforce, old records.
	lookEvery = time.Second
	// overdue is how long after the limit and KillWait a node that should have
	// ended a job is given before the controller asks for the end itself.
	overdue = 10 * time.Second
	// purgeMost bounds the records taken out by one command.
	purgeMost = 5000
)

// keepTime lets happen what is due by the clock, until ctx ends.
func (l *lead) keepTime(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var next due
	again := recurring{log: l.c.log}
	reserved := reserving{log: l.c.log}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		root, now := l.c.store.Root(), l.c.store.Now()
		c := root.Cluster()
		if c == nil {
			continue
		}
		var list []state.Command
		list = append(list, overdueEnds(root, now, c.Timers.OverTime, c.Timers.KillWait)...)
		list = append(list, purges(root, now.Add(-time.Duration(c.Timers.MinJobAge)*time.Second))...)
		list = append(list, next.look(root, now)...)
		list = append(list, again.due(root, now)...)
		list = append(list, reserved.due(root, now)...)
		if len(list) > 0 {
			l.propose(ctx, "what is due by the clock", list...)
		}
	}
}

// overdueEnds asks for the end of jobs whose node should have ended them.
func overdueEnds(root *state.Root, now job.Time, overTime, killWait uint32) []state.Command {
	grace := time.Duration(overTime)*time.Minute + time.Duration(killWait)*time.Second + overdue
	var list []state.Command
	for j := range root.EndingBefore(now.Add(-grace)) {
		if j.Cancel != nil || j.State != job.Running {
			continue
		}
		attempt := j.Attempt
		list = append(list, &state.End{Targets: []state.Target{{Job: j.ID}}, To: job.Timeout, Reason: job.ReasonTimeLimit, Attempt: &attempt})
	}
	return list
}

// purges takes records out of memory that ended before t. Their accounting
// records are in the outbox since their end.
func purges(root *state.Root, t job.Time) []state.Command {
	p := &state.Purge{}
	for j := range root.FinishedBefore(t) {
		p.Jobs = append(p.Jobs, j.ID)
		if len(p.Jobs) == purgeMost {
			break
		}
	}
	if len(p.Jobs) == 0 {
		return nil
	}
	return []state.Command{p}
}

// due remembers when the next waiting job has something due, so that the queue
// is not gone through for nothing.
type due struct {
	root *state.Root
	at   job.Time // 0: nothing
}

// look makes the commands for begin times and deadlines that have passed.
func (d *due) look(root *state.Root, now job.Time) []state.Command {
	if d.root == root && (d.at == 0 || now < d.at) {
		return nil
	}
	d.root, d.at = root, 0
	var list []state.Command
	tick := false
	for j := range root.Waiting() {
		t := &j.Request.Timing
		if t.Deadline != 0 && t.Deadline <= now {
			list = append(list, &state.End{Targets: []state.Target{{Job: j.ID}}, To: job.Deadline})
			continue
		}
		tick = tick || t.Begin != 0 && t.Begin <= now && t.Begin > root.Now()
		d.next(t.Deadline, now)
		d.next(t.Begin, now)
	}
	if tick {
		list = append(list, &state.Tick{})
	}
	return list
}

func (d *due) next(t, now job.Time) {
	if t > now && (d.at == 0 || t < d.at) {
		d.at = t
	}
}
