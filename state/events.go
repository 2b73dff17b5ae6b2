package state

import (
	"slices"

	"muster/accounting"
	"muster/gres"
	"muster/job"
	"muster/partition"
)

// nodeChanged keeps since when a node is in its condition. If the condition or the
// size is another one now, the stretch that is over becomes an event.
func (m *Machine) nodeChanged(old, now *partition.Node) {
	if sameCondition(old, now) {
		now.Since = old.Since
		return
	}
	now.Since = m.work.now
	m.nodeStretch(old)
}

// nodeStretch records the stretch in which a node was as it is, up to now.
func (m *Machine) nodeStretch(n *partition.Node) {
	if e := NodeStretch(n, m.work.now); e != nil {
		m.recordEvent(e)
	}
}

// NodeStretch is the event of a node's present condition if it ended at a time; nil
// if the node is not part of the cluster yet, or the stretch has no length.
func NodeStretch(n *partition.Node, to job.Time) *accounting.Event {
	kind := nodeKind(n)
	if kind == 0 || n.Since >= to {
		return nil
	}
	e := &accounting.Event{Kind: kind, Name: n.Name, From: n.Since, To: to, Has: nodeHas(n)}
	if kind != accounting.NodeInService {
		e.Reason, e.By = n.Reason, n.ReasonBy
	}
	return e
}

// nodeKind is the condition of a node; 0 if it has never registered or is FUTURE.
func nodeKind(n *partition.Node) accounting.EventKind {
	switch {
	case n.State == partition.NodeUnknown || n.State == partition.NodeFuture:
		return 0
	case n.State == partition.NodeDown || n.Admin&partition.NodeInvalidReg != 0:
		return accounting.NodeDown
	case n.Admin&(partition.NodeDrain|partition.NodeFail) != 0:
		return accounting.NodeDrained
	}
	return accounting.NodeInService
}

func sameCondition(a, b *partition.Node) bool {
	kind := nodeKind(a)
	return kind == nodeKind(b) &&
		(kind == accounting.NodeInService || a.Reason == b.Reason && a.ReasonBy == b.ReasonBy) &&
		a.Declared.CPUs == b.Declared.CPUs && a.Declared.MemoryMB == b.Declared.MemoryMB && sameDevices(&a.Gres, &b.Gres)
}

// sameDevices tells whether two inventories have the same numbers of devices.
func sameDevices(a, b *gres.Inventory) bool {
	return slices.Equal(a.Counts, b.Counts) && slices.EqualFunc(a.Devices, b.Devices, func(x, y gres.Device) bool {
		return x.Name == y.Name && x.Type == y.Type && x.Index == y.Index
	})
}

// nodeHas is the size of a node by trackable resource.
func nodeHas(n *partition.Node) accounting.Amounts {
	var has accounting.Amounts
	add := func(name string, count uint64) {
		have, _ := has.Get(name)
		has = has.With(name, have+count)
	}
	add("cpu", uint64(n.Declared.CPUs))
	add("mem", n.Declared.MemoryMB)
	add("node", 1)
	for _, k := range n.Gres.Kinds() {
		add("gres/"+k.Name, k.Total)
		if k.Type != "" {
			add("gres/"+k.Name+":"+k.Type, k.Total)
		}
	}
	return has
}

// reservationStretch records the stretch in which a reservation held as it was.
func (m *Machine) reservationStretch(v *partition.Reservation) {
	if e := m.work.ReservationStretch(v, m.work.now); e != nil {
		m.recordEvent(e)
	}
}

// ReservationStretch is the event of a reservation as it is, if it were changed or
// deleted at a time; nil if it has not begun by then.
func (r *Root) ReservationStretch(v *partition.Reservation, to job.Time) *accounting.Event {
	from := max(v.Start, v.Since)
	if v.End != 0 {
		to = min(to, v.End)
	}
	if from >= to {
		return nil
	}
	e := &accounting.Event{Kind: accounting.Reserved, Name: v.Name, From: from, To: to, By: v.CreatedBy, Maint: v.Maintenance()}
	for _, id := range v.Nodes {
		n := r.Node(id)
		if n == nil {
			continue
		}
		e.Nodes = append(e.Nodes, n.Name)
		for _, a := range nodeHas(n) {
			have, _ := e.Has.Get(a.Name)
			e.Has = e.Has.With(a.Name, have+a.Count)
		}
	}
	if v.CoreCount > 0 {
		cpus, _ := e.Has.Get("cpu")
		e.Has = accounting.Amounts{{Name: "cpu", Count: min(uint64(v.CoreCount), cpus)}}
	}
	for _, l := range v.Licenses {
		e.Has = e.Has.With("license/"+l.Name, uint64(l.Count))
	}
	return e
}

// recordEvent puts an event into the outbox.
func (m *Machine) recordEvent(e *accounting.Event) {
	n := m.work.counters.Out
	m.work.counters.Out++
	row := &outboxRow{event: e, sum: m.sum.of(tableEvents, n, e)}
	m.work.hash.add(row.sum)
	m.work.outbox.Set(m.epoch, n, row)
}
