package slurm

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"muster/gres"
)

// maxDevices bounds the count of one item.
const maxDevices = math.MaxInt32

// ParseGres reads a list as --gres takes it: name[:type][:count], separated by
// commas, with or without gres/ in front; the count is 1 if it is left out and
// may end in k, m, g or t. "none" is an empty list.
func ParseGres(text string) (gres.Spec, error) {
	if strings.EqualFold(text, "none") || text == "" {
		return nil, nil
	}
	var spec gres.Spec
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimPrefix(part, "gres/")
		name, rest, has := strings.Cut(part, ":")
		if before, after, ok := strings.Cut(part, "="); ok { // gres/gpu=2
			name, rest, has = before, after, true
			if n, t, typed := strings.Cut(before, ":"); typed {
				name, rest = n, t+":"+after
			}
		}
		item, err := gresItem(name, rest, has)
		if err != nil {
			return nil, err
		}
		spec = addItem(spec, item)
	}
	return spec, nil
}

// ParseGPUs reads a list as --gpus and its family take it: [type:]count,
// separated by commas.
func ParseGPUs(text string) (gres.Spec, error) {
	var spec gres.Spec
	for part := range strings.SplitSeq(text, ",") {
		item, err := gresItem("gpu", strings.TrimPrefix(part, "gpu:"), true)
		if err != nil {
			return nil, err
		}
		spec = addItem(spec, item)
	}
	return spec, nil
}

// gresItem reads [type][:count] or count after a name.
func gresItem(name, rest string, has bool) (gres.Item, error) {
	item := gres.Item{Name: name, Count: 1}
	if !validName(name) {
		return item, fmt.Errorf("generic resource %q: use name[:type][:count]", name)
	}
	if !has {
		return item, nil
	}
	kind, number, both := strings.Cut(rest, ":")
	if !both {
		if n, ok := deviceCount(kind); ok {
			item.Count = n
			return item, nil
		}
		number = "1"
	}
	n, ok := deviceCount(number)
	if !ok || !validName(kind) {
		return item, fmt.Errorf("generic resource %q: use name[:type][:count]", name+":"+rest)
	}
	item.Type, item.Count = kind, n
	return item, nil
}

// deviceCount reads a count with an optional binary multiplier.
func deviceCount(text string) (uint64, bool) {
	shift := 0
	if n := len(text); n > 1 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 {
			shift, text = 10*(i+1), text[:n-1]
		}
	}
	n, ok := digits(text)
	if !ok || n > maxDevices>>shift {
		return 0, false
	}
	return uint64(n) << shift, true
}

// validName keeps names to what can stand in a list.
func validName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._-+/", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// addItem adds counts of the same kind up.
func addItem(spec gres.Spec, item gres.Item) gres.Spec {
	for i := range spec {
		if spec[i].Name == item.Name && spec[i].Type == item.Type {
			spec[i].Count += item.Count
			return spec
		}
	}
	return append(spec, item)
}

// FormatGres writes a list as --gres could be given: gpu:a100:2,nvme:1.
func FormatGres(spec gres.Spec) string {
	return formatItems(spec, "", ":")
}

// FormatTRES writes a list with the prefix gres/ of trackable resources, as
// scontrol's TresPerNode= prints it: gres/gpu:a100=2.
func FormatTRES(spec gres.Spec) string {
	return formatItems(spec, "gres/", "=")
}

func formatItems(spec gres.Spec, prefix, equals string) string {
	var b []byte
	for i, item := range spec {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, prefix...), item.Name...)
		if item.Type != "" {
			b = append(append(b, ':'), item.Type...)
		}
		b = strconv.AppendUint(append(b, equals...), item.Count, 10)
	}
	return string(b)
}

func appendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }
