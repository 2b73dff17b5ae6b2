package state

import (
	"muster/internal/bitset"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
)

// Entry is the content of one raft log entry: the commands that were gathered
// while earlier entries were in flight.
type Entry struct {
	Now      job.Time // state time that the leader gives this entry
	Commands []Envelope
	Blobs    []Blob // new large parts that commands name by hash; stored by ctld, only counted here
}

// Blob is a large part of a submit: a script or an environment.
type Blob struct {
	Hash job.Hash
	Data []byte
}

// Envelope is one command with who sent it.
type Envelope struct {
	Kind     Kind
	Body     []byte // the command, wire coded
	By       Actor
	Request  RequestID // zero: no duplicates are looked for (daemons' own commands)
	FirstTry job.Time  // when the client first tried, by the leader's reckoning
}

// RequestID is made by the client, at random, once for all tries of a change.
type RequestID [16]byte

// Actor is who asked for a change and from where.
type Actor struct {
	UID  uint32
	User string
	Host string
}

// Command is one kind of change to the state.
type Command interface {
	wire.Message
	Kind() Kind
}

// Kind numbers the commands. The numbers are stored; never reuse one.
type Kind uint16

// The commands.
const (
	KindConfigure Kind = iota + 1
	KindSubmit
	KindEnd
	KindUpdate
	KindRequeue
	KindSuspend
	KindStart
	KindNodeRegister
	KindNodeSilent
	KindNodeAdmin
	KindReport
	KindTick
	KindPurge
	KindOutboxDone
	KindPromise
	KindReservation
	KindPartition
	KindStep
	KindReprioritize
	KindAccounting
	KindLicenses
	KindStepEnd
	KindComplete
	KindStartHet
	KindMailDue
	KindMailDone
	KindSetCrontab
	KindDecay
	KindNodesFollow
)

// Configure makes a cluster file the configuration. Nodes and partitions that
// it no longer names are removed. Without Force it is refused as InUse if running
// jobs have no place in it; with it they end as NODE_FAIL, but for fenced ones on
// nodes that are removed (Loss.Fenced).
type Configure struct {
	Cluster partition.Cluster
	Base    uint64 // serial of the configuration that it was made from; 0: whichever is in force
	Force   bool
	Undo    uint64 // serial of the earlier configuration that it is again; 0: none
}

// Submit puts one job, one array, or the components of a heterogeneous job into
// the queue. Everything that needs a clock, a name service or a random number
// was worked out before.
type Submit struct {
	Jobs []NewJob // more than one: heterogeneous
}

// NewJob is one job of a Submit.
type NewJob struct {
	Owner    job.Owner
	Request  job.Request
	Account  string
	QOS      string
	Held     job.Hold
	Priority uint32
	Fixed    bool        // Priority was asked for and is not worked out anew
	Tasks    *bitset.Set // array indices; nil: no array
	Range    string      // as written, for display
	Limit    uint32      // array throttle
	Bounds   job.ArrayBounds
	Deps     []job.Dependency
	AnyDep   bool
	Start    *Start // salloc/srun/--test: unused yet
}

// Target names a job, one task or some tasks of an array.
type Target struct {
	Job   job.ID
	Tasks *bitset.Set // array indices; nil: the whole job or array
}

// End asks for the end of jobs: waiting ones end at once, running ones are told
// to their nodes. To is the state they end in (Cancelled, Timeout, Deadline,
// Preempted, NodeFail); Flags may hold Requeued or RequeueHold.
type End struct {
	Targets []Target
	To      job.State
	Flags   job.Flag
	Reason  job.Reason
	Detail  string
	Attempt *uint32 // only if the job is at this attempt (the controller's own ends)
	Grace   uint32  // seconds between the notice to running ones and SIGKILL; 0: KillWait
}

// Update replaces parts of a job; what is nil stays.
type Update struct {
	Target   Target
	Request  *job.Request
	Held     *job.Hold
	Priority *uint32
	Deps     *Dependencies
	Limit    *job.Minutes // time limit of a running job
	Throttle *uint32      // of an array
	Account  *string
	QOS      *string
	Comment  *string // admin comment and alike go by Request
}

// Dependencies is a whole set of conditions.
type Dependencies struct {
	List []job.Dependency
	Any  bool
}

// Requeue puts running or ended batch jobs back into the queue.
type Requeue struct {
	Targets []Target
	Hold    job.Hold
	Special bool // special exit state
	Detail  string
	Begin   job.Time // not to start again before; 0: at once
}

// Suspend stops or continues running jobs.
type Suspend struct {
	Targets []Target
	Resume  bool
}

// Start gives a waiting job its resources. Apply checks it against the state it
// finds and refuses what no longer fits.
type Start struct {
	Job   job.ID
	Task  uint32 // array index to start; job.NoTask for a plain job
	Alloc job.Allocation
	Limit job.Minutes
}

// StartHet starts all waiting components of a heterogeneous job. Apply checks
// them together and refuses all if one no longer fits.
type StartHet struct{ Components []Start }

// NodeRegister is a node daemon that came up, or came back, with what it found.
type NodeRegister struct {
	Name     string
	BootID   string
	Journal  string
	BootTime job.Time
	Started  job.Time
	Address  []string
	Port     uint16
	HostName string
	OS, Arch string
	Version  string
	Found    partition.Shape
	Gres     partition.Node // only Gres is meant
	Running  []AttemptID    // what it still holds
	Problem  string         // why it must not get work, "" if all is well
}

// AttemptID names one attempt of a job.
type AttemptID struct {
	Job     job.ID
	Attempt uint32
}

// NodeSilent marks nodes as not responding, or, with Down, as down: their jobs
// end as NODE_FAIL or go back to the queue.
type NodeSilent struct {
	Nodes  []job.NodeID
	Down   bool
	Heard  bool // they answer again
	Reason string
}

// NodeAdmin is scontrol update NodeName=.
type NodeAdmin struct {
	Names    []string
	State    string // DOWN, DRAIN, RESUME, UNDRAIN, FAIL, IDLE, FUTURE, ""; upper case
	Reason   *string
	Weight   *uint32
	Features []string // the available ones with SetFeat, the active ones with SetActive
	SetFeat  bool
	Comment  *string
	Extra    *string
	// SetActive: Features are those that jobs may ask for, out of the available.
	SetActive bool
}

// Report is what a node says about an attempt: that the batch script ended, or
// that nothing of the attempt is left on it.
type Report struct {
	Job     job.ID
	Attempt uint32
	Node    string
	BootID  string
	// Ended: the batch script of this node has ended, with Result.
	Ended  bool
	Result job.Result
	OOM    bool
	// TimedOut: the node ended it because its time limit had passed.
	TimedOut bool
	// Released: all processes are gone and everything is cleaned up.
	Released bool
	// Failed: it could not be launched; Detail says why. Nothing of it is left.
	Failed bool
	Detail string
	At     job.Time
	// Latest is the latest that At is believed: by the controllers' wall clocks,
	// which are ahead of state time after a pause of all controllers. 0: state time.
	Latest job.Time
	// Drain says why the node is to get no more jobs: its prolog or epilog failed.
	Drain string
}

// Tick moves state time on and lets what is due happen (begin times).
type Tick struct{}

// Purge takes finished jobs out of memory; they live on in the ledger.
type Purge struct{ Jobs []job.ID }

// OutboxDone says that the voters have all finished records up to a number on disk.
type OutboxDone struct{ Through uint64 }

// Reservation creates, replaces or deletes a reservation.
type Reservation struct {
	Delete bool
	Create bool // refuse if the name is taken
	Value  partition.Reservation
}

// Partition creates, replaces or deletes a partition (scontrol create, update and
// delete PartitionName=). It holds until a cluster file becomes the configuration.
type Partition struct {
	Value  partition.Partition
	Create bool // refuse if the name is taken
	Delete bool // refuse if a job waits for it or runs in it
}

// Reprioritize sets priorities that the scheduler worked out anew.
type Reprioritize struct{ List []Priority }

// Priority is the new priority of one waiting job.
type Priority struct {
	Job      job.ID
	Priority uint32
}

// Result is what Apply answers for one command.
type Result struct {
	Code Code
	Text string   // for people, set with a Code other than OK
	Jobs []job.ID // ids that a Submit got, or jobs that were changed
	// Skipped pairs ids of a list that could not be changed with why.
	Skipped []Skip
	// Step is the number that a StepCreate got.
	Step job.StepID
	// Repeated: the answer is that of an earlier try of the same request.
	Repeated bool
}

// Skip is one target that was not changed.
type Skip struct {
	Job  job.ID
	Code Code
	Text string
}

// Code is the outcome of a command.
type Code uint16

// The outcomes. The numbers are stored; add at the end only.
const (
	OK Code = iota
	NoSuchJob
	NoSuchNode
	NoSuchPartition
	NoSuchReservation
	AlreadyDone    // the job has ended
	WrongState     // not possible in the job's state
	NotRequeueable // --no-requeue
	NoLongerFits   // a start that lost the race
	Stale          // a report of an earlier attempt or boot
	TooOld         // a try older than the request memory
	Exists
	InUse
	Invalid   // Text says what
	StepWaits // other steps of the job hold what a step wants; no answer is kept of it
	Conflict  // made from what is no longer so; no answer is kept of it
	OverLimit // more in the queue than accounting allows
)
