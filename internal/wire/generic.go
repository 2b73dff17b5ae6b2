package wire

// ptr constrains P to be *T with a Code method.
type ptr[T any] interface {
	*T
	Message
}

// integer covers the named integer types of the domain.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Uint codes any unsigned integer type; a value that does not fit is an error.
func Uint[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint](c *Coder, n int, v *T) {
	u := uint64(*v)
	c.Uint64(n, &u)
	if c.decoding {
		*v = T(u)
		if uint64(*v) != u {
			c.Fail("field %d: %d is out of range", n, u)
		}
	}
}

// Int codes any signed integer type; a value that does not fit is an error.
func Int[T ~int | ~int8 | ~int16 | ~int32 | ~int64](c *Coder, n int, v *T) {
	i := int64(*v)
	c.Int64(n, &i)
	if c.decoding {
		*v = T(i)
		if int64(*v) != i {
			c.Fail("field %d: %d is out of range", n, i)
		}
	}
}

// Text codes any string type.
func Text[T ~string](c *Coder, n int, v *T) {
	s := string(*v)
	c.String(n, &s)
	if c.decoding {
		*v = T(s)
	}
}

// Struct codes an embedded message held by value; an empty one is absent.
func Struct[T any, P ptr[T]](c *Coder, n int, v *T) {
	if !c.decoding {
		c.message(n, P(v), false)
		return
	}
	if c.at(n, typeBytes) {
		c.inner(P(v))
	}
}

// Pointer codes an embedded message held by pointer; nil is absent, and an
// empty message is kept apart from nil.
func Pointer[T any, P ptr[T]](c *Coder, n int, v **T) {
	if !c.decoding {
		if *v != nil {
			c.message(n, P(*v), true)
		}
		return
	}
	if c.at(n, typeBytes) {
		*v = new(T)
		c.inner(P(*v))
	}
}

// Slice codes a repeated message.
func Slice[T any, P ptr[T]](c *Coder, n int, v *[]T) {
	if !c.decoding {
		for i := range *v {
			c.message(n, P(&(*v)[i]), true)
		}
		return
	}
	for c.at(n, typeBytes) {
		var t T
		c.inner(P(&t))
		*v = append(*v, t)
	}
}

// Pointers codes a repeated message held by pointers, none of them nil.
func Pointers[T any, P ptr[T]](c *Coder, n int, v *[]*T) {
	if !c.decoding {
		for _, m := range *v {
			c.message(n, P(m), true)
		}
		return
	}
	for c.at(n, typeBytes) {
		t := new(T)
		c.inner(P(t))
		*v = append(*v, t)
	}
}

// Texts codes a repeated string; empty strings in it are kept.
func Texts[T ~string](c *Coder, n int, v *[]T) {
	if !c.decoding {
		for _, s := range *v {
			c.putTag(n, typeBytes)
			c.buf = appendVarint(c.buf, uint64(len(s)))
			c.buf = append(c.buf, s...)
		}
		return
	}
	for c.at(n, typeBytes) {
		*v = append(*v, T(c.text(c.take(c.varint()))))
	}
}

// Ints codes a list of integers, packed. Signed and unsigned types alike are
// zigzag coded, so that a type may change its sign without a new number.
func Ints[T integer](c *Coder, n int, v *[]T) {
	if !c.decoding {
		if len(*v) == 0 {
			return
		}
		c.message(n, packed[T]{v}, false)
		return
	}
	if c.at(n, typeBytes) {
		b := c.take(c.varint())
		in := Coder{buf: b, decoding: true}
		for in.err == nil && in.pos < len(in.buf) {
			u := in.varint()
			i := int64(u>>1) ^ -int64(u&1)
			t := T(i)
			if int64(t) != i {
				in.Fail("field %d: %d is out of range", n, i)
			}
			*v = append(*v, t)
		}
		if in.err != nil && c.err == nil {
			c.err = in.err
		}
	}
}

// packed writes the elements of Ints without tags.
type packed[T integer] struct{ v *[]T }

// Code implements Message for encoding only.
func (p packed[T]) Code(c *Coder) {
	for _, x := range *p.v {
		i := int64(x)
		c.buf = appendVarint(c.buf, uint64(i)<<1^uint64(i>>63))
	}
}
