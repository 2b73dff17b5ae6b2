package gres

import (
	"math/bits"
	"slices"

	"muster/internal/bitset"
)

// linked is the name of the devices that have rows in the matrix of links.
const linked = "gpu"

// exactDevices is up to how many free devices the best set is found for sure.
const exactDevices = 16

// maxLayout is the most devices of a kind that are chosen by their links.
const maxLayout = 64

// Layout is what the choice of devices of one kind needs: worked out once for a
// node. It does not change.
type Layout struct {
	index []int         // number of each device, ascending
	cores []*bitset.Set // by side: cores near it; nil: all
	side  []int         // which of these are near each device
	link  [][]int       // bandwidth between two, 0 where it is not known
	nic   []int         // bandwidth to the nearest fabric card
	alike []uint64      // devices that may stand for each one, itself included
}

// newLayout gathers the devices of a name and type, the first 64 of them, in the
// order of their numbers. Only GPUs have links.
func newLayout(v *Inventory, name, typ string) *Layout {
	l := &Layout{}
	var rows []int
	row := 0
	for i := range v.Devices {
		d := &v.Devices[i]
		if d.Name == name && d.Type == typ && len(l.index) < maxLayout {
			l.index = append(l.index, d.Index)
			l.side = append(l.side, l.sideOf(d.Cores))
			rows = append(rows, row)
		}
		if d.Name == linked {
			row++
		}
	}
	if name != linked {
		row = 0
	}
	l.connect(v, rows, row)
	for i := range l.index {
		var set uint64
		for k := range l.index {
			if i == k || l.same(i, k) {
				set |= 1 << k
			}
		}
		l.alike = append(l.alike, set)
	}
	return l
}

// connect fills in the bandwidths; rows are the devices' places in the matrix of
// links, which has so many devices before the cards.
func (l *Layout) connect(v *Inventory, rows []int, devices int) {
	n := devices + len(v.NICs)
	known := devices > 0 && len(v.Links) == n*n
	l.nic = make([]int, len(rows))
	for i, row := range rows {
		l.link = append(l.link, make([]int, len(rows)))
		for k, other := range rows {
			if known && i != k {
				l.link[i][k] = v.Links[row*n+other].Bandwidth()
			}
		}
		for k := range v.NICs {
			if known && v.NICs[k].Role == Fabric {
				l.nic[i] = max(l.nic[i], v.Links[row*n+devices+k].Bandwidth())
			}
		}
	}
}

// sideOf is the number of a set of cores among those seen so far.
func (l *Layout) sideOf(cores *bitset.Set) int {
	for i, c := range l.cores {
		if sameSet(c, cores) {
			return i
		}
	}
	l.cores = append(l.cores, cores)
	return len(l.cores) - 1
}

// same tells whether two devices are alike: the same cores, the same bandwidth to
// cards, and the same links to every third device.
func (l *Layout) same(i, k int) bool {
	if l.nic[i] != l.nic[k] || l.side[i] != l.side[k] {
		return false
	}
	for x := range l.index {
		if x != i && x != k && l.link[i][x] != l.link[k][x] {
			return false
		}
	}
	return true
}

func sameSet(a, b *bitset.Set) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Words(), b.Words())
}

// Want is what a job asks of the devices of one kind on one node.
type Want struct {
	Free   *bitset.Set // numbers of the devices that are free
	Count  int
	Cores  *bitset.Set // free cores of the node; nil: cores do not matter
	Need   int         // how many of them the job takes
	Fabric bool        // the job spans nodes: cards matter
	// CoresFirst: enough cores beside the devices matter more than their links.
	CoresFirst bool
}

// Choose picks the best set of free devices: that with the fastest slowest link,
// then the most bandwidth in all, then enough free cores beside it, then fabric
// cards beside it (or, for a job on one node, away from it), then the most
// bandwidth left among the free devices that are not picked, then the lowest
// numbers. So the choice hangs on the node alone and not on its place among
// others. Among at most 16 free devices it is the best there is; among more,
// sets are grown from each device. It returns nil if fewer are free, and for a count
// of 0.
func (l *Layout) Choose(w *Want) *bitset.Set {
	s := &search{l: l, w: w, left: w.Count}
	for i, n := range l.index {
		if w.Free.Has(n) {
			s.free |= 1 << i
		}
	}
	if w.Count <= 0 || bits.OnesCount64(s.free) < w.Count {
		return nil
	}
	for _, c := range l.cores {
		s.beside = append(s.beside, coresBeside(w.Cores, c))
	}
	if bits.OnesCount64(s.free) <= exactDevices {
		s.list(s.free)
	} else {
		s.grow()
	}
	out := &bitset.Set{}
	for set := s.best; set != 0; set &= set - 1 {
		out.Add(l.index[lowest(set)])
	}
	return out
}

// CoresNear adds the cores near some devices to a set. A device that is near all
// adds none.
func (l *Layout) CoresNear(index, to *bitset.Set) {
	for i, n := range l.index {
		if c := l.cores[l.side[i]]; c != nil && index.Has(n) {
			to.Union(c)
		}
	}
}

// coresBeside counts the free cores near a device.
func coresBeside(free, near *bitset.Set) int {
	if free == nil {
		return 0
	}
	if near == nil {
		return free.Len()
	}
	both := free.Clone()
	both.Intersect(near)
	return both.Len()
}

// search looks for the best set; sets are bits by place in the layout.
type search struct {
	l      *Layout
	w      *Want
	free   uint64
	picked uint64
	left   int   // still to be picked
	beside []int // free cores by side
	best   uint64
	score  score
}

// score compares sets by its fields, from the first on; more is better.
type score [6]int

func (a *score) compare(b *score) int {
	for i := range a {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return 0
}

// list goes through all sets that add open devices to those picked. Of devices
// that are alike only those with the lowest numbers are tried.
func (s *search) list(open uint64) {
	if s.left == 0 {
		s.keep()
		return
	}
	if bits.OnesCount64(open) < s.left {
		return
	}
	i := lowest(open)
	s.picked |= 1 << i
	s.left--
	s.list(open &^ (1 << i))
	s.picked &^= 1 << i
	s.left++
	s.list(open &^ s.l.alike[i])
}

// keep rates what is picked and keeps it if it is the best so far.
func (s *search) keep() {
	r := s.rate()
	if c := r.compare(&s.score); s.best == 0 || c > 0 || c == 0 && lower(s.picked, s.best) {
		s.best, s.score = s.picked, r
	}
}

// lower tells whether a set has the lower numbers than another of its size.
func lower(a, b uint64) bool {
	diff := a ^ b
	return diff != 0 && a>>lowest(diff)&1 == 1
}

// grow begins with each device in turn and adds, one by one, the one that makes
// the best set so far. The best of all that come out is kept. Of devices that are
// alike only the first is tried.
func (s *search) grow() {
	whole := *s
	for seeds := s.free; seeds != 0; seeds &^= s.l.alike[lowest(seeds)] {
		try := whole
		try.picked = seeds & -seeds
		for try.best = try.picked; bits.OnesCount64(try.picked) < s.w.Count; try.picked = try.best {
			try.best = 0
			base := try.picked
			for set := s.free &^ base; set != 0; set &^= s.l.alike[lowest(set)] {
				try.picked = base | set&-set
				try.keep()
			}
		}
		s.picked = try.best
		s.keep()
	}
}

// rate judges what is picked, in the order of Choose.
func (s *search) rate() score {
	l := s.l
	weakest, sum, rest, cards := 0, 0, 0, 0
	var sides uint64
	for set := s.picked; set != 0; set &= set - 1 {
		i := lowest(set)
		sides |= 1 << l.side[i]
		cards += l.nic[i]
		for more := set & (set - 1); more != 0; more &= more - 1 {
			b := l.link[i][lowest(more)]
			if sum == 0 || b < weakest {
				weakest = b
			}
			sum += b
		}
	}
	for set := s.free &^ s.picked; set != 0; set &= set - 1 {
		row := l.link[lowest(set)]
		for more := set & (set - 1); more != 0; more &= more - 1 {
			rest += row[lowest(more)]
		}
	}
	if !s.w.Fabric {
		cards = -cards
	}
	cores := 0
	for ; sides != 0; sides &= sides - 1 {
		cores += s.beside[lowest(sides)]
	}
	cores = min(cores, s.w.Need)
	before := 0
	if s.w.CoresFirst {
		before = cores
	}
	return score{before, weakest, sum, cores, cards, rest}
}
