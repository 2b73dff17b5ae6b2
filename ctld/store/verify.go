package store

import (
	"context"
	"sync"
)

// verifier lets all readers that wait share one check of the leadership. A
// reader that comes while a check runs waits for the next one.
type verifier struct {
	mu      sync.Mutex
	running bool
	next    *round
}

type round struct {
	done chan struct{}
	err  error
}

func (v *verifier) wait(ctx context.Context, check func() error) error {
	v.mu.Lock()
	if v.next == nil {
		v.next = &round{done: make(chan struct{})}
	}
	r := v.next
	if !v.running {
		v.running = true
		go v.run(check) // ends when nobody waits
	}
	v.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *verifier) run(check func() error) {
	for {
		v.mu.Lock()
		r := v.next
		v.next = nil
		if r == nil {
			v.running = false
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		r.err = check()
		close(r.done)
	}
}
