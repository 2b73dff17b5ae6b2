package sched

import (
	"reflect"
	"testing"

	"muster/accounting"
	"muster/job"
	"muster/partition"
)

// idle holds nothing.
type idle struct{}

// Use implements accounting.Uses.
func (idle) Use(accounting.Holder) accounting.Use { return accounting.Use{} }

func accountBook(t *testing.T, q accounting.QOS) *accounting.Book {
	t.Helper()
	q.Name = "q"
	b, err := accounting.Initial().With([]accounting.Change{{QOS: &q},
		{Assoc: &accounting.Association{Account: "root", User: "root", Shares: 1, QOS: []string{"+q"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ofRoot(j *job.Job) {
	j.Owner, j.Account, j.QOS = &job.Owner{User: "root"}, "root", "q"
}

// One plan does not start more than a limit lets, though none of its starts is in
// the counts yet; what is barred keeps no place that others could have.
func TestPlanKeepsToLimits(t *testing.T) {
	w := newWorld(1, 4)
	w.Limits = &Accounts{Uses: idle{}, Rules: accounting.RulesOf(accountBook(t, accounting.QOS{Limits: accounting.Limits{GrpTRES: accounting.Amounts{{Name: "cpu", Count: 3}}}}), []string{"limits"})}
	two := func(j *job.Job) { ofRoot(j); j.Request.Size.MinCPUs, j.Request.Size.Tasks = 2, 2 }
	a, b := w.submit(two), w.submit(two)
	c := w.submit(ofRoot)
	p := w.plan()
	wantStarts(t, p, a, c)
	if v := wantReason(t, p, b, job.ReasonQOSGrpCpuLimit); v.Planned != 0 {
		t.Errorf("a barred job has a planned start at %d", v.Planned)
	}
}

func TestStrangersWait(t *testing.T) {
	w := newWorld(1, 4)
	w.Limits = &Accounts{Uses: idle{}, Rules: accounting.RulesOf(accountBook(t, accounting.QOS{}), []string{"associations"})}
	id := w.submit(func(j *job.Job) { ofRoot(j); j.Account = "other" })
	p := w.plan()
	wantStarts(t, p)
	wantReason(t, p, id, job.ReasonInvalidAccount)
}

// wholeShare is a cluster in which nothing was used so far.
type wholeShare struct{}

// FairShare implements Fair.
func (wholeShare) FairShare(*accounting.Association) accounting.Fraction { return accounting.One }

// thirdShare is one in which everybody has a third left.
type thirdShare struct{}

// FairShare implements Fair.
func (thirdShare) FairShare(*accounting.Association) accounting.Fraction { return accounting.One / 3 }

func TestFairShareIsWeighed(t *testing.T) {
	r := NewRanker(&partition.Priority{Multifactor: true, FairShare: 9000}, nil, 8, accountBook(t, accounting.QOS{}), thirdShare{})
	j := &job.Job{Owner: &job.Owner{User: "root"}, Account: "root", Request: &job.Request{}}
	if got := r.Rank(j, 0).Priority; got != 2999 && got != 3000 {
		t.Errorf("a third of 9000: got %d", got)
	}
}

func TestRank(t *testing.T) {
	weights := &partition.Priority{Multifactor: true, QOS: 1000, FairShare: 10000, Partition: 100, JobSize: 40}
	parts := []*partition.Partition{{Name: "a", JobFactor: 1}, {Name: "b", JobFactor: 2}}
	r := NewRanker(weights, parts, 8, accountBook(t, accounting.QOS{Priority: 50}), wholeShare{})
	for _, c := range []struct {
		account, qos string
		parts        []string
		cpus         uint32
		nice         int32
		want         uint32
	}{
		{"root", "q", []string{"b"}, 8, 0, 11140},
		{"root", "normal", []string{"b"}, 8, 0, 10140},
		{"root", "normal", []string{"a"}, 4, 0, 10070},
		{"root", "normal", []string{"a", "b"}, 4, 0, 10120}, // the best of its partitions
		{"none", "normal", []string{"a"}, 4, 0, 70},
		{"root", "q", []string{"b"}, 8, 140, 11000},
		{"none", "normal", []string{"a"}, 4, 500, 1},
	} {
		j := &job.Job{Owner: &job.Owner{User: "root"}, Account: c.account, QOS: c.qos, Request: &job.Request{Partitions: c.parts, Size: job.Size{MinCPUs: c.cpus}, Nice: c.nice}}
		if got := r.Rank(j, 0).Priority; got != c.want {
			t.Errorf("%+v: got %d, want %d", c, got, c.want)
		}
	}
}

// What is known of an account and all below it is what adding up gives, also after
// starts in any of them.
func TestSumsOfAccountsFollowStarts(t *testing.T) {
	b := accountBook(t, accounting.QOS{})
	for _, x := range [][2]string{{"a", "root"}, {"b", "a"}, {"c", "a"}, {"d", "root"}} {
		next, err := b.With([]accounting.Change{{Account: &accounting.Account{Name: x[0]}},
			{Assoc: &accounting.Association{Account: x[0], Parent: x[1], Shares: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		b = next
	}
	l := (&Accounts{Uses: idle{}, Rules: accounting.RulesOf(b, []string{"limits"})}).Begin(0).(*accountLedger)
	for i, account := range []string{"b", "d", "a", "b", "c", "root"} {
		l.Below([]string{"root", "a", "b", "c", "d", "a"}[i])
		j := &job.Job{Owner: &job.Owner{User: "root"}, Account: account, QOS: "q"}
		l.Started(j, &job.Allocation{Partition: "p", CPUs: 1 << i, Nodes: make([]job.Share, 1)}, 1)
		for _, name := range []string{"root", "a", "b", "c", "d"} {
			if got, want := l.Below(name), b.SumOf(l, name); !reflect.DeepEqual(got, want) {
				t.Errorf("after a start in %s: %s and below hold %+v, want %+v", account, name, got, want)
			}
		}
	}
	if got := l.Below("a").CPUs; got != 1|4|8|16 {
		t.Errorf("a holds %d CPUs", got)
	}
}
