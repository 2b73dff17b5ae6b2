package sched

import "muster/job"

// maxProofs bounds how many proofs are kept for one part of a partition.
const maxProofs = 96

// proof says that a job which asks for so much could not start before a column.
// Then nor can one that asks for at least as much of everything: a cycle only takes
// away.
type proof struct {
	cores, memory, gpus int64 // on each node
	gpu                 string
	whole               bool
	least               int // nodes
	length              job.Time
	column              int
}

// within tells whether p asks for no more than q of anything.
func (p *proof) within(q *proof) bool {
	return p.cores <= q.cores && p.memory <= q.memory && p.gpus <= q.gpus && (q.whole || !p.whole) &&
		(p.gpu == "" || p.gpu == q.gpu) && p.least <= q.least && p.length <= q.length
}

// asks is the proof that a trial would give; ok is false for one that asks for more
// than a proof can say, or for different amounts of different nodes.
func (t *trial) asks() (p proof, ok bool) {
	if t.uneven || !t.plain || t.need.Tasks > 0 && t.need.MaxNodes != 1 || len(t.class.Licenses.List) > 0 || len(t.need.Gres.Task) > 0 {
		return p, false
	}
	p = proof{cores: t.min.cores, gpus: t.min.gpus, whole: t.need.Whole, least: t.least, length: t.length(0)}
	if t.need.Track {
		p.memory = t.min.memory
	}
	for i, it := range t.need.Gres.Node {
		if it.Name != "gpu" || i > 0 {
			return p, false
		}
		p.gpu = it.Type
	}
	return p, true
}

// proofs are what was proven for one part of a partition.
type proofs []proof

// after is the first column that no proof rules out for what asks for q.
func (l proofs) after(q *proof) int {
	col := 0
	for i := range l {
		if p := &l[i]; p.column > col && p.within(q) {
			col = p.column
		}
	}
	return col
}

// with adds a proof in place of one that says less, if there is room for it.
func (l proofs) with(p proof) proofs {
	low := 0
	for i := range l {
		q := &l[i]
		if q.within(&p) && q.column >= p.column {
			return l
		}
		if p.within(q) && p.column >= q.column {
			*q = p
			return l
		}
		if q.column < l[low].column {
			low = i
		}
	}
	if len(l) < maxProofs {
		return append(l, p)
	}
	if l[low].column < p.column {
		l[low] = p
	}
	return l
}

// proven is the first column that no proof rules out for a trial.
func (c *cycle) proven(t *trial) int {
	q, ok := t.asks()
	if !ok {
		return 0
	}
	return t.proofs.after(&q)
}

// prove notes where a job of a trial found its place.
func (c *cycle) prove(t *trial, col int) {
	if p, ok := t.asks(); ok && !c.careful() {
		p.column = col
		t.proofs = t.proofs.with(p)
	}
}

// atOnce is at for a start at once. That one of a part of a partition found no room
// proves it for all that ask for more there.
func (c *cycle) atOnce(t *trial) (s spot, fits bool) {
	c.unless(&t.refused, t, func() bool {
		s, fits = c.at(t, c.now, t.limit, false)
		return fits
	})
	return s, fits
}

// unless tells whether a job of a trial passes f, a test of what is free now, and
// asks it only if there is no proof that it does not.
func (c *cycle) unless(known *proofs, t *trial, f func() bool) bool {
	q, ok := t.asks()
	if !ok || t.rows == nil || t.after > c.now || c.careful() {
		return f()
	}
	if known.after(&q) > 0 {
		return false
	}
	fits := f()
	if !fits {
		q.column = 1
		*known = known.with(q)
	}
	return fits
}
