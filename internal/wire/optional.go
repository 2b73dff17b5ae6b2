package wire

// OptUint codes an unsigned integer that may be absent, nil apart from zero.
// The value is stored plus one, so the largest uint64 cannot be coded; no type
// of the domain has it.
func OptUint[T ~uint8 | ~uint16 | ~uint32](c *Coder, n int, v **T) {
	var u uint64
	if *v != nil {
		u = uint64(**v) + 1
	}
	c.Uint64(n, &u)
	if !c.decoding || u == 0 {
		return
	}
	t := T(u - 1)
	if uint64(t) != u-1 {
		c.Fail("field %d: %d is out of range", n, u-1)
	}
	*v = &t
}

// OptString codes a text that may be absent, nil apart from empty.
func OptString(c *Coder, n int, v **string) {
	if !c.decoding {
		if *v != nil {
			c.putTag(n, typeBytes)
			c.buf = appendVarint(c.buf, uint64(len(**v)))
			c.buf = append(c.buf, **v...)
		}
		return
	}
	if c.at(n, typeBytes) {
		s := c.text(c.take(c.varint()))
		*v = &s
	}
}
