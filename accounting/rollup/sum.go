package rollup

import (
	"slices"
	"strings"

	"muster/accounting"
	"muster/internal/wire"
	"muster/job"
)

// Key is whose use a sum is about. Names are those that jobs had when they ran: a
// user or account that was deleted since keeps its sums.
type Key struct {
	Account, User, Partition string
	QOS, WCKey, Reservation  string
}

// Code implements wire.Message.
func (k *Key) Code(c *wire.Coder) {
	c.String(1, &k.Account)
	c.String(2, &k.User)
	c.String(3, &k.Partition)
	c.String(4, &k.QOS)
	c.String(5, &k.WCKey)
	c.String(6, &k.Reservation)
}

// Compare orders by account, user, then the rest.
func (k Key) Compare(o Key) int {
	x := [...]string{k.Account, k.User, k.Partition, k.QOS, k.WCKey, k.Reservation}
	y := [...]string{o.Account, o.User, o.Partition, o.QOS, o.WCKey, o.Reservation}
	return slices.Compare(x[:], y[:])
}

// Sum is what the jobs of a key did in a stretch of time.
type Sum struct {
	Held accounting.Amounts // resource-seconds by resource, memory in MB-seconds
	Done Done               // of the attempts that ended in the stretch
}

// Done says what attempts came to, from their starts to their ends.
type Done struct {
	Jobs, Failed     uint64 // attempts; those of them that ended otherwise than as COMPLETED
	Waited           uint64 // seconds that they were eligible and did not run
	Wall             uint64 // seconds from start to end
	CPUHeld, CPUUsed uint64 // CPU-seconds
	MemHeld, MemUsed uint64 // MB-seconds; used: as if the highest use had lasted
}

// Code implements wire.Message.
func (s *Sum) Code(c *wire.Coder) {
	wire.Slice(c, 1, (*[]accounting.Amount)(&s.Held))
	wire.Struct(c, 2, &s.Done)
}

// Code implements wire.Message.
func (d *Done) Code(c *wire.Coder) {
	for i, v := range d.fields() {
		c.Uint64(i+1, v)
	}
}

func (d *Done) fields() []*uint64 {
	return []*uint64{&d.Jobs, &d.Failed, &d.Waited, &d.Wall, &d.CPUHeld, &d.CPUUsed, &d.MemHeld, &d.MemUsed}
}

// Add takes another sum in.
func (s *Sum) Add(o *Sum) {
	addAll(&s.Held, o.Held, 1)
	mine, theirs := s.Done.fields(), o.Done.fields()
	for i := range mine {
		*mine[i] += *theirs[i]
	}
}

// add adds to one amount of a list in place.
func add(l *accounting.Amounts, name string, n uint64) {
	i, ok := slices.BinarySearchFunc(*l, name, func(a accounting.Amount, s string) int { return strings.Compare(a.Name, s) })
	if !ok {
		*l = slices.Insert(*l, i, accounting.Amount{Name: name})
	}
	(*l)[i].Count += n
}

func addAll(l *accounting.Amounts, with accounting.Amounts, seconds uint64) {
	for _, a := range with {
		add(l, a.Name, a.Count*seconds)
	}
}

// KeyOf is the key of an attempt that has an allocation.
func KeyOf(j *job.Job) Key {
	return Key{Account: j.Account, User: j.Owner.User, Partition: j.Alloc.Partition, QOS: j.QOS, WCKey: j.Request.WCKey, Reservation: j.Alloc.Reservation}
}

// HeldBy is what an attempt holds, by resource.
func HeldBy(a *job.Allocation) accounting.Amounts {
	use := accounting.UseOf(a)
	held := slices.Clone(use.Others)
	add(&held, "cpu", use.CPUs)
	add(&held, "mem", use.MemoryMB)
	add(&held, "node", use.Nodes)
	add(&held, "billing", use.Billing)
	return held
}

// DoneOf is what an attempt that has ended came to. What its script and steps were
// measured to use counts; an attempt without measurements counts as one that used
// nothing.
func DoneOf(j *job.Job) Done {
	d := Done{Jobs: 1}
	if j.State != job.Completed {
		d.Failed = 1
	}
	start, end := j.Times.Start.Unix(), j.Times.End.Unix()
	if start == 0 || j.Alloc == nil {
		return d
	}
	if eligible := j.Times.Eligible.Unix(); eligible != 0 {
		d.Waited = uint64(max(0, start-eligible))
	}
	d.Wall = uint64(max(0, end-start))
	d.CPUHeld, d.MemHeld = d.Wall*uint64(j.Alloc.CPUs), d.Wall*j.Alloc.MemoryMB
	cpu, mem := Measured(j)
	d.CPUUsed, d.MemUsed = cpu/1_000_000, d.Wall*mem
	return d
}

// Measured is the CPU time in microseconds of an attempt's script and steps, and the
// highest memory in MB that one of them used: script and steps are counted in one
// where the script waits for its steps, as nearly all do.
func Measured(j *job.Job) (cpuUS, memoryMB uint64) {
	u := &j.End.Usage
	cpuUS, rss := u.UserUS+u.SystemUS, u.MaxRSSKB
	for i := range j.Steps {
		s := &j.Steps[i]
		if s.ID == job.BatchStep || s.ID == job.ExternStep {
			continue // in End.Usage
		}
		cpuUS += s.Usage.UserUS + s.Usage.SystemUS
		rss = max(rss, s.Usage.MaxRSSKB)
	}
	return cpuUS, (rss + 1023) / 1024
}
