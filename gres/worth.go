package gres

import (
	"math"
	"math/bits"
	"slices"
)

// This file prices what is free on one device. Filling devices with shares is the
// cutting-stock problem (Gilmore and Gomory, "A Linear Programming Approach to the
// Cutting-Stock Problem", Operations Research 1961): the prices of its dual say how
// much of a device a share of each size really costs when all are packed as well
// as can be. A share of 810 costs nearly all of a device when few others fit
// beside it, one of 160 nearly nothing, since it fits where an 810 is.

const (
	// cells is how finely a device is cut for the prices.
	cells = 100
	cell  = Whole / cells
	// rounds of the price search; what it finds after 500 places as well as what
	// it finds after 20,000.
	rounds = 500
	// one is a price of 1, the worth of a whole device.
	one = int64(1) << 30
)

// worths is the worth of a device by its free cells, in thousandths of a whole
// one's: the most that shares which fit there are priced at, together.
type worths [cells + 1]int64

// part is one size of share that is asked for.
type part struct {
	cells  int
	demand int64 // devices' worth of requests, against the others; sum below 2^20
	price  int64 // in parts of one
}

// newWorths finds prices for the sizes in a mix by multiplicative weights (Plotkin,
// Shmoys and Tardos, "Fast Approximation Algorithms for Fractional Packing and
// Covering Problems", 1995): the price of a size that the best packing covers less
// than its share of the demand rises, that of others falls. The prices with the
// best bound are kept.
func newWorths(asks []Ask) *worths {
	parts := partsOf(asks)
	var best, table worths
	var bound int64
	count := make([]int64, len(parts))
	for i := range best {
		best[i] = int64(i) * cell // without requests each thousandth is worth the same
	}
	for round := int64(1); round <= rounds && len(parts) > 0; round++ {
		full := pack(parts, &table, count)
		var total int64 // price of all that is asked for, < 2^51
		for i := range parts {
			total += parts[i].demand * parts[i].price
		}
		if full == 0 || total == 0 {
			break
		}
		if b := scaled(total, 1<<20, full); b > bound {
			bound = b
			for i := range best {
				best[i] = (table[i]*Whole + full/2) / full
			}
		}
		reprice(parts, count, total, full, round)
	}
	return &best
}

// partsOf sums requests up by the size of their shares.
func partsOf(asks []Ask) []part {
	var out []part
	var sum int64
	for i := range asks {
		a := &asks[i]
		if a.Count <= 0 || a.Share <= 0 || a.Share > Whole || a.Weight <= 0 {
			continue
		}
		n := min(a.Weight, 1<<30) * int64(min(a.Count, 1<<16))
		sum += n
		size := (a.Share + cell - 1) / cell
		at := slices.IndexFunc(out, func(p part) bool { return p.cells == size })
		if at < 0 {
			at = len(out)
			out = append(out, part{cells: size, price: one / cells * int64(size)})
		}
		out[at].demand += n
	}
	shift := max(0, bits.Len64(uint64(sum))-20)
	for i := range out {
		out[i].demand = max(1, out[i].demand>>shift)
	}
	return out
}

// pack fills the table with the best worth of each number of free cells, and count
// with how many shares of each size the best packing of a whole device has. It
// returns that packing's price.
func pack(parts []part, table *worths, count []int64) int64 {
	var last [cells + 1]int
	table[0] = 0
	for c := 1; c <= cells; c++ {
		table[c], last[c] = table[c-1], -1
		for i := range parts {
			if p := &parts[i]; p.cells <= c && table[c-p.cells]+p.price > table[c] {
				table[c], last[c] = table[c-p.cells]+p.price, i
			}
		}
	}
	clear(count)
	for c := cells; c > 0; {
		if last[c] < 0 {
			c--
			continue
		}
		count[last[c]]++
		c -= parts[last[c]].cells
	}
	return table[cells]
}

// reprice moves each price by how much of its demand the packing leaves out.
func reprice(parts []part, count []int64, total, full, round int64) {
	const scale = 1 << 20
	step := 3 * scale / 10 / root(round+10) // falls with the root of the round
	for i := range parts {
		p := &parts[i]
		// the share of a device that its demand would have, less what it got
		short := min(scaled(p.demand*scale, full, total), 4*scale)
		short = max(-4*scale, short-count[i]*scale)
		p.price += p.price * (short * step / (2 * scale)) / scale
		p.price = min(max(p.price, one/(1<<20)), 4*one)
	}
}

// scaled is a*b/c of numbers that are not negative, the largest number if that is
// more or c is 0.
func scaled(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}

// root is the integer square root of n, at least 1.
func root(n int64) int64 {
	r := int64(1)
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}
