// Package shepherd is the parent of every job process of a node: a small
// process that starts them, waits for them and keeps each exit record until the
// node daemon has taken it. It outlives the daemon, which finds it again by its
// socket.
//
// It imports the standard library, golang.org/x/sys and the wire codec only, so
// that it stays small and has no reason to be restarted.
package shepherd

import (
	"fmt"

	"muster/internal/wire"
)

// Key names one process that the shepherd looks after: the batch script of one
// attempt of a job, or a task of one of its steps.
type Key struct {
	Job     uint32
	Attempt uint32
	Step    uint64 // 0: the batch script; else 1 + the number of the step
	Task    uint32 // rank in the step
}

// String is the key as it stands in logs and file names: job.attempt, and for a
// task .step.rank.
func (k Key) String() string {
	if k.Step > 0 {
		return fmt.Sprintf("%d.%d.%d.%d", k.Job, k.Attempt, k.Step-1, k.Task)
	}
	return fmt.Sprintf("%d.%d", k.Job, k.Attempt)
}

// Attempted is the key of the attempt that a task belongs to.
func (k Key) Attempted() Key { return Key{Job: k.Job, Attempt: k.Attempt} }

// Code implements wire.Message.
func (k *Key) Code(w *wire.Coder) {
	wire.Uint(w, 1, &k.Job)
	wire.Uint(w, 2, &k.Attempt)
	w.Uint64(3, &k.Step)
	wire.Uint(w, 4, &k.Task)
}

// PIDVariable is a variable that the shepherd adds to every environment: the
// number of the process itself (sbatch(1), OUTPUT ENVIRONMENT VARIABLES).
const PIDVariable = "SLURM_TASK_PID"

// PIDMark stands for the number of the process in Spec.Report.
const PIDMark = "\x01"

// Spec says how a process is started.
type Spec struct {
	Key     Key
	Path    string   // absolute; run by its #! line or as a program
	Args    []string // with Args[0]
	Env     []byte   // NUL separated NAME=value
	Dir     string   // working directory; /tmp with a line on stderr if it can't be entered
	UID     uint32
	GID     uint32
	Groups  []uint32
	Umask   uint32
	Limits  []Limit
	Stdin   string   // absolute path; "" is /dev/null
	Stdout  string   // absolute path
	Stderr  string   // absolute path; "" is the same open file as Stdout
	Append  bool     // keep what the output files hold
	Groups1 []string // cgroup v1: directories that the process joins before it runs
	Group2  string   // cgroup v2: directory that the process is born in; "" for none
	Search  bool     // Path without a slash is looked for in the PATH of Env
	// Terminal: Stdin is a terminal, which becomes the process's controlling one.
	Terminal bool
	CPUs     []uint32 // numbers of the machine's CPUs that it may use; empty: as the shepherd
	Report   string   // for its standard error before it runs, PIDMark being its number
}

// Code implements wire.Message.
func (s *Spec) Code(w *wire.Coder) {
	wire.Struct(w, 1, &s.Key)
	w.String(2, &s.Path)
	wire.Texts(w, 3, &s.Args)
	w.Bytes(4, &s.Env)
	w.String(5, &s.Dir)
	wire.Uint(w, 6, &s.UID)
	wire.Uint(w, 7, &s.GID)
	wire.Ints(w, 8, &s.Groups)
	wire.Uint(w, 9, &s.Umask)
	wire.Slice(w, 10, &s.Limits)
	w.String(11, &s.Stdin)
	w.String(12, &s.Stdout)
	w.String(13, &s.Stderr)
	w.Bool(14, &s.Append)
	wire.Texts(w, 15, &s.Groups1)
	w.String(16, &s.Group2)
	w.Bool(17, &s.Search)
	w.Bool(18, &s.Terminal)
	wire.Ints(w, 19, &s.CPUs)
	w.String(20, &s.Report)
}

// Limit is the soft value of one resource limit, as setrlimit(2) counts it.
// The hard value stays as the node has it.
type Limit struct {
	Name     string // for the message when it can't be set
	Resource int    // RLIMIT_…
	Value    uint64 // ^uint64(0) is unlimited
}

// Code implements wire.Message.
func (l *Limit) Code(w *wire.Coder) {
	w.String(1, &l.Name)
	wire.Int(w, 2, &l.Resource)
	w.Uint64(3, &l.Value)
}

// Exit is the record of a process that has ended. The shepherd keeps it until it
// is acknowledged.
type Exit struct {
	Key      Key
	PID      int
	Status   uint32 // exit code, 0 to 255
	Signal   uint32 // signal that killed it, 0 if none
	UserUS   uint64 // CPU time of it and of the children it waited for, microseconds
	SystemUS uint64
	MaxRSSKB uint64 // of the largest of them
	At       int64  // milliseconds since the epoch
}

// Code implements wire.Message.
func (e *Exit) Code(w *wire.Coder) {
	wire.Struct(w, 1, &e.Key)
	wire.Int(w, 2, &e.PID)
	wire.Uint(w, 3, &e.Status)
	wire.Uint(w, 4, &e.Signal)
	w.Uint64(5, &e.UserUS)
	w.Uint64(6, &e.SystemUS)
	w.Uint64(7, &e.MaxRSSKB)
	w.Int64(8, &e.At)
}

// Running is a process that has not ended.
type Running struct {
	Key Key
	PID int // 0: it is still being started
}

// Code implements wire.Message.
func (r *Running) Code(w *wire.Coder) {
	wire.Struct(w, 1, &r.Key)
	wire.Int(w, 2, &r.PID)
}

// Fault says whose fault it is that a process was not started.
type Fault uint8

// The kinds of a failed launch.
const (
	// FaultNode: the node could not do its part; nothing of the job ran.
	FaultNode Fault = iota + 1
	// FaultOutput: a file for the standard streams could not be opened.
	FaultOutput
	// FaultExec: the script or its interpreter could not be run. The reason is
	// on the job's standard error; Errno is the exit code that Slurm gives.
	FaultExec
	// FaultCalledOff: it was killed before it began; nothing of the job ran.
	FaultCalledOff
)

// Failure is a process that was not started.
type Failure struct {
	Key   Key
	Fault Fault
	Errno uint32
	Text  string
}

// Code implements wire.Message.
func (f *Failure) Code(w *wire.Coder) {
	wire.Struct(w, 1, &f.Key)
	wire.Uint(w, 2, &f.Fault)
	wire.Uint(w, 3, &f.Errno)
	w.String(4, &f.Text)
}

// Error implements error.
func (f *Failure) Error() string { return "job " + f.Key.String() + ": " + f.Text }

// Request is one message of the daemon; exactly one part is set.
type Request struct {
	Launch *Spec
	Signal *Signal
	Note   *Note
	Taken  []Key // exit records and failures that the daemon has on disk
}

// Code implements wire.Message.
func (r *Request) Code(w *wire.Coder) {
	wire.Pointer(w, 1, &r.Launch)
	wire.Pointer(w, 2, &r.Signal)
	wire.Pointer(w, 3, &r.Note)
	wire.Slice(w, 4, &r.Taken)
}

// Signal sends a signal to a process, or to its process group.
type Signal struct {
	Key    Key
	Number uint32
	Group  bool
}

// Code implements wire.Message.
func (s *Signal) Code(w *wire.Coder) {
	wire.Struct(w, 1, &s.Key)
	wire.Uint(w, 2, &s.Number)
	w.Bool(3, &s.Group)
}

// Note is a text for the standard error of a running process. A Noted event
// answers.
type Note struct {
	Key  Key
	Text string
}

// Code implements wire.Message.
func (n *Note) Code(w *wire.Coder) {
	wire.Struct(w, 1, &n.Key)
	w.String(2, &n.Text)
}

// Event is one message of the shepherd; exactly one part is set.
type Event struct {
	Welcome *Welcome
	Started *Running
	Failed  *Failure
	Exited  *Exit
	Noted   *Key // the note was written, or can't be
}

// Code implements wire.Message.
func (e *Event) Code(w *wire.Coder) {
	wire.Pointer(w, 1, &e.Welcome)
	wire.Pointer(w, 2, &e.Started)
	wire.Pointer(w, 3, &e.Failed)
	wire.Pointer(w, 4, &e.Exited)
	wire.Pointer(w, 5, &e.Noted)
}

// Welcome is the first event on a connection: all that the shepherd has.
type Welcome struct {
	Instance string // random, of this process
	PID      int
	Running  []Running
	Exits    []Exit
	Failures []Failure
}

// Code implements wire.Message.
func (h *Welcome) Code(w *wire.Coder) {
	w.String(1, &h.Instance)
	wire.Int(w, 2, &h.PID)
	wire.Slice(w, 3, &h.Running)
	wire.Slice(w, 4, &h.Exits)
	wire.Slice(w, 5, &h.Failures)
}
