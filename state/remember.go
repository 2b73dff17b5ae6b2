package state

import (
	"muster/internal/wire"
	"muster/job"
)

// remember keeps the answer to a client's request for later tries of it.
func (m *Machine) remember(id RequestID, res Result) {
	n := m.work.counters.Answer
	m.work.counters.Answer++
	a := &answer{id: id, at: m.work.now, result: res}
	a.sum = m.sum.of(tableAnswers, n, a)
	m.work.hash.add(a.sum)
	m.work.answers.Set(m.epoch, n, a)
	m.answered[id] = n
}

// forget drops the answers that are too old. They lie in order of time, so only
// those that go are looked at.
func (m *Machine) forget() {
	for {
		n, ok := m.work.answers.First()
		if !ok {
			return
		}
		a := m.work.answers.Get(n)
		if a.at >= m.work.now-requestMemory {
			return
		}
		m.work.hash.sub(a.sum)
		delete(m.answered, a.id)
		m.work.answers.Set(m.epoch, n, nil)
	}
}

// Code implements wire.Message.
func (a *answer) Code(c *wire.Coder) {
	c.Fixed(1, a.id[:])
	wire.Int(c, 2, &a.at)
	wire.Uint(c, 3, &a.result.Code)
	c.String(4, &a.result.Text)
	wire.Ints(c, 5, &a.result.Jobs)
	skipped := make([]skipCode, len(a.result.Skipped))
	for i, s := range a.result.Skipped {
		skipped[i] = skipCode{s}
	}
	wire.Slice(c, 6, &skipped)
	if c.Decoding() && len(skipped) > 0 {
		a.result.Skipped = make([]Skip, len(skipped))
		for i, s := range skipped {
			a.result.Skipped[i] = s.skip
		}
	}
	wire.Uint(c, 7, &a.result.Step)
}

// skipCode gives Skip a codec; its field Code leaves no room for the method.
type skipCode struct{ skip Skip }

// Code implements wire.Message.
func (s *skipCode) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.skip.Job)
	wire.Uint(c, 2, &s.skip.Code)
	c.String(3, &s.skip.Text)
}

// record puts the end of an attempt into the outbox.
func (m *Machine) record(r *jobRow) {
	n := m.work.counters.Out
	m.work.counters.Out++
	r.out = n
	row := &outboxRow{job: r, sum: m.sum.row(tableOutbox, n, r)}
	m.work.hash.add(row.sum)
	m.refer(r)
	m.work.outbox.Set(m.epoch, n, row)
}

func (m *Machine) outboxDone(c *OutboxDone) Result {
	for {
		n, ok := m.work.outbox.First()
		if !ok || n > c.Through {
			return Result{}
		}
		row := m.work.outbox.Get(n)
		m.work.hash.sub(row.sum)
		if row.job != nil {
			m.unshare(row.job)
		}
		m.work.outbox.Set(m.epoch, n, nil)
	}
}

// purgeBound is the most records that one Purge takes, so that the end of a huge
// array does not hold everything up; the next Purge goes on.
const purgeBound = 2000

func (m *Machine) purge(c *Purge) Result {
	res := Result{}
	left := purgeBound
	for _, id := range c.Jobs {
		r := m.work.jobs.Get(uint64(id))
		if r == nil {
			continue
		}
		if why := m.keep(r); why != "" {
			res.Skipped = append(res.Skipped, Skip{Job: id, Code: InUse, Text: why})
			continue
		}
		for _, one := range m.purgeList(r, left) {
			m.remove(one)
			res.Jobs = append(res.Jobs, one.ID)
			left--
		}
		if left == 0 {
			break
		}
	}
	return res
}

// keep says why a job cannot leave memory; "" if it can.
func (m *Machine) keep(r *jobRow) string {
	first, _ := m.work.OutboxRange()
	use := m.work.ArrayUse(r.Array.JobID)
	switch {
	case !r.Terminal():
		return "the job has not ended"
	case r.Array.JobID != 0 && use.Waiting+use.Active > 0:
		return "other tasks of the array have not ended"
	case r.out >= first:
		return "its record is not in the ledger of all voters yet"
	}
	return ""
}

// purgeList is a plain job, or the tasks of an array, the record with the
// array's own id last.
func (m *Machine) purgeList(r *jobRow, most int) []*jobRow {
	if r.Array.JobID == 0 {
		return []*jobRow{r}
	}
	first, _ := m.work.OutboxRange()
	var list []*jobRow
	var own *jobRow
	for j := range m.work.Array(r.Array.JobID) {
		one := m.work.jobs.Get(uint64(j.ID))
		switch {
		case one.out >= first:
			return nil
		case j.ID == j.Array.JobID:
			own = one
		case len(list) < most:
			list = append(list, one)
		}
	}
	if own != nil && len(list) < most {
		list = append(list, own)
	}
	return list
}

func (m *Machine) reprioritize(c *Reprioritize) Result {
	res := Result{}
	for _, p := range c.List {
		r := m.work.jobs.Get(uint64(p.Job))
		if r == nil || r.State != job.Pending || r.Held.Is() || r.FixedPriority || p.Priority == 0 {
			res.Skipped = append(res.Skipped, Skip{Job: p.Job, Code: WrongState, Text: "not waiting, held, or with a priority that somebody set"})
			continue
		}
		if r.Priority != p.Priority {
			e := m.edit(p.Job)
			e.Priority = p.Priority
			m.put(e)
		}
	}
	return res
}
