package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"muster/internal/bootclock"
	"muster/job"
)

// clockFile keeps the state time across processes of one boot: it says which state
// time there was at which reading of the machine's boot clock. Without it a pause
// of all controllers would be missing in state time, and be made up for only at
// the rate of pull. It is written without a sync: what a crash of the machine
// takes away is worth nothing after it.
const clockFile = "clock"

// carryEvery is how often the file is written.
const carryEvery = 5 * time.Second

// writeClock replaces the file.
func writeClock(dir, boot string, clock time.Duration, t job.Time) error {
	path := filepath.Join(dir, clockFile)
	text := fmt.Sprintf("%s %d %d\n", boot, clock, t)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readClock reads the state time that there was at a reading of the boot clock; 0 if
// it is of another boot.
func readClock(dir, boot string) (t job.Time, clock time.Duration, err error) {
	b, err := os.ReadFile(filepath.Join(dir, clockFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	var of string
	if _, err := fmt.Sscanf(string(b), "%s %d %d", &of, &clock, &t); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", clockFile, err)
	}
	if of != boot {
		return 0, 0, nil
	}
	return t, clock, nil
}

// carryTime takes over the state time of the process before this one.
func (s *Store) carryTime() {
	boot, err := bootclock.ID()
	var t job.Time
	var then, now time.Duration
	if err == nil {
		t, then, err = readClock(s.cfg.Dir, boot)
	}
	if err == nil {
		now, err = bootclock.Now()
	}
	if err != nil {
		s.cfg.Log.Warn("the state time of the last run is not known; a pause of all controllers is made up for slowly", "err", err)
		return
	}
	if t != 0 && now >= then {
		s.time.carry(t, now-then)
	}
}

// keepTime writes the file until ctx ends.
func (s *Store) keepTime(ctx context.Context) {
	boot, err := bootclock.ID()
	if err != nil {
		return // said by carryTime
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.cfg.Clock.After(carryEvery):
		}
		now, err := bootclock.Now()
		if t := s.time.now(); err == nil && t != 0 {
			err = writeClock(s.cfg.Dir, boot, now, t)
		}
		if err != nil {
			s.cfg.Log.Warn("the state time could not be kept for the next run", "err", err)
		}
	}
}

// HearClock takes what another controller's wall clock showed at a moment of ours.
func (s *Store) HearClock(name string, wall, at time.Time) { s.time.hear(name, wall, at) }

// WallNow is the median of the wall clocks of the controllers that were heard of.
// State time is pulled towards it; after a pause of all controllers it is behind.
func (s *Store) WallNow() job.Time { return s.time.wallNow() }
