package ctld

import (
	"time"

	"muster/sched"
	"muster/sched/feed"
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
	change := feed.Promises(plan, root)
	if change == nil {
		return nil, 0
	}
	if rest := promisesEvery - now.Sub(p.last); rest > 0 {
		return nil, rest
	}
	p.last = now
	return []state.Command{change}, 0
}
