package ctld

import "testing"

func TestWhatMayLeaveTheOutbox(t *testing.T) {
	for _, c := range []struct {
		name         string
		voters       int
		own, waiting uint64
		others       map[string]uint64
		want         uint64
	}{
		{"alone", 1, 7, 7, nil, 7},
		{"all have some", 3, 9, 9, map[string]uint64{"c2": 5, "c3": 7}, 5},
		{"one has not said yet", 3, 9, 9, map[string]uint64{"c2": 0, "c3": 7}, 0},
		{"one is away for a while", 3, 9, 9, map[string]uint64{"c2": 8}, 0},
		{"one is away for long", 3, 30_000, keptForAbsent, map[string]uint64{"c2": 29_000}, 29_000},
		{"no majority", 3, 30_000, keptForAbsent, nil, 0},
		{"half is no majority", 4, 30_000, keptForAbsent, map[string]uint64{"c2": 29_000}, 0},
	} {
		l := newLedgers()
		for name, n := range c.others {
			l.report(name, n)
		}
		if got := l.safe(c.voters, c.own, c.waiting); got != c.want {
			t.Errorf("%s: up to %d, want %d", c.name, got, c.want)
		}
	}
}
