package state

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"muster/accounting"
	"muster/job"
)

// census gathers counts while a snapshot is read. Most jobs count for the same few
// holders and blobs, so their trees are made at the end, once for each of these.
type census struct {
	uses  map[claim]*accounting.Use
	blobs map[job.Hash]int
}

func newCensus() census {
	return census{uses: map[claim]*accounting.Use{}, blobs: map[job.Hash]int{}}
}

// hold is recountHeld for a job that was not there before.
func (t *census) hold(r *jobRow) {
	b := burdenOf(r)
	if b.submitted == 0 {
		return
	}
	sum := t.uses[b.claim]
	if sum == nil {
		sum = &accounting.Use{}
		t.uses[b.claim] = sum
	}
	use := b.use()
	*sum = sum.Plus(&use)
}

// refer is Machine.refer.
func (t *census) refer(m *Machine, r *jobRow) {
	if !m.link(r) {
		return
	}
	for _, h := range blobsOf(&r.request.Request) {
		if h != (job.Hash{}) {
			t.blobs[h]++
		}
	}
}

// put makes the trees.
func (t *census) put(m *Machine) {
	for _, c := range slices.SortedFunc(maps.Keys(t.uses), claim.compare) {
		m.countUse(c, t.uses[c], true)
	}
	compare := func(a, b job.Hash) int { return bytes.Compare(a[:], b[:]) }
	for _, h := range slices.SortedFunc(maps.Keys(t.blobs), compare) {
		m.work.blobs.Load(blobRow{hash: h, refs: t.blobs[h]})
	}
}

func (c claim) compare(o claim) int {
	for _, d := range [...]int{strings.Compare(c.account, o.account), strings.Compare(c.user, o.user),
		strings.Compare(c.partition, o.partition)} {
		if d != 0 {
			return d
		}
	}
	return strings.Compare(c.qos, o.qos)
}
