package sched

import (
	"testing"

	"pgregory.net/rapid"

	"muster/accounting"
	"muster/job"
)

// What a gate remembers is what the limits would say: yes or no is the same for
// each job of a long row of asks and starts.
func TestGatesAgreeWithLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := accounting.QOS{Limits: accounting.Limits{
			GrpTRES: accounting.Amounts{{Name: "cpu", Count: rapid.Uint64Range(0, 40).Draw(rt, "cpus")}, {Name: "gres/gpu", Count: rapid.Uint64Range(0, 6).Draw(rt, "gpus")}},
			MaxWall: accounting.Bound(rapid.Uint64Range(0, 30).Draw(rt, "wall")),
			GrpJobs: accounting.Bound(rapid.Uint64Range(0, 8).Draw(rt, "jobs")),
		}}
		limits := &Accounts{Uses: idle{}, Rules: accounting.RulesOf(accountBook(t, q), []string{"limits"})}
		l := limits.Begin(0).(*accountLedger)
		for range rapid.IntRange(1, 40).Draw(rt, "asks") {
			k := accounting.Ask{Account: "root", User: "root", Partition: "p", QOS: "q", Wall: job.Minutes(rapid.Uint32Range(1, 40).Draw(rt, "limit"))}
			k.Want = accounting.Use{Jobs: 1, CPUs: rapid.Uint64Range(1, 12).Draw(rt, "want"), Nodes: 1}
			if n := rapid.Uint64Range(0, 3).Draw(rt, "gpu"); n > 0 {
				k.Want.Others = k.Want.Others.With("gres/gpu", n)
			}
			no := l.Rules.StartAtLeast(l, &k)
			want := Why{no.Reason, no.Detail}
			got := l.bars(&k)
			if (got.Reason == job.ReasonNone) != (want.Reason == job.ReasonNone) {
				rt.Fatalf("%+v: the gate says %v %q, the limits say %v %q", k, got.Reason, got.Detail, want.Reason, want.Detail)
			}
			if want.Reason == job.ReasonNone && rapid.Bool().Draw(rt, "start") {
				j := &job.Job{Owner: &job.Owner{User: "root"}, Account: "root", QOS: "q"}
				a := job.Allocation{Partition: "p", CPUs: uint32(k.Want.CPUs), Nodes: make([]job.Share, 1)}
				if n, ok := k.Want.Others.Get("gres/gpu"); ok {
					a.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Count: n}}
				}
				l.Started(j, &a, k.Wall)
			}
		}
	})
}
