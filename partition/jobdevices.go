package partition

import "muster/gres"

// This file deals out devices that are asked for by job (--gpus=6) over its nodes.

// onHost is how many devices of an item a candidate could give beyond what the
// job needs there anyway.
func onHost(it gres.Item, c *Candidate) int64 {
	var sum int64
	for i, k := range c.Host.Kinds {
		if k.Name == it.Name && (it.Type == "" || it.Type == k.Type) {
			sum += c.Free.Devices[i]
		}
	}
	return max(0, sum)
}

// jobDevices tells whether a candidate can give at least one of each item, which
// each node of such a job must.
func jobDevices(n *Need, c *Candidate) bool {
	for _, it := range n.Gres.Job {
		if it.Count > 0 && onHost(it, c) == 0 {
			return false
		}
	}
	return true
}

func jobDevicesEnough(n *Need, cands []Candidate, picks []int) bool {
	for _, it := range n.Gres.Job {
		var sum int64
		for _, i := range picks {
			sum += onHost(it, &cands[i])
		}
		if sum < int64(it.Count) {
			return false
		}
	}
	return true
}

// dealer keeps what of each item is still to be given.
type dealer struct{ left gres.Spec }

func newDealer(n *Need) *dealer {
	if zero(n.Gres.Job) {
		return &dealer{}
	}
	d := &dealer{left: make(gres.Spec, len(n.Gres.Job))}
	copy(d.left, n.Gres.Job)
	return d
}

// give works out what a node gives to t tasks: of each item as many as it has
// free while one is left for each of the nodes after it, and fewer if CPUs or
// memory asked for by device do not suffice.
func (d *dealer) give(n *Need, c *Candidate, t, after int) (Take, bool) {
	var k Take
	if len(d.left) == 0 {
		ok := n.Cost(c.Host, &c.Free, t, nil, &k) && n.Inside(&k, &c.Free)
		return k, ok
	}
	share := make(gres.Spec, len(d.left))
	copy(share, d.left)
	for i := range share {
		most := min(onHost(share[i], c), int64(share[i].Count)-int64(after))
		share[i].Count = uint64(max(0, most))
	}
	for {
		extra := make([]int64, len(c.Host.Kinds))
		if share.Match(c.Host.Kinds, c.Free.Devices, extra) &&
			n.Cost(c.Host, &c.Free, t, extra, &k) && n.Inside(&k, &c.Free) {
			break
		}
		if !shrink(share) {
			return k, false
		}
	}
	for i := range share {
		d.left[i].Count -= share[i].Count
	}
	return k, true
}

// shrink takes one device off the largest item that has more than one.
func shrink(s gres.Spec) bool {
	best := -1
	for i := range s {
		if s[i].Count > 1 && (best < 0 || s[i].Count > s[best].Count) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	s[best].Count--
	return true
}

func (d *dealer) done() bool { return zero(d.left) }
