package api

import (
	"muster/gres"
	"muster/internal/wire"
	"muster/job"
)

// JobRecord is one job as readers see it. The base part is always there; the
// parts behind pointers come when the query's Fields ask for them.
type JobRecord struct {
	ID          job.ID
	Array       JobArray
	Het         JobHet
	State       job.State
	Flags       job.Flag
	Name        string
	Owner       JobOwner
	Partition   string // a list while it waits
	Account     string
	QOS         string
	Reservation string
	Reason      job.Reason
	Detail      string // takes the place of the reason's word, if set
	Nodes       string // host list of what it holds or held
	BatchHost   string
	Count       JobCount
	Memory      JobMemory
	Priority    uint32
	Times       job.Times
	Attempt     uint32
	SLUID       uint64
	Held        job.Hold
	Request     *job.Request
	Deps        string // as squeue %E prints it
	Alloc       *job.Allocation
	Steps       []job.Step
	Asked, Used Resources
	SchedNodes  string
	End         *job.Result
}

// JobArray is a record's place in an array.
type JobArray struct {
	JobID   job.ID // 0: no array
	Task    uint32 // of a started task; meaningless if Waiting is set
	Waiting string // index list of the tasks not started, without the throttle
	Limit   uint32
}

// JobHet is a record's place in a heterogeneous job.
type JobHet struct {
	Leader job.ID // 0: none
	Offset uint32
	IDs    []job.ID
}

// JobOwner is who a job runs as.
type JobOwner struct {
	User, Group string
	UID, GID    uint32
}

// JobCount holds the sizes of what a job holds, or would hold at least.
type JobCount struct {
	Nodes, MaxNodes, CPUs, Tasks uint32
}

// JobMemory is the memory limit after all defaults.
type JobMemory struct {
	Per job.MemoryUnit
	MB  uint64
}

// Resources is a set of trackable resources; memory in MB of 2^20 bytes.
type Resources struct {
	CPUs, Nodes       uint32
	MemoryMB, Billing uint64
	Gres              []gres.Item
	Licenses          []job.License
}

// Code implements wire.Message.
func (r *JobRecord) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.ID)
	wire.Struct(w, 2, &r.Array)
	wire.Struct(w, 3, &r.Het)
	wire.Uint(w, 4, &r.State)
	wire.Uint(w, 5, &r.Flags)
	w.String(6, &r.Name)
	wire.Struct(w, 7, &r.Owner)
	w.String(8, &r.Partition)
	w.String(9, &r.Account)
	w.String(10, &r.QOS)
	w.String(11, &r.Reservation)
	wire.Uint(w, 12, &r.Reason)
	w.String(13, &r.Detail)
	w.String(14, &r.Nodes)
	w.String(15, &r.BatchHost)
	wire.Struct(w, 16, &r.Count)
	wire.Struct(w, 17, &r.Memory)
	wire.Uint(w, 18, &r.Priority)
	wire.Struct(w, 19, &r.Times)
	wire.Uint(w, 20, &r.Attempt)
	w.Uint64(21, &r.SLUID)
	wire.Uint(w, 22, &r.Held)
	wire.Pointer(w, 23, &r.Request)
	w.String(24, &r.Deps)
	wire.Pointer(w, 25, &r.Alloc)
	wire.Slice(w, 26, &r.Steps)
	wire.Struct(w, 27, &r.Asked)
	wire.Struct(w, 28, &r.Used)
	w.String(29, &r.SchedNodes)
	wire.Pointer(w, 30, &r.End)
}

// Code implements wire.Message.
func (a *JobArray) Code(w *wire.Coder) {
	wire.Uint(w, 1, &a.JobID)
	wire.Uint(w, 2, &a.Task)
	w.String(3, &a.Waiting)
	wire.Uint(w, 4, &a.Limit)
}

// Code implements wire.Message.
func (h *JobHet) Code(w *wire.Coder) {
	wire.Uint(w, 1, &h.Leader)
	wire.Uint(w, 2, &h.Offset)
	wire.Ints(w, 3, &h.IDs)
}

// Code implements wire.Message.
func (o *JobOwner) Code(w *wire.Coder) {
	w.String(1, &o.User)
	w.String(2, &o.Group)
	wire.Uint(w, 3, &o.UID)
	wire.Uint(w, 4, &o.GID)
}

// Code implements wire.Message.
func (c *JobCount) Code(w *wire.Coder) {
	wire.Uint(w, 1, &c.Nodes)
	wire.Uint(w, 2, &c.MaxNodes)
	wire.Uint(w, 3, &c.CPUs)
	wire.Uint(w, 4, &c.Tasks)
}

// Code implements wire.Message.
func (m *JobMemory) Code(w *wire.Coder) {
	wire.Uint(w, 1, &m.Per)
	w.Uint64(2, &m.MB)
}

// Code implements wire.Message.
func (r *Resources) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.CPUs)
	wire.Uint(w, 2, &r.Nodes)
	w.Uint64(3, &r.MemoryMB)
	w.Uint64(4, &r.Billing)
	wire.Slice(w, 5, &r.Gres)
	wire.Slice(w, 6, &r.Licenses)
}
