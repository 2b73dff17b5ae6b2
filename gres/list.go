package gres

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/bitset"
)

// maxIndex is one more than the highest device number in a list.
const maxIndex = 4096

// FormatIndex writes device numbers as Slurm does after IDX: 0-1,3. The empty
// set is "N/A".
func FormatIndex(s *bitset.Set) string {
	if s.Empty() {
		return "N/A"
	}
	var b []byte
	for i := s.Next(0); i >= 0; {
		end := i
		for s.Has(end + 1) {
			end++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(i), 10)
		if end > i {
			b = strconv.AppendInt(append(b, '-'), int64(end), 10)
		}
		i = s.Next(end + 1)
	}
	return string(b)
}

// ParseIndex reads a list of device numbers (0-1,3), each below 4096.
func ParseIndex(text string) (*bitset.Set, error) {
	out := &bitset.Set{}
	if text == "" || text == "N/A" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.ParseUint(lo, 10, 32)
		b, err2 := strconv.ParseUint(hi, 10, 32)
		if err1 != nil || err2 != nil || a > b || b >= maxIndex {
			return nil, fmt.Errorf("device numbers %q: %q is no number or range below %d", text, part, maxIndex)
		}
		out.AddRange(int(a), int(b)+1)
	}
	return out, nil
}
