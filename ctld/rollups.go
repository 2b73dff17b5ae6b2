package ctld

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/accounting"
	"muster/accounting/ledger"
	"muster/accounting/rollup"
	"muster/api"
	"muster/job"
	"muster/state"
)

// rollEvery is how long records are gathered before they are added to the sums. Until
// then answers read them one by one.
const rollEvery = 15 * time.Second

// zone is the time zone in which periods are meant.
func zone(root *state.Root) *time.Location {
	if z, err := time.LoadLocation(root.Cluster().TimeZone); err == nil {
		return z
	}
	return time.UTC
}

// roll adds finished records to the sums until ctx ends. A disk that fails stops the
// controller, as it does for the records.
func (l *ledgerWriter) roll(ctx context.Context) error {
	for l.pause(ctx, rollEvery) {
		for more := true; more; {
			var err error
			more, err = l.file.Roll(ctx, zone(l.c.store.Root()))
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return fmt.Errorf("sum up finished jobs: %w", err)
			}
		}
	}
	return nil
}

// Use implements service.Ledger. The sums come first, then a root: so a job that ends
// meanwhile is counted, and once.
func (l *ledgerWriter) Use(ctx context.Context, from, to job.Time) (*rollup.Use, error) {
	const tries = 4
	for range tries {
		u, through, err := l.file.Use(ctx, zone(l.c.store.Root()), from.Unix(), to.Unix())
		if errors.Is(err, ledger.ErrRolling) {
			e := api.Errorf(api.ErrUnavailable, "controller %s: %v", l.c.cfg.Name, err)
			e.Hint = "try again later, or ask another controller"
			return nil, e
		}
		if err != nil {
			return nil, err
		}
		root := l.c.store.Root()
		if n := l.missing(root); n > 0 {
			return nil, l.behind(n)
		}
		if first, _ := root.OutboxRange(); first > through+1 {
			continue // records have left the outbox since the sums were read
		}
		addPresent(u, root, through, max(l.c.Now(), root.Now()))
		return u, nil
	}
	return nil, api.Errorf(api.ErrUnavailable, "finished jobs are written faster than the sums over them are read; try again")
}

// addPresent adds what is not in the ledger: the outbox beyond a number, what runs or
// waits, and the present stretch of nodes and reservations.
func addPresent(u *rollup.Use, root *state.Root, through uint64, now job.Time) {
	at := now.Unix()
	for _, r := range root.Outbox(through + 1) {
		u.Add(&r, at)
	}
	for j := range root.Holding() {
		u.Add(&accounting.Record{Job: j}, at)
	}
	for j := range root.Waiting() {
		u.Add(&accounting.Record{Job: j}, at)
	}
	for n := range root.Nodes() {
		if e := state.NodeStretch(n, now); e != nil {
			u.Add(&accounting.Record{Event: e}, at)
		}
	}
	for v := range root.Reservations() {
		if e := root.ReservationStretch(v, now); e != nil {
			u.Add(&accounting.Record{Event: e}, at)
		}
	}
}
