package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/internal/bootclock"
	"muster/internal/clock"
	"muster/job"
)

func TestTheClockFileIsOfOneBoot(t *testing.T) {
	dir := t.TempDir()
	if got, _, err := readClock(dir, "boot"); got != 0 || err != nil {
		t.Errorf("without a file: %d, %v", got, err)
	}
	if err := writeClock(dir, "boot", 5*time.Second, 77); err != nil {
		t.Fatal(err)
	}
	if got, at, err := readClock(dir, "boot"); got != 77 || at != 5*time.Second || err != nil {
		t.Errorf("read %d at %s, %v", got, at, err)
	}
	if got, _, err := readClock(dir, "another"); got != 0 || err != nil {
		t.Errorf("after a boot: %d, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, clockFile), []byte("boot 5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readClock(dir, "boot"); err == nil {
		t.Error("half a file is no error")
	}
}

// A pause of all controllers is in state time when the machine went on, if nobody
// has led since.
func TestAPauseOfAllControllersCounts(t *testing.T) {
	const day = 24 * time.Hour
	wall := time.UnixMilli(1_800_000_000_000)
	was := job.TimeOf(wall).Add(-day)
	for _, c := range []struct {
		name  string
		carry bool
		found job.Time // in the log
		want  job.Time
	}{
		{"the machine went on", true, was.Add(-time.Second), job.TimeOf(wall)},
		{"the machine was booted", false, was.Add(-time.Second), was.Add(-time.Second)},
		{"another has led since", true, was.Add(time.Hour), was.Add(time.Hour)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStateTime(clock.NewFake(wall))
			if c.carry {
				s.carry(was, day)
			}
			s.found(c.found)
			if got := s.now(); got != c.want {
				t.Errorf("state time is %d, want %d", got, c.want)
			}
		})
	}
}

// After a boot of all controllers a day later, state time makes the day up in ten,
// and does not jump meanwhile.
func TestALongPauseIsMadeUpSlowly(t *testing.T) {
	f := clock.NewFake(time.UnixMilli(1_800_000_000_000))
	s := newStateTime(f)
	begin := job.TimeOf(f.Now()).Add(-24 * time.Hour)
	s.found(begin)
	for range 240 {
		before := s.now()
		f.Advance(time.Hour)
		if got := s.now().Sub(before); got > 66*time.Minute {
			t.Fatalf("an hour moved it by %s", got)
		}
	}
	if got := s.now(); got != job.TimeOf(f.Now()) {
		t.Errorf("after ten days it is still %s behind", job.TimeOf(f.Now()).Sub(got))
	}
}

func TestStateTimeGoesByTheMedianOfTheClocks(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name   string
		others map[string]time.Duration // against our clock
		ago    time.Duration            // when they were heard
		want   time.Duration            // the median against our clock
	}{
		{"alone", nil, 0, 0},
		{"ours is behind", map[string]time.Duration{"c2": hour, "c3": hour}, 0, hour},
		{"another is wrong", map[string]time.Duration{"c2": 99 * hour, "c3": -time.Second}, 0, 0},
		{"one of two", map[string]time.Duration{"c2": hour}, 0, hour / 2},
		{"heard a while ago", map[string]time.Duration{"c2": hour, "c3": hour}, 20 * time.Minute, hour},
		{"heard too long ago", map[string]time.Duration{"c2": hour, "c3": hour}, 2 * hour, 0},
		{"five", map[string]time.Duration{"c2": hour, "c3": 2 * hour, "c4": -hour, "c5": 3 * hour}, 0, hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := clock.NewFake(time.UnixMilli(1_800_000_000_000))
			s := newStateTime(f)
			for name, d := range c.others {
				s.hear(name, f.Now().Add(d), f.Now())
			}
			f.Advance(c.ago)
			if got := s.wallNow().Sub(job.TimeOf(f.Now())); got != c.want {
				t.Errorf("the median is %s from our clock, want %s", got, c.want)
			}
			s.found(job.TimeOf(f.Now()))
			before := s.now()
			f.Advance(10 * time.Second)
			want := 10*time.Second + min(max(c.want, -time.Second), time.Second)
			if got := s.now().Sub(before); got != want {
				t.Errorf("ten seconds moved it by %s, want %s", got, want)
			}
		})
	}
}

// Whatever clocks are heard, and whenever, state time never runs back, and moves by
// nine to eleven tenths of what goes by.
func TestStateTimeIsSteadyWhateverClocksSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := clock.NewFake(time.UnixMilli(1_800_000_000_000))
		s := newStateTime(f)
		s.found(job.TimeOf(f.Now()).Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "found"))))
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "hears") {
				name := rapid.SampledFrom([]string{"c2", "c3"}).Draw(t, "who")
				s.hear(name, f.Now().Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "clock"))), f.Now())
			}
			before := s.now()
			step := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "passes"))
			f.Advance(step)
			moved := s.now().Sub(before)
			if low, high := step*9/10-time.Millisecond, step*11/10+time.Millisecond; moved < low || moved > high {
				t.Fatalf("%s moved it by %s", step, moved)
			}
		}
	})
}

// A store that was stopped for an hour, on a machine that ran on, finds the hour in
// its state time.
func TestAStoreFindsThePauseInItsStateTime(t *testing.T) {
	r := newReplicas(t, 1, Timing{})
	r.startAll()
	r.configure()
	r.stop("c1")
	dir := filepath.Join(r.dir, "c1")
	boot, err := bootclock.ID()
	if err != nil {
		t.Fatal(err)
	}
	was, at, err := readClock(dir, boot)
	if err != nil || was == 0 {
		t.Fatalf("the stopped store left state time %d, %v", was, err)
	}
	if err := writeClock(dir, boot, at-time.Hour, was); err != nil {
		t.Fatal(err)
	}
	r.start("c1")
	if got := r.leader().Now().Sub(was); got < time.Hour || got > time.Hour+time.Minute {
		t.Errorf("state time went on by %s, want an hour", got)
	}
}
