package store

import "time"

// An entry costs each controller about a millisecond of CPU time, and hardly
// more when it carries a hundred commands. So entries that follow each other are
// kept apart, but for those that a single client waits for: it sends no other
// meanwhile, so nothing could go along.
const (
	paceStep = 10 * time.Millisecond // mean time between two entries while many come
	// paceBurst is how many entries may follow each other at once after a rest,
	// and crowdBurst the same while several clients are about.
	paceBurst  = 8
	crowdBurst = 2
	// crowdTime is how long it counts that the commands of several clients came
	// at a time.
	crowdTime = 250 * time.Millisecond
)

// pace keeps entries apart. It is a bucket with room for a burst, which fills by
// one entry in each step. The zero value is full.
type pace struct {
	full  time.Time // when the bucket is full again
	crowd time.Time // until then several clients are about
}

// burst is how many entries may follow each other at once.
func (p *pace) burst(now time.Time) time.Duration {
	if now.Before(p.crowd) {
		return crowdBurst
	}
	return paceBurst
}

// wait is how long the next entry has to wait, if it has a user's command or not.
func (p *pace) wait(now time.Time, user bool) time.Duration {
	if user && !now.Before(p.crowd) {
		return 0
	}
	return max(max(p.full.Sub(now), 0)-(p.burst(now)-1)*paceStep, 0)
}

// sent counts an entry with so many users' commands. However many were sent, the
// next one waits for a step at most.
func (p *pace) sent(now time.Time, users int) {
	if users > 1 {
		p.crowd = now.Add(crowdTime)
	}
	if p.full.Before(now) {
		p.full = now
	}
	p.full = p.full.Add(paceStep)
	if most := now.Add(p.burst(now) * paceStep); p.full.After(most) {
		p.full = most
	}
}
