package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// Expand lists the names of an expression in the order written, repeats kept.
// With several brackets in a name the last one counts fastest. Empty items
// (two commas, a comma at the end) are passed over, as Slurm does.
//
// The error names the item, what is wrong with it, and what is allowed. It is
// an error to stand for more than Max names, or for one longer than MaxName.
func Expand(expr string) ([]string, error) {
	var names []string
	for _, item := range split(expr) {
		var err error
		if names, err = expandItem(names, item); err != nil {
			if len(expr) > len(item) {
				err = fmt.Errorf("%s: %w", brief(item), err)
			}
			return nil, fmt.Errorf("host list %s: %w", brief(expr), err)
		}
	}
	return names, nil
}

// brief quotes an expression for an error, cut to a readable length.
func brief(expr string) string {
	const most = 80
	if len(expr) > most {
		return strconv.Quote(expr[:most]) + "…"
	}
	return strconv.Quote(expr)
}

// split cuts an expression at the separators outside brackets. Brackets that do
// not match are left for parse to complain of.
func split(expr string) []string {
	var items []string
	inside := false
	start := 0
	for i := range len(expr) {
		switch c := expr[i]; {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case !inside && separator(c):
			if i > start {
				items = append(items, expr[start:i])
			}
			start = i + 1
		}
	}
	if start < len(expr) {
		items = append(items, expr[start:])
	}
	return items
}

// part is one stretch of an item: a text, or the ranges of a bracket.
type part struct {
	text   string
	ranges []span
}

// span is a range of numbers written with at least width digits.
type span struct {
	lo, hi int64
	width  int
}

// names is how many names a part stands for, at most Max+1.
func (p part) names() int64 {
	if p.ranges == nil {
		return 1
	}
	var n int64
	for _, r := range p.ranges {
		n = min(n+min(r.hi-r.lo, Max)+1, Max+1)
	}
	return n
}

func expandItem(names []string, item string) ([]string, error) {
	parts, err := parse(item)
	if err != nil {
		return nil, err
	}
	count, longest := int64(1), 0
	for _, p := range parts {
		count *= p.names()
		longest += len(p.text)
		if int64(len(names))+count > Max {
			return nil, fmt.Errorf("more than %d names; write several shorter lists", Max)
		}
	}
	if longest > MaxName {
		return nil, fmt.Errorf("a name of more than %d bytes", MaxName)
	}
	return appendProduct(names, "", parts), nil
}

// appendProduct adds every combination of the parts behind a prefix.
func appendProduct(names []string, prefix string, parts []part) []string {
	if len(parts) == 0 {
		return append(names, prefix)
	}
	p := parts[0]
	if p.ranges == nil {
		return appendProduct(names, prefix+p.text, parts[1:])
	}
	for _, r := range p.ranges {
		for v := r.lo; v <= r.hi; v++ {
			names = appendProduct(names, prefix+padded(v, r.width), parts[1:])
		}
	}
	return names
}

// padded writes v with at least width digits.
func padded(v int64, width int) string {
	s := strconv.FormatInt(v, 10)
	if len(s) < width {
		return strings.Repeat("0", width-len(s)) + s
	}
	return s
}

// parse cuts one item into texts and brackets.
func parse(item string) ([]part, error) {
	var parts []part
	for item != "" {
		at := strings.IndexAny(item, "[]")
		if at < 0 {
			return append(parts, part{text: item}), nil
		}
		if item[at] == ']' {
			return nil, fmt.Errorf("a ] without a [ before it")
		}
		if at > 0 {
			parts = append(parts, part{text: item[:at]})
		}
		item = item[at+1:]
		end := strings.IndexAny(item, "[]")
		if end < 0 {
			return nil, fmt.Errorf("a [ without a ] behind it")
		}
		if item[end] == '[' {
			return nil, fmt.Errorf("a [ inside [ ]; brackets can follow each other but not nest")
		}
		ranges, err := parseRanges(item[:end])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{ranges: ranges})
		item = item[end+1:]
	}
	return parts, nil
}

// parseRanges reads what stands between brackets: 1-3,7,010-012.
func parseRanges(list string) ([]span, error) {
	var ranges []span
	for _, text := range strings.Split(list, ",") {
		low, high, isRange := strings.Cut(text, "-")
		lo, ok := parseNumber(low)
		if !ok {
			return nil, badNumber(low, list)
		}
		hi := lo
		if isRange {
			if hi, ok = parseNumber(high); !ok {
				return nil, badNumber(high, list)
			}
		}
		if hi.value < lo.value {
			return nil, fmt.Errorf("the range %s runs down; write the smaller number first", text)
		}
		ranges = append(ranges, span{lo.value, hi.value, lo.width})
	}
	return ranges, nil
}

func badNumber(s, list string) error {
	return fmt.Errorf("%s in [%s] is not a number of 1 to %d digits", brief(s), list, maxDigits)
}
