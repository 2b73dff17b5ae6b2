// Package job says what a job is: the request, its legal states and their
// transitions, arrays, dependencies, steps and the reasons for waiting.
package job

import "muster/internal/bitset"

// NoTask is the array task id of a job that is no array task (Slurm's NO_VAL,
// which file name patterns print as 4294967294).
const NoTask uint32 = 1<<32 - 2

// Job is one record of the job table: a plain job, one started task of an
// array, or the rest of an array that has not been started. Records are
// immutable once they are in a table: copy, change, put back.
type Job struct {
	ID       ID
	Array    Array
	Het      Het
	Owner    *Owner
	Request  *Request
	State    State
	Flags    Flag
	Attempt  uint32 // how often it was started again (Slurm's Restarts)
	Priority uint32 // 0: held
	Held     Hold
	Reason   Reason
	Detail   string // text for people that goes with the reason
	Deps     []Dependency
	AnyDep   bool // one of Deps is enough (joined by ?)
	Times    Times
	Alloc    *Allocation // of the running or the last attempt
	End      Result
	Cancel   *Cancel // somebody asked for the end of the running attempt
	Steps    []Step  // of the running or the last attempt
	StepSeq  uint32  // next step number
	Account  string  // the account that is charged (a default filled in)
	QOS      string
	SLUID    uint64 // orders all jobs by submission for ever, requeues included
	// LaunchFails counts attempts in a row that could not be launched.
	LaunchFails uint8
	// Delays are the last times at which its promised start moved later, and why.
	Delays []Delay
	// FixedPriority: somebody set the priority; it is not worked out anew.
	FixedPriority bool
}

// Delay is one move of a promised start to a later time. To is 0 if there was no
// new one at first.
type Delay struct {
	At, From, To Time
	Cause        string // for people: what outside the planner made it so
}

// Array is a job's place in its array.
type Array struct {
	JobID   ID           // the array's own id; 0: no array
	Task    uint32       // index; NoTask for a plain job and for the unstarted rest
	Waiting *bitset.Set  // unstarted indices of the rest; nil otherwise
	Range   string       // the index list as written, without the throttle
	Limit   uint32       // most tasks at once, 0: no throttle
	Bounds  *ArrayBounds // shared by all tasks
}

// ArrayBounds is what the array's variables say in each task.
type ArrayBounds struct{ Count, Min, Max, Step uint32 }

// Het is a job's place in a heterogeneous job.
type Het struct {
	Leader ID // id of component 0; 0: no heterogeneous job
	Offset uint32
	IDs    []ID // all components, only in the leader
}

// Hold says by whom a job is held.
type Hold uint8

// The kinds of hold.
const (
	NotHeld Hold = iota
	HeldByUser
	HeldByAdmin
)

// Times of a job; 0 where it has not happened.
type Times struct {
	Submit   Time
	Eligible Time // dependencies, begin time and hold satisfied
	Start    Time // of the running or the last attempt
	End      Time // when it ended; for a running one when its limit ends it
	LimitEnd Time // start plus limit, suspended time not counted; 0: never
	Suspend  Time // when it was last suspended or resumed
	PreSusp  Time // milliseconds that it ran before that
	Planned  Time // promised start of a waiting job
	Accrue   Time // start of age priority
	Requeued Time // last time it went back to the queue
	Limit    Minutes
}

// Result is how the last attempt ended.
type Result struct {
	ExitCode   uint32 // of the script, 0 to 255
	Signal     uint8  // signal that killed the script, 0 if none
	Derived    uint32 // highest exit code of the steps
	DerivedSig uint8
	By         uint32 // uid that cancelled it, when State is Cancelled
	ByUser     bool   // By is meant
	FailedNode string
	Usage      Usage // of the batch script and all that it started
}

// Usage is what processes used; what could not be measured is 0.
type Usage struct {
	UserUS, SystemUS  uint64 // CPU time in microseconds
	MaxRSSKB          uint64
	MaxVMKB           uint64
	MaxPages          uint64
	ReadKB, WrittenKB uint64
}

// Cancel is a wish, committed, that the running attempt ends.
type Cancel struct {
	By     uint32 // uid
	At     Time
	To     State  // state it shall end in: Cancelled, Timeout, Preempted, NodeFail, Deadline
	Flags  Flag   // Requeued, RequeueHold
	Reason Reason // for the record
	Grace  uint32 // seconds between the notice to its processes and SIGKILL; 0: KillWait
}

// Allocation is what an attempt holds, node by node, in the order of its ranks.
type Allocation struct {
	Partition   string
	Reservation string
	Nodes       []Share
	CPUs        uint32 // sum over the nodes
	MemoryMB    uint64
	Billing     uint64
	BillingRest uint64 // what is billed beyond that, in parts of 1/partition.BillingUnit
	Licenses    []License
	BatchNode   NodeID
}

// License is a count of one licence.
type License struct {
	Name  string
	Count uint32
}

// Share is one node's part of an allocation.
type Share struct {
	Node     NodeID
	Name     string
	CPUs     uint32
	Cores    *bitset.Set // global core numbers of the node
	MemoryMB uint64
	Tasks    uint32
	Devices  []DeviceShare
	Whole    bool // exclusive
	Released bool // the node has reported that nothing of the attempt is left
}

// DeviceShare is what a job holds of one kind of device on one node.
type DeviceShare struct {
	Name, Type string
	Count      uint64
	Index      *bitset.Set // device numbers; nil for a kind without device files
}

// StepID numbers the steps of one job; the named ones are at the top as in Slurm.
type StepID uint32

// The steps that are no srun.
const (
	BatchStep       StepID = 0xfffffffb
	ExternStep      StepID = 0xfffffffc
	InteractiveStep StepID = 0xfffffffa
)

// Step is one step of a job, kept after its end for accounting.
type Step struct {
	ID         StepID
	Name       string
	State      State
	Start, End Time
	Nodes      []NodeID
	Tasks      uint32
	CPUs       uint32
	MemoryMB   uint64
	Devices    []DeviceShare // of all its nodes, without numbers
	ExitCode   uint32
	Signal     uint8
	Usage      Usage
	Parts      []StepPart // what it holds on each of Nodes
	Overlap    bool       // --overlap: what it holds is held by others, too
}

// Terminal tells whether nothing more happens to the job: it has ended, its
// nodes have reported, and it does not go back to the queue.
func (j *Job) Terminal() bool {
	return j.State.Ended() && j.Flags&(Completing|Requeued|RequeueHold|SpecialExit|StageOut) == 0
}

// IsArrayRest tells whether the record stands for array tasks not yet started.
func (j *Job) IsArrayRest() bool { return j.Array.Waiting != nil }

// Is tells whether somebody holds the job.
func (h Hold) Is() bool { return h != NotHeld }
