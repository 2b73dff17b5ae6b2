package state

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"muster/accounting"
	"muster/job"

	"pgregory.net/rapid"
)

// useWorld is accountWorld with a second user and a half-life, where nothing is
// limited.
func useWorld(t tester, halfLife uint32, q accounting.QOS) *world {
	w := newWorld(t)
	c := testCluster("n1", "n2", "n3", "n4")
	c.Policy.Priority.HalfLife = halfLife
	w.must(&Configure{Cluster: c})
	q.Name = "q"
	w.must(w.change(
		accounting.Change{QOS: &q}, accounting.Change{Account: &accounting.Account{Name: "acct"}},
		accounting.Change{Assoc: &accounting.Association{Account: "acct", Parent: "root", Shares: 1}},
		accounting.Change{User: &accounting.User{Name: "user", Default: "acct"}},
		accounting.Change{Assoc: &accounting.Association{Account: "acct", User: "user", Shares: 1}},
	))
	return w
}

func (w *world) raw() uint64   { return w.m.Root().Usage("acct", "user", "", "").Raw.Whole() }
func (w *world) ofQ() uint64   { return w.m.Root().Usage("", "", "", "q").Raw.Whole() }
func (w *world) wait(ms int64) { w.now += job.Time(ms) }

// run starts a job of one CPU billed as some, and gives its id.
func (w *world) run(node string, billing uint64) job.ID {
	id := w.submit(inQ)
	start := w.startCmd(id, job.NoTask, 0, node)
	start.Alloc.Billing = billing
	w.must(start)
	return id
}

// exitAfter ends a job after some milliseconds.
func (w *world) exitAfter(id job.ID, ms int64) {
	w.wait(ms)
	w.exit(id, 0)
}

// elapsed is how long the last attempt of a job ran, in seconds as sacct shows them.
func elapsed(j *job.Job) uint64 { return uint64(j.Times.End.Unix() - j.Times.Start.Unix()) }

// A job is charged for the seconds that it ran, whenever use was brought up to date.
func TestUseIsTheTimeThatJobsRan(t *testing.T) {
	w := useWorld(t, 0, accounting.QOS{})
	id := w.run("n1", 3)
	w.wait(10_500)
	w.must(&Decay{})
	if r := w.m.Root(); w.raw() != 3*uint64(r.UsageAt().Unix()-w.job(id).Times.Start.Unix()) {
		t.Errorf("of a running job: %d", w.raw())
	}
	w.wait(7_300)
	w.must(&Decay{})
	w.wait(900)
	w.exit(id, 0)
	want := 3 * elapsed(w.job(id))
	if w.raw() != want || w.ofQ() != want {
		t.Errorf("got %d, of the QOS %d, want %d", w.raw(), w.ofQ(), want)
	}
	w.wait(50_000)
	w.must(&Decay{})
	if w.raw() != want {
		t.Errorf("a job is charged after its end: %d", w.raw())
	}
	u := w.m.Root().Usage("acct", "user", "", "")
	if u.Get("cpu").Whole() != elapsed(w.job(id)) || u.Get("mem").Whole() != 100*elapsed(w.job(id)) || u.Wall.Whole() != elapsed(w.job(id)) {
		t.Errorf("by resource: %+v", u)
	}
}

// The news of an end comes late, and use was brought up to date in between.
func TestUseBeyondALateEndIsTakenOff(t *testing.T) {
	w := useWorld(t, 0, accounting.QOS{})
	id := w.run("n1", 2)
	w.wait(5000)
	end := w.now
	w.wait(60_000)
	w.must(&Decay{})
	w.must(&Report{Job: id, Node: "n1", Ended: true, Released: true, At: end})
	if want := 2 * elapsed(w.job(id)); w.raw() != want || elapsed(w.job(id)) > 10 {
		t.Errorf("got %d, want %d", w.raw(), want)
	}
}

// An attempt that is requeued is charged, and so is the next.
func TestUseOfAllAttempts(t *testing.T) {
	w := useWorld(t, 0, accounting.QOS{})
	id := w.run("n1", 1)
	w.wait(9000)
	w.must(&Requeue{Targets: []Target{{Job: id}}})
	w.must(&Report{Job: id, Node: "n1", Ended: true, Released: true, At: w.now})
	first := w.raw()
	if first < 9 {
		t.Fatalf("the first attempt: %d", first)
	}
	w.wait(300_000)
	w.must(&Tick{})
	start := w.startCmd(id, job.NoTask, 0, "n1")
	start.Alloc.Billing = 1
	w.must(start)
	w.wait(4000)
	w.exit(id, 0)
	if w.raw() != first+elapsed(w.job(id)) {
		t.Errorf("both attempts: %d, the first %d, the second %d", w.raw(), first, elapsed(w.job(id)))
	}
}

func TestUseByTheRulesOfTheQOS(t *testing.T) {
	w := useWorld(t, 100, accounting.QOS{UsageFactor: accounting.AtMost(2500), Flags: accounting.NoDecay})
	w.must(&Decay{})
	before := w.m.Root().UsageAt()
	id := w.run("n1", 4)
	w.wait(20_000)
	w.exit(id, 0)
	want := 4 * elapsed(w.job(id)) * 5 / 2
	if w.ofQ() != want {
		t.Errorf("by a factor of 2.5: %d, want %d", w.ofQ(), want)
	}
	w.wait(100_000)
	w.must(&Decay{})
	if w.ofQ() != want {
		t.Errorf("NoDecay: %d, want %d", w.ofQ(), want)
	}
	// What it used decayed by the time it ran, then with all else.
	seconds := float64(elapsed(w.job(id))) + float64(w.m.Root().UsageAt().Unix()-before.Unix())
	if left := float64(want) * math.Pow(1-0.00693, seconds); math.Abs(float64(w.raw())-left) > 1 {
		t.Errorf("%d of %d are left, want %g", w.raw(), want, left)
	}
}

func TestUseIsForgotten(t *testing.T) {
	w := useWorld(t, 0, accounting.QOS{})
	w.exitAfter(w.run("n1", 1000), 5000)
	day := job.Time(86_400_000)
	w.must(&Decay{Reset: testStart})
	if w.raw() == 0 {
		t.Fatal("the first period begins with what was used before")
	}
	w.must(&Decay{Reset: testStart})
	if w.raw() == 0 {
		t.Fatal("the same period, forgotten")
	}
	w.wait(int64(day))
	w.must(&Decay{Reset: testStart + day})
	if w.raw() != 0 || w.ofQ() != 0 {
		t.Errorf("left: %d, of the QOS %d", w.raw(), w.ofQ())
	}
	w.exitAfter(w.run("n1", 1000), 5000)
	w.must(w.change(accounting.Change{Delete: true, Assoc: &accounting.Association{Account: "acct", User: "user"}},
		accounting.Change{User: &accounting.User{Name: "user"}}))
	for u := range w.m.Root().Usages() {
		if u.QOS == "" {
			t.Errorf("of an association that is gone: %+v", u)
		}
	}
}

// ledgerOf keeps the use of one association in floating point, as a controller that
// wakes up in each period would.
type ledgerOf struct {
	perSecond float64 // what is left after one
	raw       float64
	at        job.Time
	running   map[job.ID]uint64 // billing
}

func (l *ledgerOf) add(billing uint64, from, to job.Time) {
	if n := float64(to.Unix() - from.Unix()); n > 0 {
		l.raw += n * float64(billing) * math.Pow(l.perSecond, n)
	}
}

func (l *ledgerOf) decay(w *world) {
	r := w.m.Root()
	if l.at != 0 {
		l.raw *= math.Pow(l.perSecond, float64(r.UsageAt().Unix()-l.at.Unix()))
	}
	for id, billing := range l.running {
		l.add(billing, max(l.at, w.job(id).Times.Start), r.UsageAt())
	}
	l.at = r.UsageAt()
}

// Random histories of jobs come to what another calculation says, over snapshots and
// restores too, and replicas agree.
func TestUseAgainstAnotherCalculation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		halfLife := rapid.SampledFrom([]uint32{0, 1000, 86_400, 604_800}).Draw(t, "half-life")
		w := useWorld(t, halfLife, accounting.QOS{})
		l := &ledgerOf{perSecond: 1, running: map[job.ID]uint64{}}
		if halfLife > 0 {
			l.perSecond = 1 - 0.693/float64(halfLife)
		}
		free := []string{"n1", "n2", "n3", "n4"}
		on := map[job.ID]string{}
		var ids []job.ID
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.wait(int64(rapid.IntRange(0, 600_000).Draw(t, "wait")))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if len(free) > 0 {
					billing := uint64(rapid.IntRange(0, 1<<20).Draw(t, "billing"))
					id := w.run(free[0], billing)
					on[id], l.running[id] = free[0], billing
					ids, free = append(ids, id), free[1:]
				}
			case 1:
				if len(ids) > 0 {
					id := ids[0]
					w.exit(id, 0)
					j := w.job(id)
					l.add(l.running[id], max(l.at, j.Times.Start), j.Times.End)
					free, ids = append(free, on[id]), ids[1:]
					delete(l.running, id)
				}
			case 2:
				w.must(&Decay{})
				l.decay(w)
			case 3:
				var b bytes.Buffer
				if err := w.m.Root().WriteSnapshot(&b); err != nil {
					t.Fatal(err)
				}
				if err := w.m.Restore(&b); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := float64(w.raw())
		if math.Abs(got-l.raw) > 1+1e-6*l.raw {
			t.Fatalf("half-life %d: got %g, want %g", halfLife, got, l.raw)
		}
		if halfLife == 0 && uint64(l.raw) != w.raw() {
			t.Fatalf("without decay: got %d, want %g", w.raw(), l.raw)
		}
	})
}

// Years of decay leave what the power of one second says.
func TestUseDecaysForYearsWithoutDrift(t *testing.T) {
	const halfLife, period, billing = 30 * 86_400, 300_000, 1 << 40
	w := useWorld(t, halfLife, accounting.QOS{})
	w.must(&Decay{})
	id := w.run("n1", billing)
	w.wait(100_000)
	w.exit(id, 0)
	l := &ledgerOf{perSecond: 1 - 0.693/float64(halfLife), at: w.m.Root().UsageAt()}
	l.add(billing, w.job(id).Times.Start, w.job(id).Times.End)
	before, from := l.raw, l.at
	for w.now < testStart+2*365*86_400_000 {
		w.wait(period)
		w.must(&Decay{})
	}
	n := float64(w.m.Root().UsageAt().Unix() - from.Unix())
	want := before * math.Pow(l.perSecond, n)
	if got := float64(w.raw()); math.Abs(got-want) > 1+1e-6*want {
		t.Errorf("got %g, want %g", got, want)
	}
}

// A start is refused in Apply once the association has used what it may.
func TestUsedUpMinutesHoldStarts(t *testing.T) {
	w := accountWorld(t, accounting.QOS{}, accounting.Limits{GrpTRESMins: accounting.Amounts{{Name: "cpu", Count: 1}}})
	id := w.submit(inQ)
	w.start(id, "n1")
	w.exitAfter(id, 70_000)
	next := w.submit(inQ)
	res := w.do(w.startCmd(next, job.NoTask, 0, "n1"))
	if res.Code != NoLongerFits || !strings.Contains(res.Text, "AssocGrpCPUMinutesLimit") {
		t.Fatalf("got %+v", res)
	}
}
