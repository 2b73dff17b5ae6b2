package gres

import (
	"slices"
	"testing"

	"muster/internal/bitset"
)

func TestParseSpec(t *testing.T) {
	cases := map[string]string{
		"": "", "none": "", "gpu": "gpu:1", "gpu:2": "gpu:2", "gpu:a100:2": "gpu:a100:2", "gpu:a100": "gpu:a100:1",
		"gpu:a100:2,nvme:10": "gpu:a100:2,nvme:10", "gpu:1,gpu:2": "gpu:2", "disk:2k": "disk:2048", "disk:1M": "disk:1048576",
		"gpu:1g.10gb:3": "gpu:1g.10gb:3", "gres/gpu:1": "gpu:1", "gpu:0": "gpu:0",
	}
	for text, want := range cases {
		s, err := ParseSpec(text)
		if err != nil || s.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, s, err, want)
		}
	}
	for _, bad := range []string{":", ",", "gpu,", "gpu:", "gpu:a:b", "gpu:a:1:2", "gpu:-1", "gpu:a100:-1", "gpu:1x:2y", "gpu a"} {
		if s, err := ParseSpec(bad); err == nil {
			t.Errorf("%q is taken as %q", bad, s)
		}
	}
	if s, err := ParseCounts("gpu", "a100:2,3"); err != nil || s.String() != "gpu:a100:2,gpu:3" || s.Count("gpu") != 5 {
		t.Errorf("counts: %q, %v", s, err)
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"gpu:a100:2,nvme:10", "gpu:2k", ":::", "gpu:99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		again, err := ParseSpec(s.String())
		if err != nil || !slices.Equal(s, again) {
			t.Errorf("%q: %q reads back as %q, %v", text, s, again, err)
		}
	})
}

func node() *Inventory {
	v := &Inventory{Counts: []Item{{Name: "disk", Count: 100}}}
	for i := range 4 {
		typ := "a100"
		if i >= 2 {
			typ = "h100"
		}
		v.Devices = append(v.Devices, Device{Name: "gpu", Type: typ, Index: i, Cores: bitset.Range(4*(i%2), 4*(i%2)+4)})
	}
	return v
}

func TestMatch(t *testing.T) {
	kinds := node().Kinds() // disk, gpu:a100, gpu:h100
	cases := []struct {
		spec string
		free []int64
		want []int64 // nil: it does not fit
	}{
		{"gpu:a100:2", []int64{100, 2, 2}, []int64{0, 2, 0}},
		{"gpu:2", []int64{100, 1, 2}, []int64{0, 0, 2}},
		{"gpu:3", []int64{100, 2, 2}, []int64{0, 2, 1}},
		{"gpu:1,gpu:a100:2", []int64{100, 2, 2}, []int64{0, 2, 1}},
		{"gpu:5", []int64{100, 2, 2}, nil},
		{"gpu:h100:1", []int64{100, 2, 0}, nil},
		{"disk:50,gpu:1", []int64{60, 1, 0}, []int64{50, 1, 0}},
		{"nosuch:1", []int64{100, 2, 2}, nil},
		{"nosuch:0", []int64{100, 2, 2}, []int64{0, 0, 0}},
	}
	for _, c := range cases {
		s, _ := ParseSpec(c.spec)
		take := make([]int64, len(kinds))
		ok := s.Match(kinds, c.free, take)
		if ok != (c.want != nil) || ok && !slices.Equal(take, c.want) {
			t.Errorf("%s of %v takes %v %v, want %v", c.spec, c.free, take, ok, c.want)
		}
	}
}

func TestIndexLists(t *testing.T) {
	for text, set := range map[string]*bitset.Set{"0-1,3": bitset.Of(0, 1, 3), "N/A": {}, "7": bitset.Of(7)} {
		if got := FormatIndex(set); got != text {
			t.Errorf("%v is written %q, want %q", set.Slice(), got, text)
		}
		if got, err := ParseIndex(text); err != nil || !slices.Equal(got.Slice(), set.Slice()) {
			t.Errorf("%q is read as %v, %v", text, got.Slice(), err)
		}
	}
	for _, bad := range []string{"1-", "3-1", "a", "4096", "0-99999999999", ","} {
		if got, err := ParseIndex(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got.Slice())
		}
	}
}
