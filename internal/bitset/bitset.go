// Package bitset is a set of small non-negative integers.
package bitset

import "math/bits"

// Set is a set of bits. The zero Set is empty. Methods that do not say that they
// change the set leave it alone, so a Set may be shared once it is built.
type Set struct{ words []uint64 }

// Of makes a set of the given members.
func Of(members ...int) *Set {
	s := &Set{}
	for _, m := range members {
		s.Add(m)
	}
	return s
}

// Range makes the set of lo, lo+1, … hi-1.
func Range(lo, hi int) *Set {
	s := &Set{}
	s.AddRange(lo, hi)
	return s
}

// Add puts i into the set.
func (s *Set) Add(i int) {
	for len(s.words) <= i/64 {
		s.words = append(s.words, 0)
	}
	s.words[i/64] |= 1 << (i % 64)
}

// AddRange puts lo up to hi-1 into the set.
func (s *Set) AddRange(lo, hi int) {
	for i := lo; i < hi; i++ {
		if i%64 == 0 && i+64 <= hi {
			s.Add(i + 63)
			s.words[i/64] = ^uint64(0)
			i += 63
			continue
		}
		s.Add(i)
	}
}

// Remove takes i out of the set.
func (s *Set) Remove(i int) {
	if i/64 < len(s.words) {
		s.words[i/64] &^= 1 << (i % 64)
		s.trim()
	}
}

func (s *Set) trim() {
	n := len(s.words)
	for n > 0 && s.words[n-1] == 0 {
		n--
	}
	s.words = s.words[:n]
}

// Has tells whether i is in the set. A nil set has nothing.
func (s *Set) Has(i int) bool {
	return s != nil && i >= 0 && i/64 < len(s.words) && s.words[i/64]&(1<<(i%64)) != 0
}

// Len is the number of members.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty tells whether there are no members.
func (s *Set) Empty() bool { return s == nil || len(s.words) == 0 }

// Next is the smallest member not below i, or -1.
func (s *Set) Next(i int) int {
	if s == nil || i/64 >= len(s.words) {
		return -1
	}
	w := s.words[i/64] >> (i % 64)
	if w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	for k := i/64 + 1; k < len(s.words); k++ {
		if s.words[k] != 0 {
			return k*64 + bits.TrailingZeros64(s.words[k])
		}
	}
	return -1
}

// NextGap is the first number from i on that is not in the set.
func (s *Set) NextGap(i int) int {
	for s.Has(i) {
		i += bits.TrailingZeros64(^(s.words[i/64] >> (i % 64))) // to the gap or the next word
	}
	return i
}

// Max is the largest member, or -1.
func (s *Set) Max() int {
	if s.Empty() {
		return -1
	}
	n := len(s.words) - 1
	return n*64 + 63 - bits.LeadingZeros64(s.words[n])
}

// All yields the members in ascending order.
func (s *Set) All(yield func(int) bool) {
	for i := s.Next(0); i >= 0; i = s.Next(i + 1) {
		if !yield(i) {
			return
		}
	}
}

// Slice lists the members in ascending order.
func (s *Set) Slice() []int {
	out := make([]int, 0, s.Len())
	for i := range s.All {
		out = append(out, i)
	}
	return out
}

// Clone copies the set; a nil set becomes an empty one.
func (s *Set) Clone() *Set {
	if s == nil {
		return &Set{}
	}
	return &Set{words: append([]uint64(nil), s.words...)}
}

// Union adds all members of t.
func (s *Set) Union(t *Set) {
	if t == nil {
		return
	}
	for len(s.words) < len(t.words) {
		s.words = append(s.words, 0)
	}
	for i, w := range t.words {
		s.words[i] |= w
	}
}

// Subtract takes all members of t out.
func (s *Set) Subtract(t *Set) {
	if t == nil {
		return
	}
	for i := range min(len(s.words), len(t.words)) {
		s.words[i] &^= t.words[i]
	}
	s.trim()
}

// Intersect keeps only the members that t has too.
func (s *Set) Intersect(t *Set) {
	if t == nil {
		s.words = nil
		return
	}
	s.words = s.words[:min(len(s.words), len(t.words))]
	for i := range s.words {
		s.words[i] &= t.words[i]
	}
	s.trim()
}

// Overlaps tells whether the sets have a member in common.
func (s *Set) Overlaps(t *Set) bool {
	if s == nil || t == nil {
		return false
	}
	for i := range min(len(s.words), len(t.words)) {
		if s.words[i]&t.words[i] != 0 {
			return true
		}
	}
	return false
}

// Words are the bits, 64 to a word, without zero words at the end. The caller
// must not change them.
func (s *Set) Words() []uint64 {
	if s == nil {
		return nil
	}
	return s.words
}

// FromWords makes a set of bits as Words gives them; it keeps the slice.
func FromWords(w []uint64) *Set {
	s := &Set{words: w}
	s.trim()
	return s
}
