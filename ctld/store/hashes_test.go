package store

import (
	"testing"

	"muster/state"
)

func hashAt(index uint64) Mark {
	return Mark{Index: index, Hash: state.Hash{byte(index), byte(index >> 8)}}
}

func TestRingRemembersTheLastEntries(t *testing.T) {
	r := new(ring)
	if got := r.sample(); len(got) != 0 {
		t.Fatalf("an empty ring has %v", got)
	}
	const last = 3 * (ringSize + 100) // every third index is one of ours
	for i := uint64(3); i <= last; i += 3 {
		r.add(hashAt(i))
	}
	oldest := uint64(last - 3*(ringSize-1))
	got := r.find([]uint64{oldest - 3, oldest, oldest + 1, last - 3, last, last + 3})
	want := []Mark{hashAt(oldest), hashAt(last - 3), hashAt(last)}
	if len(got) != len(want) {
		t.Fatalf("found %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("found %v, want %v", got[i], want[i])
		}
	}
	r.reset(hashAt(7))
	if got := r.find([]uint64{7, last}); len(got) != 1 || got[0] != hashAt(7) {
		t.Errorf("after a reset: %v, want only index 7", got)
	}
}

func TestRingSampleReachesBack(t *testing.T) {
	for count, want := range map[uint64][]uint64{
		1: {1}, 2: {2, 1}, 3: {3, 2, 1}, 4: {4, 3, 1}, 10: {10, 9, 7, 3, 1},
	} {
		r := new(ring)
		for i := uint64(1); i <= count; i++ {
			r.add(hashAt(i))
		}
		got := r.sample()
		if len(got) != len(want) {
			t.Errorf("of %d: %v, want the indices %v", count, got, want)
			continue
		}
		for i := range want {
			if got[i] != hashAt(want[i]) {
				t.Errorf("of %d: %v, want the indices %v", count, got, want)
			}
		}
	}
}
