package api

import (
	"muster/internal/bitset"
	"muster/internal/wire"
	"muster/job"
)

// The calls of srun and salloc. job.allocate is job.submit for a job without a
// script: the agent ends it when the connection that asked for it ends.
const (
	MethodAllocate = "job.allocate" // SubmitRequest, SubmitReply
	MethodReady    = "job.ready"    // ReadyRequest, ReadyReply: answers when the job waits no longer
	MethodComplete = "job.complete" // CompleteRequest, ChangeReply
	MethodStep     = "step.create"  // StepRequest, StepReply: answers when the step has its resources
	MethodStepEnd  = "step.end"     // StepEndRequest, ChangeReply
	MethodRun      = "step.run"     // StepStart, then StepInput frames; answers with StepEvents. The agent's own
)

// ReadyRequest waits until a job has started or ended.
type ReadyRequest struct{ Job job.ID }

// Code implements wire.Message.
func (r *ReadyRequest) Code(w *wire.Coder) { wire.Uint(w, 1, &r.Job) }

// ReadyReply says what became of a waiting job. Reason and Detail are those of
// its end.
type ReadyReply struct {
	Known   bool
	State   job.State
	Attempt uint32
	Reason  job.Reason
	Detail  string
}

// Code implements wire.Message.
func (r *ReadyReply) Code(w *wire.Coder) {
	w.Bool(1, &r.Known)
	wire.Uint(w, 2, &r.State)
	wire.Uint(w, 3, &r.Attempt)
	wire.Uint(w, 4, &r.Reason)
	w.String(5, &r.Detail)
}

// CompleteRequest ends an allocation with the outcome of what used it.
type CompleteRequest struct {
	Job      job.ID
	ExitCode uint32
	Signal   uint8
}

// Code implements wire.Message.
func (r *CompleteRequest) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Job)
	wire.Uint(w, 2, &r.ExitCode)
	wire.Uint(w, 3, &r.Signal)
}

// StepRequest asks for a step of a running job. What is zero is left to the job.
type StepRequest struct {
	Job          job.ID
	Name         string
	Tasks        uint32
	MinNodes     uint32
	MaxNodes     uint32
	CPUsPerTask  uint32
	TasksPerNode uint32
	Nodes        []string // only these of the job's nodes
	Exclude      []string
	Relative     int32 // number of the first node, -1: not given
	Memory       job.Memory
	Gres         job.GresRequest
	Dist         string
	Exact        bool // only as many CPUs as the tasks need
	Overlap      bool // share what it gets with other steps
	Overcommit   bool
	Immediate    bool // refuse instead of waiting
	Hidden       bool // no step of its own in the records: sbcast
	Attach       bool // no step at all: look at the output of Step
	Step         job.StepID
	Numbered     bool // the step gets the number Step: that of the components before it
}

// Code implements wire.Message.
func (r *StepRequest) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Job)
	w.String(2, &r.Name)
	wire.Uint(w, 3, &r.Tasks)
	wire.Uint(w, 4, &r.MinNodes)
	wire.Uint(w, 5, &r.MaxNodes)
	wire.Uint(w, 6, &r.CPUsPerTask)
	wire.Uint(w, 7, &r.TasksPerNode)
	wire.Texts(w, 8, &r.Nodes)
	wire.Texts(w, 9, &r.Exclude)
	wire.Int(w, 10, &r.Relative)
	wire.Struct(w, 11, &r.Memory)
	wire.Struct(w, 12, &r.Gres)
	w.String(13, &r.Dist)
	w.Bool(14, &r.Exact)
	w.Bool(15, &r.Overlap)
	w.Bool(16, &r.Overcommit)
	w.Bool(17, &r.Immediate)
	w.Bool(18, &r.Hidden)
	w.Bool(19, &r.Attach)
	wire.Uint(w, 20, &r.Step)
	w.Bool(21, &r.Numbered)
}

// StepReply is a step that may be launched, as a Grant in the bytes that a
// controller signed.
type StepReply struct {
	Grant       []byte
	Signature   []byte
	Certificate []byte
}

// Code implements wire.Message.
func (r *StepReply) Code(w *wire.Coder) {
	w.Bytes(1, &r.Grant)
	w.Bytes(2, &r.Signature)
	w.Bytes(3, &r.Certificate)
}

// Grant is the capability of a step: who may run how many tasks of which job
// where. Nodes believe it by its signature.
type Grant struct {
	Cluster  string
	Job      job.ID
	Attempt  uint32
	Step     job.StepID
	UID      uint32
	Expires  job.Time // when it can no longer be used to launch
	Tasks    uint32   // of all nodes
	Nodes    []GrantNode
	Hidden   bool
	Attach   bool   // only to look at the output of the step
	GPUBind  string // --gpu-bind; "": by GrantNode.PerTask
	KillWait uint32 // seconds between SIGTERM and SIGKILL
}

// Code implements wire.Message.
func (g *Grant) Code(w *wire.Coder) {
	w.String(1, &g.Cluster)
	wire.Uint(w, 2, &g.Job)
	wire.Uint(w, 3, &g.Attempt)
	wire.Uint(w, 4, &g.Step)
	wire.Uint(w, 5, &g.UID)
	wire.Int(w, 6, &g.Expires)
	wire.Uint(w, 7, &g.Tasks)
	wire.Slice(w, 8, &g.Nodes)
	w.Bool(9, &g.Hidden)
	w.Bool(10, &g.Attach)
	w.String(11, &g.GPUBind)
	wire.Uint(w, 12, &g.KillWait)
}

// GrantNode is the part of a step on one node.
type GrantNode struct {
	Name     string
	Address  string   // host:port of its daemon
	Tasks    []uint32 // ranks
	CPUs     uint32
	MemoryMB uint64
	Devices  []job.DeviceShare
	PerTask  []job.DeviceShare // how many of them each task gets; empty: all
	Cores    *bitset.Set       // of the node; nil: those of the job
}

// Code implements wire.Message.
func (n *GrantNode) Code(w *wire.Coder) {
	w.String(1, &n.Name)
	w.String(2, &n.Address)
	wire.Ints(w, 3, &n.Tasks)
	wire.Uint(w, 4, &n.CPUs)
	w.Uint64(5, &n.MemoryMB)
	wire.Slice(w, 6, &n.Devices)
	wire.Slice(w, 7, &n.PerTask)
	wire.Pointer(w, 8, &n.Cores)
}

// StepEndRequest reports how a step ended.
type StepEndRequest struct {
	Job      job.ID
	Attempt  uint32
	Step     job.StepID
	ExitCode uint32
	Signal   uint8
	Usage    job.Usage
}

// Code implements wire.Message.
func (r *StepEndRequest) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Job)
	wire.Uint(w, 2, &r.Attempt)
	wire.Uint(w, 3, &r.Step)
	wire.Uint(w, 4, &r.ExitCode)
	wire.Uint(w, 5, &r.Signal)
	wire.Struct(w, 6, &r.Usage)
}

// StepStart launches the tasks of a grant.
type StepStart struct {
	StepReply
	Programs  []Program
	Env       []byte // NUL separated NAME=value; the nodes add what differs by task
	Dir       string
	Umask     uint32
	Limits    []job.Limit
	Stdin     string // file pattern that each task's node opens; "": what srun sends
	Stdout    string // file pattern, "": to srun
	Stderr    string // file pattern, "": to srun, or where Stdout goes if that is set
	Append    bool   // keep what output files hold
	Feed      int32  // rank that gets srun's input, or FeedAll, FeedNone
	JobName   string // for file patterns
	ArrayJob  job.ID
	ArrayTask uint32
	Terminal  bool // task 0 gets a terminal of its own
	Rows      uint16
	Columns   uint16
	Before    uint32 // tasks of the components before this one of a heterogeneous step
	All       uint32 // tasks of all components; 0: the step has only one

	NodesBefore uint32 // nodes of the components before this one
	AllNodes    uint32 // nodes of all components
	Leader      job.ID // what the tasks are told as their job's id; 0: its own

	CPUBind     string // of --cpu-bind, as SLURM_CPU_BIND has it; "": automatic
	Dist        string // of --distribution
	MPI         string // of --mpi; "": none
	CPUsPerTask uint32 // 0: one
	OneThread   bool   // tasks use one thread of each core
}

// Who gets srun's standard input.
const (
	FeedAll  int32 = -1
	FeedNone int32 = -2
)

// Code implements wire.Message.
func (s *StepStart) Code(w *wire.Coder) {
	s.StepReply.Code(w)
	wire.Slice(w, 4, &s.Programs)
	w.Bytes(5, &s.Env)
	w.String(6, &s.Dir)
	wire.Uint(w, 7, &s.Umask)
	wire.Slice(w, 8, &s.Limits)
	w.String(9, &s.Stdin)
	w.String(10, &s.Stdout)
	w.String(11, &s.Stderr)
	w.Bool(12, &s.Append)
	wire.Int(w, 13, &s.Feed)
	w.String(14, &s.JobName)
	wire.Uint(w, 15, &s.ArrayJob)
	wire.Uint(w, 16, &s.ArrayTask)
	w.Bool(17, &s.Terminal)
	wire.Uint(w, 18, &s.Rows)
	wire.Uint(w, 19, &s.Columns)
	wire.Uint(w, 20, &s.Before)
	wire.Uint(w, 21, &s.All)
	wire.Uint(w, 22, &s.NodesBefore)
	wire.Uint(w, 23, &s.AllNodes)
	wire.Uint(w, 24, &s.Leader)
	w.String(25, &s.CPUBind)
	w.String(26, &s.Dist)
	wire.Uint(w, 27, &s.CPUsPerTask)
	w.Bool(28, &s.OneThread)
	w.String(29, &s.MPI)
}

// Program is what some tasks run. With one program, Ranks is empty: all.
type Program struct {
	Ranks []uint32
	Args  []string // with the program; %t and %o are replaced where Ranks is set
}

// Code implements wire.Message.
func (p *Program) Code(w *wire.Coder) {
	wire.Ints(w, 1, &p.Ranks)
	wire.Texts(w, 2, &p.Args)
}

// StepInput is something from srun for the tasks.
type StepInput struct {
	Data    []byte
	EOF     bool  // after Data
	Signal  uint8 // for all tasks
	Rows    uint16
	Columns uint16
	Ends    uint8 // why Signal ends the step: the output says so
	Barrier *PMIBarrier
}

// PMIBarrier is a barrier of an MPI program: a node says that all its tasks are
// there and what they have put, srun answers with what those of all nodes have.
type PMIBarrier struct{ Pairs []string } // keys and values in turns

// Code implements wire.Message.
func (b *PMIBarrier) Code(w *wire.Coder) { wire.Texts(w, 1, &b.Pairs) }

// Why srun ends a step.
const (
	EndsKilled  = 1 + iota // the user, srun or a lost node
	EndsFailure            // a task failed, with --kill-on-bad-exit
)

// Code implements wire.Message.
func (i *StepInput) Code(w *wire.Coder) {
	w.Bytes(1, &i.Data)
	w.Bool(2, &i.EOF)
	wire.Uint(w, 3, &i.Signal)
	wire.Uint(w, 4, &i.Rows)
	wire.Uint(w, 5, &i.Columns)
	wire.Uint(w, 6, &i.Ends)
	wire.Pointer(w, 7, &i.Barrier)
}

// StepEvent is something from a node for srun. Exactly one part is set.
type StepEvent struct {
	Node    uint32 // number in the grant
	Output  *Output
	Started *TaskStarted
	Exit    *TaskExit
	Taken   uint64 // bytes of input that the tasks of the node have taken, in all
	Lost    string // the node does not answer any more, and why; its tasks are lost
	Done    bool   // nothing more comes from this node
	Barrier *PMIBarrier
	Ending  bool // the step is being ended, by its job or by scancel
}

// Code implements wire.Message.
func (e *StepEvent) Code(w *wire.Coder) {
	wire.Uint(w, 1, &e.Node)
	wire.Pointer(w, 2, &e.Output)
	wire.Pointer(w, 3, &e.Started)
	wire.Pointer(w, 4, &e.Exit)
	w.Uint64(5, &e.Taken)
	w.String(6, &e.Lost)
	w.Bool(7, &e.Done)
	w.Bool(8, &e.Ending)
	wire.Pointer(w, 9, &e.Barrier)
}

// Output is a piece of what a task wrote.
type Output struct {
	Task  uint32
	Error bool // on its standard error
	Data  []byte
}

// Code implements wire.Message.
func (o *Output) Code(w *wire.Coder) {
	wire.Uint(w, 1, &o.Task)
	w.Bool(2, &o.Error)
	w.Bytes(3, &o.Data)
}

// TaskStarted says that a task runs.
type TaskStarted struct {
	Task uint32
	PID  int32
}

// Code implements wire.Message.
func (t *TaskStarted) Code(w *wire.Coder) {
	wire.Uint(w, 1, &t.Task)
	wire.Int(w, 2, &t.PID)
}

// TaskExit is how a task ended. Failure is set if it never ran.
type TaskExit struct {
	Task    uint32
	Status  uint32 // exit code
	Signal  uint8
	Failure string
	Usage   job.Usage
}

// Code implements wire.Message.
func (t *TaskExit) Code(w *wire.Coder) {
	wire.Uint(w, 1, &t.Task)
	wire.Uint(w, 2, &t.Status)
	wire.Uint(w, 3, &t.Signal)
	w.String(4, &t.Failure)
	wire.Struct(w, 5, &t.Usage)
}
