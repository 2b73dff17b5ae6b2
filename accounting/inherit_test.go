package accounting

import "testing"

// Limits of jobs and users come from the nearest association that has them; Grp
// limits do not come down.
func TestEffectiveLimits(t *testing.T) {
	b, err := Initial().With([]Change{
		{Account: &Account{Name: "a"}}, {Account: &Account{Name: "b"}}, {User: &User{Name: "u"}},
		{Assoc: &Association{Account: "a", Parent: RootAccount, Limits: Limits{
			MaxJobs: AtMost(5), MaxWall: AtMost(60), GrpJobs: AtMost(9), MaxTRES: Amounts{}.With("cpu", 3).With("mem", 7)}}},
		{Assoc: &Association{Account: "b", Parent: "a", Limits: Limits{MaxJobs: AtMost(2), MaxTRES: Amounts{}.With("cpu", 1)}}},
		{Assoc: &Association{Account: "b", User: "u", Limits: Limits{MaxSubmit: AtMost(8)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := b.Effective(b.Assoc("b", "u", ""))
	cpu, _ := l.MaxTRES.Get("cpu")
	mem, _ := l.MaxTRES.Get("mem")
	if l.MaxJobs != AtMost(2) || l.MaxWall != AtMost(60) || l.MaxSubmit != AtMost(8) || l.GrpJobs != 0 || cpu != 1 || mem != 7 {
		t.Errorf("got %+v", l)
	}
	before, after := b.Assoc("a", "", "").Limits, Limits{MaxJobs: AtMost(4), MaxWall: AtMost(60), GrpJobs: AtMost(1), MaxTRES: Amounts{}.With("cpu", 4).With("mem", 7)}
	reaches := Inherited(&before, &after)
	own := b.Assoc("b", "", "").Limits
	if reaches(&own) {
		t.Error("a change of what b has itself reaches b")
	}
	if !reaches(&Limits{MaxJobs: AtMost(1)}) || !reaches(&Limits{MaxTRES: Amounts{}.With("cpu", 1)}) {
		t.Error("a change of what others lack does not reach them")
	}
	if only := Inherited(&before, &Limits{MaxJobs: AtMost(5), MaxWall: AtMost(60), MaxTRES: before.MaxTRES}); only(nil) {
		t.Error("a Grp limit is handed down")
	}
}
