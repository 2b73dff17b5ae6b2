package gres

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxItems bounds a list, so that a hostile option costs nothing.
const maxItems = 256

// ErrorText is what Slurm's commands print for a list that cannot be read or
// names a kind that the cluster does not have.
const ErrorText = "Invalid generic resource (gres) specification"

// SpecError says what is wrong with a list of generic resources.
type SpecError struct{ Text, Why string }

// Error gives Slurm's wording first.
func (e *SpecError) Error() string {
	return fmt.Sprintf("%s: %q: %s", ErrorText, e.Text, e.Why)
}

// ParseSpec reads a list as sbatch(1) documents it for --gres: items separated
// by commas, each name, name:count, name:type or name:type:count. A count may
// end in k, m, g or t (powers of 1024) and is 1 if it is left out. "" and "none"
// are the empty list. Of items of the same name and type the last counts.
func ParseSpec(text string) (Spec, error) { return parseSpec(text, "") }

// ParseCounts reads the list of an option that is about one kind only, such as
// --gpus: items count, type or type:count.
func ParseCounts(name, text string) (Spec, error) { return parseSpec(text, name) }

func parseSpec(text, name string) (Spec, error) {
	var out Spec
	if text == "" || strings.EqualFold(text, "none") {
		return nil, nil
	}
	parts := strings.SplitN(text, ",", maxItems+1)
	if len(parts) > maxItems {
		return nil, &SpecError{text[:32] + "…", fmt.Sprintf("more than %d items", maxItems)}
	}
	for _, p := range parts {
		it, why := parseItem(p, name)
		if why != "" {
			return nil, &SpecError{p, why}
		}
		same := func(o Item) bool { return o.Name == it.Name && o.Type == it.Type }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = it
		} else {
			out = append(out, it)
		}
	}
	return out, nil
}

// parseItem reads one item; name is given if the text holds none.
func parseItem(text, name string) (Item, string) {
	text = strings.TrimPrefix(text, "gres/") // --tres-per-task=gres/gpu:1
	fields := strings.Split(text, ":")
	it := Item{Name: name, Count: 1}
	if name == "" {
		it.Name, fields = fields[0], fields[1:]
	}
	if !word(it.Name) {
		return it, "a name has letters, digits, _, - and ., and begins with none of the last two"
	}
	if len(fields) > 2 {
		return it, "write it as name:type:count"
	}
	for i, f := range fields {
		last := i == len(fields)-1
		if n, ok := parseCount(f); ok && last {
			it.Count = n
			continue
		}
		if i > 0 {
			return it, fmt.Sprintf("%q is no count", f)
		}
		if !word(f) {
			return it, fmt.Sprintf("%q is neither a type nor a count", f)
		}
		it.Type = f
	}
	return it, ""
}

// parseCount reads a count with an optional suffix of a power of 1024.
func parseCount(s string) (uint64, bool) {
	shift := 0
	if n := len(s); n > 1 {
		if i := strings.IndexByte("kmgt", s[n-1]|0x20); i >= 0 {
			shift, s = 10*(i+1), s[:n-1]
		}
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n > math.MaxInt64>>shift {
		return 0, false
	}
	return n << shift, true
}

// word tells whether s may be a name or a type.
func word(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '-' || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			continue
		}
		return false
	}
	return true
}

// String writes the list as --gres takes it, with plain counts.
func (s Spec) String() string {
	var b []byte
	for i, it := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = it.append(b)
	}
	return string(b)
}

// String writes name:type:count or name:count.
func (it Item) String() string { return string(it.append(nil)) }

func (it Item) append(b []byte) []byte {
	b = append(b, it.Name...)
	if it.Type != "" {
		b = append(append(b, ':'), it.Type...)
	}
	return strconv.AppendUint(append(b, ':'), it.Count, 10)
}

// Add is the sum of two lists: counts of the same name and type are added. It
// is false when a count would pass 2^63.
func (s Spec) Add(t Spec) (Spec, bool) {
	out := slices.Clone(s)
	for _, it := range t {
		var ok bool
		if out, ok = out.add(it); !ok {
			return nil, false
		}
	}
	return out, true
}

func (s Spec) add(it Item) (Spec, bool) {
	for i := range s {
		if s[i].Name == it.Name && s[i].Type == it.Type {
			if s[i].Count > math.MaxInt64-it.Count {
				return s, false
			}
			s[i].Count += it.Count
			return s, true
		}
	}
	return append(s, it), true
}

// Count is the sum over all items of a name, of whatever type.
func (s Spec) Count(name string) uint64 {
	var n uint64
	for _, it := range s {
		if it.Name == name {
			n += it.Count
		}
	}
	return n
}
