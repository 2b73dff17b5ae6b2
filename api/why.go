package api

import (
	"muster/internal/wire"
	"muster/job"
)

// WhyRequest asks what holds a waiting job (muster why).
type WhyRequest struct{ Job JobRef }

// Code implements wire.Message.
func (r *WhyRequest) Code(w *wire.Coder) { wire.Struct(w, 1, &r.Job) }

// WhyReply is all that the planner can say of a job. Times are 0 where there is
// none.
type WhyReply struct {
	Job     string // as squeue names it
	State   job.State
	Reasons []WhyReason // the binding one first
	Ahead   uint32      // jobs before it in order
	Planned job.Time
	Nodes   string      // where it is planned, as a host list
	Before  []WhyBefore // jobs ahead that take nodes it could use
	Sooner  []WhyChange // changes with each of which it would start sooner
	Zone    string      // time zone of the cluster, IANA name
}

// Code implements wire.Message.
func (r *WhyReply) Code(w *wire.Coder) {
	w.String(1, &r.Job)
	wire.Uint(w, 2, &r.State)
	wire.Slice(w, 3, &r.Reasons)
	wire.Uint(w, 4, &r.Ahead)
	wire.Int(w, 5, &r.Planned)
	w.String(6, &r.Nodes)
	wire.Slice(w, 7, &r.Before)
	wire.Slice(w, 8, &r.Sooner)
	w.String(9, &r.Zone)
}

// WhyReason is one constraint that holds the job.
type WhyReason struct {
	Reason job.Reason
	Detail string
}

// Code implements wire.Message.
func (r *WhyReason) Code(w *wire.Coder) {
	wire.Uint(w, 1, &r.Reason)
	w.String(2, &r.Detail)
}

// WhyBefore is a job that comes first on some of the nodes.
type WhyBefore struct {
	Job   job.ID
	Start job.Time
	Nodes uint32
}

// Code implements wire.Message.
func (b *WhyBefore) Code(w *wire.Coder) {
	wire.Uint(w, 1, &b.Job)
	wire.Int(w, 2, &b.Start)
	wire.Uint(w, 3, &b.Nodes)
}

// WhyChange is a change of the request and when the job would start with it.
type WhyChange struct {
	What  string
	Start job.Time
}

// Code implements wire.Message.
func (c *WhyChange) Code(w *wire.Coder) {
	w.String(1, &c.What)
	wire.Int(w, 2, &c.Start)
}
