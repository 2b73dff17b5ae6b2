package sched

import (
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
		share, ok := c.share(t.need, &s.placed[i])
		if !ok {
			return a, false
		}
		a.CPUs += share.CPUs
		a.MemoryMB += share.MemoryMB
		a.Nodes = append(a.Nodes, share)
	}
	a.Billing = uint64(a.CPUs)
	a.BatchNode = a.Nodes[0].Node
	return a, true
}

func (c *cycle) share(n *partition.Need, p *partition.Placed) (job.Share, bool) {
	node := &c.view.Nodes[p.At]
	h := node.Host
	s := job.Share{
		Node: h.Node.ID, Name: h.Node.Name, CPUs: uint32(p.CPUs), MemoryMB: uint64(max(0, p.MemoryMB)),
		Tasks: uint32(p.Tasks), Whole: n.Whole,
	}
	if n.Whole && n.Tasks == 0 && n.PerNode == 0 { // the node's CPUs are all for the script's steps
		s.Tasks = uint32(max(1, p.CPUs/n.CPUsPerTask))
	}
	var ok bool
	if s.Cores, ok = c.cores(h, c.busyCores(p.At), p.Cores, n); !ok {
		return s, false
	}
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
			if d.Index = h.Node.Gres.Choose(kind.Name, kind.Type, free, int(count), s.Cores); d.Index == nil {
				return s, false
			}
		}
		s.Devices = append(s.Devices, d)
	}
	return s, true
}

// cores picks the lowest free cores; a job for which cores are set aside
// (--core-spec) leaves the highest.
func (c *cycle) cores(h *partition.Host, busy *bitset.Set, count int, n *partition.Need) (*bitset.Set, bool) {
	out := &bitset.Set{}
	top := h.Cores
	if n.Whole && n.CoreSpec > int(h.Size.CoreSpec) {
		top -= n.CoreSpec - int(h.Size.CoreSpec)
		count = top
	}
	for i := 0; i < top && count > 0; i++ {
		if !busy.Has(i) {
			out.Add(i)
			count--
		}
	}
	return out, count == 0 && !out.Empty()
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
