package slurm

import (
	"fmt"
	"strings"
)

// maxMegabytes bounds a size: 1 EiB, far from the overflow of sums.
const maxMegabytes = 1 << 40

// ParseMegabytes reads a size as --mem and --tmp take it: a number of MB of
// 2^20 bytes, or one with the suffix K, M, G or T in either case, optionally
// followed by B. Kilobytes are rounded up.
func ParseMegabytes(text string) (uint64, error) {
	text = strings.TrimLeft(text, blanks)
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	bad := fmt.Errorf("size %q: use a whole number with K, M, G or T", text)
	if i == 0 || i > 18 {
		return 0, bad
	}
	var n uint64
	for _, c := range []byte(text[:i]) {
		n = n*10 + uint64(c-'0')
	}
	unit := strings.ToUpper(text[i:])
	if len(unit) == 2 && unit[1] == 'B' {
		unit = unit[:1]
	}
	factor := uint64(1)
	switch unit {
	case "", "M":
	case "K":
		n = (n + 1023) / 1024
	case "G":
		factor = 1 << 10
	case "T":
		factor = 1 << 20
	default:
		return 0, bad
	}
	if n > maxMegabytes/factor {
		return 0, fmt.Errorf("size %q is more than %d MB", text, uint64(maxMegabytes))
	}
	return n * factor, nil
}
