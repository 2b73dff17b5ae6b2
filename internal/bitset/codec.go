package bitset

import "muster/internal/wire"

// Code implements wire.Message. A set of many neighbours is short: a full word
// takes one byte.
func (s *Set) Code(c *wire.Coder) {
	wire.Ints(c, 1, &s.words)
	if c.Decoding() {
		s.trim()
	}
}
