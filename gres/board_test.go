package gres

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRoomFits(t *testing.T) {
	r := Room{CPUs: 8, Memory: 100, Type: 1, Free: []int32{1000, 400, 1000}}
	cases := []struct {
		name string
		ask  Ask
		want bool
	}{
		{"CPUs only", Ask{CPUs: 8}, true},
		{"too many CPUs", Ask{CPUs: 9}, false},
		{"too much memory", Ask{Memory: 101}, false},
		{"two whole", Ask{Count: 2, Share: Whole}, true},
		{"three whole", Ask{Count: 3, Share: Whole}, false},
		{"a share", Ask{Count: 1, Share: 400}, true},
		{"its type", Ask{Count: 1, Share: Whole, Types: 2}, true},
		{"another type", Ask{Count: 1, Share: Whole, Types: 1}, false},
	}
	for _, c := range cases {
		if got := r.Fits(&c.ask); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFragIsWhatTheMixCannotUse(t *testing.T) {
	m := NewMix([]Ask{{CPUs: 4, Count: 1, Share: Whole, Weight: 1}, {CPUs: 1, Count: 1, Share: 300, Weight: 3}}, nil)
	cases := []struct {
		name string
		room Room
		want int64
	}{
		{"all usable", Room{CPUs: 8, Free: []int32{1000, 1000}}, 0},
		{"a quarter of requests cannot use 400", Room{CPUs: 8, Free: []int32{1000, 400}}, 100},
		{"no CPUs for the large one", Room{CPUs: 2, Free: []int32{1000, 1000}}, 500},
		{"no CPUs at all", Room{Free: []int32{1000, 200}}, 1200},
	}
	for _, c := range cases {
		if got := m.Frag(&c.room); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestBoardKeepsCount places and removes at random: nothing is given twice, and
// what Best says is possible, whatever came before.
func TestBoardKeepsCount(t *testing.T) {
	asks := []Ask{{CPUs: 4, Count: 1, Share: 500, Weight: 5}, {CPUs: 8, Count: 2, Share: Whole, Weight: 2},
		{CPUs: 2, Weight: 1}, {CPUs: 1, Count: 1, Share: 810, Types: 1, Weight: 3}}
	type place struct {
		room, ask int
		devices   []int
	}
	rapid.Check(t, func(t *rapid.T) {
		b := NewBoard(asks, []Room{{CPUs: 16, Free: []int32{1000, 1000, 1000, 1000}}, {CPUs: 8, Type: 1, Free: []int32{1000}}})
		var placed []place
		for range rapid.IntRange(1, 40).Draw(t, "moves") {
			if k := rapid.IntRange(-1, len(placed)-1).Draw(t, "remove"); k >= 0 {
				p := placed[k]
				b.Give(p.room, p.ask, p.devices)
				placed = append(placed[:k], placed[k+1:]...)
				continue
			}
			ask := rapid.IntRange(0, len(asks)-1).Draw(t, "ask")
			room, devices, ok := b.Best(ask)
			if !ok {
				for i := range b.rooms {
					if b.rooms[i].Fits(&asks[ask]) {
						t.Fatalf("no place for %d, but room %d has one", ask, i)
					}
				}
				continue
			}
			if len(devices) != asks[ask].Count {
				t.Fatalf("%d gets devices %v", ask, devices)
			}
			b.Take(room, ask, devices)
			placed = append(placed, place{room, ask, devices})
		}
		for i := range b.rooms {
			r := &b.rooms[i]
			if r.CPUs < 0 {
				t.Fatalf("room %d has %d CPUs free", i, r.CPUs)
			}
			for d, f := range r.Free {
				if f < 0 || f > Whole {
					t.Fatalf("device %d of room %d has %d free", d, i, f)
				}
			}
			if b.loss[i] != b.mix.Loss(r) {
				t.Fatalf("loss of room %d is stale", i)
			}
		}
		for _, p := range placed {
			b.Give(p.room, p.ask, p.devices)
		}
		if _, free := b.Frag(); free != 5000 {
			t.Fatalf("%d free when all is given back", free)
		}
	})
}
