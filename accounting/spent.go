package accounting

import (
	"math/bits"

	"muster/internal/wire"
	"muster/partition"
)

// Spent is use over time: an amount of a resource, or of billing, times seconds. It
// counts parts of 1/SpentUnit, so that billing by weights of three decimals for each
// MB, GB or TB adds up without rounding. It does not wrap: what would pass 2^128
// stays at the highest value, and what would pass 0 stays at 0. (10,000 nodes of 2 TB
// for ten years come to 2^93 without a weight.)
type Spent struct{ Hi, Lo uint64 }

// SpentUnit is how many parts make one resource-second.
const SpentUnit = partition.BillingUnit

// most is the highest value.
func most() Spent { return Spent{^uint64(0), ^uint64(0)} }

// Over is an amount held for some seconds.
func Over(amount, seconds uint64) Spent { return Parts(SpentUnit).Times(amount).Times(seconds) }

// Parts is a number of parts.
func Parts(n uint64) Spent { return Spent{Lo: n} }

// Plus is the sum.
func (s Spent) Plus(o Spent) Spent {
	lo, c := bits.Add64(s.Lo, o.Lo, 0)
	hi, c := bits.Add64(s.Hi, o.Hi, c)
	if c != 0 {
		return most()
	}
	return Spent{hi, lo}
}

// Less is the difference, at least 0.
func (s Spent) Less(o Spent) Spent {
	lo, b := bits.Sub64(s.Lo, o.Lo, 0)
	hi, b := bits.Sub64(s.Hi, o.Hi, b)
	if b != 0 {
		return Spent{}
	}
	return Spent{hi, lo}
}

// Times is the product with a whole number.
func (s Spent) Times(n uint64) Spent {
	over, high := bits.Mul64(s.Hi, n)
	carry, lo := bits.Mul64(s.Lo, n)
	hi, c := bits.Add64(high, carry, 0)
	if over != 0 || c != 0 {
		return most()
	}
	return Spent{hi, lo}
}

// Scale is the product with a fraction, rounded to the nearest part.
func (s Spent) Scale(f Fraction) Spent {
	if f >= One {
		return s
	}
	// The product has 192 bits: a, b, c from the highest.
	b1, c := bits.Mul64(s.Lo, uint64(f))
	a, b2 := bits.Mul64(s.Hi, uint64(f))
	b, carry := bits.Add64(b1, b2, 0)
	a += carry
	c, carry = bits.Add64(c, 1<<62, 0)
	b, carry = bits.Add64(b, 0, carry)
	a += carry
	return Spent{a<<1 | b>>63, b<<1 | c>>63}
}

// Thousandths is the product with n/1000, rounded to the nearest part.
func (s Spent) Thousandths(n uint64) Spent {
	if n == 1000 {
		return s
	}
	p := s.Times(n)
	if p == most() {
		return p
	}
	p = p.Plus(Parts(500))
	hi, rest := p.Hi/1000, p.Hi%1000
	lo, _ := bits.Div64(rest, p.Lo, 1000)
	return Spent{hi, lo}
}

// Whole is the number of whole resource-seconds, at most 2^64-1.
func (s Spent) Whole() uint64 {
	if s.Hi >= SpentUnit {
		return ^uint64(0)
	}
	n, _ := bits.Div64(s.Hi, s.Lo, SpentUnit)
	return n
}

// IsZero tells whether nothing was used.
func (s Spent) IsZero() bool { return s == Spent{} }

// Compare orders by size.
func (s Spent) Compare(o Spent) int {
	switch {
	case s == o:
		return 0
	case s.Hi < o.Hi || s.Hi == o.Hi && s.Lo < o.Lo:
		return -1
	}
	return 1
}

// Code implements wire.Message.
func (s *Spent) Code(c *wire.Coder) {
	c.Uint64(1, &s.Hi)
	c.Uint64(2, &s.Lo)
}

// Fraction is a number from 0 to One.
type Fraction uint64

// One is the fraction 1.
const One Fraction = 1 << 63

// Times is the product, rounded to the nearest.
func (f Fraction) Times(g Fraction) Fraction {
	hi, lo := bits.Mul64(uint64(f), uint64(g))
	lo, c := bits.Add64(lo, 1<<62, 0)
	return Fraction((hi+c)<<1 | lo>>63)
}

// DecayOver is what is left of past use after some seconds with a half-life in
// seconds; 0 is no decay. In one second 0.693 parts of the half-life go, as in
// priority/multifactor: use is counted as there, so that both come to the same.
func DecayOver(halfLife uint32, seconds uint64) Fraction {
	if halfLife == 0 {
		return One
	}
	hi, lo := bits.Mul64(693, uint64(One))
	gone, _ := bits.Div64(hi, lo, 1000*uint64(halfLife))
	left, base := One, One-min(One, Fraction(gone))
	for n := seconds; n > 0; n >>= 1 {
		if n&1 != 0 {
			left = left.Times(base)
		}
		base = base.Times(base)
	}
	return left
}
