package slurm

import (
	"strconv"

	"muster/internal/bitset"
)

// FormatIndices writes the members of a set as Slurm writes index lists: 1-3,5.
func FormatIndices(s *bitset.Set) string {
	var dst []byte
	for i := s.Next(0); i >= 0; {
		end := s.NextGap(i) - 1
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(i), 10)
		if end > i {
			dst = strconv.AppendInt(append(dst, '-'), int64(end), 10)
		}
		i = s.Next(end + 1)
	}
	return string(dst)
}
