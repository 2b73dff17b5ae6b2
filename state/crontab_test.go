package state

import (
	"testing"

	"muster/job"
)

// cronEntry is the job of one line of a crontab.
func cronEntry(first, last uint32) NewJob {
	n := newJob()
	n.Request.Cron = job.Cron{Spec: "@daily", First: first, Last: last}
	n.Request.Timing.Begin = testStart + 1_000_000_000
	return n
}

func (w *world) crontab(text string, jobs ...NewJob) []job.ID {
	w.t.Helper()
	return w.must(&SetCrontab{Table: Crontab{UID: 1000, Text: text}, Jobs: jobs}).Jobs
}

func (w *world) wantCrontab(want string) {
	w.t.Helper()
	got := ""
	if t := w.m.Root().Crontab(1000); t != nil {
		got = t.Text
	}
	if got != want {
		w.t.Errorf("crontab %q, want %q", got, want)
	}
}

// A new crontab cancels the waiting jobs of the old one; a running one goes on and
// does not recur.
func TestSetCrontab(t *testing.T) {
	w := newWorld(t)
	plain := w.submit(nil)
	ids := w.crontab("a\nb\n", cronEntry(0, 0), cronEntry(1, 1))
	for _, id := range ids {
		w.is(id, job.Pending, job.ReasonBeginTime)
	}
	w.now += 1_000_000_000
	w.must(&Tick{})
	w.start(ids[0], "n1")
	next := w.crontab("c\n", cronEntry(0, 0))
	w.wantCrontab("c\n")
	w.is(ids[0], job.Running, job.ReasonNone)
	w.is(ids[1], job.Cancelled, job.ReasonNone)
	w.is(plain, job.Pending, job.ReasonNone)
	if w.job(ids[0]).Request.Cron.Spec != "" || w.job(next[0]).Request.Cron.Spec != "@daily" {
		t.Error("the running job of the old crontab recurs, or that of the new one does not")
	}
	w.crontab("")
	w.wantCrontab("")
	w.is(next[0], job.Cancelled, job.ReasonNone)
	if w.m.Root().Crontab(1001) != nil {
		t.Error("another user has a crontab")
	}
}

// Cancelling a job of a crontab comments its lines out, in whatever state it is.
func TestCancelOfCrontabJob(t *testing.T) {
	const text = "x\n#SCRON -t 1\n@daily a\n@daily b\n@daily c\n"
	w := newWorld(t)
	ids := w.crontab(text, cronEntry(1, 2), cronEntry(3, 3), cronEntry(4, 4))
	w.cancel(Target{Job: ids[0]})
	w.wantCrontab("x\n#DISABLED: #SCRON -t 1\n#DISABLED: @daily a\n@daily b\n@daily c\n")
	w.now += 1_000_000_000
	w.must(&Tick{})
	w.start(ids[1], "n1")
	w.cancel(Target{Job: ids[1]})
	w.wantCrontab("x\n#DISABLED: #SCRON -t 1\n#DISABLED: @daily a\n#DISABLED: @daily b\n@daily c\n")
	w.start(ids[2], "n2")
	w.exit(ids[2], 0) // has ended, and the controller has not put it back yet
	w.cancel(Target{Job: ids[2]})
	w.wantCrontab("x\n#DISABLED: #SCRON -t 1\n#DISABLED: @daily a\n#DISABLED: @daily b\n#DISABLED: @daily c\n")
	for _, id := range ids {
		if w.job(id).Request.Cron.Spec != "" {
			t.Errorf("job %d still recurs", id)
		}
	}
}

// A run that times out or that the controller ends in another way recurs.
func TestControllersEndKeepsCron(t *testing.T) {
	w := newWorld(t)
	ids := w.crontab("@daily a\n", cronEntry(0, 0))
	w.now += 1_000_000_000
	w.must(&Tick{})
	w.start(ids[0], "n1")
	w.must(&End{Targets: []Target{{Job: ids[0]}}, To: job.Timeout})
	w.exit(ids[0], 0)
	w.must(&Requeue{Targets: []Target{{Job: ids[0]}}, Begin: w.now + 5_000_000})
	w.is(ids[0], job.Pending, job.ReasonBeginTime)
	if j := w.job(ids[0]); j.Request.Cron.Spec == "" || j.Attempt != 1 {
		t.Errorf("after its first run: %+v, attempt %d", j.Request.Cron, j.Attempt)
	}
	w.wantCrontab("@daily a\n")
}

func TestCrontabRefuses(t *testing.T) {
	w := newWorld(t)
	other, plain := cronEntry(0, 0), newJob()
	other.Owner.UID = 7
	for _, n := range []NewJob{other, plain} {
		w.refuse(Invalid, &SetCrontab{Table: Crontab{UID: 1000, Text: "x\n"}, Jobs: []NewJob{n}})
	}
	w.wantCrontab("")
}

func TestCrontabsInSnapshot(t *testing.T) {
	w := newWorld(t)
	w.crontab("@daily a\n", cronEntry(0, 0))
	w.must(&SetCrontab{Table: Crontab{UID: 5, Text: "# nothing\n"}})
	again := restored(t, snapshot(t, w.m.Root()))
	sameRoots(t, w.m.Root(), again.Root())
	if got := again.Root().Crontab(5); got == nil || got.Text != "# nothing\n" {
		t.Errorf("after a restore: %+v", got)
	}
}
