// Package coalesce lets all callers that wait for the answer to one question share
// one asking of it.
package coalesce

import (
	"context"
	"sync"
)

// Group shares one question. The zero value is ready.
type Group[T any] struct {
	mu      sync.Mutex
	running bool
	next    *round[T]
}

type round[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Wait returns the answer of an asking that began after the call: a caller that
// comes while one runs waits for the next. ask must end by itself; every caller
// gives the same one. The error is that of ask or of ctx.
func (g *Group[T]) Wait(ctx context.Context, ask func() (T, error)) (T, error) {
	g.mu.Lock()
	if g.next == nil {
		g.next = &round[T]{done: make(chan struct{})}
	}
	r := g.next
	if !g.running {
		g.running = true
		go g.run(ask) // ends when nobody waits
	}
	g.mu.Unlock()
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (g *Group[T]) run(ask func() (T, error)) {
	for {
		g.mu.Lock()
		r := g.next
		g.next = nil
		if r == nil {
			g.running = false
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		r.value, r.err = ask()
		close(r.done)
	}
}
