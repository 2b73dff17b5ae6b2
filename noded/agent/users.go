package agent

import (
	"context"
	"sync"
	"time"

	"muster/api"
)

// What one user may take of an agent.
const (
	userConnections = 512     // open at once
	userCalls       = 64      // under way at once
	userLarge       = 4       // of them with a large request
	largeFrame      = 1 << 20 // bytes
)

// usersKept is how many users without a connection are remembered.
const usersKept = 4096

// ownLasts is for how long a user's reads go to the leader after a change: it has
// the change at once, the others a moment later.
const ownLasts = 2 * time.Second

// user is one uid's share of the agent, and the index of its last change.
type user struct {
	calls, large chan struct{}

	mu      sync.Mutex
	open    int // guarded by users.mu
	index   uint64
	changed time.Time
}

// users has one user for each uid that is connected or was.
type users struct {
	mu  sync.Mutex
	all map[uint32]*user
}

func newUsers() *users { return &users{all: map[uint32]*user{}} }

// enter counts a connection; nil if the user has too many.
func (u *users) enter(uid uint32) *user {
	u.mu.Lock()
	defer u.mu.Unlock()
	who := u.all[uid]
	if who == nil {
		u.makeRoom()
		who = &user{calls: make(chan struct{}, userCalls), large: make(chan struct{}, userLarge)}
		u.all[uid] = who
	}
	if who.open >= userConnections {
		return nil
	}
	who.open++
	return who
}

func (u *users) leave(who *user) {
	u.mu.Lock()
	defer u.mu.Unlock()
	who.open--
}

// makeRoom forgets those who are not connected when there are too many.
func (u *users) makeRoom() {
	if len(u.all) < usersKept {
		return
	}
	for uid, who := range u.all {
		if who.open == 0 {
			delete(u.all, uid)
		}
	}
}

// take waits for one of the user's slots.
func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(5 * time.Second)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-timer.C:
		return api.Errorf(api.ErrBusy, "%d calls of this user are under way on this host", cap(slots))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note remembers the index that a change got.
func (w *user) note(index uint64, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index, w.changed = max(w.index, index), now
}

// own is the highest index that the user's own changes got, and whether the last
// of them was a moment ago.
func (w *user) own(now time.Time) (index uint64, recent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index, !w.changed.IsZero() && now.Sub(w.changed) < ownLasts
}
