package gres

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWorthOfWhatFits(t *testing.T) {
	share := func(size int, weight int64) Ask { return Ask{Count: 1, Share: size, Weight: weight} }
	cases := []struct {
		name      string
		asks      []Ask
		free      int
		low, high int64
	}{
		{"no requests: as much as it is", nil, 370, 370, 370},
		{"no request fits", []Ask{share(Whole, 1)}, 990, 0, 0},
		{"two halves make a whole", []Ask{share(500, 3)}, 500, 500, 500},
		{"470 is a half, since two fit", []Ask{share(470, 3)}, 470, 490, 510},
		{"nothing fits beside 810", []Ask{share(810, 3)}, 810, 990, 1000},
		{"few fit beside many 810", []Ask{share(810, 30), share(160, 1)}, 810, 950, 1000},
		{"a rare filler costs little", []Ask{share(810, 30), share(160, 1)}, 190, 0, 50},
		{"many of two that fit together", []Ask{share(600, 1), share(400, 1)}, 400, 350, 450},
	}
	for _, c := range cases {
		if got := newWorths(c.asks)[c.free/cell]; got < c.low || got > c.high {
			t.Errorf("%s: %d is worth %d, want %d to %d", c.name, c.free, got, c.low, c.high)
		}
	}
}

func TestWorthGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var asks []Ask
		for range rapid.IntRange(1, 12).Draw(t, "kinds") {
			asks = append(asks, Ask{Count: 1, Share: rapid.IntRange(1, Whole).Draw(t, "share"), Weight: rapid.Int64Range(1, 1<<40).Draw(t, "weight")})
		}
		w := newWorths(asks)
		for a := range cells {
			if w[a] > w[a+1] || w[cells] > Whole {
				t.Fatalf("%v: %d is worth %d, but %d is worth %d", asks, a, w[a], a+1, w[a+1])
			}
			for b := range cells - a {
				if w[a]+w[b] > w[a+b]+1 { // 1: rounding
					t.Fatalf("%v: %d and %d apart are worth %d and %d, together %d", asks, a, b, w[a], w[b], w[a+b])
				}
			}
		}
	})
}

func TestPressureIsWhatNamesAType(t *testing.T) {
	rooms := []Room{{Type: 0, Free: make([]int32, 6)}, {Type: 1, Free: make([]int32, 2)}, {Type: 2, Free: make([]int32, 2)}}
	asks := []Ask{
		{Count: 1, Share: Whole, Weight: 6},            // any
		{Count: 1, Share: Whole, Weight: 1, Types: 2},  // type 1
		{Count: 1, Share: Whole, Weight: 3, Types: 4},  // type 2, of which there is not as much
		{Count: 2, Share: Whole, Weight: 0, Types: 1},  // never asked for
		{Count: 1, Share: Whole, Weight: -5, Types: 1}, // nonsense
	}
	got := pressure(asks, rooms)
	if got[0] != 0 || got[1] != 500 || got[2] != 1000 {
		t.Errorf("pressure %v, want 0, 500 and 1000", got[:3])
	}
}

func TestLossSeesWhatFragDoesNot(t *testing.T) {
	asks := []Ask{{CPUs: 10, Count: 1, Share: 470, Weight: 8}, {CPUs: 10, Count: 1, Share: 470, Weight: 2, Types: 2}}
	m := NewMix(asks, []Room{{Type: 0, Free: make([]int32, 8)}, {Type: 1, Free: make([]int32, 8)}})
	rise := func(r Room, devices ...int) int64 {
		before := m.Loss(&r)
		r.Free = append([]int32(nil), r.Free...)
		r.take(&asks[0], devices, 1)
		return m.Loss(&r) - before
	}
	rich, poor := Room{CPUs: 80, Free: []int32{1000, 1000}}, Room{CPUs: 25, Free: []int32{1000, 1000}}
	if a, b := rise(rich, 0), rise(poor, 0); a >= b {
		t.Errorf("loss rises by %d where CPUs are plenty, by %d where they are short", a, b)
	}
	named := rich
	named.Type = 1
	if a, b := rise(rich, 0), rise(named, 0); a >= b {
		t.Errorf("loss rises by %d on a type nobody names, by %d on one that others need", a, b)
	}
}

// TestBoardFillsBetterThanFrag fills nodes from a fixed stream of requests: what
// Loss sees beyond Frag must be worth something.
func TestBoardFillsBetterThanFrag(t *testing.T) {
	asks := []Ask{{CPUs: 3, Count: 1, Share: 810, Weight: 11}, {CPUs: 10, Count: 1, Share: Whole, Weight: 38}, {CPUs: 12, Count: 1, Share: 470, Weight: 9},
		{CPUs: 9, Count: 1, Share: 320, Weight: 5}, {CPUs: 9, Count: 1, Share: 650, Weight: 4}, {CPUs: 4, Count: 1, Share: 160, Weight: 1},
		{CPUs: 14, Weight: 11}, {CPUs: 80, Count: 8, Share: Whole, Weight: 1}, {CPUs: 12, Count: 1, Share: Whole, Types: 2, Weight: 15}}
	var rooms []Room
	for i := range 60 {
		r := Room{CPUs: 96, Free: []int32{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}}
		if i%4 == 0 {
			r = Room{CPUs: 104, Type: 1, Free: []int32{1000, 1000}}
		}
		rooms = append(rooms, r)
	}
	fill := func(b *Board) (placed int64) {
		seed := uint32(1)
		for range 700 {
			seed = seed*1664525 + 1013904223
			at := int64(seed>>8) % 95
			k := 0
			for ; at >= asks[k].Weight; k++ {
				at -= asks[k].Weight
			}
			if room, devices, ok := b.Best(k); ok {
				b.Take(room, k, devices)
				placed += asks[k].amount()
			}
		}
		return placed
	}
	with := fill(NewBoard(asks, rooms))
	plain := NewBoard(asks, rooms)
	plain.mix.worth, plain.mix.cpus, plain.mix.wanted = newWorths(nil), 0, [64]int64{}
	for i := range plain.rooms {
		plain.loss[i] = plain.mix.Loss(&plain.rooms[i])
	}
	if without := fill(plain); with <= without {
		t.Errorf("%d placed, %d by expected fragmentation alone", with, without)
	}
}
