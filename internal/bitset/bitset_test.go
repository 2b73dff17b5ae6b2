package bitset

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNextAndNextGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Set{}
		for range rapid.IntRange(0, 4).Draw(t, "ranges") {
			lo := rapid.IntRange(0, 300).Draw(t, "lo")
			s.AddRange(lo, lo+rapid.IntRange(0, 150).Draw(t, "length"))
		}
		i := rapid.IntRange(0, 500).Draw(t, "from")
		gap := i
		for s.Has(gap) {
			gap++
		}
		if got := s.NextGap(i); got != gap {
			t.Fatalf("%v: gap after %d at %d, want %d", s.Slice(), i, got, gap)
		}
		next := -1
		for k := i; k <= s.Max(); k++ {
			if s.Has(k) {
				next = k
				break
			}
		}
		if got := s.Next(i); got != next {
			t.Fatalf("%v: member after %d is %d, want %d", s.Slice(), i, got, next)
		}
	})
}
