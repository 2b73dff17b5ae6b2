package accounting

import (
	"muster/internal/wire"
	"muster/job"
)

// Event is a stretch of time, now over, in which a node was in one condition and
// had one size, or in which a reservation held as it was. With the records of jobs
// they say what a cluster had and what became of it (sreport(1), Utilization).
type Event struct {
	Kind     EventKind
	Name     string // of the node or the reservation
	From, To job.Time
	Reason   string // of a node that was out of service
	By       string // user that took it out of service; "" if it was no user
	Has      Amounts
	Nodes    []string // of a reservation
	Maint    bool     // a reservation with the flag MAINT
}

// EventKind says what an event is about. The numbers are stored.
type EventKind uint8

// The kinds of event.
const (
	NodeInService EventKind = iota + 1
	NodeDown                // down, failed, lost, or registered with less than it declares
	NodeDrained             // taken out of service by somebody, whatever still ran there
	Reserved
)

// String is the kind's word.
func (k EventKind) String() string {
	switch k {
	case NodeInService:
		return "UP"
	case NodeDown:
		return "DOWN"
	case NodeDrained:
		return "DRAIN"
	case Reserved:
		return "RESERVED"
	}
	return "UNKNOWN"
}

// Code implements wire.Message.
func (e *Event) Code(c *wire.Coder) {
	wire.Uint(c, 1, &e.Kind)
	c.String(2, &e.Name)
	wire.Int(c, 3, &e.From)
	wire.Int(c, 4, &e.To)
	c.String(5, &e.Reason)
	c.String(6, &e.By)
	e.Has.code(c, 7)
	wire.Texts(c, 8, &e.Nodes)
	c.Bool(9, &e.Maint)
}

// Record is what the outbox of state and the ledger hold under one number: the end
// of an attempt of a job, or an event.
type Record struct {
	Job   *job.Job
	Event *Event
}

// End is the time at which what the record is about was over.
func (r *Record) End() job.Time {
	if r.Event != nil {
		return r.Event.To
	}
	return r.Job.Times.End
}

// Code implements wire.Message.
func (r *Record) Code(c *wire.Coder) {
	wire.Pointer(c, 1, &r.Job)
	wire.Pointer(c, 2, &r.Event)
}
