package slurm

import "strconv"

// unitLetters are the suffixes of sizes, from plain numbers up.
const unitLetters = "\x00KMGTP"

// Unit is the unit that a number is in, and the one it is written in.
type Unit int8

// The units of sizes, steps of 1024.
const (
	Plain Unit = iota
	Kilo
	Mega
	Giga
	Tera
	Peta
	Exact Unit = -1 // the largest in which the number keeps its value (halves count as exact)
	Short Unit = -2 // the largest that leaves at least 1
	Keep  Unit = -3 // the one that it is in
)

// AppendSize writes n, counted in units of in, as Slurm writes sizes: in the
// unit to, with two decimals if it is not whole. 0 has no suffix.
func AppendSize(dst []byte, n uint64, in, to Unit) []byte {
	if n == 0 {
		return append(dst, '0')
	}
	// num/den is the value in the unit that is reached so far.
	num, shift := n, uint(0)
	switch {
	case to == Exact:
		for num>>shift >= 1024 && (num>>shift)%512 == 0 && in < Peta {
			shift += 10
			in++
		}
	case to == Short:
		for num>>shift >= 1024 && in < Peta {
			shift += 10
			in++
		}
	case to >= Plain && to < in:
		for ; in > to; in-- {
			num <<= 10
		}
	case to > in:
		shift = 10 * uint(to-in)
		in = to
	}
	dst = appendShifted(dst, num, shift)
	if in > Plain {
		dst = append(dst, unitLetters[in])
	}
	return dst
}

// appendShifted writes n/2^shift: whole, or rounded to two decimals.
func appendShifted(dst []byte, n uint64, shift uint) []byte {
	whole, rest := n>>shift, n&(1<<shift-1)
	if rest == 0 {
		return strconv.AppendUint(dst, whole, 10)
	}
	hundredths := (rest*100 + 1<<(shift-1)) >> shift
	if shift > 50 { // rest*100 could overflow
		hundredths = rest >> (shift - 7) * 100 >> 7
	}
	if hundredths >= 100 {
		whole, hundredths = whole+1, 0
	}
	dst = append(strconv.AppendUint(dst, whole, 10), '.')
	return append(dst, '0'+byte(hundredths/10), '0'+byte(hundredths%10))
}

// Size is AppendSize as a string, in the largest exact unit.
func Size(n uint64, in Unit) string { return string(AppendSize(nil, n, in, Exact)) }
