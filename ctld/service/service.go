// Package service is the contract between a controller's core and the handlers
// of clients' calls (ctld/admit for changes, ctld/query for reads).
package service

import (
	"context"

	"muster/accounting/rollup"
	"muster/api"
	"muster/job"
	"muster/sched"
	"muster/state"
)

// Core is what a handler may use of the controller it runs in.
type Core interface {
	// Root is the last state applied here.
	Root() *state.Root
	// Now is the present state time (the leader's; a follower's best guess).
	Now() job.Time
	// WaitIndex returns a root that includes index, or an error when ctx ends.
	WaitIndex(ctx context.Context, index uint64) (*state.Root, error)
	// Changed returns a channel that is closed once a root later than r is
	// published: wait on it, do not poll.
	Changed(r *state.Root) <-chan struct{}
	// Propose commits one command and returns its result and the index of its
	// entry. Only the leader can; others fail with api.ErrUnavailable. The
	// blobs that the command names and the state lacks go with it.
	Propose(ctx context.Context, e state.Envelope, blobs ...state.Blob) (state.Result, uint64, error)
	// Blob reads a script or environment by its hash.
	Blob(ctx context.Context, h job.Hash) ([]byte, error)
	// Verdict is the scheduler's last word on a waiting job.
	Verdict(id job.ID) (sched.Verdict, bool)
	// Explain says what holds a waiting job and what would help; false if it does
	// not wait. It plans anew: a cycle's work for each call, one call at a time.
	Explain(ctx context.Context, id job.ID) (*sched.Explanation, bool, error)
	// Signal sends a signal to an attempt's processes and waits until its
	// nodes have taken it. Only the leader can.
	Signal(ctx context.Context, s Signal) error
	// Live is what was last heard of a node; false if nothing.
	Live(name string) (NodeLive, bool)
	// Usage is the last sample of a running attempt, summed over its nodes.
	Usage(id job.ID) (job.Usage, bool)
	// Ledger reads finished jobs (outbox and ledger as one).
	Ledger() Ledger
	// Sign signs a message with the controller's key; the certificate goes with
	// the signature.
	Sign(message []byte) (signature, certificate []byte, err error)
	// Counters are for sdiag and metrics.
	Counters() Counters
	// Controllers lists the members and who leads.
	Controllers() []Controller
	// Backup hands over all that is needed to begin the cluster anew, in parts, as it
	// was at one index. Only the leader can.
	Backup(ctx context.Context, send func(*api.BackupPart) error) error
	// ChangeMember changes who the members are, or who leads. Only the leader can. It
	// returns when a majority has the change.
	ChangeMember(ctx context.Context, change MemberChange) error
}

// Ledger is the record of finished jobs, by its own queries.
type Ledger interface {
	// Jobs calls f for each finished record that ended in [from, to) (0: open) or,
	// if ids are given, has one of the ids; oldest first, until f returns false.
	// A job that was requeued has one record for each attempt. With users, by name or
	// uid, records of others may be left out.
	Jobs(ctx context.Context, from, to job.Time, ids []job.ID, users []string, f func(*job.Job) bool) error
	// Use sums up what was used, and what became of the cluster's time, between two
	// moments; what lasts counts up to now. The moments are moved outwards to whole
	// hours of the cluster's zone.
	Use(ctx context.Context, from, to job.Time) (*rollup.Use, error)
}

// Signal is a signal to a running job.
type Signal struct {
	Job    job.ID
	Number uint8
	Batch  bool        // only the batch shell
	Full   bool        // batch shell and steps
	Step   *job.StepID // only this step
}

// NodeLive is the part of a node that is not kept in state.
type NodeLive struct {
	LoadHundredths uint32
	FreeMemoryMB   uint64
	Heard          job.Time
}

// Counters of one controller since its start.
type Counters struct {
	Started                                              job.Time
	Submitted, JobsStarted, Completed, Cancelled, Failed uint64
	Cycles, CyclesLastUS, CyclesMaxUS, CyclesSumUS       uint64
	QueueLen, LastDepth, DepthSum                        uint64
	Backfilled                                           uint64
	Calls                                                map[string]CallCount
	Users                                                map[uint32]UserCount // by uid
	Threads                                              int
}

// CallCount is how often a method was called and how long it took in all.
type CallCount struct{ Count, SumUS uint64 }

// UserCount is how often a user called and how long that took in all.
type UserCount struct {
	User string
	CallCount
}

// Controller is one controller of the cluster.
type Controller struct {
	Name, Address string
	Leader        bool
	Up            bool   // heard of lately, as far as this controller knows
	Votes         bool   // false: it answers reads and counts in no majority
	Index         uint64 // that its state stood at when it was heard of
}

// MemberChange is a change of who the controllers are.
type MemberChange struct {
	What    MemberVerb
	Name    string // Transfer: "" is any voter
	Address string // AddMember: host:port
	Force   bool   // also where fewer than half of the voters left would answer
}

// MemberVerb is what to do with a member.
type MemberVerb uint8

// The verbs. A new member has no vote until it is promoted.
const (
	AddMember MemberVerb = 1 + iota
	Promote
	Demote
	RemoveMember
	Transfer
)

// Request is one call with what its handler needs.
type Request struct {
	api.Call
	Caller api.Caller
	// Send streams one chunk of the answer; it blocks while the client is slow.
	Send func(chunk []byte) error
	// Index may be set by the handler: the index the answer was made from.
	Index uint64
}

// Method binds a name to its handler.
type Method struct {
	Name   string
	Leader bool // runs on the leader only; followers pass it on
	Site   bool // changes the cluster as a whole, or reads all of it: never from a compute node
	Own    bool // a read of what is the caller's alone: scripts, environments, crontabs
	Live   bool // shows what only the leader hears from nodes: followers pass on what must be up to date
	Handle func(ctx context.Context, core Core, r *Request) error
}
