package store

import (
	"testing"
	"time"

	"muster/internal/clock"
	"muster/job"
)

func TestStateTimeBeginsAtTheWallClock(t *testing.T) {
	wall := time.UnixMilli(1_800_000_000_000)
	s := newStateTime(clock.NewFake(wall))
	if got := s.now(); got != 0 {
		t.Errorf("before an election it is %d, want 0", got)
	}
	s.found(0)
	if got := s.now(); got != job.TimeOf(wall) {
		t.Errorf("a new cluster begins at %d, want %d", got, job.TimeOf(wall))
	}
}

func TestStateTimeNeverJumpsNorRunsBack(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name  string
		found time.Duration // against the wall clock
		want  time.Duration // what ten seconds of the clock make of it
	}{
		{"level", 0, 10 * time.Second},
		{"behind", -hour, 11 * time.Second},
		{"ahead", hour, 9 * time.Second},
		{"a little behind", -300 * time.Millisecond, 10*time.Second + 300*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := clock.NewFake(time.UnixMilli(1_800_000_000_000))
			s := newStateTime(f)
			begin := job.TimeOf(f.Now()).Add(c.found)
			s.found(begin)
			last := s.now()
			for range 100 {
				f.Advance(100 * time.Millisecond)
				now := s.now()
				if now < last || now.Sub(last) > 111*time.Millisecond {
					t.Fatalf("100 ms of the clock moved it from %d to %d", last, now)
				}
				last = now
			}
			if got := last.Sub(begin); (got - c.want).Abs() > 10*time.Millisecond {
				t.Errorf("10 s of the clock moved it by %s, want %s", got, c.want)
			}
		})
	}
}

func TestStateTimeOfALaterLeader(t *testing.T) {
	f := clock.NewFake(time.UnixMilli(1_800_000_000_000))
	s := newStateTime(f)
	s.follow(1000)
	f.Advance(time.Second)
	s.found(1500) // the log's last entry is older than what has passed since
	if got := s.now(); got < 2000 {
		t.Errorf("elected at state time %d, want at least 2000", got)
	}
	s.found(500)
	if got := s.now(); got < 2000 {
		t.Errorf("an earlier time moved it back to %d", got)
	}
}
