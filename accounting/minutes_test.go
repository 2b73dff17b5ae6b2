package accounting

import (
	"testing"

	"muster/job"
)

// A job of two CPUs asks to start where ann has used an hour of them.
func TestLimitsOnMinutes(t *testing.T) {
	assoc := func(l Limits) Change {
		return Change{Assoc: &Association{Account: "lab", User: "ann", Shares: 1, QOS: []string{"+q"}, Limits: l}}
	}
	dept := func(l Limits) Change {
		return Change{Assoc: &Association{Account: "dept", Parent: "root", Shares: 1, Limits: l}}
	}
	qos := func(l Limits) Change { return Change{QOS: &QOS{Name: "q", Limits: l}} }
	cpu := func(n uint64) Amounts { return Amounts{{"cpu", n}} }
	used := minutesBy{"q": 120, "ann": 120}
	// A job of 20 CPU minutes counts for 40.
	factored := func(f QOSFlags, minutes uint64) Change {
		return Change{QOS: &QOS{Name: "q", Flags: f, UsageFactor: AtMost(2000), Limits: Limits{GrpTRESMins: cpu(minutes)}}}
	}
	for _, c := range []struct {
		name    string
		enforce string
		change  []Change
		wall    job.Minutes
		want    job.Reason
	}{
		{"nothing set", "limits", nil, 10, job.ReasonNone},
		{"the account above has used all", "limits", []Change{dept(Limits{GrpTRESMins: cpu(120)})}, 10, job.ReasonAssocGrpCPUMinutesLimit},
		{"a minute is left", "limits", []Change{dept(Limits{GrpTRESMins: cpu(121)})}, 10, job.ReasonNone},
		{"a minute is left, and safe", "safe", []Change{dept(Limits{GrpTRESMins: cpu(121)})}, 10, job.ReasonAssocGrpCPUMinutesLimit},
		{"just enough is left, and safe", "safe", []Change{dept(Limits{GrpTRESMins: cpu(140)})}, 10, job.ReasonNone},
		{"the user has used all", "limits", []Change{assoc(Limits{GrpTRESMins: cpu(100)})}, 10, job.ReasonAssocGrpCPUMinutesLimit},
		{"the QOS has used all", "limits", []Change{qos(Limits{GrpTRESMins: cpu(120)})}, 10, job.ReasonQOSGrpCPUMinutesLimit},
		{"the QOS hides it", "limits", []Change{qos(Limits{GrpTRESMins: cpu(500)}), assoc(Limits{GrpTRESMins: cpu(1)})}, 10, job.ReasonNone},
		{"of what the job does not ask for", "limits", []Change{qos(Limits{GrpTRESMins: Amounts{{"license/x", 0}}})}, 10, job.ReasonNone},
		{"GrpWall of the QOS", "limits", []Change{qos(Limits{GrpWall: AtMost(60)})}, 10, job.ReasonQOSGrpWallLimit},
		{"GrpWall, a minute left", "limits", []Change{qos(Limits{GrpWall: AtMost(61)})}, 10, job.ReasonNone},
		{"GrpWall, a minute left, and safe", "safe", []Change{assoc(Limits{GrpWall: AtMost(61)})}, 10, job.ReasonAssocGrpWallLimit},
		{"a factor counts with UsageFactorSafe", "safe", []Change{factored(UsageFactorSafe, 160)}, 10, job.ReasonNone},
		{"and a minute less is too little", "safe", []Change{factored(UsageFactorSafe, 159)}, 10, job.ReasonQOSGrpCPUMinutesLimit},
		{"it does not without the flag", "safe", []Change{factored(0, 140)}, 10, job.ReasonNone},
		{"nor without safe limits", "limits", []Change{factored(UsageFactorSafe, 121)}, 10, job.ReasonNone},
		{"a job of 20 CPU minutes", "limits", []Change{qos(Limits{MaxTRESMins: cpu(19)})}, 10, job.ReasonQOSMaxCpuMinutesPerJobLimit},
		{"just enough", "limits", []Change{qos(Limits{MaxTRESMins: cpu(20)})}, 10, job.ReasonNone},
		{"inherited", "limits", []Change{dept(Limits{MaxTRESMins: cpu(19)})}, 10, job.ReasonAssocMaxCpuMinutesPerJobLimit},
		{"nearer goes first", "limits", []Change{dept(Limits{MaxTRESMins: cpu(1)}), assoc(Limits{MaxTRESMins: cpu(20)})}, 10, job.ReasonNone},
		{"without a time limit", "limits", []Change{assoc(Limits{MaxTRESMins: cpu(1 << 30)})}, job.Unlimited, job.ReasonAssocMaxCpuMinutesPerJobLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := RulesOf(book(t, c.change...), []string{c.enforce})
			r.Used = used
			k := Ask{Account: "lab", User: "ann", Partition: "main", QOS: "q", Want: UseOf(alloc(2)), Wall: c.wall}
			if got := r.Start(held{}, &k); got.Reason != c.want {
				t.Errorf("got %v (%s), want %v", got.Reason, got.Detail, c.want)
			}
		})
	}
}

// minutesBy is what was used of CPUs, in minutes, in half as many minutes of jobs: by
// user, or by QOS.
type minutesBy map[string]uint64

// Usage implements Used.
func (m minutesBy) Usage(_, user, _, qos string) *Usage {
	n := m[user+qos]
	return &Usage{Wall: Over(n/2, 60), TRES: []TRESSpent{{"cpu", Over(n, 60)}}}
}

// What was used says nothing about what could ever start.
func TestPastUseDeniesNoSubmit(t *testing.T) {
	r := RulesOf(book(t, Change{QOS: &QOS{Name: "q", Flags: DenyOnLimit, Limits: Limits{GrpTRESMins: Amounts{{"cpu", 1}}, MaxTRESMins: Amounts{{"cpu", 20}}}}}), []string{"limits"})
	r.Used = minutesBy{"q": 100}
	k := Ask{Account: "lab", User: "ann", QOS: "q", Want: UseOf(alloc(2)), Wall: 10}
	if got := r.Possible(&k); got.Is() {
		t.Errorf("refused: %v", got)
	}
	k.Wall = 11
	if got := r.Possible(&k); got.Reason != job.ReasonQOSMaxCpuMinutesPerJobLimit {
		t.Errorf("got %v", got)
	}
}
