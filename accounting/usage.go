package accounting

import (
	"slices"
	"strings"

	"muster/internal/wire"
	"muster/job"
	"muster/partition"
)

// Usage is what the jobs of one association, or of one QOS, have used so far, less
// what has decayed since (slurm.conf(5), PriorityDecayHalfLife). What an account has
// used is the sum over the associations of users below it.
type Usage struct {
	Account, User, Partition string // of an association, as in the book
	QOS                      string // of a QOS; then the others are ""

	Raw  Spent // billing times seconds (RawUsage)
	Wall Spent // seconds, whatever the size of the job (for GrpWall)
	TRES []TRESSpent
}

// TRESSpent is the use of one resource.
type TRESSpent struct {
	Name string // as in Amount
	Used Spent
}

// Code implements wire.Message.
func (u *Usage) Code(c *wire.Coder) {
	c.String(1, &u.Account)
	c.String(2, &u.User)
	c.String(3, &u.Partition)
	c.String(4, &u.QOS)
	wire.Struct(c, 5, &u.Raw)
	wire.Struct(c, 6, &u.Wall)
	wire.Slice(c, 7, &u.TRES)
}

// Code implements wire.Message.
func (t *TRESSpent) Code(c *wire.Coder) {
	c.String(1, &t.Name)
	wire.Struct(c, 2, &t.Used)
}

// Compare orders by whose use it is.
func (u *Usage) Compare(o *Usage) int {
	for _, d := range [...]int{strings.Compare(u.QOS, o.QOS), strings.Compare(u.Account, o.Account), strings.Compare(u.User, o.User)} {
		if d != 0 {
			return d
		}
	}
	return strings.Compare(u.Partition, o.Partition)
}

// Empty tells whether nothing is left of it.
func (u *Usage) Empty() bool {
	return u.Raw.IsZero() && u.Wall.IsZero() && !slices.ContainsFunc(u.TRES, func(t TRESSpent) bool { return !t.Used.IsZero() })
}

// Get is what was used of a resource.
func (u *Usage) Get(name string) Spent {
	if name == "billing" {
		return u.Raw
	}
	if i, ok := u.find(name); ok {
		return u.TRES[i].Used
	}
	return Spent{}
}

func (u *Usage) find(name string) (int, bool) {
	return slices.BinarySearchFunc(u.TRES, name, func(t TRESSpent, s string) int { return strings.Compare(t.Name, s) })
}

// Add takes another usage in; its list is changed in place.
func (u *Usage) Add(o *Usage) { u.merge(o, Spent.Plus) }

// Sub takes it off again.
func (u *Usage) Sub(o *Usage) { u.merge(o, Spent.Less) }

func (u *Usage) merge(o *Usage, join func(a, b Spent) Spent) {
	u.Raw, u.Wall = join(u.Raw, o.Raw), join(u.Wall, o.Wall)
	for i := range o.TRES {
		t := &o.TRES[i]
		at, ok := u.find(t.Name)
		if !ok {
			u.TRES = slices.Insert(u.TRES, at, TRESSpent{Name: t.Name})
		}
		u.TRES[at].Used = join(u.TRES[at].Used, t.Used)
	}
}

// Each changes every number; its list is changed in place.
func (u *Usage) Each(change func(Spent) Spent) {
	u.Raw, u.Wall = change(u.Raw), change(u.Wall)
	for i := range u.TRES {
		u.TRES[i].Used = change(u.TRES[i].Used)
	}
}

// Clone is a copy that shares nothing.
func (u *Usage) Clone() *Usage {
	c := *u
	c.TRES = slices.Clone(u.TRES)
	return &c
}

// UsageOver is what an allocation uses in some seconds.
func UsageOver(a *job.Allocation, seconds uint64) Usage {
	use := UseOf(a)
	u := Usage{Raw: Rate(a).Times(seconds), Wall: Over(1, seconds)}
	add := func(name string, n uint64) {
		if n > 0 {
			at, _ := u.find(name)
			u.TRES = slices.Insert(u.TRES, at, TRESSpent{name, Over(n, seconds)})
		}
	}
	add("cpu", use.CPUs)
	add("mem", use.MemoryMB)
	add("node", use.Nodes)
	for _, o := range use.Others {
		add(o.Name, o.Count)
	}
	return u
}

// Rate is the exact billing of an allocation for one second.
func Rate(a *job.Allocation) Spent { return Over(a.Billing, 1).Plus(Parts(a.BillingRest)) }

// Bill sets what an allocation is billed by the weights of its partition
// (slurm.conf(5), TRESBillingWeights): without any, its CPUs; else the sum of amount
// times weight or, by rule, the highest of what nodes have and the sum of the rest.
func Bill(a *job.Allocation, weights []partition.TRESWeight, rule partition.BillingRule) {
	if len(weights) == 0 {
		a.Billing, a.BillingRest = uint64(a.CPUs), 0
		return
	}
	use := UseOf(a)
	var highest, devices, sum Spent
	for _, w := range weights {
		part := Parts(w.Weight).Times(use.Get(w.TRES))
		family, _, _ := strings.Cut(w.TRES, "/")
		ofNodes := family == "cpu" || family == "mem" || family == "node" || family == "gres"
		switch {
		case rule == partition.BillSum || !ofNodes:
			sum = sum.Plus(part)
		case rule == partition.BillMaxAndGres && family == "gres":
			devices = devices.Plus(part)
		case part.Compare(highest) > 0:
			highest = part
		}
	}
	all := sum.Plus(devices).Plus(highest)
	a.Billing = all.Whole()
	a.BillingRest = all.Less(Over(a.Billing, 1)).Lo
}
