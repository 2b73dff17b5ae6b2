package store

import (
	"testing"
	"time"
)

func TestPaceAllowsABurstAfterARest(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var p pace
	for range 2 {
		for i := range paceBurst {
			if d := p.wait(now, false); d != 0 {
				t.Fatalf("entry %d after a rest waits for %v", i+1, d)
			}
			p.sent(now, 2)
		}
		if d := p.wait(now, false); d != ownStep {
			t.Errorf("the entry after the burst waits for %v, want %v", d, ownStep)
		}
		if d := p.wait(now, true); d != userStep {
			t.Errorf("a user's entry after the burst waits for %v, want %v", d, userStep)
		}
		now = now.Add(time.Minute) // however long the rest: the burst is no longer
	}
}

func TestUsersDoNotStarveTheOthers(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var p pace
	for range 1000 {
		now = now.Add(userStep)
		if d := p.wait(now, true); d != 0 {
			t.Fatalf("a user's entry at the allowed rate waits for %v", d)
		}
		p.sent(now, 2)
	}
	if d := p.wait(now, false); d > ownStep {
		t.Errorf("after many entries of users one of the controller waits for %v, want at most %v", d, ownStep)
	}
}

func TestOneClientIsNotSlowedDown(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var p pace
	for range 1000 {
		now = now.Add(time.Millisecond)
		if d := p.wait(now, true); d != 0 {
			t.Fatalf("a user's only command waits for %v", d)
		}
		p.sent(now, 1)
	}
}
