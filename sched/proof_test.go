package sched

import (
	"testing"

	"pgregory.net/rapid"

	"muster/partition"
)

// What was refused to one job is refused to another only if looking at every node
// would refuse it, too; starts between them only take away.
func TestRefusalsHoldForThoseThatAskForMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := anyGrid(rt)
		c := newCycle(&w.View, w.now, Budget{GridNodes: 1})
		for i := range w.Waiting {
			tr := c.trialOf(w.Waiting[i].Class, rapid.IntRange(0, 1).Draw(rt, "partition"), nil)
			s, ok := c.atOnce(tr)
			if !ok && fits(c, tr, c.now) {
				rt.Fatalf("job %d of %+v fits now, what was refused to others says no", w.Waiting[i].Job.ID, w.Waiting[i].Job.Request.Size)
			}
			if ok {
				c.take(&s, -1)
			}
		}
	})
}

// That a request fits on empty nodes is seen on some nodes of each kind as well as
// on all.
func TestSomeOfEachKindTellAsMuchAsAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := anyWorld(rt)
		w.submit(anyJob(rt))
		c := newCycle(&w.View, w.now, Budget{})
		tr := c.trialOf(w.Waiting[0].Class, 0, nil)
		c.cands = nil
		for k, i := range tr.nodes {
			h := c.view.Nodes[i].Host
			c.cands = append(c.cands, partition.Candidate{Host: h, Free: h.All(), Index: i, Required: tr.required[k]})
		}
		_, all := c.choose(tr)
		most := tr.mostNodes()
		if most == 0 {
			return
		}
		if some := c.fitsKinds(tr, most); some != all {
			rt.Fatalf("%+v on %d nodes: %v, on some of each kind %v", *tr.need, len(tr.nodes), all, some)
		}
	})
}

// A proof is kept in place of one that says less, and their number is bounded.
func TestProofsAreKeptByWhatTheySay(t *testing.T) {
	small, big := proof{cores: 2, least: 1, length: 10, column: 5}, proof{cores: 4, least: 1, length: 10, column: 5}
	l := proofs(nil).with(big).with(small)
	if len(l) != 1 || l[0] != small {
		t.Errorf("kept %+v; what holds for less holds for more", l)
	}
	if l = l.with(big); len(l) != 1 {
		t.Errorf("kept %+v; the second adds nothing", l)
	}
	if col := l.after(&big); col != 5 {
		t.Errorf("a job that asks for more can start before column %d", col)
	}
	if col := l.after(&proof{cores: 1, least: 1, length: 10}); col != 0 {
		t.Errorf("a job that asks for less is kept off up to column %d", col)
	}
	for i := range int64(2 * maxProofs) {
		l = l.with(proof{cores: 1000 - i, memory: i, column: 1 + int(i)})
	}
	if len(l) > maxProofs {
		t.Errorf("%d proofs are kept", len(l))
	}
}
