// Package wire is a symmetric codec: one method of a type, written once, both
// encodes and decodes it, so the two can't drift apart.
//
// The bytes are the protobuf wire format (varint and length-delimited fields
// with numbers), so records can be inspected with protobuf's tools and fields
// can be added without breaking older readers, but nothing is registered and
// nothing runs at program start: the protobuf runtime costs a client 1.1 ms of
// its life, which for sbatch is a quarter of the whole.
//
// Rules for the author of a Code method:
//
//   - fields are visited in ascending order of their numbers, always;
//   - a field with its zero value is not written, and an absent field is left
//     at its zero value: decode into a zero value;
//   - a number is never used again for another meaning; unknown numbers are
//     skipped by readers;
//   - no maps: their order is not defined. Encode a sorted slice.
//
// The encoding of a value is a pure function of the value, so equal values give
// equal bytes on every machine; the state hash relies on it.
package wire

import (
	"errors"
	"fmt"
	"math/bits"
)

// Wire types of the protobuf encoding that this package reads and writes.
const (
	typeVarint = 0
	typeI64    = 1
	typeBytes  = 2
	typeI32    = 5
)

// ErrCorrupt is wrapped by every decoding error.
var ErrCorrupt = errors.New("wire: malformed message")

// Message is implemented by a pointer to each type that can be coded.
type Message interface {
	// Code visits every field once, in ascending order of field numbers.
	Code(c *Coder)
}

// Coder either writes or reads one message. The zero Coder encodes.
type Coder struct {
	buf      []byte
	pos      int // decoding: next byte to read
	decoding bool
	tag      uint64 // decoding: tag already read, 0 if none
	err      error
	// Intern, if set, turns the bytes of short strings into strings when
	// decoding; a restore of a million jobs shares names through it.
	Intern func([]byte) string
}

// Encode appends the encoding of m to dst and returns the extended slice.
func Encode(dst []byte, m Message) []byte {
	c := Coder{buf: dst}
	m.Code(&c)
	return c.buf
}

// Decode reads m, which must be a zero value, from b.
func Decode(b []byte, m Message) error {
	c := Coder{buf: b, decoding: true}
	return c.finish(m)
}

// DecodeInterned is Decode with a function that makes strings out of bytes.
func DecodeInterned(b []byte, m Message, intern func([]byte) string) error {
	c := Coder{buf: b, decoding: true, Intern: intern}
	return c.finish(m)
}

func (c *Coder) finish(m Message) error {
	m.Code(c)
	for c.err == nil && (c.tag != 0 || c.pos < len(c.buf)) {
		c.skipUnknown()
	}
	return c.err
}

// Decoding tells whether the coder reads; a Code method may need it to build
// derived fields.
func (c *Coder) Decoding() bool { return c.decoding }

// Fail stops the coder with an error, if it has none yet. Code methods call it
// for values that are out of range.
func (c *Coder) Fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
	}
}

// at positions the decoder on field n and reports whether it is there with the
// wanted wire type. Fields below n that nobody asked for are skipped.
func (c *Coder) at(n int, wireType uint64) bool {
	for c.err == nil {
		if c.tag == 0 {
			if c.pos >= len(c.buf) {
				return false
			}
			c.tag = c.varint()
			if c.err != nil {
				return false
			}
			if c.tag>>3 == 0 {
				c.Fail("field number 0 at byte %d", c.pos)
				return false
			}
		}
		switch num := int(c.tag >> 3); {
		case num > n:
			return false
		case num < n:
			c.skipUnknown()
		case c.tag&7 != wireType:
			c.Fail("field %d has wire type %d, want %d", n, c.tag&7, wireType)
			return false
		default:
			c.tag = 0
			return true
		}
	}
	return false
}

func (c *Coder) skipUnknown() {
	if c.tag == 0 {
		c.tag = c.varint()
		if c.err != nil {
			return
		}
	}
	t := c.tag
	c.tag = 0
	switch t & 7 {
	case typeVarint:
		c.varint()
	case typeI64:
		c.take(8)
	case typeBytes:
		c.take(c.varint())
	case typeI32:
		c.take(4)
	default:
		c.Fail("unknown wire type %d of field %d", t&7, t>>3)
	}
}

func (c *Coder) varint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if c.pos >= len(c.buf) {
			c.Fail("varint cut off at byte %d", c.pos)
			return 0
		}
		b := c.buf[c.pos]
		c.pos++
		if b < 0x80 {
			if shift == 63 && b > 1 {
				break
			}
			return v | uint64(b)<<shift
		}
		v |= uint64(b&0x7f) << shift
	}
	c.Fail("varint longer than 64 bits at byte %d", c.pos)
	return 0
}

func (c *Coder) take(n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(len(c.buf)-c.pos) {
		c.Fail("%d bytes wanted at byte %d, %d left", n, c.pos, len(c.buf)-c.pos)
		return nil
	}
	b := c.buf[c.pos : c.pos+int(n) : c.pos+int(n)]
	c.pos += int(n)
	return b
}

func appendVarint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func (c *Coder) putTag(n int, wireType uint64) {
	c.buf = appendVarint(c.buf, uint64(n)<<3|wireType)
}

// Uint64 codes an unsigned integer.
func (c *Coder) Uint64(n int, v *uint64) {
	if c.decoding {
		if c.at(n, typeVarint) {
			*v = c.varint()
		}
		return
	}
	if *v != 0 {
		c.putTag(n, typeVarint)
		c.buf = appendVarint(c.buf, *v)
	}
}

// Int64 codes a signed integer in zigzag form, small absolute values short.
func (c *Coder) Int64(n int, v *int64) {
	u := uint64(*v)<<1 ^ uint64(*v>>63)
	c.Uint64(n, &u)
	if c.decoding {
		*v = int64(u>>1) ^ -int64(u&1)
	}
}

// Bool codes a truth value.
func (c *Coder) Bool(n int, v *bool) {
	var u uint64
	if *v {
		u = 1
	}
	c.Uint64(n, &u)
	if c.decoding {
		*v = u != 0
	}
}

// String codes a text of any bytes.
func (c *Coder) String(n int, v *string) {
	if c.decoding {
		if c.at(n, typeBytes) {
			*v = c.text(c.take(c.varint()))
		}
		return
	}
	if *v != "" {
		c.putTag(n, typeBytes)
		c.buf = appendVarint(c.buf, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
	}
}

func (c *Coder) text(b []byte) string {
	if c.Intern != nil {
		return c.Intern(b)
	}
	return string(b)
}

// Bytes codes a byte slice; the decoded slice is a copy.
func (c *Coder) Bytes(n int, v *[]byte) {
	if c.decoding {
		if c.at(n, typeBytes) {
			if b := c.take(c.varint()); len(b) > 0 {
				*v = append([]byte(nil), b...)
			}
		}
		return
	}
	if len(*v) != 0 {
		c.putTag(n, typeBytes)
		c.buf = appendVarint(c.buf, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
	}
}

// Fixed codes an array of bytes of a fixed length (a hash, an id) that v
// slices; all zeros means absent.
func (c *Coder) Fixed(n int, v []byte) {
	if c.decoding {
		if c.at(n, typeBytes) {
			b := c.take(c.varint())
			if c.err == nil && len(b) != len(v) {
				c.Fail("field %d has %d bytes, want %d", n, len(b), len(v))
			}
			copy(v, b)
		}
		return
	}
	for _, x := range v {
		if x != 0 {
			c.putTag(n, typeBytes)
			c.buf = appendVarint(c.buf, uint64(len(v)))
			c.buf = append(c.buf, v...)
			return
		}
	}
}

// message writes or reads one embedded message at field n. present says for
// encoding whether to write it even when it is empty.
func (c *Coder) message(n int, m Message, present bool) {
	c.putTag(n, typeBytes)
	at := len(c.buf)
	c.buf = append(c.buf, 0) // length below 128 fits in place
	m.Code(c)
	size := len(c.buf) - at - 1
	if size == 0 && !present {
		c.buf = c.buf[:at-tagLen(n)]
		return
	}
	if size < 0x80 {
		c.buf[at] = byte(size)
		return
	}
	extra := (bits.Len64(uint64(size))+6)/7 - 1
	for range extra {
		c.buf = append(c.buf, 0)
	}
	copy(c.buf[at+1+extra:], c.buf[at+1:at+1+size])
	appendVarint(c.buf[:at], uint64(size))
}

func tagLen(n int) int { return (bits.Len64(uint64(n)<<3|typeBytes) + 6) / 7 }

// inner decodes the embedded message that the coder stands on.
func (c *Coder) inner(m Message) {
	b := c.take(c.varint())
	if c.err != nil {
		return
	}
	in := Coder{buf: b, decoding: true, Intern: c.Intern}
	c.err = in.finish(m)
}
