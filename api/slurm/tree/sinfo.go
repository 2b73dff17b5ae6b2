package tree

import (
	"strings"

	"muster/api"
	"muster/api/slurm/format"
)

// NodeGroups writes the lines of sinfo as sinfo --json does.
func NodeGroups(w *Writer, lines []*format.NodeGroup) {
	w.List("sinfo", func() {
		for _, g := range lines {
			w.Map("", func() { nodeGroup(w, g) })
		}
	})
}

// span writes the least and the greatest of a number.
func span(w *Writer, k string, g *format.NodeGroup, get func(*api.NodeRecord) uint64) {
	low, high := extent(g, get)
	w.Map(k, func() {
		w.Int("minimum", int64(low))
		w.Int("maximum", int64(high))
	})
}

func extent(g *format.NodeGroup, get func(*api.NodeRecord) uint64) (low, high uint64) {
	for i, n := range g.Nodes {
		v := get(n)
		if i == 0 || v < low {
			low = v
		}
		high = max(high, v)
	}
	return low, high
}

func nodeGroup(w *Writer, g *format.NodeGroup) {
	first := &api.NodeRecord{}
	if len(g.Nodes) > 0 {
		first = g.Nodes[0]
	}
	c := format.Count(g)
	w.Int("port", int64(first.Port))
	w.Map("node", func() { w.Texts("state", format.NodeStateWords(first.Base, first.Flags)) })
	w.Map("nodes", func() {
		w.Int("allocated", int64(c.Allocated))
		w.Int("idle", int64(c.Idle))
		w.Int("other", int64(c.Other))
		w.Int("total", int64(len(g.Nodes)))
		w.List("hostnames", func() {})
		w.List("addresses", func() {})
		w.List("nodes", func() {
			for _, n := range g.Nodes {
				w.Text("", n.Name)
			}
		})
	})
	groupSizes(w, g, &c)
	w.Map("features", func() {
		w.Text("total", strings.Join(first.Features, ","))
		w.Text("active", strings.Join(format.ActiveFeatures(first), ","))
	})
	w.Map("gres", func() {
		w.Text("total", format.NodeGres(first))
		w.Text("used", format.NodeGresUsed(first))
	})
	w.Text("cluster", "")
	w.Text("comment", first.Comment)
	w.Text("extra", first.Extra)
	w.Map("reason", func() {
		w.Text("description", first.Reason)
		w.Int("time", first.ReasonAt.Unix())
	})
	w.Text("reservation", first.Reservation)
	w.Text("reason_set_by_user", first.ReasonBy)
	w.Map("resource_spec", func() {
		w.Text("cpus", "")
		w.Int("memory", int64(first.Shape.MemSpecMB))
	})
	w.Map("partition", func() {
		if g.Part != nil {
			writePartition(w, g.Part)
		}
	})
}

// groupSizes writes cpus up to weight.
func groupSizes(w *Writer, g *format.NodeGroup, c *format.Counts) {
	w.Map("cpus", func() {
		w.Int("allocated", int64(c.CPUs))
		w.Int("idle", int64(c.IdleCPUs))
		w.Int("other", int64(c.OtherCPUs))
		w.Int("total", int64(c.AllCPUs))
		low, high := extent(g, func(n *api.NodeRecord) uint64 { return uint64(n.Shape.CPUs) })
		w.Int("minimum", int64(low))
		w.Int("maximum", int64(high))
		span(w, "load", g, func(n *api.NodeRecord) uint64 { return uint64(n.Load) })
		w.Map("per_node", func() { w.Number("max", false, true, 0) })
	})
	span(w, "sockets", g, func(n *api.NodeRecord) uint64 { return uint64(n.Shape.Sockets) })
	span(w, "cores", g, func(n *api.NodeRecord) uint64 { return uint64(n.Shape.CoresPerSocket) })
	span(w, "threads", g, func(n *api.NodeRecord) uint64 { return uint64(n.Shape.ThreadsPerCore) })
	span(w, "disk", g, func(n *api.NodeRecord) uint64 { return n.Shape.TmpDiskMB })
	w.Map("memory", func() {
		low, high := extent(g, func(n *api.NodeRecord) uint64 { return n.Shape.MemoryMB })
		w.Int("minimum", int64(low))
		w.Int("maximum", int64(high))
		low, high = extent(g, func(n *api.NodeRecord) uint64 { return n.FreeMemory })
		w.Map("free", func() {
			w.Set("minimum", int64(low))
			w.Set("maximum", int64(high))
		})
		var used uint64
		for _, n := range g.Nodes {
			used += n.Used.MemoryMB
		}
		w.Int("allocated", int64(used))
	})
	span(w, "weight", g, func(n *api.NodeRecord) uint64 { return uint64(n.Weight) })
}
