// Package nss asks the host's name service who a user is, from a program without
// the C library: through getent, remembered, and bounded in time.
package nss

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// User is what the name service says of one user.
type User struct {
	UID, GID    uint32
	Name, Group string // Group is the number if the group has no name
	Home, Shell string
	// Groups are the names of all groups of the user, sorted; nil if the name service
	// does not say.
	Groups []string
}

// ErrUnknown is wrapped by the error for a user whom the name service does not know.
var ErrUnknown = errors.New("no such user")

// ErrSlow is wrapped by the error when the name service takes too long. The question
// stays open: a later call may find the answer.
var ErrSlow = errors.New("the name service does not answer")

// How long answers are good for, and how long questions may take.
const (
	freshFor    = 5 * time.Minute
	unknownFor  = 30 * time.Second
	failedFor   = 5 * time.Second
	staleFor    = 24 * time.Hour // served while the name service is away
	answerTime  = 3 * time.Second
	questionMax = 60 * time.Second
	asking      = 16    // questions under way at once
	remembered  = 20000 // users
)

// Resolver answers questions about users. It is safe for use by many goroutines,
// and one user's slow answer holds up no other user.
type Resolver struct {
	source func(ctx context.Context, uid uint32) (User, error)
	wait   time.Duration
	now    func() time.Time
	slots  chan struct{}
	ctx    context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	entries map[uint32]*entry
}

// entry is what is known of one uid. A question is open while asked is not nil.
type entry struct {
	user  User
	err   error
	at    time.Time // of the last answer; zero if there was none
	begun time.Time // of the open question
	asked chan struct{}
}

// New makes a resolver that asks getent, or reads /etc/passwd and /etc/group on a
// host that has none.
func New() *Resolver { return newResolver(ask, answerTime, time.Now) }

func newResolver(source func(context.Context, uint32) (User, error), wait time.Duration, now func() time.Time) *Resolver {
	ctx, stop := context.WithCancel(context.Background())
	return &Resolver{
		source: source, wait: wait, now: now, ctx: ctx, stop: stop,
		slots: make(chan struct{}, asking), entries: map[uint32]*entry{},
	}
}

// Close ends the questions under way and waits for them.
func (r *Resolver) Close() {
	r.stop()
	r.done.Wait()
}

// User says who uid is. It waits a few seconds at most, counted from when the
// question was first asked, and serves an old answer while it asks anew. The error
// wraps ErrUnknown, ErrSlow, or says what failed.
func (r *Resolver) User(ctx context.Context, uid uint32) (User, error) {
	asked, begun, user, err := r.look(uid)
	if asked == nil {
		return user, err
	}
	timer := time.NewTimer(r.wait - r.now().Sub(begun))
	defer timer.Stop()
	select {
	case <-asked:
		r.mu.Lock()
		defer r.mu.Unlock()
		if e := r.entries[uid]; e != nil && !e.at.IsZero() {
			return e.user, e.err
		}
		return User{}, fmt.Errorf("uid %d: %w", uid, ErrSlow)
	case <-timer.C:
		return User{}, fmt.Errorf("uid %d: %w (asked %s ago)", uid, ErrSlow, r.now().Sub(begun).Round(time.Second))
	case <-ctx.Done():
		return User{}, ctx.Err()
	}
}

// look returns what is known of uid, or the channel that closes when it is.
func (r *Resolver) look(uid uint32) (asked chan struct{}, begun time.Time, user User, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	e := r.entries[uid]
	if e == nil {
		r.makeRoom()
		e = &entry{}
		r.entries[uid] = e
	}
	known := !e.at.IsZero()
	age := now.Sub(e.at)
	if known && age < lifetime(e.err) {
		return nil, begun, e.user, e.err
	}
	if e.asked == nil {
		e.asked, e.begun = make(chan struct{}), now
		r.done.Go(func() { r.question(uid, e) })
	}
	if known && e.err == nil && age < staleFor {
		return nil, begun, e.user, nil
	}
	return e.asked, e.begun, User{}, nil
}

func lifetime(err error) time.Duration {
	switch {
	case err == nil:
		return freshFor
	case errors.Is(err, ErrUnknown):
		return unknownFor
	}
	return failedFor
}

// question asks the source and files the answer.
func (r *Resolver) question(uid uint32, e *entry) {
	var user User
	err := r.ctx.Err()
	select {
	case r.slots <- struct{}{}:
		ctx, cancel := context.WithTimeout(r.ctx, questionMax)
		user, err = r.source(ctx, uid)
		cancel()
		<-r.slots
	case <-r.ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, ErrUnknown):
		e.user, e.err, e.at = user, err, r.now()
	case e.at.IsZero() || e.err != nil: // a failure does not replace an answer
		e.err, e.at = err, r.now()
	}
	close(e.asked)
	e.asked = nil
}

// makeRoom forgets a user when too many are remembered.
func (r *Resolver) makeRoom() {
	if len(r.entries) < remembered {
		return
	}
	for uid, e := range r.entries {
		if e.asked == nil {
			delete(r.entries, uid)
			return
		}
	}
}
