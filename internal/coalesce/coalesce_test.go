package coalesce

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// A caller never gets an answer that was asked for before it came, and all that
// came meanwhile share the next one.
func TestWaitSharesTheNextAnswer(t *testing.T) {
	var g Group[int]
	asked, answer := make(chan struct{}), make(chan int)
	ask := func() (int, error) { asked <- struct{}{}; return <-answer, nil }
	first := make(chan int)
	go func() { n, _ := g.Wait(t.Context(), ask); first <- n }()
	<-asked
	const late = 5
	got := make(chan int, late)
	for range late {
		r := g.join()
		go func() { <-r.done; got <- r.value }()
	}
	answer <- 1
	if n := <-first; n != 1 {
		t.Errorf("the first caller got answer %d", n)
	}
	<-asked
	answer <- 2
	for range late {
		if n := <-got; n != 2 {
			t.Errorf("a caller that came during the first asking got answer %d", n)
		}
	}
}

// join is what Wait does before it waits, while another asking runs.
func (g *Group[T]) join() *round[T] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = &round[T]{done: make(chan struct{})}
	}
	return g.next
}

func TestWaitEnds(t *testing.T) {
	var g Group[int]
	failure := errors.New("no answer")
	if _, err := g.Wait(t.Context(), func() (int, error) { return 0, failure }); !errors.Is(err, failure) {
		t.Errorf("got %v, want the error of the question", err)
	}
	var asking sync.WaitGroup
	asking.Add(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Wait(ctx, func() (int, error) { asking.Wait(); return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	asking.Done()
}
