package sched

import (
	"muster/accounting"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// allocation names the cores and devices of a placement that starts now. It is
// false when a node's cores or devices do not match the counts, which only a
// wrong view can cause.
func (c *cycle) allocation(t *trial, s *spot) (job.Allocation, bool) {
	a := job.Allocation{Partition: t.part.Name, Licenses: s.licenses, Nodes: make([]job.Share, 0, len(s.placed))}
	if t.resv != nil {
		a.Reservation = t.resv.Name
	}
	for i := range s.placed {
		share, ok := c.share(t.need, &s.placed[i], len(s.placed) > 1)
		if !ok {
			return a, false
		}
		a.CPUs += share.CPUs
		a.MemoryMB += share.MemoryMB
		a.Nodes = append(a.Nodes, share)
	}
	accounting.Bill(&a, t.part.Billing, c.view.Policy.Priority.Billing)
	a.BatchNode = a.Nodes[0].Node
	return a, true
}

// share names the cores and devices of a job on one node; spans says that it has
// more nodes.
func (c *cycle) share(n *partition.Need, p *partition.Placed, spans bool) (job.Share, bool) {
	node := &c.view.Nodes[p.At]
	h := node.Host
	s := job.Share{
		Node: h.Node.ID, Name: h.Node.Name, CPUs: uint32(p.CPUs), MemoryMB: uint64(max(0, p.MemoryMB)),
		Tasks: uint32(p.Tasks), Whole: n.Whole,
	}
	if n.Whole && n.Tasks == 0 && n.PerNode == 0 { // the node's CPUs are all for the script's steps
		s.Tasks = uint32(max(1, p.CPUs/n.CPUsPerTask))
	}
	busy := c.busyCores(p.At)
	open := openCores(h, busy, n)
	near := &bitset.Set{} // cores beside the devices
	held := c.heldDevices(p.At)
	for k, count := range p.Devices {
		if count == 0 {
			continue
		}
		kind := &h.Kinds[k]
		d := job.DeviceShare{Name: kind.Name, Type: kind.Type, Count: uint64(count)}
		if kind.Index != nil {
			free := kind.Index.Clone()
			free.Subtract(held[k])
			w := gres.Want{Free: free, Count: int(count), Cores: open, Need: p.Cores, Fabric: spans, CoresFirst: n.CoresNear}
			if n.CoresAny {
				w.Cores = nil
			}
			if d.Index = kind.Layout.Choose(&w); d.Index == nil {
				return s, false
			}
			if !n.CoresAny {
				kind.Layout.CoresNear(d.Index, near)
			}
		}
		s.Devices = append(s.Devices, d)
	}
	want := p.Cores
	if n.Whole {
		want = topCore(h, n)
	}
	if n.CoresNear && !near.Empty() && !n.Whole {
		open.Intersect(near)
	}
	s.Cores = pickCores(open, near, want)
	return s, s.Cores != nil
}

// topCore is one more than the highest core that a job may have; one for which
// cores are set aside (--core-spec) leaves the highest.
func topCore(h *partition.Host, n *partition.Need) int {
	top := h.Cores
	if n.Whole && n.CoreSpec > int(h.Size.CoreSpec) {
		top -= n.CoreSpec - int(h.Size.CoreSpec)
	}
	return max(0, top)
}

// openCores are the free cores that a job may have.
func openCores(h *partition.Host, busy *bitset.Set, n *partition.Need) *bitset.Set {
	out := bitset.Range(0, topCore(h, n))
	out.Subtract(busy)
	return out
}

// pickCores takes cores near the job's devices first, then the others, the lowest
// first. It returns nil if there are too few.
func pickCores(open, near *bitset.Set, count int) *bitset.Set {
	out := &bitset.Set{}
	for _, beside := range []bool{true, false} {
		for i := range open.All {
			if out.Len() < count && near.Has(i) == beside {
				out.Add(i)
			}
		}
	}
	if out.Empty() || out.Len() < count {
		return nil
	}
	return out
}

// busyCores is the set of cores held on a node, this plan's starts included; the
// caller may change it.
func (c *cycle) busyCores(node int) *bitset.Set {
	if c.busy[node] == nil {
		c.busy[node] = c.view.Nodes[node].Busy.Clone()
	}
	return c.busy[node]
}

func (c *cycle) heldDevices(node int) []*bitset.Set {
	n := &c.view.Nodes[node]
	if c.held[node] == nil && len(n.Host.Kinds) > 0 {
		held := make([]*bitset.Set, len(n.Host.Kinds))
		for k := range held {
			held[k] = &bitset.Set{}
			if k < len(n.Held) {
				held[k] = n.Held[k].Clone()
			}
		}
		c.held[node] = held
	}
	return c.held[node]
}

// occupy notes the cores and devices of a start as held.
func (c *cycle) occupy(s *spot, a *job.Allocation) {
	for i := range a.Nodes {
		at := s.placed[i].At
		share := &a.Nodes[i]
		c.busyCores(at).Union(share.Cores)
		c.partCores[partNode{at, a.Partition}] += share.Cores.Len()
		held := c.heldDevices(at)
		for _, d := range share.Devices {
			for k, kind := range c.view.Nodes[at].Host.Kinds {
				if kind.Name == d.Name && kind.Type == d.Type {
					held[k].Union(d.Index)
				}
			}
		}
	}
}
