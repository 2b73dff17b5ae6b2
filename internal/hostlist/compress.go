package hostlist

import (
	"slices"
	"strings"
)

// Compress writes names as a short expression; order is kept, neighbours that
// count up are joined. It is what Slurm prints for a node list. Only the last
// digits of a name are gathered: row1_n1, row1_n2 become row1_n[1-2]. Expand
// gives the same names back.
func Compress(names []string) string {
	var b strings.Builder
	for i := 0; i < len(names); {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		prefix, first, ok := cut(names[i])
		if !ok {
			b.WriteString(names[i])
			i++
			continue
		}
		i = writeGroup(&b, names, i, prefix, first)
	}
	return b.String()
}

// writeGroup writes the names from i on that share a prefix and returns the
// index of the first that does not.
func writeGroup(b *strings.Builder, names []string, i int, prefix string, first number) int {
	var spans []span
	for next, ok := first, true; ok; {
		spans = appendNumber(spans, next)
		if i++; i == len(names) {
			break
		}
		var p string
		p, next, ok = cut(names[i])
		ok = ok && p == prefix
	}
	b.WriteString(prefix)
	if len(spans) == 1 && spans[0].lo == spans[0].hi {
		b.WriteString(padded(spans[0].lo, spans[0].width))
		return i
	}
	b.WriteByte('[')
	for k, s := range spans {
		if k > 0 {
			b.WriteByte(',')
		}
		b.WriteString(padded(s.lo, s.width))
		if s.hi > s.lo {
			b.WriteByte('-')
			b.WriteString(padded(s.hi, s.width))
		}
	}
	b.WriteByte(']')
	return i
}

// appendNumber makes the last span longer if n comes next in it and is written
// as the span would write it (n9, n10 but not n9, n010).
func appendNumber(spans []span, n number) []span {
	if k := len(spans) - 1; k >= 0 {
		s := &spans[k]
		if n.value == s.hi+1 && len(padded(n.value, s.width)) == n.width {
			s.hi = n.value
			return spans
		}
	}
	return append(spans, span{n.value, n.value, n.width})
}

// cut parts a name into what comes before its last digits, and these. A name
// that ends otherwise, or in more digits than a bracket may have, has none.
func cut(name string) (prefix string, n number, ok bool) {
	at := len(name)
	for at > 0 && digit(name[at-1]) {
		at--
	}
	n, ok = parseNumber(name[at:])
	return name[:at], n, ok
}

// Sort orders names with their numbers by value, in place: n2 before n10, and
// row2_n1 before row10_n1.
func Sort(names []string) { slices.SortFunc(names, compare) }

// compare goes through two names token by token, where a run of digits is one
// token; names that differ only in leading zeros are ordered as texts.
func compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			p, q := digits(x), digits(y)
			if c := compareDigits(x[:p], y[:q]); c != 0 {
				return c
			}
			x, y = x[p:], y[q:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if c := len(a) - len(b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
