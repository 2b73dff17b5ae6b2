package api

import (
	"slices"

	"muster/internal/wire"
	"muster/job"
)

// JobFields says which parts of a job record a reader needs, beyond the base
// part that is always sent. A controller leaves the other parts out.
type JobFields uint32

// The parts of a job record.
const (
	JobRequest   JobFields = 1 << iota // Request, Deps, SchedEval
	JobAllocated                       // Alloc
	JobSteps                           // Steps
	JobResources                       // Asked and Held
	JobPlanned                         // SchedNodes and the planned start
	JobEnding                          // End
	JobAll       = JobRequest | JobAllocated | JobSteps | JobResources | JobPlanned | JobEnding
)

// JobRef names what squeue -j, scontrol show job and sacct -j may name: a job, a
// whole array, one task of it, or a component of a heterogeneous job.
type JobRef struct {
	ID      job.ID
	Task    uint32
	HasTask bool // ID_Task
	Offset  uint32
	HasHet  bool // ID+Offset
	Step    job.StepID
	HasStep bool
}

// Code implements wire.Message.
func (r *JobRef) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.ID)
	wire.Uint(w, 2, &r.Task)
	w.Bool(3, &r.HasTask)
	wire.Uint(w, 4, &r.Offset)
	w.Bool(5, &r.HasHet)
	wire.Uint(w, 6, &r.Step)
	w.Bool(7, &r.HasStep)
}

// JobQuery asks for job records. Every list that is not empty narrows; the
// members of one list are alternatives.
type JobQuery struct {
	Fields       JobFields
	Jobs         []JobRef
	Users        []string // names or numeric uids
	NotUser      bool     // all but Users
	Names        []string
	Accounts     []string
	Partitions   []string
	QOS          []string
	Reservations []string
	Licenses     []string
	Nodes        []string // jobs that hold one of them
	States       uint32   // bit 1<<job.State
	Flags        job.Flag // jobs that have one of these
	AnyState     bool     // States and Flags do not narrow
	OnlyState    bool     // only ids and states are needed
}

// Code implements wire.Message.
func (q *JobQuery) Code(w *wire.Coder) {
	wire.Uint(w, 1, &q.Fields)
	wire.Slice(w, 2, &q.Jobs)
	wire.Texts(w, 3, &q.Users)
	w.Bool(4, &q.NotUser)
	wire.Texts(w, 5, &q.Names)
	wire.Texts(w, 6, &q.Accounts)
	wire.Texts(w, 7, &q.Partitions)
	wire.Texts(w, 8, &q.QOS)
	wire.Texts(w, 9, &q.Reservations)
	wire.Texts(w, 10, &q.Licenses)
	wire.Texts(w, 11, &q.Nodes)
	wire.Uint(w, 12, &q.States)
	wire.Uint(w, 13, &q.Flags)
	w.Bool(14, &q.AnyState)
	w.Bool(15, &q.OnlyState)
}

// JobList is one chunk of the answer to a JobQuery or an AcctQuery.
type JobList struct {
	Now     job.Time // state time of the answer: running times count up to it
	Cluster string
	Zone    string // time zone of the cluster, IANA name
	Jobs    []JobRecord
}

// ChunkRecords is how many job records go into one chunk at most.
const ChunkRecords = 256

// Grow makes room for an answer of that many chunks, so that reading it copies no
// record twice.
func (l *JobList) Grow(chunks int) { l.Jobs = slices.Grow(l.Jobs, chunks*ChunkRecords) }

// InvalidNode begins the text of the error that a query by an unknown node gets.
const InvalidNode = "Invalid node name "

// Code implements wire.Message.
func (l *JobList) Code(w *wire.Coder) {
	wire.Int(w, 1, &l.Now)
	w.String(2, &l.Cluster)
	w.String(3, &l.Zone)
	wire.Slice(w, 4, &l.Jobs)
}

// AcctQuery asks for finished, running and waiting jobs as sacct shows them. A
// job that was requeued has one record for each attempt with Duplicates.
type AcctQuery struct {
	Filter     JobQuery
	From, To   job.Time // jobs that were there in [From, To); 0: open
	ByState    bool     // Filter.States must have held in the window
	Duplicates bool
	Groups     []string
	MinNodes   uint32
	MaxNodes   uint32
	MinCPUs    uint32
	MaxCPUs    uint32
	WCKeys     []string
}

// Code implements wire.Message.
func (q *AcctQuery) Code(w *wire.Coder) {
	wire.Struct(w, 1, &q.Filter)
	wire.Int(w, 2, &q.From)
	wire.Int(w, 3, &q.To)
	w.Bool(4, &q.ByState)
	w.Bool(5, &q.Duplicates)
	wire.Texts(w, 6, &q.Groups)
	wire.Uint(w, 7, &q.MinNodes)
	wire.Uint(w, 8, &q.MaxNodes)
	wire.Uint(w, 9, &q.MinCPUs)
	wire.Uint(w, 10, &q.MaxCPUs)
	wire.Texts(w, 11, &q.WCKeys)
}
