package state

import (
	"fmt"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// start gives waiting jobs their resources, if all still fits: one job, or the
// components of a heterogeneous job. Nothing changes if one does not fit.
func (m *Machine) start(list []Start) Result {
	rows := make([]*jobRow, len(list))
	for i := range list {
		if rows[i] = m.work.jobs.Get(uint64(list[i].Job)); rows[i] == nil {
			return Result{Code: NoSuchJob, Text: fmt.Sprintf("job %d is not known", list[i].Job)}
		}
	}
	why := m.mayJoin(rows)
	if why == "" {
		why = m.mayStartAll(rows, list)
	}
	if why != "" {
		return Result{Code: NoLongerFits, Text: why}
	}
	res := Result{}
	for i, r := range rows {
		var e *jobRow
		if r.Array.Waiting != nil {
			e = m.splitOff(r, bitset.Of(int(list[i].Task)))
		} else {
			e = m.edit(r.ID)
		}
		m.begin(e, &list[i])
		m.put(e)
		res.Jobs = append(res.Jobs, e.ID)
	}
	return res
}

// begin makes a waiting row one that runs with what a start gives it.
func (m *Machine) begin(e *jobRow, c *Start) {
	alloc := c.Alloc
	for i := range alloc.Nodes {
		alloc.Nodes[i].Released = false
	}
	e.State, e.Flags, e.Alloc, e.Cancel = job.Running, 0, &alloc, nil
	e.Reason, e.Detail = job.ReasonNone, ""
	e.End, e.Steps, e.StepSeq = job.Result{}, nil, 0
	e.Times.Start, e.Times.Limit = m.work.now, c.Limit
	e.Times.Suspend, e.Times.PreSusp, e.Times.End, e.Times.Planned = 0, 0, 0, 0
	e.Times.LimitEnd = limitEnd(m.work.now, c.Limit, 0)
	if p := e.Request.Partitions; len(p) != 1 || p[0] != alloc.Partition {
		req := *e.Request
		req.Partitions = []string{alloc.Partition}
		e.Request = &req
	}
}

// mayJoin says why records cannot start with one command: they must be all the
// waiting components of one heterogeneous job, or one job that is no component.
func (m *Machine) mayJoin(rows []*jobRow) string {
	if len(rows) == 0 {
		return "the start names no job"
	}
	leader := rows[0].Het.Leader
	if leader == 0 && len(rows) > 1 {
		return fmt.Sprintf("job %d is no component of a heterogeneous job and starts alone", rows[0].ID)
	}
	named := map[job.ID]bool{}
	for _, r := range rows {
		if r.Het.Leader != leader {
			return fmt.Sprintf("jobs %d and %d are not of one heterogeneous job", rows[0].ID, r.ID)
		}
		if named[r.ID] {
			return fmt.Sprintf("the start names job %d twice", r.ID)
		}
		named[r.ID] = true
	}
	first := m.work.Job(leader)
	if leader == 0 || first == nil {
		return ""
	}
	for _, id := range first.Het.IDs {
		if j := m.work.Job(id); j != nil && j.State == job.Pending && !named[id] {
			return fmt.Sprintf("job %d: component %d of the same heterogeneous job waits and would not start with it", rows[0].ID, id)
		}
	}
	return ""
}

// mayStartAll says why starts cannot all be done; "" if they can. Each is checked
// with what those before it would hold counted in; the counts are as they were
// when it returns.
func (m *Machine) mayStartAll(rows []*jobRow, list []Start) string {
	for i, r := range rows {
		if why := m.mayStart(r, &list[i]); why != "" {
			return fmt.Sprintf("job %d: %s", r.ID, why)
		}
		if i == len(rows)-1 {
			break
		}
		would := *r
		m.begin(&would, &list[i])
		m.recount(&r.Job, &would.Job)
		m.recountHeld(r, &would)
		defer func() {
			m.recount(&would.Job, &r.Job)
			m.recountHeld(&would, r)
		}()
	}
	return ""
}

// limitEnd is when a limit ends a job that was suspended for some milliseconds;
// 0 if it has no limit.
func limitEnd(start job.Time, limit job.Minutes, suspended job.Time) job.Time {
	if limit == 0 || limit == job.Unlimited {
		return 0
	}
	return start + job.Time(limit)*60_000 + suspended
}

// mayStart says why a start cannot be done; "" if it can.
func (m *Machine) mayStart(r *jobRow, c *Start) string {
	switch {
	case r.State != job.Pending:
		return "it is " + r.State.String()
	case r.Held.Is() || r.Times.Eligible == 0 || r.Times.Eligible > m.work.now:
		return "it is held, or waits for its begin time or for other jobs"
	case r.Array.Waiting != nil && !r.Array.Waiting.Has(int(c.Task)):
		return fmt.Sprintf("task %d is not waiting in this record", c.Task)
	case r.Array.Waiting == nil && c.Task != r.Array.Task:
		return fmt.Sprintf("it is task %d, not %d", r.Array.Task, c.Task)
	case r.Array.Limit > 0 && m.work.ArrayUse(r.Array.JobID).Active >= r.Array.Limit:
		return "the array's throttle is reached"
	case len(c.Alloc.Nodes) == 0:
		return "the start names no node"
	}
	p := m.work.partition(c.Alloc.Partition)
	if p == nil {
		return fmt.Sprintf("there is no partition %q", c.Alloc.Partition)
	}
	if p.State == partition.PartitionDown || p.State == partition.PartitionInactive {
		return fmt.Sprintf("partition %s starts nothing now", p.Name)
	}
	if why := m.mayReserve(c); why != "" {
		return why
	}
	if why := m.mayBelong(r, c); why != "" {
		return why
	}
	if why := m.mayLicense(c.Alloc.Licenses); why != "" {
		return why
	}
	seen := bitset.Of()
	for i := range c.Alloc.Nodes {
		s := &c.Alloc.Nodes[i]
		if seen.Has(int(s.Node)) {
			return "the start names node " + s.Name + " twice"
		}
		seen.Add(int(s.Node))
		if !p.members.Has(int(s.Node)) {
			return fmt.Sprintf("node %s is not in partition %s", s.Name, p.Name)
		}
		if why := m.mayShare(s); why != "" {
			return "node " + s.Name + ": " + why
		}
	}
	return ""
}

// mayReserve checks reservations: that of the start must hold now, have all the
// nodes, and outlast nothing; nodes that others hold now are not free.
func (m *Machine) mayReserve(c *Start) string {
	for _, v := range m.work.reservations {
		now := v.Start <= m.work.now && (v.End == 0 || m.work.now < v.End)
		own := v.Name == c.Alloc.Reservation
		if own && !now && v.Binds() {
			return fmt.Sprintf("reservation %s does not hold now", v.Name)
		}
		if !own && !now {
			continue
		}
		for i := range c.Alloc.Nodes {
			s := &c.Alloc.Nodes[i]
			if within := v.members.Has(int(s.Node)); own && !within && v.Binds() || !own && within {
				return fmt.Sprintf("node %s and reservation %s do not go together", s.Name, v.Name)
			}
		}
	}
	if c.Alloc.Reservation != "" && m.work.Reservation(c.Alloc.Reservation) == nil {
		return fmt.Sprintf("there is no reservation %q", c.Alloc.Reservation)
	}
	return ""
}

func (m *Machine) mayLicense(list []job.License) string {
	for _, l := range list {
		total := uint32(0)
		for _, have := range m.work.cluster.Licenses {
			if have.Name == l.Name {
				total = have.Total
			}
		}
		if uint64(m.work.LicenseUse(l.Name))+uint64(l.Count) > uint64(total) {
			return fmt.Sprintf("%d licences %s are wanted, %d of %d are in use", l.Count, l.Name, m.work.LicenseUse(l.Name), total)
		}
	}
	return ""
}

// mayShare says why a node cannot give a share; "" if it can.
func (m *Machine) mayShare(s *job.Share) string {
	n := m.work.Node(s.Node)
	if n == nil {
		return "not known"
	}
	if !n.Available() {
		return "takes no new work"
	}
	u := m.work.NodeUse(s.Node)
	if u == nil {
		u = &NodeUse{}
	}
	size := n.Size()
	switch {
	case u.Whole > 0 || s.Whole && u.Jobs > 0:
		return "a job has it for itself"
	case u.CPUs+s.CPUs > size.CPUs:
		return fmt.Sprintf("%d CPUs are wanted, %d of %d are held", s.CPUs, u.CPUs, size.CPUs)
	case u.Cores.Overlaps(s.Cores) || s.Cores.Max() >= size.Cores()-int(size.CoreSpec):
		return "cores are held or do not exist"
	case s.CPUs > 0 && s.Cores.Empty():
		return "no cores are named"
	case m.work.cluster.Policy.TrackMemory && u.MemoryMB+s.MemoryMB > size.MemoryMB-min(size.MemSpecMB, size.MemoryMB):
		return fmt.Sprintf("%d MB are wanted, %d of %d are held", s.MemoryMB, u.MemoryMB, size.MemoryMB)
	}
	for i := range s.Devices {
		if !mayHave(n, u, &s.Devices[i]) {
			return "device " + s.Devices[i].Name + " is held or does not exist"
		}
	}
	return ""
}

// mayHave checks one kind of device: those with numbers by number, the others by
// count.
func mayHave(n *partition.Node, u *NodeUse, d *job.DeviceShare) bool {
	if d.Index == nil {
		total, held := uint64(0), uint64(0)
		for _, c := range n.Gres.Counts {
			if c.Name == d.Name && c.Type == d.Type {
				total += c.Count
			}
		}
		if at, ok := u.device(d.Name, d.Type); ok {
			held = u.Devices[at].Count
		}
		return held+d.Count <= total
	}
	if uint64(d.Index.Len()) != d.Count {
		return false
	}
	have := bitset.Of()
	for _, dev := range n.Gres.Devices {
		if dev.Name == d.Name {
			have.Add(dev.Index)
		}
	}
	for i := range u.Devices {
		if u.Devices[i].Name == d.Name {
			have.Subtract(u.Devices[i].Index)
		}
	}
	missing := d.Index.Clone()
	missing.Subtract(have)
	return missing.Empty()
}
