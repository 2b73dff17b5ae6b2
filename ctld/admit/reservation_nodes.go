package admit

import (
	"slices"
	"strings"

	"muster/job"
	"muster/partition"
	"muster/state"
)

// markNodes sets the flag that says how nodes were named (scontrol(1), Flags):
// one by one, all of the cluster, or all of a partition.
func (u *reservationUpdate) markNodes() {
	v := &u.value
	flags := []string{"SPEC_NODES"}
	switch {
	case u.all && v.Partition != "":
		u.take(u.partitionNodes())
		flags = append(flags, "PART_NODES")
	case u.all:
		flags = append(flags, "ALL_NODES")
	}
	v.Flags = slices.DeleteFunc(slices.Clone(v.Flags), func(f string) bool {
		return f == "SPEC_NODES" || f == "ALL_NODES" || f == "PART_NODES"
	})
	v.Flags = append(v.Flags, flags...)
}

// partitionNodes lists the nodes of the reservation's partition, or of all.
func (u *reservationUpdate) partitionNodes() []string {
	var names []string
	if p := u.root.Partition(u.value.Partition); p != nil {
		for _, id := range p.Nodes {
			names = append(names, u.root.Node(id).Name)
		}
		return names
	}
	for n := range u.root.Nodes() {
		names = append(names, n.Name)
	}
	return names
}

// pick chooses free nodes; nil if there are not enough.
func (u *reservationUpdate) pick() []string {
	var names []string
	all := u.partitionNodes()
	for _, held := range []bool{true, false} { // an update keeps what it has
		for _, name := range all {
			n := u.root.NodeNamed(name)
			if len(names) < u.count && held == slices.Contains(u.value.Nodes, n.ID) && n.Available() && !u.overlaps(n.ID) && !u.busy(n.ID) {
				names = append(names, name)
			}
		}
	}
	if len(names) < u.count {
		return nil
	}
	return names
}

func (u *reservationUpdate) has(flag string) bool { return slices.Contains(u.value.Flags, flag) }

// overlaps tells whether another reservation has a node at the same time.
func (u *reservationUpdate) overlaps(id job.NodeID) bool {
	v := &u.value
	if u.has("OVERLAP") || u.has("MAINT") {
		return false
	}
	for other := range u.root.Reservations() {
		if other.Name != v.Name && slices.Contains(other.Nodes, id) && other.Covers(v.Start, v.End) && !slices.Contains(other.Flags, "OVERLAP") && !other.Maintenance() {
			return true
		}
	}
	return false
}

// busy tells whether a job runs on a node that may go on into the reservation,
// unless jobs are ignored.
func (u *reservationUpdate) busy(id job.NodeID) bool {
	v := &u.value
	if u.has("IGNORE_JOBS") || u.has("MAINT") {
		return false
	}
	for j := range u.root.OnNode(id) {
		if j.Request.Reservation != v.Name && (j.Times.LimitEnd == 0 || j.Times.LimitEnd > max(v.Start, u.now)) {
			return true
		}
	}
	return false
}

// InUse tells whether a job runs in a reservation.
func InUse(root *state.Root, name string) bool {
	for j := range root.Holding() {
		if j.Alloc != nil && (j.Alloc.Reservation == name || j.Request.Reservation == name) {
			return true
		}
	}
	return false
}

// Wanted tells whether a job runs in a reservation or waits for it.
func Wanted(root *state.Root, name string) bool {
	if InUse(root, name) {
		return true
	}
	for j := range root.Waiting() {
		if slices.Contains(strings.Split(j.Request.Reservation, ","), name) {
			return true
		}
	}
	return false
}

// Replenished is a reservation with REPLACE or REPLACE_DOWN as it is to be: nodes that
// are lost, and with REPLACE those that have jobs, are replaced by idle ones, as many
// as there are. false: it is to stay as it is. Nodes that were named stay.
func Replenished(root *state.Root, now job.Time, r *partition.Reservation) (*partition.Reservation, bool) {
	if !r.Has(partition.Replace) && !r.Has(partition.ReplaceDown) || r.Has("SPEC_NODES") {
		return nil, false
	}
	u := &reservationUpdate{root: root, now: now, value: *r}
	busy := func(id job.NodeID) bool {
		for range root.OnNode(id) {
			return true
		}
		return false
	}
	var kept, lost []string
	for _, id := range r.Nodes {
		switch n := root.Node(id); {
		case n == nil:
		case !n.Available() || r.Has(partition.Replace) && busy(id):
			lost = append(lost, n.Name)
		default:
			kept = append(kept, n.Name)
		}
	}
	if len(lost) == 0 {
		return nil, false
	}
	fresh := 0
	for _, name := range u.partitionNodes() {
		n := root.NodeNamed(name)
		if fresh < len(lost) && !slices.Contains(r.Nodes, n.ID) && n.Available() && !busy(n.ID) && !u.overlaps(n.ID) {
			kept = append(kept, name)
			fresh++
		}
	}
	if fresh == 0 {
		return nil, false
	}
	u.take(append(kept, lost[fresh:]...))
	return &u.value, true
}
