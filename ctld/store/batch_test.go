package store

import (
	"errors"
	"testing"

	"muster/api"
	"muster/state"
)

// of makes an item of a user's command; user 0 is the controller itself.
func of(uid uint32, body int, seen *[]Outcome) item {
	e := state.Envelope{Body: make([]byte, body), By: state.Actor{UID: uid}}
	if uid != 0 {
		e.Request[0] = 1
	}
	return item{env: e, done: func(o Outcome) { *seen = append(*seen, o) }}
}

func queueOnly() *batcher { return newBatcher(&Store{cfg: Config{Name: "c1"}}) }

func kindOf(err error) api.ErrorKind {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

func TestOnlyALeaderTakesCommands(t *testing.T) {
	b := queueOnly()
	var seen []Outcome
	if got := kindOf(b.add([]item{of(1, 10, &seen)})); got != api.ErrUnavailable {
		t.Fatalf("a follower: error kind %d, want ErrUnavailable", got)
	}
	b.open()
	if err := b.add([]item{of(1, 10, &seen), of(1, 10, &seen)}); err != nil {
		t.Fatal(err)
	}
	b.shut()
	if len(seen) != 2 || kindOf(seen[0].Err) != api.ErrUnavailable {
		t.Errorf("after the lead was lost: %v, want two refusals", seen)
	}
	if items := b.gather(); len(items) != 0 {
		t.Errorf("%d commands are left after they were refused", len(items))
	}
}

func TestUsersTakeTurns(t *testing.T) {
	b := queueOnly()
	b.open()
	var seen []Outcome
	for range 1000 {
		if err := b.add([]item{of(1, 1000, &seen)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.add([]item{of(2, 1000, &seen)}); err != nil {
		t.Fatal(err)
	}
	if err := b.add([]item{of(0, 1000, &seen)}); err != nil {
		t.Fatal(err)
	}
	items := b.gather()
	for i, uid := range []uint32{1, 2, 0, 1, 1} {
		if got := items[i].env.By.UID; got != uid {
			t.Errorf("command %d of the entry is of user %d, want %d", i, got, uid)
		}
	}
	size := 0
	for _, it := range items {
		size += it.size
	}
	if size < entryBytes || size > entryBytes+2000 {
		t.Errorf("the entry has %d bytes, want just over %d", size, entryBytes)
	}
	for len(items) > 0 {
		items = b.gather()
	}
	if b.bytes != 0 || b.commands != 0 || len(b.queues) != 0 || len(b.turns) != 0 {
		t.Errorf("an empty queue counts %d bytes, %d commands, %d users", b.bytes, b.commands, len(b.queues))
	}
}

func TestAFullQueuePushesBack(t *testing.T) {
	b := queueOnly()
	b.open()
	var seen []Outcome
	n := 0
	var err error
	for err == nil {
		if err = b.add([]item{of(1, 100, &seen)}); err == nil {
			n++
		}
	}
	if kindOf(err) != api.ErrBusy {
		t.Fatalf("after %d commands: %v, want ErrBusy", n, err)
	}
	if n != queueCommands/userShare {
		t.Errorf("one user may queue %d commands, want %d", n, queueCommands/userShare)
	}
	if err := b.add([]item{of(2, 100, &seen)}); err != nil {
		t.Errorf("another user: %v", err)
	}
	if err := b.add([]item{of(0, 100, &seen)}); err != nil {
		t.Errorf("the controller itself: %v", err)
	}
	if err := b.add([]item{of(3, queueBytes/userShare, &seen)}); kindOf(err) != api.ErrBusy {
		t.Errorf("too many bytes: %v, want ErrBusy", err)
	}
	for uid := uint32(10); uid < 13; uid++ {
		many := make([]item, queueCommands/userShare)
		for i := range many {
			many[i] = of(uid, 10, &seen)
		}
		err = b.add(many)
	}
	if kindOf(err) != api.ErrBusy {
		t.Errorf("all users together: %v, want ErrBusy", err)
	}
	b.gather()
	if err := b.add([]item{of(1, 100, &seen)}); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}
