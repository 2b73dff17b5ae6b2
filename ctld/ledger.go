package ctld

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"muster/accounting/ledger"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// ledgerWriter puts finished jobs from the state's outbox into the ledger of
// this replica, and reads both as one.
type ledgerWriter struct {
	c    *Controller
	file *ledger.Ledger

	mu      sync.Mutex
	waiting map[chan struct{}]bool
}

var _ service.Ledger = (*ledgerWriter)(nil)

const (
	// gatherTime is how long records are gathered for one transaction. Until then they
	// are safe in the state, and read from there.
	gatherTime = time.Second
	// writeMost bounds one transaction.
	writeMost = 20_000
)

func openLedger(dir string, c *Controller) (*ledgerWriter, error) {
	file, err := ledger.Open(dir)
	if err != nil {
		return nil, err
	}
	return &ledgerWriter{c: c, file: file, waiting: map[chan struct{}]bool{}}, nil
}

func (l *ledgerWriter) close() error { return l.file.Close() }

// last is the number of the last record on disk.
func (l *ledgerWriter) last() uint64 { return l.file.Last() }

// watch returns a channel that has an element when last has grown, and has one
// at once.
func (l *ledgerWriter) watch() chan struct{} {
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[ch] = true
	return ch
}

func (l *ledgerWriter) unwatch(ch chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, ch)
}

func (l *ledgerWriter) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ch := range l.waiting {
		wake(ch)
	}
}

// run writes until ctx ends. A disk that fails stops the controller: it must
// not take part in a majority that says that records are safe.
func (l *ledgerWriter) run(ctx context.Context) error {
	store := l.c.store
	for {
		root := store.Root()
		_, next := root.OutboxRange()
		if next <= l.last()+1 {
			select {
			case <-ctx.Done():
				return nil
			case <-store.Changed(root):
			}
			continue
		}
		if l.missing(root) > 0 {
			if err := l.refill(ctx, root); err != nil {
				return err
			}
		} else if err := l.write(root); err != nil {
			return err
		}
		l.tell()
		if !l.pause(ctx, gatherTime) {
			return nil
		}
	}
}

func (l *ledgerWriter) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-l.c.clock.After(d):
		return true
	}
}

// write puts what the outbox has and the ledger lacks into one transaction.
func (l *ledgerWriter) write(root *state.Root) error {
	last := l.last()
	var list []ledger.Numbered
	for n, r := range root.Outbox(last + 1) {
		list = append(list, ledger.Numbered{Number: n, Record: r})
		if len(list) == writeMost {
			break
		}
	}
	if len(list) == 0 {
		return nil
	}
	through := list[len(list)-1].Number
	if err := l.file.Append(through, list); err != nil {
		return fmt.Errorf("write finished jobs %d to %d: %w", list[0].Number, through, err)
	}
	for i := range list {
		if j := list[i].Job; j != nil {
			l.c.stats.ended(j.State)
		}
	}
	return nil
}

// record names one finished attempt.
type record struct {
	sluid   uint64
	attempt uint32
}

// Jobs implements service.Ledger: the ledger, then what is only in the outbox. A
// ledger that lacks records says so, rather than leave jobs out of an answer.
func (l *ledgerWriter) Jobs(ctx context.Context, from, to job.Time, ids []job.ID, users []string, f func(*job.Job) bool) error {
	root := l.c.store.Root()
	last := l.last()
	if n := l.missing(root); n > 0 {
		return l.behind(n)
	}
	var late []*job.Job
	isLate := map[record]bool{}
	wanted := map[job.ID]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for _, j := range root.OutboxJobs(last + 1) {
		if len(ids) > 0 && !wanted[j.ID] && !wanted[j.Array.JobID] {
			continue
		}
		if len(ids) == 0 && (j.Times.End < from || to != 0 && j.Times.End >= to) {
			continue
		}
		late = append(late, j)
		isLate[record{j.SLUID, j.Attempt}] = true
	}
	more := true
	err := l.file.Jobs(ctx, from, to, ids, users, func(j *job.Job) bool {
		if isLate[record{j.SLUID, j.Attempt}] {
			return true // written meanwhile; it comes with the late ones
		}
		more = f(j)
		return more
	})
	for _, j := range late {
		if err != nil || !more || ctx.Err() != nil {
			break
		}
		more = f(j)
	}
	return errors.Join(err, ctx.Err())
}
