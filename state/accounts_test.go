package state

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"muster/accounting"
	"muster/internal/bitset"
	"muster/job"
)

// accountWorld enforces everything and has user in account acct with the QOS q.
func accountWorld(t tester, q accounting.QOS, l accounting.Limits) *world {
	w := newWorld(t)
	c := testCluster("n1", "n2", "n3", "n4")
	c.Policy.Enforce = []string{"associations", "limits", "qos"}
	w.must(&Configure{Cluster: c})
	q.Name = "q"
	w.must(w.change(
		accounting.Change{QOS: &q}, accounting.Change{Account: &accounting.Account{Name: "acct"}},
		accounting.Change{Assoc: &accounting.Association{Account: "acct", Parent: "root", Shares: 1}},
		accounting.Change{User: &accounting.User{Name: "user", Default: "acct"}},
		accounting.Change{Assoc: &accounting.Association{Account: "acct", User: "user", QOS: []string{"+q"}, Limits: l}},
	))
	return w
}

func (w *world) change(list ...accounting.Change) *Accounting {
	return &Accounting{Seen: w.m.Root().Book().Serial, Changes: list}
}

func inQ(n *NewJob) { n.QOS = "q" }

// Both starts of one plan were right when it was made; the second is not any more.
func TestBurstOfStartsCannotPassALimit(t *testing.T) {
	w := accountWorld(t, accounting.QOS{PerUser: accounting.Part{Jobs: accounting.AtMost(1)}}, accounting.Limits{})
	a, b := w.submit(inQ), w.submit(inQ)
	res := w.apply(Seal(w.startCmd(a, job.NoTask, 0, "n1"), w.by, RequestID{}), Seal(w.startCmd(b, job.NoTask, 0, "n2"), w.by, RequestID{}))
	if res[0].Code != OK || res[1].Code != NoLongerFits || !strings.Contains(res[1].Text, "QOSMaxJobsPerUserLimit") {
		t.Fatalf("got %+v", res)
	}
	w.exit(a, 0)
	w.start(b, "n2")
}

func TestSubmitLimitCountsArrayTasks(t *testing.T) {
	w := accountWorld(t, accounting.QOS{}, accounting.Limits{MaxSubmit: accounting.AtMost(3)})
	w.submit(inQ)
	arr := newJob()
	arr.QOS, arr.Tasks, arr.Range = "q", bitset.Range(0, 3), "0-2"
	w.refuse(OverLimit, &Submit{Jobs: []NewJob{arr}})
	arr.Tasks, arr.Range = bitset.Range(0, 2), "0-1"
	id := w.must(&Submit{Jobs: []NewJob{arr}}).Jobs[0]
	w.refuse(OverLimit, &Submit{Jobs: []NewJob{newJob()}})
	w.must(w.startCmd(id, 0, 0, "n1"))
	w.refuse(OverLimit, &Submit{Jobs: []NewJob{newJob()}})
	w.cancel(Target{Job: id, Tasks: bitset.Of(1)})
	w.must(&Submit{Jobs: []NewJob{newJob()}})
}

// What was derived step by step is what a restore derives from the jobs, and the
// book survives with the hash.
func TestAccountsSurviveASnapshot(t *testing.T) {
	w := accountWorld(t, accounting.QOS{Priority: 7}, accounting.Limits{})
	a := w.submit(inQ)
	w.start(a, "n1", "n2")
	arr := w.submit(func(n *NewJob) { n.QOS, n.Tasks, n.Range = "q", bitset.Range(0, 9), "0-8" })
	w.must(w.startCmd(arr, 3, 1, "n1"))
	done := w.submit(inQ)
	w.start(done, "n3")
	w.exit(done, 0)
	r := w.m.Root()
	again := New()
	if err := again.Restore(bytes.NewReader(snapshot(t, r))); err != nil {
		t.Fatal(err)
	}
	if got := again.Root(); got.Hash() != r.Hash() || !reflect.DeepEqual(got.Book(), r.Book()) {
		t.Errorf("hash %x, book %+v; want %x, %+v", got.Hash(), got.Book(), r.Hash(), r.Book())
	}
	if r.held.Len() != again.Root().held.Len() {
		t.Errorf("%d holders, want %d", again.Root().held.Len(), r.held.Len())
	}
	r.held.Scan(func(h *heldRow) bool {
		if got := again.Root().Use(h.holder); !reflect.DeepEqual(got, h.use) {
			t.Errorf("%+v: restored %+v, want %+v", h.holder, got, h.use)
		}
		return true
	})
	if u := r.Use(accounting.Holder{Kind: accounting.HeldByQOSUser, QOS: "q", User: "user"}); u.Jobs != 2 || u.Submitted != 10 || u.CPUs != 3 || u.Nodes != 3 {
		t.Errorf("got %+v", u)
	}
}

func TestBookChanges(t *testing.T) {
	w := accountWorld(t, accounting.QOS{}, accounting.Limits{})
	before := w.m.Root().Hash()
	stale := &Accounting{Seen: w.m.Root().Book().Serial - 1, Changes: []accounting.Change{{QOS: &accounting.QOS{Name: "x"}}}}
	w.refuse(Conflict, stale)
	w.refuse(Invalid, w.change(accounting.Change{Assoc: &accounting.Association{Account: "nope", User: "user"}}))
	if w.m.Root().Hash() != before {
		t.Error("a refused change is in the hash")
	}
	w.must(w.change(accounting.Change{QOS: &accounting.QOS{Name: "x"}}))
	if w.m.Root().Hash() == before {
		t.Error("a change is not in the hash")
	}
	id := w.submit(inQ)
	all := []accounting.Change{{Delete: true, Assoc: w.m.Root().Book().Assoc("acct", "user", "")}, {Delete: true, User: w.m.Root().Book().User("user")}}
	w.refuse(InUse, w.change(all...))
	w.cancel(Target{Job: id})
	w.must(w.change(all...))
	if w.m.Root().Book().User("user") != nil {
		t.Error("the user is still there")
	}
}

func TestFixedPriorityStays(t *testing.T) {
	w := newWorld(t)
	id, p := w.submit(nil), uint32(500)
	w.must(&Update{Target: Target{Job: id}, Priority: &p})
	if res := w.do(&Reprioritize{List: []Priority{{Job: id, Priority: 9}}}); len(res.Skipped) != 1 || w.job(id).Priority != 500 {
		t.Errorf("priority %d, %+v", w.job(id).Priority, res)
	}
}
