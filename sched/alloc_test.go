package sched

import (
	"slices"
	"testing"

	"muster/internal/bitset"
)

func TestCoresBesideDevicesFirst(t *testing.T) {
	cases := []struct {
		name       string
		open, near *bitset.Set
		count      int
		want       []int
	}{
		{"no devices: the lowest", bitset.Range(0, 8), &bitset.Set{}, 2, []int{0, 1}},
		{"near ones", bitset.Range(0, 8), bitset.Range(4, 8), 2, []int{4, 5}},
		{"near ones, then others", bitset.Range(0, 8), bitset.Of(6, 7), 3, []int{0, 6, 7}},
		{"held ones are not open", bitset.Of(1, 5), bitset.Of(4, 5), 2, []int{1, 5}},
		{"too few", bitset.Of(1), bitset.Of(1), 2, nil},
	}
	for _, c := range cases {
		if got := pickCores(c.open, c.near, c.count).Slice(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
