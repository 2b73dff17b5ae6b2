package api

import (
	"muster/internal/wire"
	"muster/job"
)

// SubmitRequest asks for one batch job, one array, or the components of a
// heterogeneous job. Script and Environment are sent once for all components.
type SubmitRequest struct {
	Jobs        []SubmitJob
	Script      []byte // the script, byte for byte
	Environment []byte // NUL separated NAME=value
	TestOnly    bool   // only say when and where it could start
	Keep        bool   // of job.allocate: the allocation outlives the connection
}

// Code implements wire.Message.
func (r *SubmitRequest) Code(w *wire.Coder) {
	wire.Slice(w, 1, &r.Jobs)
	w.Bytes(2, &r.Script)
	w.Bytes(3, &r.Environment)
	w.Bool(4, &r.TestOnly)
	w.Bool(5, &r.Keep)
}

// SubmitJob is one component of a submit. Times in it are absolute: the client
// resolves them in the user's zone. Hashes, owner and priority are worked out
// by the controller.
type SubmitJob struct {
	Request     job.Request
	Array       string // --array as given
	Dependency  string // --dependency as given
	Hold        bool
	HasPriority bool
	Priority    uint32
	Requeue     job.Tri // --requeue, --no-requeue or the cluster's default
}

// Code implements wire.Message.
func (j *SubmitJob) Code(w *wire.Coder) {
	wire.Struct(w, 1, &j.Request)
	w.String(2, &j.Array)
	w.String(3, &j.Dependency)
	w.Bool(4, &j.Hold)
	w.Bool(5, &j.HasPriority)
	wire.Uint(w, 6, &j.Priority)
	wire.Uint(w, 7, &j.Requeue)
}

// SubmitReply is the answer. Messages are lines for the user's stderr.
type SubmitReply struct {
	Jobs     []job.ID // one for each component
	Messages []string
	Cluster  string
	Test     TestResult // with TestOnly
}

// Code implements wire.Message.
func (r *SubmitReply) Code(w *wire.Coder) {
	wire.Ints(w, 1, &r.Jobs)
	wire.Texts(w, 2, &r.Messages)
	w.String(3, &r.Cluster)
	wire.Struct(w, 4, &r.Test)
}

// TestResult says where and when a job could start.
type TestResult struct {
	Job       job.ID
	Start     job.Time
	CPUs      uint32
	Nodes     string // compressed
	Partition string
}

// Code implements wire.Message.
func (r *TestResult) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Job)
	wire.Int(w, 2, &r.Start)
	wire.Uint(w, 3, &r.CPUs)
	w.String(4, &r.Nodes)
	w.String(5, &r.Partition)
}

// CancelRequest is scancel's: jobs by name, narrowed by the selectors. With no
// Jobs, the selectors choose among all jobs.
type CancelRequest struct {
	Jobs         []string // 12, 12_3, 12_[1-3,7], 12+1, 12.0
	Users        []string // names or uids
	Names        []string
	Partitions   []string
	Accounts     []string
	QOS          []string
	Reservations []string
	WCKeys       []string
	Nodes        []string
	States       []job.State // pending, running, suspended
	Signal       uint8       // 0: end the jobs
	Batch        bool        // only the batch shell
	Full         bool        // the batch shell and all steps
	List         bool        // change nothing, only say which jobs are meant
	Cron         bool        // jobs of crontabs, too
}

// Code implements wire.Message.
func (r *CancelRequest) Code(w *wire.Coder) {
	wire.Texts(w, 1, &r.Jobs)
	wire.Texts(w, 2, &r.Users)
	wire.Texts(w, 3, &r.Names)
	wire.Texts(w, 4, &r.Partitions)
	wire.Texts(w, 5, &r.Accounts)
	wire.Texts(w, 6, &r.QOS)
	wire.Texts(w, 7, &r.Reservations)
	wire.Texts(w, 8, &r.WCKeys)
	wire.Texts(w, 9, &r.Nodes)
	wire.Ints(w, 10, &r.States)
	wire.Uint(w, 11, &r.Signal)
	w.Bool(12, &r.Batch)
	w.Bool(13, &r.Full)
	w.Bool(14, &r.List)
	w.Bool(15, &r.Cron)
}

// CancelReply says what was done for each job that was meant.
type CancelReply struct{ Jobs []CancelResult }

// Code implements wire.Message.
func (r *CancelReply) Code(w *wire.Coder) { wire.Slice(w, 1, &r.Jobs) }

// CancelResult is one job that was meant. Failure is Slurm's text, "" if it was
// cancelled or signalled.
type CancelResult struct {
	Job       string // as scancel names it: 12, 12_3, 12_[1-3]
	Name      string
	Partition string
	Failure   string
	Finished  bool // it had ended already
	Known     bool // there is such a job
	Step      bool // a step of it is meant
}

// Code implements wire.Message.
func (r *CancelResult) Code(w *wire.Coder) {
	w.String(1, &r.Job)
	w.String(2, &r.Name)
	w.String(3, &r.Partition)
	w.String(4, &r.Failure)
	w.Bool(5, &r.Finished)
	w.Bool(6, &r.Known)
	w.Bool(7, &r.Step)
}

// UpdateRequest is scontrol's update, create and delete of a job, node,
// partition or reservation: the words as typed. Times in it are absolute: the
// client has replaced them by seconds since the epoch.
type UpdateRequest struct {
	Action string // update, create, delete
	Pairs  []Pair
}

// Code implements wire.Message.
func (r *UpdateRequest) Code(w *wire.Coder) {
	w.String(1, &r.Action)
	wire.Slice(w, 2, &r.Pairs)
}

// Pair is one Name=Value. Op is "", "+" or "-" for =, += and -=.
type Pair struct{ Name, Op, Value string }

// Code implements wire.Message.
func (p *Pair) Code(w *wire.Coder) {
	w.String(1, &p.Name)
	w.String(2, &p.Op)
	w.String(3, &p.Value)
}

// ControlRequest is one of scontrol's verbs on jobs: hold, uhold, release,
// requeue, requeuehold, suspend, resume, top.
type ControlRequest struct {
	Verb    string
	Jobs    []string
	Special bool // requeuehold State=SpecialExit
}

// Code implements wire.Message.
func (r *ControlRequest) Code(w *wire.Coder) {
	w.String(1, &r.Verb)
	wire.Texts(w, 2, &r.Jobs)
	w.Bool(3, &r.Special)
}

// ChangeReply says what became of a change. Without Failures all went well.
type ChangeReply struct {
	Failures []Failure
	Output   string // a line for stdout
}

// Code implements wire.Message.
func (r *ChangeReply) Code(w *wire.Coder) {
	wire.Slice(w, 1, &r.Failures)
	w.String(2, &r.Output)
}

// Failure is one target that was not changed; Text is Slurm's.
type Failure struct {
	Target, Text string
	// Listed: the target is of an array, whose tasks Slurm answers for one by one.
	Listed bool
	// Own: scontrol says it as an error of its own, since the request made no sense.
	Own bool
}

// Code implements wire.Message.
func (f *Failure) Code(w *wire.Coder) {
	w.String(1, &f.Target)
	w.String(2, &f.Text)
	w.Bool(3, &f.Listed)
	w.Bool(4, &f.Own)
}

// WaitRequest waits for the end of a job, an array or a heterogeneous job, or,
// with Start, until it runs or has ended.
type WaitRequest struct {
	Job   job.ID
	Start bool
}

// Code implements wire.Message.
func (r *WaitRequest) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Job)
	w.Bool(2, &r.Start)
}

// WaitReply is the highest exit code of all tasks; Signal is set if the script
// was killed.
type WaitReply struct {
	Exit   uint32
	Signal uint8
	Known  bool // false: no such job
	State  job.State
}

// Code implements wire.Message.
func (r *WaitReply) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Exit)
	wire.Uint(w, 2, &r.Signal)
	w.Bool(3, &r.Known)
	wire.Uint(w, 4, &r.State)
}
