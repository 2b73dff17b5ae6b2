package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"muster/accounting"
	"muster/gres"
	"muster/internal/hostlist"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
)

// configure makes a cluster file the configuration: all of it or nothing.
func (m *Machine) configure(c *Configure) Result {
	if serial := m.work.Configuration().Serial; c.Base != 0 && c.Base != serial {
		return Result{Code: Conflict, Text: fmt.Sprintf("the configuration is number %d by now, and this was made from number %d", serial, c.Base)}
	}
	if why := checkCluster(&c.Cluster); why != "" {
		return Result{Code: Invalid, Text: why}
	}
	jobs, reservations := m.work.Losses(&c.Cluster)
	fenced := slices.ContainsFunc(jobs, func(l Loss) bool { return l.Fenced })
	if fenced || len(jobs)+len(reservations) > 0 && !c.Force {
		return Result{Code: InUse, Text: refuseLosses(jobs, reservations)}
	}
	before := m.work.cluster
	m.work.hash.sub(m.work.clusterSum)
	m.work.cluster = &c.Cluster
	m.work.clusterSum = m.sum.of(tableCluster, 0, &c.Cluster)
	m.work.hash.add(m.work.clusterSum)
	if m.work.book.Serial == 0 {
		m.setBook(accounting.Initial())
	}
	m.configureNodes(before, &c.Cluster, jobs)
	m.configurePartitions(&c.Cluster)
	m.dropReserved(reservations)
	m.rememberConfiguration(c)
	return Result{}
}

// checkCluster says what makes a configuration one that cannot be; "" if nothing.
func checkCluster(c *partition.Cluster) string {
	if len(wire.Encode(nil, c)) == 0 {
		return "a cluster file that says nothing"
	}
	if why := checkNames(c); why != "" {
		return why
	}
	for i := range c.Partitions {
		if _, why := expandNodes(c, &c.Partitions[i]); why != "" {
			return why
		}
	}
	return ""
}

func checkNames(c *partition.Cluster) string {
	seen := make(map[string]bool, len(c.Nodes))
	for i := range c.Nodes {
		name := c.Nodes[i].Name
		if name == "" || seen[name] {
			return fmt.Sprintf("node name %q is empty or used twice", name)
		}
		seen[name] = true
	}
	parts := map[string]bool{}
	for i := range c.Partitions {
		name := c.Partitions[i].Name
		if name == "" || parts[name] {
			return fmt.Sprintf("partition name %q is empty or used twice", name)
		}
		parts[name] = true
	}
	return ""
}

// expandNodes lists the names of a partition's nodes.
func expandNodes(c *partition.Cluster, p *partition.Partition) ([]string, string) {
	if strings.EqualFold(p.NodeList, "ALL") {
		names := make([]string, len(c.Nodes))
		for i := range c.Nodes {
			names[i] = c.Nodes[i].Name
		}
		return names, ""
	}
	if p.NodeList == "" {
		return nil, ""
	}
	names, err := hostlist.Expand(p.NodeList)
	if err != nil {
		return nil, fmt.Sprintf("partition %s: nodes: %v", p.Name, err)
	}
	known := make(map[string]bool, len(c.Nodes))
	for i := range c.Nodes {
		known[c.Nodes[i].Name] = true
	}
	for _, n := range names {
		if !known[n] {
			return nil, fmt.Sprintf("partition %s: node %s is not in the cluster file", p.Name, n)
		}
	}
	return names, ""
}

// configureNodes brings the node table to what the file declares. A node keeps
// its id and its state; lost are the jobs that have no place any more.
func (m *Machine) configureNodes(before, c *partition.Cluster, lost []Loss) {
	was := make(map[string]*partition.Node, len(before.Nodes))
	for i := range before.Nodes {
		was[before.Nodes[i].Name] = &before.Nodes[i]
	}
	keep := map[job.NodeID]bool{}
	order := make([]job.NodeID, 0, len(c.Nodes))
	for i := range c.Nodes {
		n := c.Nodes[i]
		if old := m.work.NodeNamed(n.Name); old != nil {
			n = declared(old, was[n.Name], &n)
		} else {
			n.ID = m.work.counters.Node
			m.work.counters.Node++
		}
		keep[n.ID] = true
		order = append(order, n.ID)
		m.putNode(n)
	}
	for _, l := range lost {
		n, r := m.work.NodeNamed(l.Node), m.edit(l.Job)
		if keep[n.ID] && r.State.Active() { // the node says when nothing of it is left
			m.failOn(r, n)
			m.finish(r)
		}
	}
	for _, id := range m.work.order {
		if keep[id] {
			continue
		}
		row := m.work.nodes.Get(uint64(id))
		for _, on := range m.jobsOn(id) {
			m.loseShare(m.edit(on), &row.Node, true)
		}
		m.nodeStretch(&row.Node)
		m.work.hash.sub(row.sum)
		m.work.nodes.Set(m.epoch, uint64(id), nil)
	}
	m.work.order = order
	m.nameNodes()
}

// nameNodes sorts the nodes by name for NodeNamed.
func (m *Machine) nameNodes() {
	names := make([]nodeName, 0, len(m.work.order))
	for _, id := range m.work.order {
		names = append(names, nodeName{m.work.Node(id).Name, id})
	}
	slices.SortFunc(names, func(a, b nodeName) int { return strings.Compare(a.name, b.name) })
	m.work.names = names
}

// declared is a known node with what a new file says of it; before is what the file
// in force says, nil if nothing. What the node itself reported stays: devices until
// the file says something else of them than before.
func declared(old, before, file *partition.Node) partition.Node {
	n := *old
	n.Declared, n.Weight = file.Declared, file.Weight
	n.Features, n.Active = file.Features, file.Active
	if before == nil || old.BootID == "" || !sameGres(before, file) {
		n.Gres = declaredGres(old, file)
	}
	if len(file.Address) > 0 && (before == nil || old.BootID == "" || !slices.Equal(before.Address, file.Address)) {
		n.Address = file.Address
	}
	return n
}

// declaredGres is what a node has by a file that says something new of its devices.
func declaredGres(old, file *partition.Node) gres.Inventory {
	switch {
	case len(file.Gres.Devices)+len(file.Gres.Counts) > 0 && old.BootID != "":
		return file.Gres.With(&old.Gres)
	case old.Gres.Found && old.BootID != "":
		return old.Gres // none are declared: it has what it found
	}
	return file.Gres
}

func sameGres(a, b *partition.Node) bool {
	return bytes.Equal(wire.Encode(nil, &a.Gres), wire.Encode(nil, &b.Gres))
}

// dropReserved takes nodes that are gone out of reservations; one that has none left
// goes with them.
func (m *Machine) dropReserved(names []string) {
	list := slices.Clone(m.work.reservations)
	for _, name := range names {
		at := slices.IndexFunc(list, func(v *reservationRow) bool { return v.Name == name })
		m.work.hash.sub(list[at].sum)
		v := list[at].Reservation
		v.Nodes = slices.DeleteFunc(slices.Clone(v.Nodes), func(id job.NodeID) bool { return m.work.Node(id) == nil })
		if len(v.Nodes) == 0 {
			list = slices.Delete(list, at, at+1)
			continue
		}
		row := &reservationRow{Reservation: v, members: members(v.Nodes)}
		row.sum = m.sum.of(tableReservations, 0, &row.Reservation)
		m.work.hash.add(row.sum)
		list[at] = row
	}
	m.work.reservations = list
}

func (m *Machine) configurePartitions(c *partition.Cluster) {
	for _, p := range m.work.partitions {
		m.work.hash.sub(p.sum)
	}
	list := make([]*partitionRow, 0, len(c.Partitions))
	for i := range c.Partitions {
		p := c.Partitions[i]
		names, _ := expandNodes(c, &p)
		p.Nodes = m.nodeIDs(names)
		list = append(list, m.partitionRow(p))
	}
	m.work.partitions = list
}

func (m *Machine) nodeIDs(names []string) []job.NodeID {
	var ids []job.NodeID
	for _, name := range names {
		if n := m.work.NodeNamed(name); n != nil {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// partitionRow makes a row and takes it into the hash.
func (m *Machine) partitionRow(p partition.Partition) *partitionRow {
	row := &partitionRow{Partition: p, members: members(p.Nodes)}
	row.sum = m.sum.of(tablePartitions, 0, &row.Partition)
	m.work.hash.add(row.sum)
	return row
}

// setPartition replaces the record of a partition, or adds one.
func (m *Machine) setPartition(c *Partition) Result {
	p := c.Value
	if p.Name == "" {
		return Result{Code: Invalid, Text: "a partition needs a name"}
	}
	if len(p.Nodes) == 0 && p.NodeList != "" {
		names, why := expandNodes(m.work.cluster, &p)
		if why != "" {
			return Result{Code: Invalid, Text: why}
		}
		p.Nodes = m.nodeIDs(names)
	}
	list := slices.Clone(m.work.partitions)
	at := slices.IndexFunc(list, func(o *partitionRow) bool { return o.Name == p.Name })
	switch {
	case c.Create && at >= 0:
		return Result{Code: Exists, Text: fmt.Sprintf("partition %s exists", p.Name)}
	case c.Delete && at < 0:
		return Result{Code: NoSuchPartition, Text: fmt.Sprintf("there is no partition %s", p.Name)}
	case c.Delete && m.wanted(p.Name):
		return Result{Code: InUse, Text: "Partition is in use"}
	}
	if at >= 0 {
		m.work.hash.sub(list[at].sum)
	}
	switch {
	case c.Delete:
		list = slices.Delete(list, at, at+1)
	case at < 0:
		list = append(list, m.partitionRow(p))
	default:
		list[at] = m.partitionRow(p)
	}
	m.work.partitions = list
	if p.Default && !c.Delete {
		m.onlyDefault(p.Name)
	}
	return Result{}
}

// onlyDefault makes a partition the only one that jobs go to which name none.
func (m *Machine) onlyDefault(name string) {
	for i, o := range m.work.partitions {
		if o.Default && o.Name != name {
			m.work.hash.sub(o.sum)
			other := o.Partition
			other.Default = false
			m.work.partitions[i] = m.partitionRow(other)
		}
	}
}

// wanted tells whether a job that has not ended names a partition.
func (m *Machine) wanted(name string) bool {
	for j := range m.work.Jobs() {
		if !j.Terminal() && (slices.Contains(j.Request.Partitions, name) || j.Alloc != nil && j.Alloc.Partition == name) {
			return true
		}
	}
	return false
}

// setReservation creates, replaces or deletes a reservation.
func (m *Machine) setReservation(c *Reservation) Result {
	list := slices.Clone(m.work.reservations)
	at, found := slices.BinarySearchFunc(list, c.Value.Name, func(v *reservationRow, n string) int { return strings.Compare(v.Name, n) })
	switch {
	case c.Value.Name == "":
		return Result{Code: Invalid, Text: "a reservation needs a name"}
	case c.Create && found:
		return Result{Code: Exists, Text: fmt.Sprintf("reservation %s exists", c.Value.Name)}
	case !c.Create && !found:
		return Result{Code: NoSuchReservation, Text: fmt.Sprintf("there is no reservation %s", c.Value.Name)}
	}
	if found {
		m.reservationStretch(&list[at].Reservation)
		m.work.hash.sub(list[at].sum)
		list = slices.Delete(list, at, at+1)
	}
	if !c.Delete {
		row := &reservationRow{Reservation: c.Value, members: members(c.Value.Nodes)}
		row.Since = m.work.now
		row.sum = m.sum.of(tableReservations, 0, &row.Reservation)
		m.work.hash.add(row.sum)
		list = slices.Insert(list, at, row)
	}
	m.work.reservations = list
	if c.Delete && c.Value.Has(partition.NoHoldJobsAfter) {
		m.letGo(c.Value.Name)
	}
	return Result{}
}

// letGo takes a reservation that is gone out of the requests of the jobs that wait
// for it alone.
func (m *Machine) letGo(name string) {
	var ids []job.ID
	for j := range m.work.Waiting() {
		if j.Request.Reservation == name {
			ids = append(ids, j.ID)
		}
	}
	for _, id := range ids {
		r := m.edit(id)
		req := *r.Request
		req.Reservation = ""
		r.Request = &req
		m.putWaiting(r)
	}
}
