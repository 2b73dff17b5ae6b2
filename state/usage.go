package state

import (
	"iter"
	"maps"
	"slices"

	"muster/accounting"
	"muster/internal/wire"
	"muster/job"
)

// usageRow is what an association or a QOS has used. One that is in a tree is never
// changed: roots share it.
type usageRow struct {
	accounting.Usage
	sum Hash
}

func (u *usageRow) before(o *usageRow) bool { return u.Compare(&o.Usage) < 0 }

// usageKey names whose use it is.
type usageKey struct{ account, user, partition, qos string }

func (k usageKey) usage() accounting.Usage {
	return accounting.Usage{Account: k.account, User: k.user, Partition: k.partition, QOS: k.qos}
}

// Decay brings the use of associations and QOS up to date, once in each
// priority.calc_period: what was used before decays, and what running jobs have used
// since the last time is added.
type Decay struct {
	// Reset is the last moment at which past use was to be forgotten
	// (PriorityUsageResetPeriod), in the cluster's zone; 0: never. A later one than
	// that of the command before forgets it.
	Reset job.Time
}

// Kind implements Command.
func (*Decay) Kind() Kind { return KindDecay }

// Code implements wire.Message.
func (d *Decay) Code(c *wire.Coder) { wire.Int(c, 1, &d.Reset) }

// Usage is what an association (its three names) or a QOS has used so far; of running
// jobs up to UsageAt. It must not be changed.
func (r *Root) Usage(account, user, partition, qos string) *accounting.Usage {
	k := usageKey{account, user, partition, qos}
	if row, ok := r.usage.Get(&usageRow{Usage: k.usage()}); ok {
		return &row.Usage
	}
	u := k.usage()
	return &u
}

// Usages yields all that was used, associations first, by name.
func (r *Root) Usages() iter.Seq[*accounting.Usage] {
	return func(yield func(*accounting.Usage) bool) {
		r.usage.Scan(func(row *usageRow) bool { return yield(&row.Usage) })
	}
}

// UsageAt is up to when the use of running jobs is counted; 0: not yet.
func (r *Root) UsageAt() job.Time { return r.counters.UsageAt }

// decay is Decay. The order is that of priority/multifactor: forget, decay, add.
func (m *Machine) decay(c *Decay) Result {
	count := &m.work.counters
	if c.Reset > count.UsageReset {
		if count.UsageReset != 0 {
			m.forgetUsage()
		}
		count.UsageReset = c.Reset
	}
	halfLife := m.work.cluster.Policy.Priority.HalfLife
	t := &charges{m: m, halfLife: halfLife, sums: map[usageKey]*accounting.Usage{}}
	if from, to := count.UsageAt, m.work.now; from != 0 && to > from {
		t.age(accounting.DecayOver(halfLife, uint64(to.Unix()-from.Unix())))
	}
	for j := range m.work.Holding() {
		if j.State.Active() {
			t.charge(j, j.Alloc, max(j.Times.Start, count.UsageAt), m.work.now)
		}
	}
	t.put()
	count.UsageAt = m.work.now
	m.renewShares()
	return Result{}
}

// forgetUsage sets all use to nothing.
func (m *Machine) forgetUsage() {
	var all []*usageRow
	m.work.usage.Scan(func(row *usageRow) bool { all = append(all, row); return true })
	for _, row := range all {
		m.setUsage(row.Usage.Clone(), true)
	}
}

// chargeEnd counts what an attempt used until its end, when it ends. What was counted
// beyond the end, because the news of it came late, is taken off again.
func (m *Machine) chargeEnd(old, now *jobRow) {
	if old == nil || !old.State.Active() || now.State.Active() || old.Alloc == nil {
		return
	}
	t := &charges{m: m, halfLife: m.work.cluster.Policy.Priority.HalfLife, sums: map[usageKey]*accounting.Usage{}}
	t.charge(&old.Job, old.Alloc, max(old.Times.Start, m.work.counters.UsageAt), max(now.Times.End, old.Times.Start))
	t.put()
}

// charges gathers changes of use, so that each row is written once.
type charges struct {
	m        *Machine
	halfLife uint32
	sums     map[usageKey]*accounting.Usage
}

// of is the usage to be changed.
func (t *charges) of(k usageKey) *accounting.Usage {
	u := t.sums[k]
	if u == nil {
		u = t.m.work.Usage(k.account, k.user, k.partition, k.qos).Clone()
		t.sums[k] = u
	}
	return u
}

// age lets all use decay, but for QOS with NoDecay.
func (t *charges) age(f accounting.Fraction) {
	if f == accounting.One {
		return
	}
	t.m.work.usage.Scan(func(row *usageRow) bool {
		if q := t.m.work.book.QOSNamed(row.QOS); q == nil || !q.Flags.Has(accounting.NoDecay) {
			u := t.of(usageKey{row.Account, row.User, row.Partition, row.QOS})
			u.Each(func(s accounting.Spent) accounting.Spent { return s.Scale(f) })
		}
		return true
	})
}

// charge counts what an attempt used between two times for its association, its QOS,
// and the QOS of its partition. Use of the past decays by its own length, as with
// priority/multifactor. With the times the other way round it is taken off.
func (t *charges) charge(j *job.Job, a *job.Allocation, from, to job.Time) {
	seconds, join := to.Unix()-from.Unix(), (*accounting.Usage).Add
	if seconds < 0 {
		seconds, join = -seconds, (*accounting.Usage).Sub
	}
	if seconds == 0 {
		return
	}
	book := t.m.work.book
	whole := accounting.UsageOver(a, uint64(seconds))
	if q := book.QOSNamed(j.QOS); q != nil {
		if factor, ok := q.UsageFactor.Get(); ok {
			whole.Each(func(s accounting.Spent) accounting.Spent { return s.Thousandths(factor) })
		}
	}
	decayed := whole.Clone()
	f := accounting.DecayOver(t.halfLife, uint64(seconds))
	decayed.Each(func(s accounting.Spent) accounting.Spent { return s.Scale(f) })
	if own := book.Of(j.Account, j.Owner.User, a.Partition); own != nil {
		join(t.of(usageKey{account: own.Account, user: own.User, partition: own.Partition}), decayed)
	}
	names := [2]string{j.QOS}
	if p := t.m.work.Partition(a.Partition); p != nil && p.QOS != j.QOS {
		names[1] = p.QOS
	}
	for _, name := range names {
		switch q := book.QOSNamed(name); {
		case q == nil:
		case q.Flags.Has(accounting.NoDecay):
			join(t.of(usageKey{qos: name}), &whole)
		default:
			join(t.of(usageKey{qos: name}), decayed)
		}
	}
}

// put writes what was gathered.
func (t *charges) put() {
	for _, k := range slices.SortedFunc(maps.Keys(t.sums), usageKey.compare) {
		t.m.setUsage(t.sums[k], false)
	}
}

func (k usageKey) compare(o usageKey) int {
	a, b := k.usage(), o.usage()
	return a.Compare(&b)
}

// setUsage replaces one usage, or takes it out; one that is empty is not kept.
func (m *Machine) setUsage(u *accounting.Usage, drop bool) {
	row := &usageRow{Usage: *u}
	if old, ok := m.work.usage.Get(row); ok {
		m.work.hash.sub(old.sum)
	}
	if drop || u.Empty() {
		m.work.usage.Delete(row)
		return
	}
	row.sum = m.sum.of(tableUsage, 0, u)
	m.work.hash.add(row.sum)
	m.work.usage.Set(row)
}

// pruneUsage forgets what associations and QOS used that are no longer there.
func (m *Machine) pruneUsage() {
	var gone []*usageRow
	book := m.work.book
	m.work.usage.Scan(func(row *usageRow) bool {
		if row.QOS != "" && book.QOSNamed(row.QOS) == nil || row.QOS == "" && book.Assoc(row.Account, row.User, row.Partition) == nil {
			gone = append(gone, row)
		}
		return true
	})
	for _, row := range gone {
		m.setUsage(row.Usage.Clone(), true)
	}
}
