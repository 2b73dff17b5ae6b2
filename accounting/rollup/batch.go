package rollup

import (
	"muster/accounting"
	"muster/job"
)

// Slot names a sum.
type Slot struct {
	Grain Grain
	Start int64
	Key   Key
}

// Batch gathers what some records add to the sums.
type Batch struct {
	Calendar Calendar
	Sums     map[Slot]*Sum
	Hours    map[int64]*Cluster // by the start of the hour
}

// NewBatch is an empty one.
func NewBatch(c Calendar) *Batch {
	return &Batch{Calendar: c, Sums: map[Slot]*Sum{}, Hours: map[int64]*Cluster{}}
}

// Add takes in a record of the ledger. Each may be added to a set of sums once only.
func (b *Batch) Add(r *accounting.Record) {
	if e := r.Event; e != nil {
		b.each(Hour, e.From.Unix(), e.To.Unix(), func(start int64, seconds uint64) { b.hour(start).event(e, seconds) })
		return
	}
	j := r.Job
	b.wait(j, 0)
	from, to := Runs(j, 0)
	if from >= to && j.Alloc == nil {
		return // it never ran
	}
	held, key := HeldBy(j.Alloc), KeyOf(j)
	for _, g := range Grains() {
		b.each(g, from, to, func(start int64, seconds uint64) {
			addAll(&b.sum(Slot{g, start, key}).Held, held, seconds)
		})
		done := &Sum{Done: DoneOf(j)}
		b.sum(Slot{g, b.Calendar.Start(g, j.Times.End.Unix()), key}).Add(done)
	}
	b.each(Hour, from, to, func(start int64, seconds uint64) { addAll(&b.hour(start).Allocated, held, seconds) })
}

// wait adds the time that a job waited to the hours.
func (b *Batch) wait(j *job.Job, now int64) {
	from, to, cpus := waits(j, now)
	b.each(Hour, from, to, func(start int64, seconds uint64) { add(&b.hour(start).Wanted, "cpu", cpus*seconds) })
}

// each cuts a stretch of time.
func (b *Batch) each(g Grain, from, to int64, f func(start int64, seconds uint64)) {
	for from < to {
		start := b.Calendar.Start(g, from)
		next := min(to, b.Calendar.Next(g, start))
		f(start, uint64(next-from))
		from = next
	}
}

func (b *Batch) sum(s Slot) *Sum {
	if b.Sums[s] == nil {
		b.Sums[s] = &Sum{}
	}
	return b.Sums[s]
}

func (b *Batch) hour(start int64) *Cluster {
	if b.Hours[start] == nil {
		b.Hours[start] = &Cluster{}
	}
	return b.Hours[start]
}
