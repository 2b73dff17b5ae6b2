package store

import (
	"testing"
	"time"
)

// burstAt counts the entries that may follow each other at once.
func burstAt(p *pace, now time.Time, users int) int {
	for n := 0; ; n++ {
		if p.wait(now, users > 0) > 0 {
			return n
		}
		p.sent(now, users)
	}
}

func TestPaceAllowsABurstAfterARest(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		what  string
		users int // in each entry
		want  int // entries at once
	}{
		{"entries of the controllers and nodes", 0, paceBurst},
		{"entries with commands of several users", 3, crowdBurst},
	} {
		var p pace
		for range 2 {
			if n := burstAt(&p, now, c.users); n != c.want {
				t.Errorf("%s: %d go at once, want %d", c.what, n, c.want)
			}
			if d := p.wait(now, c.users > 0); d != paceStep {
				t.Errorf("%s: the one after the burst waits for %v, want %v", c.what, d, paceStep)
			}
			now = now.Add(time.Minute) // however long the rest: the burst is no longer
		}
	}
}

// While several clients are about, one's command waits for those of others, also
// if it happens to be alone.
func TestACrowdSharesEntries(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var p pace
	p.sent(now, 2)
	sent := 0
	for end := now.Add(crowdTime); now.Before(end); now = now.Add(time.Millisecond) {
		if p.wait(now, true) == 0 {
			p.sent(now, 1)
			sent++
		}
	}
	if most := int(crowdTime/paceStep) + crowdBurst; sent > most {
		t.Errorf("%d entries in %v, want at most %d", sent, crowdTime, most)
	}
	if d := p.wait(now, true); d != 0 {
		t.Errorf("a single client waits for %v when the others are gone", d)
	}
}

// However many entries users cause, those of the controllers and nodes go on, and
// wait for a step at most.
func TestUsersDoNotStarveTheOthers(t *testing.T) {
	for users := 1; users <= 2; users++ {
		now := time.Unix(1_000_000, 0)
		var p pace
		for range 1000 {
			now = now.Add(time.Millisecond)
			p.sent(now, users)
			if d := p.wait(now, false); d > paceStep {
				t.Fatalf("%d users in an entry: one of the controller waits for %v, want at most %v", users, d, paceStep)
			}
		}
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
