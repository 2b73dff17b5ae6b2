package ctld

import (
	"context"
	"maps"
	"sync"
	"time"

	"muster/state"
)

// keptForAbsent is how many records stay in the outbox for a controller that is
// not there. One that is away for longer gets them from another one's ledger
// (refill.go).
const keptForAbsent = 20_000

// trimEvery is the least time between two commands that take records out: the
// controllers' ledgers are written at different times, and an entry costs more than
// some records in memory.
const trimEvery = 2 * time.Second

// ledgers says how far each controller's ledger is.
type ledgers struct {
	news chan struct{} // has one element when something has changed

	mu   sync.Mutex
	last map[string]uint64 // of those that are connected
}

func newLedgers() *ledgers {
	return &ledgers{news: make(chan struct{}, 1), last: map[string]uint64{}}
}

func (l *ledgers) joined(name string) { l.report(name, 0) }

func (l *ledgers) report(name string, last uint64) {
	l.mu.Lock()
	l.last[name] = last
	l.mu.Unlock()
	wake(l.news)
}

func (l *ledgers) left(name string) {
	l.mu.Lock()
	delete(l.last, name)
	l.mu.Unlock()
	wake(l.news)
}

// safe is the last record that may leave the outbox: it is in the ledgers of all
// voters, or of all that are connected if they are a majority and too many
// records wait for the rest.
func (l *ledgers) safe(voters int, own, waiting uint64) uint64 {
	l.mu.Lock()
	known := maps.Clone(l.last)
	l.mu.Unlock()
	through := own
	for _, n := range known {
		through = min(through, n)
	}
	connected := len(known) + 1
	if connected < voters && (connected*2 <= voters || waiting < keptForAbsent) {
		return 0
	}
	return through
}

// trimOutbox takes records out of the outbox that the voters have on disk.
func (l *lead) trimOutbox(ctx context.Context) {
	news := l.c.ledger.watch()
	defer l.c.ledger.unwatch(news)
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
		case <-l.followers.news:
		}
		first, next := l.c.store.Root().OutboxRange()
		safe := l.followers.safe(len(l.c.members()), l.c.ledger.last(), next-first)
		if safe < first || next == first {
			continue
		}
		l.propose(ctx, "records that are safe on disk", &state.OutboxDone{Through: min(safe, next-1)})
		select {
		case <-ctx.Done():
			return
		case <-l.c.clock.After(trimEvery):
		}
	}
}
