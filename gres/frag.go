package gres

import "slices"

// Whole is all of one device, in the thousandths in which shares are counted.
const Whole = 1000

// Ask is a kind of request as placement over many nodes sees it. CPUs and Memory
// are in any unit that the rooms share.
type Ask struct {
	CPUs, Memory int64
	Count        int    // devices; 0: none
	Share        int    // thousandths of each: Whole, or less when Count is 1
	Types        uint64 // bit i: devices of type i will do; 0: any
	Weight       int64  // how often it is asked for, against the others
}

// Room is what is free of one node.
type Room struct {
	CPUs, Memory int64
	Type         int     // number of the type of its devices, below 64
	Free         []int32 // thousandths free of each device
}

// Fits tells whether a request could run in a room.
func (r *Room) Fits(a *Ask) bool {
	if a.CPUs > r.CPUs || a.Memory > r.Memory {
		return false
	}
	if a.Count == 0 {
		return true
	}
	if a.Types != 0 && a.Types>>r.Type&1 == 0 {
		return false
	}
	n := 0
	for _, f := range r.Free {
		if int(f) >= a.Share {
			n++
		}
	}
	return n >= a.Count
}

// free is the sum over all devices, in thousandths.
func (r *Room) free() int64 {
	var n int64
	for _, f := range r.Free {
		n += int64(f)
	}
	return n
}

// Mix is what is asked for, by how often. The kinds of request that together are
// 95 of 100 requests count.
type Mix struct {
	asks   []Ask
	weight int64
}

// NewMix makes a mix of the kinds whose weight is above 0.
func NewMix(asks []Ask) *Mix {
	m := &Mix{}
	var all int64
	for _, a := range asks {
		if a.Weight > 0 {
			m.asks = append(m.asks, a)
			all += a.Weight
		}
	}
	slices.SortStableFunc(m.asks, func(x, y Ask) int { return int(min(1, max(-1, y.Weight-x.Weight))) })
	for i := range m.asks {
		m.weight += m.asks[i].Weight
		if m.weight*100 >= all*95 {
			m.asks = m.asks[:i+1]
			break
		}
	}
	return m
}

// Frag is how much of the devices free in a room the next request is expected
// not to be able to use, in thousandths of a device: all of it when it cannot run
// there, else what is free on devices that have too little for it. (Weng et al.,
// "Beware of Fragmentation", USENIX ATC 2023.) Divided by what is free it is the
// measure of fragmentation, between 0 and 1.
func (m *Mix) Frag(r *Room) int64 {
	if m.weight == 0 {
		return 0
	}
	free := r.free()
	var sum int64
	for i := range m.asks {
		a := &m.asks[i]
		if a.Count == 0 || !r.Fits(a) {
			sum += a.Weight * free
			continue
		}
		for _, f := range r.Free {
			if int(f) < a.Share {
				sum += a.Weight * int64(f)
			}
		}
	}
	return sum / m.weight
}
