package state

import (
	"muster/accounting"
	"muster/job"
)

// heldRow counts what the jobs of one holder have in the queue and hold. It is
// derived from the job table and built anew on restore. One that is in a tree is
// never changed: roots share it.
type heldRow struct {
	holder accounting.Holder
	use    accounting.Use
}

func (h *heldRow) before(o *heldRow) bool { return h.holder.Compare(&o.holder) < 0 }

// Use implements accounting.Uses: what the jobs of a holder have in the queue and
// hold at present.
func (r *Root) Use(h accounting.Holder) accounting.Use {
	if row, ok := r.held.Get(&heldRow{holder: h}); ok {
		return row.use
	}
	return accounting.Use{}
}

// claim is for whom a record counts.
type claim struct{ account, user, partition, qos string }

// burden is what one record counts for, and for whom.
type burden struct {
	claim
	submitted uint64          // 0: it counts for nothing
	alloc     *job.Allocation // nil: it holds nothing
}

func burdenOf(r *jobRow) burden {
	active := r.State.Active()
	if r.State != job.Pending && !active {
		return burden{}
	}
	t := burden{claim: claim{account: r.Account, user: r.Owner.User, partition: firstPartition(r.Job.Request), qos: r.QOS},
		submitted: uint64(max(1, r.tasks))}
	if active {
		t.alloc = r.Alloc
	}
	return t
}

func (t *burden) use() accounting.Use {
	use := accounting.Use{}
	if t.alloc != nil {
		use = accounting.UseOf(t.alloc)
	}
	use.Submitted = t.submitted
	return use
}

// recountHeld brings the counts of accounts and QOS from one row of a job to the
// next. Either may be nil.
func (m *Machine) recountHeld(old, now *jobRow) {
	var before, after burden
	if old != nil {
		before = burdenOf(old)
	}
	if now != nil {
		after = burdenOf(now)
	}
	if before == after {
		return
	}
	m.countHeld(&before, false)
	m.countHeld(&after, true)
}

func (m *Machine) countHeld(t *burden, add bool) {
	if t.submitted == 0 {
		return
	}
	use := t.use()
	m.countUse(t.claim, &use, add)
}

// countUse adds a use to all counts that a claim belongs to, or takes it off.
func (m *Machine) countUse(c claim, use *accounting.Use, add bool) {
	for _, h := range accounting.Holders(c.account, c.user, c.partition, c.qos) {
		row := &heldRow{holder: h}
		if old, ok := m.work.held.Get(row); ok {
			row.use = old.use
		}
		if add {
			row.use = row.use.Plus(use)
		} else {
			row.use = row.use.Less(use)
		}
		if row.use.Empty() {
			m.work.held.Delete(row)
		} else {
			m.work.held.Set(row)
		}
	}
}
