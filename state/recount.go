package state

import (
	"slices"
	"strings"

	"muster/job"
)

// recount brings what jobs hold, of nodes and of licences, from one record of a
// job to the next. Either may be nil.
func (m *Machine) recount(old, now *job.Job) {
	var before, after *job.Allocation
	if old != nil {
		before = old.Alloc
	}
	if now != nil {
		after = now.Alloc
	}
	if before == after {
		return
	}
	for s := range onlyIn(before, after) {
		m.release(s)
	}
	for s := range onlyIn(after, before) {
		m.occupy(s)
	}
	if held := before.Held(); held != after.Held() {
		if held {
			m.countLicenses(before.Licenses, false)
		} else {
			m.countLicenses(after.Licenses, true)
		}
	}
}

// onlyIn yields the shares that a holds and b does not. A job keeps the order of
// its nodes, so shares are compared place by place.
func onlyIn(a, b *job.Allocation) func(yield func(*job.Share) bool) {
	return func(yield func(*job.Share) bool) {
		if a == nil {
			return
		}
		for i := range a.Nodes {
			s := &a.Nodes[i]
			if s.Released || b != nil && i < len(b.Nodes) && b.Nodes[i].Node == s.Node && !b.Nodes[i].Released {
				continue
			}
			if !yield(s) {
				return
			}
		}
	}
}

// occupy adds a share to what is held of its node.
func (m *Machine) occupy(s *job.Share) {
	u := m.editUse(s.Node)
	u.Jobs++
	u.CPUs += s.CPUs
	u.MemoryMB += s.MemoryMB
	if s.Whole {
		u.Whole++
	}
	u.Cores.Union(s.Cores)
	for i := range s.Devices {
		d := &s.Devices[i]
		at, ok := u.device(d.Name, d.Type)
		if !ok {
			u.Devices = slices.Insert(u.Devices, at, DeviceUse{Name: d.Name, Type: d.Type})
		}
		use := &u.Devices[at]
		use.Count += d.Count
		if d.Index != nil {
			use.Index = use.Index.Clone()
			use.Index.Union(d.Index)
		}
	}
	m.work.uses.Set(m.epoch, uint64(s.Node), u)
}

// release takes a share off what is held of its node.
func (m *Machine) release(s *job.Share) {
	u := m.editUse(s.Node)
	u.Jobs--
	u.CPUs -= s.CPUs
	u.MemoryMB -= s.MemoryMB
	if s.Whole {
		u.Whole--
	}
	u.Cores.Subtract(s.Cores)
	for i := range s.Devices {
		d := &s.Devices[i]
		at, _ := u.device(d.Name, d.Type)
		use := &u.Devices[at]
		use.Count -= d.Count
		if d.Index != nil {
			use.Index = use.Index.Clone()
			use.Index.Subtract(d.Index)
		}
		if use.Count == 0 {
			u.Devices = slices.Delete(u.Devices, at, at+1)
		}
	}
	if u.Jobs == 0 {
		u = nil
	}
	m.work.uses.Set(m.epoch, uint64(s.Node), u)
}

// editUse copies the use of a node for a change.
func (m *Machine) editUse(id job.NodeID) *NodeUse {
	u := &NodeUse{}
	if old := m.work.uses.Get(uint64(id)); old != nil {
		*u = *old
		u.Devices = slices.Clone(old.Devices)
	}
	u.Cores = u.Cores.Clone()
	return u
}

// device finds the place of a kind of device in the sorted list.
func (u *NodeUse) device(name, typ string) (int, bool) {
	return slices.BinarySearchFunc(u.Devices, DeviceUse{Name: name, Type: typ}, func(a, b DeviceUse) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Type, b.Type)
	})
}

// countLicenses adds licences to those in use, or takes them off.
func (m *Machine) countLicenses(list []job.License, add bool) {
	for _, l := range list {
		next := slices.Clone(m.work.licenses)
		i, ok := slices.BinarySearchFunc(next, l.Name, func(x job.License, n string) int { return strings.Compare(x.Name, n) })
		if !ok {
			next = slices.Insert(next, i, job.License{Name: l.Name})
		}
		if add {
			next[i].Count += l.Count
		} else {
			next[i].Count -= l.Count
		}
		if next[i].Count == 0 {
			next = slices.Delete(next, i, i+1)
		}
		m.work.licenses = next
	}
}

// recountArray brings the counts of an array from one row of it to the next.
func (m *Machine) recountArray(old, now *jobRow) {
	r := now
	if r == nil {
		r = old
	}
	if r.Array.JobID == 0 {
		return
	}
	u := m.work.ArrayUse(r.Array.JobID)
	u.ID = r.Array.JobID
	finished := m.work.indices[byFinish]
	if u.over() {
		finished.Delete(key{uint64(u.LastEnd), uint64(u.ID)})
	}
	if old != nil {
		*u.class(&old.Job) -= old.tasks
	}
	if now != nil {
		*u.class(&now.Job) += now.tasks
		if now.Terminal() {
			u.LastEnd = max(u.LastEnd, now.Times.End)
		}
	}
	if u.over() {
		finished.Set(key{uint64(u.LastEnd), uint64(u.ID)})
	}
	next := &u
	if u.tasks() == 0 {
		next = nil
	}
	m.work.arrays.Set(m.epoch, uint64(u.ID), next)
}

// tasks is the number of tasks in memory.
func (u *ArrayUse) tasks() uint32 { return u.Waiting + u.Active + u.Good + u.Bad }

// over tells whether there are tasks and nothing more happens to any.
func (u *ArrayUse) over() bool { return u.Waiting+u.Active == 0 && u.Good+u.Bad > 0 }

// class is the count that a record belongs to.
func (u *ArrayUse) class(j *job.Job) *uint32 {
	switch {
	case j.State == job.Pending:
		return &u.Waiting
	case !j.Terminal():
		return &u.Active
	case j.State == job.Completed:
		return &u.Good
	}
	return &u.Bad
}

// refinish keeps byFinish for a plain job. An array is in it once, under its own
// id, when its last task is terminal: see recountArray.
func (m *Machine) refinish(old, now *job.Job) {
	was := old != nil && old.Array.JobID == 0 && old.Terminal()
	is := now != nil && now.Array.JobID == 0 && now.Terminal()
	if was {
		m.work.indices[byFinish].Delete(key{uint64(old.Times.End), uint64(old.ID)})
	}
	if is {
		m.work.indices[byFinish].Set(key{uint64(now.Times.End), uint64(now.ID)})
	}
}
