package accounting

import (
	"testing"

	"muster/internal/wiretest"
	"muster/job"
)

// held is what is in use in a test.
type held map[Holder]Use

// Use implements Uses.
func (h held) Use(k Holder) Use { return h[k] }

// add counts a job of ann's in account lab as running.
func (h held) add(a *job.Allocation) held {
	use := UseOf(a)
	for _, k := range Holders("lab", "ann", "main", "q") {
		have := h[k]
		h[k] = have.Plus(&use)
	}
	return h
}

func alloc(cpus uint32) *job.Allocation {
	return &job.Allocation{Partition: "main", CPUs: cpus, MemoryMB: 100, Nodes: []job.Share{{CPUs: cpus, Devices: []job.DeviceShare{{Name: "gpu", Type: "a", Count: 1}}}}}
}

// book has root > dept > lab > ann, and a QOS q that ann may use.
func book(t *testing.T, changes ...Change) *Book {
	t.Helper()
	base := []Change{
		{Account: &Account{Name: "dept"}}, {Assoc: &Association{Account: "dept", Parent: "root", Shares: 1}},
		{Account: &Account{Name: "lab"}}, {Assoc: &Association{Account: "lab", Parent: "dept", Shares: 1}},
		{User: &User{Name: "ann", Default: "lab"}}, {QOS: &QOS{Name: "q"}},
		{Assoc: &Association{Account: "lab", User: "ann", Shares: 1, QOS: []string{"+q"}}},
	}
	b, err := Initial().With(append(base, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLimitsHoldJobs(t *testing.T) {
	cpu := Amounts{{"cpu", 3}}
	ann := func(l Limits) Change {
		return Change{Assoc: &Association{Account: "lab", User: "ann", Shares: 1, QOS: []string{"+q"}, Limits: l}}
	}
	dept := func(l Limits) Change {
		return Change{Assoc: &Association{Account: "dept", Parent: "root", Shares: 1, Limits: l}}
	}
	q := func(q QOS) Change { q.Name = "q"; return Change{QOS: &q} }
	for _, c := range []struct {
		name   string
		change Change
		wall   job.Minutes
		want   job.Reason
	}{
		{"nothing set", q(QOS{}), 10, job.ReasonNone},
		{"QOS jobs of a user", q(QOS{PerUser: Part{Jobs: AtMost(1)}}), 10, job.ReasonQOSMaxJobsPerUserLimit},
		{"QOS jobs of an account", q(QOS{PerAccount: Part{Jobs: AtMost(1)}}), 10, job.ReasonMaxJobsPerAccount},
		{"QOS jobs", q(QOS{Limits: Limits{GrpJobs: AtMost(1)}}), 10, job.ReasonQOSGrpJobsLimit},
		{"QOS CPUs", q(QOS{Limits: Limits{GrpTRES: cpu}}), 10, job.ReasonQOSGrpCpuLimit},
		{"QOS CPUs of a user", q(QOS{PerUser: Part{TRES: cpu}}), 10, job.ReasonQOSMaxCpuPerUserLimit},
		{"QOS devices of a user by type", q(QOS{PerUser: Part{TRES: Amounts{{"gres/gpu:a", 1}}}}), 10, job.ReasonQOSMaxGRESPerUser},
		{"QOS CPUs of a job, enough", q(QOS{Limits: Limits{MaxTRES: cpu}}), 10, job.ReasonNone},
		{"QOS CPUs of a job", q(QOS{Limits: Limits{MaxTRES: Amounts{{"cpu", 1}}}}), 10, job.ReasonQOSMaxCpuPerJobLimit},
		{"QOS time", q(QOS{Limits: Limits{MaxWall: AtMost(9)}}), 10, job.ReasonQOSMaxWallDurationPerJobLimit},
		{"QOS time, just enough", q(QOS{Limits: Limits{MaxWall: AtMost(10)}}), 10, job.ReasonNone},
		{"QOS time and no limit", q(QOS{Limits: Limits{MaxWall: AtMost(10)}}), job.Unlimited, job.ReasonQOSMaxWallDurationPerJobLimit},
		{"QOS least CPUs", q(QOS{MinTRES: cpu}), 10, job.ReasonQOSMinCpuNotSatisfied},
		{"jobs of a user", ann(Limits{MaxJobs: AtMost(1)}), 10, job.ReasonAssocMaxJobsLimit},
		{"jobs of users of an account, inherited", dept(Limits{MaxJobs: AtMost(1)}), 10, job.ReasonAssocMaxJobsLimit},
		{"no jobs of an account above", dept(Limits{GrpJobs: AtMost(0)}), 10, job.ReasonAssocGrpJobsLimit},
		{"CPUs of an account above", dept(Limits{GrpTRES: cpu}), 10, job.ReasonAssocGrpCpuLimit},
		{"time inherited", dept(Limits{MaxWall: AtMost(5)}), 10, job.ReasonAssocMaxWallDurationPerJobLimit},
		{"CPUs of a job", ann(Limits{MaxTRES: Amounts{{"cpu", 1}}}), 10, job.ReasonAssocMaxCpuPerJobLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := RulesOf(book(t, c.change), []string{"limits", "qos"})
			k := Ask{Account: "lab", User: "ann", Partition: "main", QOS: "q", Want: UseOf(alloc(2)), Wall: c.wall}
			if got := r.Start(held{}.add(alloc(2)), &k); got.Reason != c.want {
				t.Errorf("got %v (%s), want %v", got.Reason, got.Detail, c.want)
			}
			r.Limits = false
			if got := r.Start(held{}.add(alloc(2)), &k); got.Is() {
				t.Errorf("limits that are not enforced hold a job: %v", got.Reason)
			}
		})
	}
}

// A limit that the QOS sets takes the place of the association's.
func TestQOSGoesBeforeAssociation(t *testing.T) {
	b := book(t, Change{QOS: &QOS{Name: "q", PerUser: Part{Jobs: AtMost(5)}}},
		Change{Assoc: &Association{Account: "lab", User: "ann", QOS: []string{"+q"}, Limits: Limits{MaxJobs: AtMost(1)}}})
	k := Ask{Account: "lab", User: "ann", Partition: "main", QOS: "q", Want: UseOf(alloc(2))}
	if got := RulesOf(b, []string{"limits"}).Start(held{}.add(alloc(2)), &k); got.Is() {
		t.Errorf("held by %v", got.Reason)
	}
}

func TestMembers(t *testing.T) {
	b := book(t)
	for _, c := range []struct {
		user, account, qos string
		enforce            []string
		want               job.Reason
	}{
		{"ann", "lab", "q", []string{"qos"}, job.ReasonNone},
		{"ann", "lab", "normal", []string{"qos"}, job.ReasonNone},
		{"ann", "dept", "q", []string{"associations"}, job.ReasonInvalidAccount},
		{"bea", "lab", "q", []string{"limits"}, job.ReasonInvalidAccount},
		{"bea", "lab", "q", nil, job.ReasonNone},
		{"ann", "lab", "other", []string{"qos"}, job.ReasonInvalidQOS},
		{"ann", "lab", "other", []string{"associations"}, job.ReasonNone},
		{"root", "root", "q", []string{"qos"}, job.ReasonInvalidQOS},
	} {
		k := Ask{User: c.user, Account: c.account, QOS: c.qos}
		if got := RulesOf(b, c.enforce).Member(&k); got.Reason != c.want {
			t.Errorf("%s in %s with %s, enforcing %v: got %v, want %v", c.user, c.account, c.qos, c.enforce, got.Reason, c.want)
		}
	}
}

func TestSubmitLimits(t *testing.T) {
	b := book(t, Change{Assoc: &Association{Account: "lab", User: "ann", QOS: []string{"+q"}, Limits: Limits{MaxSubmit: AtMost(3)}}})
	r := RulesOf(b, []string{"limits"})
	k := Ask{Account: "lab", User: "ann", Partition: "main", QOS: "q", Want: Use{Submitted: 2}}
	if got := r.Queue(held{}.add(alloc(1)), &k); got.Is() {
		t.Errorf("the third is refused: %v", got.Reason)
	}
	k.Want.Submitted = 3 // an array counts by its tasks
	if got := r.Queue(held{}.add(alloc(1)), &k); got.Reason != job.ReasonAssocMaxSubmitJobLimit {
		t.Errorf("got %v", got.Reason)
	}
}

func TestUnfitBooksAreRefused(t *testing.T) {
	b := book(t)
	for name, c := range map[string]Change{
		"user of no account":    {User: &User{Name: "x", Default: "lab"}},
		"unknown account":       {Assoc: &Association{Account: "nope", User: "ann"}},
		"unknown user":          {Assoc: &Association{Account: "lab", User: "nope"}},
		"unknown QOS":           {Assoc: &Association{Account: "lab", User: "ann", QOS: []string{"+nope"}}},
		"unknown parent":        {Assoc: &Association{Account: "lab", Parent: "nope"}},
		"circle":                {Assoc: &Association{Account: "dept", Parent: "lab"}},
		"QOS in use":            {Delete: true, QOS: &QOS{Name: "q"}},
		"default account lost":  {Delete: true, Assoc: &Association{Account: "lab", User: "ann"}},
		"account without place": {Account: &Account{Name: "new"}},
		"delete what is not":    {Delete: true, Account: &Account{Name: "nope"}},
		"nothing":               {},
		"account still in tree": {Delete: true, Account: &Account{Name: "dept"}},
	} {
		if _, err := b.With([]Change{c}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if b.Serial != 2 || b.Account("dept") == nil {
		t.Error("a refused change left its mark")
	}
}

func TestUseAddsUp(t *testing.T) {
	a, b := UseOf(alloc(2)), UseOf(alloc(5))
	sum := a.Plus(&b)
	if sum.CPUs != 7 || sum.Jobs != 2 || sum.Get("gres/gpu") != 2 || sum.Get("gres/gpu:a") != 2 {
		t.Errorf("got %+v", sum)
	}
	if left := sum.Less(&b); left.Get("gres/gpu") != 1 || left.CPUs != 2 || left.Empty() {
		t.Errorf("got %+v", left)
	}
	sum = sum.Less(&a)
	if sum = sum.Less(&b); !sum.Empty() || len(sum.Others) != 0 {
		t.Errorf("got %+v", sum)
	}
}

func TestRoundTrips(t *testing.T) {
	wiretest.RoundTrip(t, &Account{})
	wiretest.RoundTrip(t, &User{})
	wiretest.RoundTrip(t, &Association{})
	wiretest.RoundTrip(t, &QOS{})
	wiretest.RoundTrip(t, &Change{})
}
