package store

import "time"

// An entry costs each controller about a millisecond of CPU time, and hardly
// more when it carries a hundred commands. So entries that follow each other are
// kept apart: those that somebody waits for a little, those of the controllers
// and nodes themselves more. One that comes alone goes at once.
const (
	userStep  = 5 * time.Millisecond  // mean time between two entries while many come
	ownStep   = 10 * time.Millisecond // the same if none has a user's command
	paceBurst = 8                     // entries that may follow each other at once after a rest
)

// bucket has room for paceBurst entries and fills by one in each step. The zero
// value is full.
type bucket struct {
	full time.Time // when it is full again
}

// wait is how long an entry has to wait.
func (b *bucket) wait(now time.Time, step time.Duration) time.Duration {
	return max(max(b.full.Sub(now), 0)-(paceBurst-1)*step, 0)
}

// take takes an entry out.
func (b *bucket) take(now time.Time, step time.Duration) {
	if b.full.Before(now) {
		b.full = now
	}
	b.full = b.full.Add(step)
}

// pace keeps entries apart.
type pace struct{ user, own bucket }

// wait is how long the next entry has to wait, if it has a user's command or not.
func (p *pace) wait(now time.Time, user bool) time.Duration {
	if user {
		return p.user.wait(now, userStep)
	}
	return p.own.wait(now, ownStep)
}

// sent counts an entry with so many users' commands. Somebody who sends one after
// the other waits for each and is not slowed down; many who send at the same time
// share entries. Neither delays the controllers' own for longer than a burst does.
func (p *pace) sent(now time.Time, users int) {
	if users > 1 {
		p.user.take(now, userStep)
	}
	p.own.take(now, ownStep)
	if most := now.Add(paceBurst * ownStep); p.own.full.After(most) {
		p.own.full = most
	}
}
