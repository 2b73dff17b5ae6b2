package store

import (
	"slices"
	"sync"
	"time"

	"muster/internal/clock"
	"muster/job"
)

// stateTime is the time that entries carry. On the leader it is the monotonic
// clock laid on the state time that was found at the election, pulled towards
// the median of the controllers' wall clocks by at most one part in ten: it never
// runs backwards and never jumps, whatever is done to the wall clocks.
type stateTime struct {
	clock clock.Clock

	mu     sync.Mutex
	last   time.Time     // reading of the clock that ns belongs to
	ns     time.Duration // state time, since the epoch; 0: never set
	others map[string]reading
	before carried
}

// reading is what another controller's wall clock showed when ours showed at. What
// it shows later is reckoned on our monotonic clock, so that a jump of our own
// wall clock does not move it.
type reading struct {
	wall time.Duration // since the epoch
	at   time.Time
}

// carried is a state time that an earlier process of this controller had at a
// moment of the same boot of its machine.
type carried struct {
	state time.Duration // 0: none
	at    time.Time
}

const (
	// pull is the largest share of the time that went by by which state time is
	// moved towards the wall clocks.
	pull = 10
	// clockAge is how long the clock of a controller that no longer answers counts.
	clockAge = time.Hour
)

func newStateTime(c clock.Clock) *stateTime {
	return &stateTime{clock: c, others: map[string]reading{}}
}

// hear takes what another controller's wall clock showed when ours showed at.
func (s *stateTime) hear(name string, wall, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others[name] = reading{time.Duration(wall.UnixNano()), at}
}

// carry takes over the state time t that an earlier process had some time ago.
func (s *stateTime) carry(t job.Time, ago time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = carried{time.Duration(t) * time.Millisecond, s.clock.Now().Add(-ago)}
}

// found lays the clock on a state time that was found in the log. A later
// state time than ours moves it on; an earlier one changes nothing. With none
// (a cluster's first start) it begins at the wall clocks. If nobody has led since
// an earlier process of this controller ended, the time that went by since counts.
func (s *stateTime) found(t job.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.advance(now)
	at := time.Duration(t) * time.Millisecond
	if t == 0 && s.ns == 0 {
		at = s.wall(now)
	}
	if b := s.before; b.state != 0 && t != 0 && at <= b.state {
		at = b.state + max(0, now.Sub(b.at))
	}
	s.before = carried{}
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

// wallNow is the median of the controllers' wall clocks.
func (s *stateTime) wallNow() job.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return job.Time(s.wall(s.clock.Now()) / time.Millisecond)
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
	behind := s.wall(now) - s.ns
	s.ns += min(max(behind, -passed/pull), passed/pull)
}

// wall is the median of the wall clocks that are known; between two in the middle
// it is half way.
func (s *stateTime) wall(now time.Time) time.Duration {
	clocks := []time.Duration{time.Duration(now.UnixNano())}
	for _, r := range s.others {
		if passed := now.Sub(r.at); passed >= 0 && passed < clockAge {
			clocks = append(clocks, r.wall+passed)
		}
	}
	slices.Sort(clocks)
	n := len(clocks)
	low, high := clocks[(n-1)/2], clocks[n/2]
	return low + (high-low)/2
}
