package gres

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"muster/internal/bitset"
)

// machine makes a node with GPUs whose links are given by a function, in domains
// of some GPUs each with 8 cores, with a fabric card for each domain if cards is
// true.
func machine(gpus, perDomain int, cards bool, link func(i, k int) Link) *Inventory {
	v := &Inventory{}
	for i := range gpus {
		d := i / perDomain
		v.Devices = append(v.Devices, Device{Name: "gpu", Index: i, Cores: bitset.Range(8*d, 8*d+8)})
	}
	if cards {
		for d := range gpus / perDomain {
			v.NICs = append(v.NICs, NIC{Name: "nic" + string(rune('0'+d)), RDMA: true, Role: Fabric})
		}
	}
	n := gpus + len(v.NICs)
	for i := range n {
		for k := range n {
			switch {
			case i == k:
				v.Links = append(v.Links, LinkOf(Self, 0))
			case i < gpus && k < gpus:
				v.Links = append(v.Links, link(min(i, k), max(i, k)))
			case i < gpus && i/perDomain == k-gpus || k < gpus && k/perDomain == i-gpus:
				v.Links = append(v.Links, LinkOf(PXB, 0))
			default:
				v.Links = append(v.Links, LinkOf(SYS, 0))
			}
		}
	}
	return v
}

func path(p Path) Link { return LinkOf(p, 0) }

// pairs is a machine of NVLink pairs on two sockets.
func pairs() *Inventory {
	return machine(8, 4, true, func(i, k int) Link {
		switch {
		case i/2 == k/2:
			return LinkOf(NV, 4)
		case i/4 == k/4:
			return path(NODE)
		}
		return path(SYS)
	})
}

func TestChoosesTheBestSet(t *testing.T) {
	lost := func(i, k int) Link { // GPU 2 has lost its NVLinks
		if i == 2 || k == 2 {
			return path(SYS)
		}
		return LinkOf(NV, 18)
	}
	all := bitset.Range(0, 8)
	cases := []struct {
		name string
		node *Inventory
		want Want
		set  *bitset.Set
	}{
		{"a pair with NVLink", pairs(), Want{Free: bitset.Of(1, 2, 3), Count: 2}, bitset.Of(2, 3)},
		{"one leaves pairs whole", pairs(), Want{Free: bitset.Of(0, 1, 2), Count: 1}, bitset.Of(2)},
		{"a pair leaves a socket whole", pairs(), Want{Free: bitset.Of(0, 1, 2, 3, 6, 7), Count: 2}, bitset.Of(6, 7)},
		{"four of one socket", pairs(), Want{Free: bitset.Of(0, 1, 4, 5, 6, 7), Count: 4}, bitset.Of(4, 5, 6, 7)},
		{"not the one without NVLink", machine(8, 4, false, lost), Want{Free: all, Count: 4}, bitset.Of(0, 1, 3, 4)},
		{"it, when nothing else is asked for", machine(8, 4, false, lost), Want{Free: all, Count: 1}, bitset.Of(2)},
		{"where cores are free", pairs(), Want{Free: all, Count: 2, Cores: bitset.Range(8, 16), Need: 4}, bitset.Of(4, 5)},
		{"links before cores", pairs(), Want{Free: bitset.Of(0, 1, 4, 6), Count: 2, Cores: bitset.Range(8, 16), Need: 4}, bitset.Of(0, 1)},
		{"cores before links, if so asked", pairs(), Want{Free: bitset.Of(0, 1, 4, 6), Count: 2, Cores: bitset.Range(8, 16), Need: 4, CoresFirst: true}, bitset.Of(4, 6)},
		{"fewer near cores than wanted are better than none", pairs(), Want{Free: all, Count: 1, Cores: bitset.Of(0, 8, 9), Need: 4}, bitset.Of(4)},
		{"all", pairs(), Want{Free: all, Count: 8}, all},
		{"too few are free", pairs(), Want{Free: bitset.Of(1), Count: 2}, nil},
		{"none", pairs(), Want{Free: all}, nil},
		{"no links known: lowest numbers", &Inventory{Devices: []Device{{Name: "tpu", Index: 3}, {Name: "tpu", Index: 5}, {Name: "tpu", Index: 6}}},
			Want{Free: bitset.Of(3, 5, 6), Count: 2}, bitset.Of(3, 5)},
	}
	for _, c := range cases {
		l := c.node.Kinds()[0].Layout
		got := l.Choose(&c.want)
		if !sameSet(got, c.set) {
			t.Errorf("%s: %v, want %v", c.name, got.Slice(), c.set.Slice())
		}
	}
}

func TestCardsMatterToJobsThatSpanNodes(t *testing.T) {
	v := machine(4, 2, true, func(int, int) Link { return path(NODE) })
	v.NICs[0].Role = Storage // so only GPUs 2 and 3 are near a fabric card
	l := v.Kinds()[0].Layout
	if got := l.Choose(&Want{Free: bitset.Range(0, 4), Count: 1, Fabric: true}); !got.Has(2) {
		t.Errorf("of several nodes: %v, want 2", got.Slice())
	}
	if got := l.Choose(&Want{Free: bitset.Range(0, 4), Count: 1}); !got.Has(0) {
		t.Errorf("of one node: %v, want 0", got.Slice())
	}
}

// exhaustive is Choose by trying every set.
func exhaustive(l *Layout, w *Want) *bitset.Set {
	s := &search{l: l, w: w}
	for _, c := range l.cores {
		s.beside = append(s.beside, coresBeside(w.Cores, c))
	}
	for i, n := range l.index {
		if w.Free.Has(n) {
			s.free |= 1 << i
		}
	}
	for set := uint64(1); set < 1<<len(l.index); set++ {
		if set&^s.free == 0 && bits.OnesCount64(set) == w.Count {
			s.picked = set
			s.keep()
		}
	}
	if s.best == 0 {
		return nil
	}
	out := &bitset.Set{}
	for set := s.best; set != 0; set &= set - 1 {
		out.Add(l.index[lowest(set)])
	}
	return out
}

// compareAll holds Choose against every set, for one node and draws of what is free.
func compareAll(t *rapid.T, v *Inventory) {
	l := v.Kinds()[0].Layout
	w := &Want{Free: &bitset.Set{}, Count: rapid.IntRange(0, len(l.index)).Draw(t, "count"), Cores: &bitset.Set{},
		Need: rapid.IntRange(0, 16).Draw(t, "need"), Fabric: rapid.Bool().Draw(t, "fabric")}
	for _, n := range l.index {
		if rapid.Bool().Draw(t, "free") {
			w.Free.Add(n)
		}
	}
	for c := range 32 {
		if rapid.Bool().Draw(t, "core") {
			w.Cores.Add(c)
		}
	}
	if got, want := l.Choose(w), exhaustive(l, w); !sameSet(got, want) {
		t.Fatalf("%v of %v free: %v, every set tried: %v", w.Count, w.Free.Slice(), got.Slice(), want.Slice())
	}
}

func TestNoSetIsBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "gpus")
		links := map[[2]int]Link{}
		kinds := []Link{path(SYS), path(NODE), path(PIX), LinkOf(NV, 1), LinkOf(NV, 2)}
		v := machine(n, rapid.IntRange(1, n).Draw(t, "domain"), rapid.Bool().Draw(t, "cards"), func(i, k int) Link {
			at := [2]int{i, k}
			if _, ok := links[at]; !ok {
				links[at] = rapid.SampledFrom(kinds).Draw(t, "link")
			}
			return links[at]
		})
		compareAll(t, v)
	})
}

// TestChoiceOfManyIsComplete: past 16 free devices the set need not be the best,
// but it must be of free ones and as many as asked for.
func TestChoiceOfManyIsComplete(t *testing.T) {
	v := machine(48, 12, false, func(i, k int) Link {
		if i/6 == k/6 {
			return LinkOf(NV, 2)
		}
		return path(SYS)
	})
	l := v.Kinds()[0].Layout
	free := bitset.Range(3, 48)
	for _, n := range []int{1, 2, 6, 7, 20, 44, 45} {
		got := l.Choose(&Want{Free: free, Count: n})
		rest := got.Clone()
		rest.Subtract(free)
		if got.Len() != n || !rest.Empty() {
			t.Fatalf("%d of 45: %v", n, got.Slice())
		}
		if n == 6 && !sameSet(got, bitset.Range(6, 12)) {
			t.Errorf("6: %v, want those with links to each other", got.Slice())
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8} {
		l := pairs().Kinds()[0].Layout
		w := &Want{Free: bitset.Range(0, 8), Count: n, Cores: bitset.Range(0, 16), Need: 4}
		b.Run(string(rune('0'+n)), func(b *testing.B) {
			for b.Loop() {
				l.Choose(w)
			}
		})
	}
}

func TestLinkNames(t *testing.T) {
	for text, want := range map[string]Link{"X": path(Self), "SYS": path(SYS), "PIX": path(PIX), "NV18": LinkOf(NV, 18), "XGMI2": LinkOf(XGMI, 2), "N/A": path(Unknown)} {
		got, ok := ParseLink(text)
		if !ok || got != want || got.String() != text {
			t.Errorf("%q is read as %v, %v", text, got, ok)
		}
	}
	if got, ok := ParseLink("NVB4"); !ok || got != LinkOf(NV, 4) {
		t.Errorf("NVB4 is read as %v, %v", got, ok)
	}
	for _, bad := range []string{"", "NV", "NV0", "NV256", "PX", "sys", "NV-1", "XGMI"} {
		if got, ok := ParseLink(bad); ok {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestRolesOfCards(t *testing.T) {
	v := &Inventory{Devices: []Device{{Name: "gpu"}}, NICs: []NIC{{Name: "near", RDMA: true}, {Name: "far", RDMA: true}, {Name: "eth0"}, {Name: "given", RDMA: true, Role: Control}}}
	n := path(NODE)
	v.Links = Links{path(Self), path(PIX), n, n, path(PIX), path(PIX), path(Self), n, n, n, n, n, path(Self), n, n, n, n, n, path(Self), n, path(PIX), n, n, n, path(Self)}
	v.GiveRoles()
	for i, want := range []Role{Fabric, Storage, Control, Control} {
		if v.NICs[i].Role != want {
			t.Errorf("%s is %v, want %v", v.NICs[i].Name, v.NICs[i].Role, want)
		}
	}
	if got := v.NICsNear(func(int) bool { return true }); len(got) != 1 || got[0] != "near" {
		t.Errorf("cards near the GPU: %v", got)
	}
	far := &Inventory{Devices: v.Devices, NICs: []NIC{{Name: "mlx5_0", RDMA: true}}, Links: Links{path(Self), n, n, path(Self)}}
	far.GiveRoles()
	if far.NICs[0].Role != Fabric {
		t.Errorf("the only card is %v, want fabric", far.NICs[0].Role)
	}
}
