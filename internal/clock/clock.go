// Package clock is time as an argument: the system's, or one that a test moves.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time and wakes up later.
type Clock interface {
	// Now is the time, with a monotonic reading where the clock has one.
	Now() time.Time
	// After delivers the time once, d from now.
	After(d time.Duration) <-chan time.Time
}

// System is the machine's clock.
type System struct{}

// Now implements Clock.
func (System) Now() time.Time { return time.Now() }

// After implements Clock.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Fake is a clock that stands still until it is moved.
type Fake struct {
	mu    sync.Mutex
	now   time.Time
	waits []wait
}

type wait struct {
	at time.Time
	ch chan time.Time
}

// NewFake makes a clock that shows t.
func NewFake(t time.Time) *Fake { return &Fake{now: t} }

// Now implements Clock.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// After implements Clock.
func (f *Fake) After(d time.Duration) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d <= 0 {
		ch <- f.now
		return ch
	}
	f.waits = append(f.waits, wait{f.now.Add(d), ch})
	return ch
}

// Advance moves the clock and wakes all whose time has come.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	rest := f.waits[:0]
	for _, w := range f.waits {
		if w.at.After(f.now) {
			rest = append(rest, w)
			continue
		}
		w.ch <- f.now
	}
	f.waits = rest
}
