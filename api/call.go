// Package api is the wire: what clients, agents, nodes and controllers say to
// each other, versions, dialling and identity.
//
// Clients speak length-prefixed frames to the agent's unix socket (frame.go);
// agents, nodes and controllers speak gRPC with mutual TLS (pb). A client's call
// passes through the agent to a controller unchanged: only the caller is added.
package api

import (
	"fmt"

	"muster/internal/wire"
)

// Call is one request of a client. Body is the wire coded request message of
// the method.
type Call struct {
	Method    string
	Body      []byte
	RequestID [16]byte // of a change: the same for all tries of it
	FirstTry  int64    // of a change: milliseconds since the epoch, client's clock
	Read      ReadLevel
	MinIndex  uint64 // the answer must include this index
	Version   uint32 // of the client, see Version
	AgeMS     uint64 // of a change: how long ago the first try was when this one was sent
}

// Version is the protocol version of this build, with one line for each change.
//
//	1  2026-12-01  first
const Version = 1

// ReadLevel says how fresh an answer must be.
type ReadLevel uint8

// The read levels.
const (
	ReadLocal        ReadLevel = iota // what the controller has, at least MinIndex
	ReadLinearizable                  // includes all that was acknowledged before the call
)

// Code implements wire.Message.
func (c *Call) Code(w *wire.Coder) {
	w.String(1, &c.Method)
	w.Bytes(2, &c.Body)
	w.Fixed(3, c.RequestID[:])
	w.Int64(4, &c.FirstTry)
	wire.Uint(w, 5, &c.Read)
	w.Uint64(6, &c.MinIndex)
	wire.Uint(w, 7, &c.Version)
	w.Uint64(8, &c.AgeMS)
}

// Caller is who a call comes from: the kernel's word and the name service's,
// filled in by the agent. A controller believes it as far as the agent's role
// goes.
type Caller struct {
	UID, GID uint32
	User     string
	Group    string
	Groups   []uint32
	Host     string // the agent's host
	PID      int32
	// GroupNames are the groups of the user by the name service, nil if it does not
	// say; Groups are those of the calling process.
	GroupNames []string
	// Plain: a compute node says who it is. Controllers set it; such a caller has no
	// right but over what is the user's own.
	Plain bool
}

// Code implements wire.Message.
func (c *Caller) Code(w *wire.Coder) {
	wire.Uint(w, 1, &c.UID)
	wire.Uint(w, 2, &c.GID)
	w.String(3, &c.User)
	w.String(4, &c.Group)
	wire.Ints(w, 5, &c.Groups)
	w.String(6, &c.Host)
	wire.Int(w, 7, &c.PID)
	wire.Texts(w, 8, &c.GroupNames)
	w.Bool(9, &c.Plain)
}

// End closes the answer to a call, after any number of chunks.
type End struct {
	Err   *Error
	Index uint64 // raft index that the answer was made from, or that the change got
	AgeMS uint64 // how old a local read may be
	// Leader is the leader's address if another controller than the one that was
	// asked had to answer. The agent goes there next time.
	Leader string
}

// Code implements wire.Message.
func (e *End) Code(w *wire.Coder) {
	wire.Pointer(w, 1, &e.Err)
	w.Uint64(2, &e.Index)
	w.Uint64(3, &e.AgeMS)
	w.String(4, &e.Leader)
}

// Error is a refusal or failure that the client shows. Text is Slurm's text
// where programs read it (without the "command: error:" part), Hint one line of
// ours that says what to do.
type Error struct {
	Kind ErrorKind
	Text string
	Hint string
}

// Code implements wire.Message.
func (e *Error) Code(w *wire.Coder) {
	wire.Uint(w, 1, &e.Kind)
	w.String(2, &e.Text)
	w.String(3, &e.Hint)
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// ErrorKind tells programs what kind of error it is.
type ErrorKind uint16

// The kinds of error.
const (
	ErrInternal    ErrorKind = iota + 1
	ErrInvalid               // the request is wrong
	ErrDenied                // not allowed
	ErrNotFound              // no such thing
	ErrState                 // not in this state
	ErrBusy                  // queue full, try again
	ErrUnavailable           // no leader, no controller: try again
	ErrTooOld                // a try older than the request memory
	ErrUnknownCall           // the controller does not know the method
)

// Errorf makes an Error.
func Errorf(k ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// Retry tells whether the same call may be tried again with the same request id.
func (e *Error) Retry() bool { return e.Kind == ErrBusy || e.Kind == ErrUnavailable }

// Frame kinds on the agent's socket. A frame is a 4-byte big-endian length, one
// byte of kind, and the payload; the length counts kind and payload.
const (
	FrameCall  byte = 1 // client to agent: Call
	FrameChunk byte = 2 // agent to client: a part of the answer
	FrameEnd   byte = 3 // agent to client: End
	FrameInput byte = 4 // client to agent: more input of a streaming call
)

// MaxFrame is the longest frame that is accepted.
const MaxFrame = 16 << 20

// The methods of calls, with their messages. Reads answer in chunks of a list
// message; changes answer with one chunk.
const (
	MethodPing         = "ping"             // PingReply
	MethodSubmit       = "job.submit"       // SubmitRequest, SubmitReply
	MethodCancel       = "job.cancel"       // CancelRequest, CancelReply
	MethodUpdateJob    = "job.update"       // UpdateRequest, ChangeReply
	MethodControlJob   = "job.control"      // ControlRequest (hold, release, requeue, suspend, …), ChangeReply
	MethodWaitJob      = "job.wait"         // WaitRequest, WaitReply: answers when the job has ended
	MethodJobs         = "job.list"         // JobQuery, JobList
	MethodScript       = "job.script"       // ScriptRequest, ScriptReply
	MethodNodes        = "node.list"        // NodeQuery, NodeList
	MethodUpdateNode   = "node.update"      // UpdateRequest, ChangeReply
	MethodPartitions   = "partition.list"   // PartitionQuery, PartitionList
	MethodUpdatePart   = "partition.update" // UpdateRequest, ChangeReply
	MethodReservations = "reservation.list"
	MethodUpdateResv   = "reservation.update"
	MethodLicenses     = "license.list"
	MethodConfig       = "config.show"        // ConfigReply
	MethodConfigure    = "config.apply"       // ConfigureRequest, ConfigureReply
	MethodConfigs      = "config.history"     // ConfigsRequest, ConfigsReply
	MethodControllers  = "controllers.change" // ControllersRequest
	MethodBackup       = "backup"             // nothing, BackupPart in each chunk
	MethodAccounting   = "acct.jobs"          // AcctQuery, AcctList
	MethodStats        = "stats"              // StatsReply
	MethodWhy          = "job.why"            // WhyRequest, WhyReply
)
