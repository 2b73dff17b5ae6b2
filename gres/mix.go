package gres

import (
	"cmp"
	"slices"
)

// Mix is what is asked for, by how often, on nodes of given types: it judges what
// the free part of a node is good for.
type Mix struct {
	typical []Ask // the kinds that together are 95 of 100 requests, the frequent first
	weight  int64 // sum of their weights
	worth   *worths
	cpus    int64     // CPUs that requests take with each device, on average and a tenth less
	wanted  [64]int64 // by type: see pressure
}

// NewMix makes a mix of requests with weights and the empty rooms that they are
// for. Requests of weight 0 and below do not count.
func NewMix(asks []Ask, rooms []Room) *Mix {
	m := &Mix{worth: newWorths(asks), wanted: pressure(asks, rooms)}
	var all, cpus, devices int64
	for _, a := range asks {
		if a.Weight <= 0 {
			continue
		}
		a.Weight = min(a.Weight, 1<<30)
		m.typical = append(m.typical, a)
		all += a.Weight
		if n := a.amount(); n > 0 {
			cpus += a.Weight * a.CPUs
			devices += a.Weight * n
		}
	}
	if devices > 0 {
		m.cpus = scaled(cpus, Whole*9/10, devices)
	}
	slices.SortStableFunc(m.typical, func(x, y Ask) int { return cmp.Compare(y.Weight, x.Weight) })
	for i := range m.typical {
		m.weight += m.typical[i].Weight
		if m.weight*100 >= all*95 {
			m.typical = m.typical[:i+1]
			break
		}
	}
	return m
}

// amount is what a request takes of devices, in thousandths of one.
func (a *Ask) amount() int64 { return int64(a.Count) * int64(a.Share) }

// pressure is, by type of device, how much of all devices of the type would be
// taken by requests that name types, if as much were asked for as there is; in
// thousandths, at most 1000. A request that names several types counts for each
// by how much there is of it.
func pressure(asks []Ask, rooms []Room) (out [64]int64) {
	var have, want [64]int64
	var haveAll, wantAll int64
	for i := range rooms {
		have[rooms[i].Type&63] += int64(len(rooms[i].Free))
		haveAll += int64(len(rooms[i].Free))
	}
	for i := range asks {
		a := &asks[i]
		n := min(max(0, a.Weight), 1<<30) * a.amount() / 10
		wantAll += n
		var named int64
		for t, h := range have {
			named += h * int64(a.Types>>t&1)
		}
		for t, h := range have {
			if named > 0 && a.Types>>t&1 == 1 {
				want[t] += n / named * h
			}
		}
	}
	for t, h := range have {
		if h > 0 && wantAll > 0 {
			out[t] = min(1000, want[t]/h*haveAll/max(1, wantAll/1000))
		}
	}
	return out
}

// Frag is how much of the devices free in a room the next request is expected
// not to be able to use, in thousandths of a device: all of it when it cannot run
// there, else what is free on devices that have too little for it. Divided by what
// is free it is the measure of fragmentation, between 0 and 1. (Weng et al.,
// "Beware of Fragmentation", USENIX ATC 2023.)
func (m *Mix) Frag(r *Room) int64 {
	if m.weight == 0 {
		return 0
	}
	free := r.free()
	var sum int64
	for i := range m.typical {
		a := &m.typical[i]
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

// Loss says how badly what is free in a room serves the requests to come, in
// thousandths of a device; a place for a request is the better the less the loss
// rises, or the more it falls. It adds to Frag what Frag, which looks one request
// ahead, does not see:
//   - what is free beyond its worth when devices are packed as well as can be;
//   - half of the worth for which there will be no CPUs, if requests take as many
//     as they do on average;
//   - less half of what is free on types that others need, so that requests which
//     take any type leave those alone.
func (m *Mix) Loss(r *Room) int64 {
	free, worth := int64(0), int64(0)
	for _, f := range r.Free {
		free += int64(f)
		worth += m.worth[f/cell]
	}
	loss := m.Frag(r) + free - worth - m.wanted[r.Type&63]*free/(2*Whole)
	if m.cpus > 0 {
		loss += max(0, worth-r.CPUs*Whole/m.cpus) / 2
	}
	return loss
}
