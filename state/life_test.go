package state

import (
	"slices"
	"testing"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

func TestPlainJob(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.is(id, job.Pending, job.ReasonNone)
	if got := slices.Collect(w.m.Root().Waiting()); len(got) != 1 || got[0].ID != id {
		t.Fatalf("the queue holds %v", got)
	}
	w.start(id, "n1", "n2")
	r := w.m.Root()
	if j := w.job(id); j.State != job.Running || j.Times.LimitEnd != j.Times.Start+600_000 {
		t.Errorf("started: %s, limit ends %d after the start", j.State, j.Times.LimitEnd-j.Times.Start)
	}
	if u := r.NodeUse(r.NodeNamed("n2").ID); u == nil || u.Jobs != 1 || u.CPUs != 1 || !u.Cores.Has(0) || u.MemoryMB != 100 {
		t.Errorf("use of n2: %+v", u)
	}
	w.must(&Report{Job: id, Node: "n1", Ended: true, Released: true, Result: job.Result{ExitCode: 3}})
	j := w.job(id)
	if j.State != job.Failed || j.Reason != job.ReasonNonZeroExitCode || j.Flags&job.Completing == 0 || j.End.ExitCode != 3 {
		t.Fatalf("after the end: %+v", j)
	}
	if n := len(w.ends(id)); n != 0 {
		t.Errorf("%d records in the outbox before n2 is released", n)
	}
	w.must(&Report{Job: id, Node: "n2", Released: true})
	if !w.job(id).Terminal() || !slices.Equal(w.ends(id), []string{"FAILED"}) {
		t.Errorf("after release: %v, outbox %v", w.job(id), w.ends(id))
	}
	w.refuse(Stale, &Report{Job: id, Node: "n2", Released: true})
	if r := w.m.Root(); r.NodeUse(r.NodeNamed("n1").ID) != nil || r.NodeUse(r.NodeNamed("n2").ID) != nil {
		t.Error("nodes are still held")
	}
}

// How an attempt ended follows from the report and from a committed wish.
func TestEndStates(t *testing.T) {
	for name, c := range map[string]struct {
		report Report
		wish   *End
		state  job.State
		reason job.Reason
		code   uint32
		signal uint8
	}{
		"success":        {Report{}, nil, job.Completed, job.ReasonNone, 0, 0},
		"code":           {Report{Result: job.Result{ExitCode: 200}}, nil, job.Failed, job.ReasonNonZeroExitCode, 200, 0},
		"signal":         {Report{Result: job.Result{Signal: 9}}, nil, job.Failed, job.ReasonRaisedSignal, 0, 9},
		"out of memory":  {Report{OOM: true, Result: job.Result{ExitCode: 1}}, nil, job.OutOfMemory, job.ReasonOutOfMemory, 0, 125},
		"limit, by node": {Report{TimedOut: true, Result: job.Result{Signal: 9}}, nil, job.Timeout, job.ReasonTimeLimit, 0, 9},
		"limit, by us": {Report{}, &End{To: job.Timeout, Reason: job.ReasonTimeLimit},
			job.Timeout, job.ReasonTimeLimit, 0, 0},
		"cancelled": {Report{Result: job.Result{Signal: 15}}, &End{To: job.Cancelled}, job.Cancelled, job.ReasonNone, 0, 15},
		"preempted": {Report{Result: job.Result{Signal: 15}}, &End{To: job.Preempted}, job.Preempted, job.ReasonNone, 0, 15},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.submit(nil)
			w.start(id, "n1")
			if c.wish != nil {
				c.wish.Targets = []Target{{Job: id}}
				w.must(c.wish)
				w.is(id, job.Running, job.ReasonNone)
			}
			c.report.Job, c.report.Node, c.report.Ended, c.report.Released = id, "n1", true, true
			w.must(&c.report)
			w.is(id, c.state, c.reason)
			if e := w.job(id).End; e.ExitCode != c.code || e.Signal != c.signal || e.ByUser != (c.state == job.Cancelled) {
				t.Errorf("ended with %+v, want code %d signal %d", e, c.code, c.signal)
			}
		})
	}
}

func TestStartIsChecked(t *testing.T) {
	w := newWorld(t)
	first := w.submit(nil)
	gpu := w.startCmd(first, job.NoTask, 0, "n1")
	gpu.Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Type: "a100", Count: 1, Index: bitset.Of(1)},
		{Name: "scratch", Count: 8}}
	gpu.Alloc.Licenses = []job.License{{Name: "lic", Count: 2}}
	w.must(gpu)
	w.must(&NodeAdmin{Names: []string{"n4"}, State: "DRAIN"})
	id := w.submit(nil)
	for name, f := range map[string]func(*Start){
		"core held":    func(s *Start) { s.Alloc.Nodes[0].Cores = bitset.Of(0) },
		"no such core": func(s *Start) { s.Alloc.Nodes[0].Cores = bitset.Of(4) },
		"no core":      func(s *Start) { s.Alloc.Nodes[0].Cores = nil },
		"CPUs":         func(s *Start) { s.Alloc.Nodes[0].CPUs = 4 },
		"memory":       func(s *Start) { s.Alloc.Nodes[0].MemoryMB = 7901 },
		"whole":        func(s *Start) { s.Alloc.Nodes[0].Whole = true },
		"device held": func(s *Start) {
			s.Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Count: 1, Index: bitset.Of(1)}}
		},
		"no such device": func(s *Start) {
			s.Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "gpu", Count: 1, Index: bitset.Of(2)}}
		},
		"counted devices":  func(s *Start) { s.Alloc.Nodes[0].Devices = []job.DeviceShare{{Name: "scratch", Count: 3}} },
		"licences":         func(s *Start) { s.Alloc.Licenses = []job.License{{Name: "lic", Count: 2}} },
		"unknown licence":  func(s *Start) { s.Alloc.Licenses = []job.License{{Name: "other", Count: 1}} },
		"drained node":     func(s *Start) { *s = *w.startCmd(id, job.NoTask, 1, "n4") },
		"node twice":       func(s *Start) { *s = *w.startCmd(id, job.NoTask, 1, "n2", "n2") },
		"no node":          func(s *Start) { s.Alloc.Nodes = nil },
		"no partition":     func(s *Start) { s.Alloc.Partition = "x" },
		"no reservation":   func(s *Start) { s.Alloc.Reservation = "x" },
		"task of no array": func(s *Start) { s.Task = 3 },
		"another job runs": func(s *Start) { s.Job = first },
	} {
		s := w.startCmd(id, job.NoTask, 1, "n1")
		f(s)
		if res := w.do(s); res.Code != NoLongerFits {
			t.Errorf("%s: code %d %q", name, res.Code, res.Text)
		}
	}
	w.is(id, job.Pending, job.ReasonNone)
	w.must(w.startCmd(id, job.NoTask, 1, "n1"))
}

func TestCancelWaitingAndTwice(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.cancel(Target{Job: id})
	w.is(id, job.Cancelled, job.ReasonNone)
	if e := w.job(id).End; !e.ByUser || e.By != 1000 {
		t.Errorf("cancelled by %+v", e)
	}
	if res := w.cancel(Target{Job: id}); res.Code != AlreadyDone {
		t.Errorf("second cancel: %+v", res)
	}
	if res := w.cancel(Target{Job: 999}); res.Code != NoSuchJob {
		t.Errorf("unknown job: %+v", res)
	}
	if n := w.ends(id); len(n) != 1 {
		t.Errorf("recorded %v", n)
	}
}

func TestHoldReleaseAndBegin(t *testing.T) {
	w := newWorld(t)
	id := w.submit(func(n *NewJob) { n.Held = job.HeldByUser })
	w.is(id, job.Pending, job.ReasonJobHeldUser)
	w.refuse(NoLongerFits, w.startCmd(id, job.NoTask, 0, "n1"))
	none := job.NotHeld
	w.must(&Update{Target: Target{Job: id}, Held: &none})
	w.is(id, job.Pending, job.ReasonNone)
	if j := w.job(id); j.Priority == 0 || j.Times.Eligible == 0 {
		t.Errorf("released: priority %d, eligible %d", j.Priority, j.Times.Eligible)
	}
	late := w.submit(func(n *NewJob) { n.Request.Timing.Begin = w.now + 60_000 })
	w.is(late, job.Pending, job.ReasonBeginTime)
	w.refuse(NoLongerFits, w.startCmd(late, job.NoTask, 0, "n1"))
	w.now += 60_000
	w.must(&Tick{})
	w.is(late, job.Pending, job.ReasonNone)
	w.start(late, "n1")
}

func TestRequeue(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	before := w.job(id).SLUID
	w.must(&Requeue{Targets: []Target{{Job: id}}})
	w.exit(id, 0)
	j := w.job(id)
	if j.State != job.Pending || j.Attempt != 1 || j.Alloc != nil || j.SLUID <= before {
		t.Fatalf("requeued: %+v", j)
	}
	if got := w.ends(id); len(got) != 1 {
		t.Errorf("recorded %v, want one end", got)
	}
	w.start(id, "n1")
	w.refuse(Stale, &Report{Job: id, Attempt: 0, Node: "n1", Ended: true, Released: true})
	w.exit(id, 0)
	w.must(&Requeue{Targets: []Target{{Job: id}}, Hold: job.HeldByUser})
	w.is(id, job.Pending, job.ReasonJobHeldUser)
	if j := w.job(id); j.Priority != 0 || j.Detail != "job requeued in held state" || j.Attempt != 2 {
		t.Errorf("requeued and held: %+v", j)
	}
	no := w.submit(func(n *NewJob) { n.Request.Requeue = false })
	w.start(no, "n2")
	w.refuse(NotRequeueable, &Requeue{Targets: []Target{{Job: no}}})
}

// A requeue may put off the next start, or not.
func TestRequeuePutsOffTheNextStart(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ begin, want job.Time }{
		{w.now + 121_000, w.now + 121_000},
		{0, 0},
	} {
		id := w.submit(nil)
		w.start(id, "n1")
		w.must(&Requeue{Targets: []Target{{Job: id}}, Begin: c.begin})
		w.exit(id, 0)
		if got := w.job(id).Request.Timing.Begin; got != c.want {
			t.Errorf("begin %d, want %d", got, c.want)
		}
		if c.want != 0 {
			w.is(id, job.Pending, job.ReasonBeginTime)
		}
	}
}

// A cancel takes a requeue back that has not happened yet.
func TestCancelBeatsRequeue(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	w.must(&Requeue{Targets: []Target{{Job: id}}})
	w.cancel(Target{Job: id})
	w.exit(id, 0)
	w.is(id, job.Cancelled, job.ReasonNone)
	if !w.job(id).Terminal() {
		t.Error("it would go back to the queue")
	}
}

func TestLaunchFailures(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	for i := range uint32(3) {
		w.start(id, "n1")
		w.must(&Report{Job: id, Attempt: i, Node: "n1", Failed: true, Released: true, Detail: "no script"})
	}
	w.is(id, job.Pending, job.ReasonJobLaunchFailure)
	if j := w.job(id); !j.Held.Is() || j.Detail != "launch failed requeued held" || j.Attempt != 3 {
		t.Errorf("after three failures: %+v", j)
	}
	none := job.NotHeld
	w.must(&Update{Target: Target{Job: id}, Held: &none})
	w.start(id, "n1")
	w.exit(id, 0)
	w.is(id, job.Completed, job.ReasonNone)
	if got := w.ends(id); len(got) != 4 {
		t.Errorf("recorded %v, want four ends", got)
	}
}

// TestPrologFailure: the node whose prolog failed is drained, and the job is held
// at once; what an admin had said of a node stays.
func TestPrologFailure(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	w.must(&Report{Job: id, Node: "n1", Failed: true, Released: true, Detail: "prolog failed", Drain: "Prolog error"})
	w.is(id, job.Pending, job.ReasonJobLaunchFailure)
	if j := w.job(id); !j.Held.Is() {
		t.Errorf("the job is not held: %+v", j)
	}
	n := w.node("n1")
	if n.Admin&partition.NodeDrain == 0 || n.Reason != "Prolog error" || n.ReasonBy != "root" {
		t.Errorf("the node is not drained: %v %q by %q", n.Admin, n.Reason, n.ReasonBy)
	}
	other := w.submit(nil)
	w.start(other, "n2")
	drain := "disk is replaced"
	w.must(&NodeAdmin{Names: []string{"n2"}, State: "DRAIN", Reason: &drain})
	w.must(&Report{Job: other, Node: "n2", Ended: true})
	w.must(&Report{Job: other, Node: "n2", Released: true, Drain: "Epilog error"})
	if n := w.node("n2"); n.Reason != drain {
		t.Errorf("the admin's reason became %q", n.Reason)
	}
}

func TestSuspendShiftsTheLimit(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.start(id, "n1")
	end := w.job(id).Times.LimitEnd
	w.must(&Suspend{Targets: []Target{{Job: id}}})
	w.is(id, job.Suspended, job.ReasonNone)
	if n := len(slices.Collect(w.m.Root().EndingBefore(end + 1))); n != 0 {
		t.Error("the limit of a suspended job would end it")
	}
	w.now += 99_000
	w.must(&Suspend{Targets: []Target{{Job: id}}, Resume: true})
	if got := w.job(id).Times.LimitEnd - end; got != 100_000 {
		t.Errorf("the limit moved by %d ms, want 100000", got)
	}
	limit := job.Minutes(20)
	w.must(&Update{Target: Target{Job: id}, Limit: &limit})
	if got := w.job(id).Times.LimitEnd - end; got != 700_000 {
		t.Errorf("after an update the limit moved by %d ms, want 700000", got)
	}
	w.refuse(WrongState, &Suspend{Targets: []Target{{Job: id}}, Resume: true})
}

func TestRequestIDs(t *testing.T) {
	w := newWorld(t)
	e := Seal(&Submit{Jobs: []NewJob{newJob()}}, w.by, RequestID{7})
	e.FirstTry = w.now
	first := w.apply(e)[0]
	again := w.apply(e, e)
	for _, res := range again {
		if !res.Repeated || !slices.Equal(res.Jobs, first.Jobs) {
			t.Errorf("a retry got %+v, want job %v again", res, first.Jobs)
		}
	}
	if n := w.m.Root().JobCount(); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	w.now += 16 * 60_000
	if res := w.apply(e)[0]; res.Code != TooOld {
		t.Errorf("a try of 16 minutes ago: %+v", res)
	}
	if n := w.m.Root().answers.Len(); n != 0 {
		t.Errorf("%d answers are kept after 16 minutes", n)
	}
}

func TestPurgeWaitsForTheLedger(t *testing.T) {
	w := newWorld(t)
	id := w.submit(nil)
	w.cancel(Target{Job: id})
	if got := slices.Collect(w.m.Root().FinishedBefore(w.now + 1)); len(got) != 1 {
		t.Fatalf("finished: %v", got)
	}
	if res := w.do(&Purge{Jobs: []job.ID{id}}); len(res.Skipped) != 1 || res.Skipped[0].Code != InUse {
		t.Errorf("purged before the ledger had it: %+v", res)
	}
	if w.m.Root().Blob(job.Hash{1}) != 1 {
		t.Error("the script's blob is not counted")
	}
	_, next := w.m.Root().OutboxRange()
	w.must(&OutboxDone{Through: next - 1})
	w.must(&Purge{Jobs: []job.ID{id}})
	if w.m.Root().Job(id) != nil || w.m.Root().Blob(job.Hash{1}) != 0 {
		t.Error("job or blob still in memory")
	}
	if next := w.submit(nil); next != id+1 {
		t.Errorf("the next job got id %d, want %d", next, id+1)
	}
}

func TestReservationsAndPartitions(t *testing.T) {
	w := newWorld(t)
	r := w.m.Root()
	v := partition.Reservation{Name: "res", Start: w.now, End: w.now + 3600_000, Nodes: []job.NodeID{r.NodeNamed("n1").ID}}
	w.must(&Reservation{Create: true, Value: v})
	w.refuse(Exists, &Reservation{Create: true, Value: v})
	id := w.submit(nil)
	w.refuse(NoLongerFits, w.startCmd(id, job.NoTask, 0, "n1"))
	in := w.startCmd(id, job.NoTask, 0, "n1")
	in.Alloc.Reservation = "res"
	w.must(in)
	w.must(&Reservation{Delete: true, Value: partition.Reservation{Name: "res"}})
	w.refuse(NoSuchReservation, &Reservation{Delete: true, Value: partition.Reservation{Name: "res"}})
	p := *r.Partition("main")
	p.State = partition.PartitionDown
	w.must(&Partition{Value: p})
	w.refuse(NoLongerFits, w.startCmd(w.submit(nil), job.NoTask, 0, "n2"))
}

// An end that a node saw while nobody led is believed as far as the wall clocks
// that the leader knows go, and no farther.
func TestAnEndDuringAPauseKeepsItsTime(t *testing.T) {
	const hour = job.Time(3_600_000)
	for _, c := range []struct {
		name               string
		at, latest, wanted job.Time // after the start
	}{
		{"before now", 0, 0, 0},
		{"while nobody led", 2 * hour, 24 * hour, 2 * hour},
		{"later than all clocks", 25 * hour, 24 * hour, -1},
		{"later than state time, no clock said", 2 * hour, 0, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			id := w.submit(nil)
			w.start(id, "n1")
			start := w.job(id).Times.Start
			r := &Report{Job: id, Node: "n1", Ended: true, Released: true, At: start + c.at}
			if c.latest != 0 {
				r.Latest = start + c.latest
			}
			w.must(r)
			want := start + c.wanted
			if c.wanted < 0 {
				want = w.m.Root().Now()
			}
			if got := w.job(id).Times.End; got != want {
				t.Errorf("it ended %d after its start, want %d", got-start, want-start)
			}
		})
	}
}
