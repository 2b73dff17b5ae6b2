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

// proven is the first column that no proof rules out for a trial.
func (c *cycle) proven(t *trial) int {
	q, ok := t.asks()
	if !ok {
		return 0
	}
	col := 0
	for i := range t.proofs {
		if p := &t.proofs[i]; p.column > col && p.within(&q) {
			col = p.column
		}
	}
	return col
}

// prove notes where a job of a trial found its place.
func (c *cycle) prove(t *trial, col int) {
	p, ok := t.asks()
	if !ok || c.careful() {
		return
	}
	p.column = col
	low := 0
	for i := range t.proofs {
		q := &t.proofs[i]
		if q.within(&p) && q.column >= col {
			return
		}
		if p.within(q) && col >= q.column {
			*q = p
			return
		}
		if q.column < t.proofs[low].column {
			low = i
		}
	}
	if len(t.proofs) < maxProofs {
		t.proofs = append(t.proofs, p)
	} else if t.proofs[low].column < col {
		t.proofs[low] = p
	}
}
