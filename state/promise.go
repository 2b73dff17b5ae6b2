package state

import (
	"cmp"
	"fmt"
	"slices"

	"muster/internal/wire"
	"muster/job"
)

// MaxPromises is how many waiting jobs may have a promised start.
const MaxPromises = 1000

// maxDelays is how many delays a job's record keeps, the last ones.
const maxDelays = 8

// Promise brings the promised starts up to date: only what differs from those
// in force is named.
type Promise struct {
	Set     []Planned
	Drop    []job.ID
	Delayed []Delayed
}

// Planned is the promised start of a waiting job, or of one task of an array.
type Planned struct {
	Job       job.ID
	Task      uint32 // array index; job.NoTask for a plain job
	Start     job.Time
	Partition string
	Nodes     []PlannedShare
	Licenses  []job.License
	// Shape stands for the request and the rules that the shares were made from;
	// the planner keeps no promise that was made for another.
	Shape uint64
}

// PlannedShare is what a promise holds of one node. Cores and devices are counted,
// not named.
type PlannedShare struct {
	Node     job.NodeID
	Tasks    uint32
	CPUs     uint32
	Cores    uint32
	MemoryMB uint64
	Devices  []uint64 // by the kinds of the node
}

// Delayed is a promise that cannot be kept, for a cause outside the planner. To
// is the new promised start, 0 if there is none for now.
type Delayed struct {
	Job      job.ID
	From, To job.Time
	Cause    string
}

// promiseRow is a promise with its sum.
type promiseRow struct {
	Planned
	sum Hash
}

func (p *promiseRow) compare(id job.ID) int { return cmp.Compare(p.Job, id) }

// Code implements wire.Message.
func (p *Promise) Code(c *wire.Coder) {
	wire.Slice(c, 1, &p.Set)
	wire.Ints(c, 2, &p.Drop)
	wire.Slice(c, 3, &p.Delayed)
}

// Code implements wire.Message.
func (p *Planned) Code(c *wire.Coder) {
	wire.Uint(c, 1, &p.Job)
	wire.Int(c, 2, &p.Start)
	wire.Slice(c, 3, &p.Nodes)
	wire.Uint(c, 4, &p.Task)
	c.String(5, &p.Partition)
	wire.Slice(c, 6, &p.Licenses)
	c.Uint64(7, &p.Shape)
}

// Code implements wire.Message.
func (s *PlannedShare) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Node)
	wire.Uint(c, 2, &s.Tasks)
	wire.Uint(c, 3, &s.CPUs)
	wire.Uint(c, 4, &s.Cores)
	c.Uint64(5, &s.MemoryMB)
	wire.Ints(c, 6, &s.Devices)
}

// Code implements wire.Message.
func (d *Delayed) Code(c *wire.Coder) {
	wire.Uint(c, 1, &d.Job)
	wire.Int(c, 2, &d.From)
	wire.Int(c, 3, &d.To)
	c.String(4, &d.Cause)
}

// promise changes the promised starts. Jobs that do not wait any more are
// skipped: the planner saw an older root.
func (m *Machine) promise(c *Promise) Result {
	res := Result{}
	for _, id := range c.Drop {
		m.unpromise(id)
	}
	for _, d := range c.Delayed {
		r := m.edit(d.Job)
		if r == nil || r.State != job.Pending {
			res.Skipped = append(res.Skipped, Skip{Job: d.Job, Code: WrongState, Text: "the job does not wait"})
			continue
		}
		kept := r.Delays[max(0, len(r.Delays)+1-maxDelays):]
		r.Delays = append(slices.Clone(kept), job.Delay{At: m.work.now, From: d.From, To: d.To, Cause: d.Cause})
		m.put(r)
	}
	for i := range c.Set {
		p := &c.Set[i]
		switch r := m.work.jobs.Get(uint64(p.Job)); {
		case r == nil || r.State != job.Pending:
			res.Skipped = append(res.Skipped, Skip{Job: p.Job, Code: WrongState, Text: "the job does not wait"})
		case !m.setPromise(p):
			res.Skipped = append(res.Skipped, Skip{Job: p.Job, Code: Invalid, Text: fmt.Sprintf("%d jobs have a promised start already", MaxPromises)})
		}
	}
	return res
}

// setPromise puts one promise into the list; false if the list is full.
func (m *Machine) setPromise(p *Planned) bool {
	at, known := slices.BinarySearchFunc(m.work.promises, p.Job, (*promiseRow).compare)
	if !known && len(m.work.promises) >= MaxPromises {
		return false
	}
	row := &promiseRow{Planned: *p, sum: m.sum.of(tablePromises, uint64(p.Job), p)}
	m.ownPromises()
	if known {
		m.work.hash.sub(m.work.promises[at].sum)
		m.work.promises[at] = row
	} else {
		m.work.promises = slices.Insert(m.work.promises, at, row)
	}
	m.work.hash.add(row.sum)
	return true
}

// unpromise takes away the promise of a job that has started, ended, or has none
// any more.
func (m *Machine) unpromise(id job.ID) {
	at, known := slices.BinarySearchFunc(m.work.promises, id, (*promiseRow).compare)
	if !known {
		return
	}
	m.work.hash.sub(m.work.promises[at].sum)
	m.ownPromises()
	m.work.promises = slices.Delete(m.work.promises, at, at+1)
}

// ownPromises makes the list one that this epoch may change: what was published
// never changes after.
func (m *Machine) ownPromises() {
	if m.promisesOf != m.epoch {
		m.work.promises, m.promisesOf = slices.Clone(m.work.promises), m.epoch
	}
}

// Promises are the promised starts of waiting jobs, by ascending job id. The list
// is not to be changed.
func (r *Root) Promises() []*Planned {
	out := make([]*Planned, len(r.promises))
	for i, p := range r.promises {
		out[i] = &p.Planned
	}
	return out
}

// PromiseOf is the promised start of a job, nil if it has none.
func (r *Root) PromiseOf(id job.ID) *Planned {
	if at, known := slices.BinarySearchFunc(r.promises, id, (*promiseRow).compare); known {
		return &r.promises[at].Planned
	}
	return nil
}

// SamePromises tells whether two roots have the same promises, at once if nothing
// changed them between the two.
func (r *Root) SamePromises(o *Root) bool {
	if len(r.promises) != len(o.promises) {
		return false
	}
	return len(r.promises) == 0 || &r.promises[0] == &o.promises[0] || slices.Equal(r.promises, o.promises)
}
