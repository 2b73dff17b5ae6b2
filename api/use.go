package api

import (
	"muster/internal/wire"
	"muster/job"
)

// MethodUse asks what was used in a period, and what became of the cluster's time.
const MethodUse = "acct.use" // UseQuery, UseReply: sreport, muster report

// UseQuery names the period. It is moved outwards to whole hours of the cluster's zone.
type UseQuery struct{ From, To job.Time }

// Code implements wire.Message.
func (q *UseQuery) Code(w *wire.Coder) {
	wire.Int(w, 1, &q.From)
	wire.Int(w, 2, &q.To)
}

// UseReply is what was used. What lasts counts up to Now.
type UseReply struct {
	Now, From, To job.Time
	Cluster, Zone string
	Rows          []UseRow   // by account, user, then the rest
	Parts         []UseParts // by resource
	Events        []UseEvent
	Accounts      []UseAccount // the tree as it is now, each after the one above it
}

// Code implements wire.Message.
func (r *UseReply) Code(w *wire.Coder) {
	wire.Int(w, 1, &r.Now)
	wire.Int(w, 2, &r.From)
	wire.Int(w, 3, &r.To)
	w.String(4, &r.Cluster)
	w.String(5, &r.Zone)
	wire.Slice(w, 6, &r.Rows)
	wire.Slice(w, 7, &r.Parts)
	wire.Slice(w, 8, &r.Events)
	wire.Slice(w, 9, &r.Accounts)
}

// UseRow is what the jobs of one key held and did.
type UseRow struct {
	Account, User, Partition, QOS, WCKey, Reservation string
	Held                                              []UseAmount // resource-seconds, memory in MB-seconds
	Done                                              UseDone
}

// Code implements wire.Message.
func (r *UseRow) Code(w *wire.Coder) {
	for i, s := range []*string{&r.Account, &r.User, &r.Partition, &r.QOS, &r.WCKey, &r.Reservation} {
		w.String(i+1, s)
	}
	wire.Slice(w, 7, &r.Held)
	wire.Struct(w, 8, &r.Done)
}

// Get is how much was held of a resource.
func (r *UseRow) Get(resource string) uint64 {
	for i := range r.Held {
		if r.Held[i].Name == resource {
			return r.Held[i].Seconds
		}
	}
	return 0
}

// UseAmount is a number of resource-seconds.
type UseAmount struct {
	Name    string // cpu, mem, node, billing, gres/NAME, gres/NAME:TYPE, license/NAME
	Seconds uint64
}

// Code implements wire.Message.
func (a *UseAmount) Code(w *wire.Coder) {
	w.String(1, &a.Name)
	w.Uint64(2, &a.Seconds)
}

// UseDone is about the attempts that ended in the period, from their starts on:
// CPU-seconds and MB-seconds that they held and used, seconds that they waited and ran.
type UseDone struct{ Jobs, Failed, Waited, Wall, CPUHeld, CPUUsed, MemHeld, MemUsed uint64 }

func (d *UseDone) fields() []*uint64 {
	return []*uint64{&d.Jobs, &d.Failed, &d.Waited, &d.Wall, &d.CPUHeld, &d.CPUUsed, &d.MemHeld, &d.MemUsed}
}

// Code implements wire.Message.
func (d *UseDone) Code(w *wire.Coder) {
	for i, v := range d.fields() {
		w.Uint64(i+1, v)
	}
}

// Add takes another one in.
func (d *UseDone) Add(o *UseDone) {
	mine, theirs := d.fields(), o.fields()
	for i := range mine {
		*mine[i] += *theirs[i]
	}
}

// UseParts is what became of one resource's time, in resource-seconds.
type UseParts struct {
	Resource                                                    string
	Allocated, Down, PlannedDown, Idle, Planned, Reported, Over uint64
}

// Code implements wire.Message.
func (p *UseParts) Code(w *wire.Coder) {
	w.String(1, &p.Resource)
	for i, v := range []*uint64{&p.Allocated, &p.Down, &p.PlannedDown, &p.Idle, &p.Planned, &p.Reported, &p.Over} {
		w.Uint64(i+2, v)
	}
}

// UseEvent is a stretch in which a node was in one condition or a reservation held.
type UseEvent struct {
	Kind             string // UP, DOWN, DRAIN, RESERVED
	Name, Reason, By string
	From, To         job.Time
	Has              []UseAmount // counts, not seconds
	Nodes            []string
}

// Code implements wire.Message.
func (e *UseEvent) Code(w *wire.Coder) {
	w.String(1, &e.Kind)
	w.String(2, &e.Name)
	w.String(3, &e.Reason)
	w.String(4, &e.By)
	wire.Int(w, 5, &e.From)
	wire.Int(w, 6, &e.To)
	wire.Slice(w, 7, &e.Has)
	wire.Texts(w, 8, &e.Nodes)
}

// UseAccount is an account in the tree.
type UseAccount struct{ Name, Parent string }

// Code implements wire.Message.
func (a *UseAccount) Code(w *wire.Coder) {
	w.String(1, &a.Name)
	w.String(2, &a.Parent)
}
