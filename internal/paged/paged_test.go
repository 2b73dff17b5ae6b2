package paged

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A table and its kept versions always agree with plain maps.
func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			table Table[int]
			want  map[uint64]*int
		}
		var tab Table[int]
		want := map[uint64]*int{}
		var kept []version
		epoch := Epoch(1)
		numbers := rapid.OneOf(rapid.Uint64Range(0, 200), rapid.Uint64Range(16300, 16500), rapid.Uint64Range(1<<20, 1<<20+40000))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			n := numbers.Draw(t, "n")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				kept = append(kept, version{tab, maps.Clone(want)})
				epoch++
			case 1, 2:
				tab.Set(epoch, n, nil)
				delete(want, n)
			default:
				v := new(int)
				tab.Set(epoch, n, v)
				want[n] = v
			}
		}
		kept = append(kept, version{tab, want})
		for i, v := range kept {
			checkSame(t, &v.table, v.want)
			if i > 0 {
				checkDiff(t, &v.table, &kept[i-1].table, v.want, kept[i-1].want)
			}
		}
	})
}

func checkSame(t *rapid.T, tab *Table[int], want map[uint64]*int) {
	keys := slices.Sorted(maps.Keys(want))
	var got []uint64
	for n, v := range tab.All() {
		got = append(got, n)
		if v != want[n] || tab.Get(n) != v {
			t.Fatalf("number %d has another item", n)
		}
	}
	if !slices.Equal(got, keys) || tab.Len() != len(keys) {
		t.Fatalf("numbers %v (Len %d), want %v", got, tab.Len(), keys)
	}
	if len(keys) > 0 {
		mid := keys[len(keys)/2]
		for n := range tab.From(mid) {
			if n != mid {
				t.Fatalf("From(%d) begins with %d", mid, n)
			}
			break
		}
	}
}

func checkDiff(t *rapid.T, tab, old *Table[int], now, before map[uint64]*int) {
	want := map[uint64]bool{}
	for n, v := range now {
		if before[n] != v {
			want[n] = true
		}
	}
	for n := range before {
		if now[n] == nil {
			want[n] = true
		}
	}
	if got := slices.Collect(tab.Diff(old)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("difference %v, want %v", got, slices.Sorted(maps.Keys(want)))
	}
}

// Numbers that only grow leave nothing behind.
func TestFrontIsDropped(t *testing.T) {
	var tab Table[int]
	for n := range uint64(200_000) {
		tab.Set(1, n, new(int))
		if n >= 100 {
			tab.Set(1, n-100, nil)
		}
	}
	if len(tab.dirs) > 2 || tab.Len() != 100 {
		t.Errorf("%d directories hold %d items, want at most 2 and 100", len(tab.dirs), tab.Len())
	}
}

func BenchmarkSetAfterVersion(b *testing.B) {
	var tab Table[int]
	const size = 1 << 20
	for n := range uint64(size) {
		tab.Set(1, n, new(int))
	}
	v, e := new(int), Epoch(2)
	kept := tab
	for i := 0; b.Loop(); i++ {
		if i%64 == 0 {
			kept = tab
			e++
		}
		tab.Set(e, uint64(i)*7919%size, v)
	}
	_ = kept
}
