package store

import (
	"sync"
	"time"

	"muster/internal/clock"
	"muster/job"
)

// stateTime is the time that entries carry. On the leader it is the monotonic
// clock laid on the state time that was found at the election, pulled towards
// the wall clock by at most one part in ten: it never runs backwards and never
// jumps, whatever is done to the wall clock.
type stateTime struct {
	clock clock.Clock

	mu   sync.Mutex
	last time.Time     // reading of the clock that ns belongs to
	ns   time.Duration // state time, since the epoch; 0: never set
}

// pull is the largest share of the time that went by by which state time is
// moved towards the wall clock.
const pull = 10

func newStateTime(c clock.Clock) *stateTime { return &stateTime{clock: c} }

// found lays the clock on a state time that was found in the log. A later
// state time than ours moves it on; an earlier one changes nothing. With none
// (a cluster's first start) it begins at the wall clock.
func (s *stateTime) found(t job.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.advance(now)
	at := time.Duration(t) * time.Millisecond
	if t == 0 && s.ns == 0 {
		at = time.Duration(now.UnixNano())
	}
	if at > s.ns {
		s.ns, s.last = at, now
	}
}

// follow takes over the state time of the leader's last entry.
func (s *stateTime) follow(t job.Time) {
	if t == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ns, s.last = time.Duration(t)*time.Millisecond, s.clock.Now()
}

// now is the present state time, 0 before the first call of found.
func (s *stateTime) now() job.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(s.clock.Now())
	return job.Time(s.ns / time.Millisecond)
}

func (s *stateTime) advance(now time.Time) {
	if s.ns == 0 {
		return
	}
	passed := now.Sub(s.last)
	if passed <= 0 {
		return
	}
	s.last = now
	s.ns += passed
	behind := time.Duration(now.UnixNano()) - s.ns
	s.ns += min(max(behind, -passed/pull), passed/pull)
}
