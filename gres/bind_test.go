package gres

import (
	"reflect"
	"slices"
	"testing"

	"muster/internal/bitset"
)

func TestParseBinding(t *testing.T) {
	cases := map[string]Binding{
		"none": {}, "closest": {Kind: BindClosest}, "verbose,closest": {Kind: BindClosest, Verbose: true}, "Single:2": {Kind: BindSingle, Count: 2},
		"per_task:1": {Kind: BindPerTask, Count: 1}, "map_gpu:0,1": {Kind: BindMap, List: []uint64{0, 1}}, "map:0*2,3": {Kind: BindMap, List: []uint64{0, 0, 3}},
		"mask_gpu:0x3,c": {Kind: BindMask, List: []uint64{3, 12}}, "mask:1*2": {Kind: BindMask, List: []uint64{1, 1}}, "map:2*0": {Kind: BindMap, List: []uint64{2}},
	}
	for text, want := range cases {
		if got, ok := ParseBinding(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, bad := range []string{"", "bogus", "single", "single:0", "single:x", "per_task:", "map:", "map:a", "map:-1", "map:1*x", "map:1,,2", "mask:0xg", "none:1", "closest:1", "map:1*9999", "verbose"} {
		if got, ok := ParseBinding(bad); ok {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestBindingPicks(t *testing.T) {
	// The step has GPUs 4 to 7, two beside cores 0 to 3 and two beside 4 to 7.
	four := []Bindable{{4, bitset.Range(0, 4)}, {5, bitset.Range(0, 4)}, {6, bitset.Range(4, 8)}, {7, bitset.Range(4, 8)}}
	left, right := bitset.Range(0, 2), bitset.Range(4, 6)
	cases := []struct {
		bind   string
		task   int
		cores  *bitset.Set
		global bool
		want   []int
	}{
		{"none", 3, left, false, []int{0, 1, 2, 3}},
		{"closest", 0, right, false, []int{2, 3}},
		{"closest", 0, nil, false, []int{0, 1, 2, 3}},
		{"closest", 0, bitset.Of(9), false, []int{0}},
		{"single:1", 1, left, false, []int{1}},
		{"single:1", 2, left, false, []int{0}},
		{"single:2", 1, right, false, []int{2}},
		{"single:2", 2, right, false, []int{3}},
		{"single:1", 1, bitset.Of(9), false, []int{1}},
		{"per_task:1", 2, right, false, []int{0}},
		{"per_task:2", 0, right, false, []int{2, 3}},
		{"per_task:2", 1, right, false, []int{0, 1}},
		{"per_task:3", 1, nil, false, []int{3}},
		{"per_task:2", 2, nil, false, []int{0}},
		{"map:3,1", 0, nil, false, []int{3}},
		{"map:3,1", 3, nil, false, []int{1}},
		{"map:9", 0, nil, false, []int{0}},
		{"map:6", 0, nil, true, []int{2}},
		{"map:0", 0, nil, true, []int{0}},
		{"mask:0x3,0xc", 1, nil, false, []int{2, 3}},
		{"mask:0xc0", 0, nil, true, []int{2, 3}},
		{"mask:0*2", 1, nil, false, []int{0}},
	}
	for _, c := range cases {
		b, ok := ParseBinding(c.bind)
		if !ok {
			t.Fatalf("%s is not read", c.bind)
		}
		if got := b.Pick(c.task, four, c.cores, c.global); !slices.Equal(got, c.want) {
			t.Errorf("%s, task %d on %v: %v, want %v", c.bind, c.task, c.cores.Slice(), got, c.want)
		}
		if got := b.Pick(c.task, nil, c.cores, c.global); got != nil {
			t.Errorf("%s of no devices: %v", c.bind, got)
		}
	}
}

func FuzzParseBinding(f *testing.F) {
	for _, s := range []string{"verbose,map_gpu:0*2,1", "mask:0xff", "single:65535", "per_task:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, ok := ParseBinding(text)
		if !ok {
			return
		}
		if got := b.Pick(7, []Bindable{{Index: 2}, {Index: 5}}, nil, true); len(got) == 0 || got[0] < 0 || got[len(got)-1] > 1 {
			t.Errorf("%q picks %v of two", text, got)
		}
	})
}
