package state

import (
	"fmt"
	"slices"
	"testing"

	"muster/internal/bitset"
	"muster/job"
)

const allMails = job.MailInvalidDepend | job.MailBegin | job.MailEnd | job.MailFail | job.MailRequeue | job.MailLimits

// mails writes the mails that are due, oldest first.
func (w *world) mails() []string {
	names := map[uint32]string{job.MailInvalidDepend: "invalid", job.MailBegin: "begin", job.MailEnd: "end", job.MailFail: "fail", job.MailRequeue: "requeue",
		job.MailTimeLimit: "100", job.MailTimeLimit90: "90", job.MailTimeLimit80: "80", job.MailTimeLimit50: "50"}
	out := []string{}
	for _, e := range w.m.Root().Mails() {
		text := fmt.Sprintf("%s %d", names[e.Event], e.Job)
		if e.Event == job.MailEnd || e.Event == job.MailFail {
			text += fmt.Sprintf(" %s %d-%d", e.State, e.Low, e.High)
		}
		if e.Summary {
			text += " summary"
		}
		if e.Timed {
			text += fmt.Sprintf(" %ds", e.Seconds)
		}
		out = append(out, text)
	}
	return out
}

func (w *world) wantMails(want ...string) {
	w.t.Helper()
	if got := w.mails(); !slices.Equal(got, want) {
		w.t.Errorf("mails due:\n got %q\nwant %q", got, want)
	}
}

// wants makes a job that wants mails.
func wants(types uint32) func(*NewJob) {
	return func(n *NewJob) { n.Request.Mail.Types = types }
}

// Which mails a plain job makes due.
func TestMails(t *testing.T) {
	end := func(to job.State, flags job.Flag) func(*world, job.ID) {
		return func(w *world, id job.ID) {
			w.start(id, "n1")
			w.must(&End{Targets: []Target{{Job: id}}, To: to, Flags: flags})
			w.exit(id, 5)
		}
	}
	run := func(code uint32) func(*world, job.ID) {
		return func(w *world, id job.ID) {
			w.start(id, "n1")
			w.exit(id, code)
		}
	}
	for name, c := range map[string]struct {
		types uint32
		do    func(*world, job.ID)
		want  []string
	}{
		"success":             {allMails, run(0), []string{"begin 1 1s", "end 1 COMPLETED 0-0 0s"}},
		"failure":             {allMails, run(3), []string{"begin 1 1s", "fail 1 FAILED 768-768 0s"}},
		"failure, end wanted": {job.MailEnd, run(3), []string{"end 1 FAILED 768-768 0s"}},
		"success, only fail":  {job.MailFail, run(0), []string{}},
		"none wanted":         {0, run(0), []string{}},
		"cancelled running":   {allMails, end(job.Cancelled, 0), []string{"begin 1 1s", "end 1 CANCELLED 0-0 1s"}},
		"limit":               {allMails, end(job.Timeout, 0), []string{"begin 1 1s", "fail 1 TIMEOUT 0-0 1s"}},
		"preempted, requeued": {allMails, end(job.Preempted, job.Requeued), []string{"begin 1 1s", "requeue 1 1s"}},
		"preempted":           {allMails, end(job.Preempted, 0), []string{"begin 1 1s", "fail 1 PREEMPTED 0-0 1s"}},
		"requeued by hand": {allMails, func(w *world, id job.ID) {
			w.start(id, "n1")
			w.must(&Requeue{Targets: []Target{{Job: id}}})
			w.exit(id, 0)
		}, []string{"begin 1 1s", "requeue 1 1s"}},
		"requeued after its end": {allMails, func(w *world, id job.ID) {
			run(0)(w, id)
			w.must(&Requeue{Targets: []Target{{Job: id}}})
		}, []string{"begin 1 1s", "end 1 COMPLETED 0-0 0s", "requeue 1"}},
		"cancelled waiting": {allMails, func(w *world, id job.ID) { w.cancel(Target{Job: id}) }, []string{"end 1 CANCELLED 0-0"}},
		"suspended time does not count": {job.MailEnd, func(w *world, id job.ID) {
			w.start(id, "n1")
			w.must(&Suspend{Targets: []Target{{Job: id}}})
			w.now += 100_000
			w.must(&Suspend{Targets: []Target{{Job: id}}, Resume: true})
			w.exit(id, 0)
		}, []string{"end 1 COMPLETED 0-0 1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.do(w, w.submit(wants(c.types)))
			w.wantMails(c.want...)
		})
	}
}

// A job whose dependency can never be satisfied.
func TestMailOfInvalidDependency(t *testing.T) {
	for _, kill := range []job.Tri{job.No, job.Yes} {
		w := newWorld(t)
		first := w.submit(nil)
		w.submit(func(n *NewJob) {
			n.Request.Mail.Types, n.Request.KillOnDep = job.MailInvalidDepend, kill
			n.Deps = []job.Dependency{{Kind: job.DependAfterOK, On: first, Task: job.NoTask}}
		})
		w.wantMails()
		w.start(first, "n1")
		w.exit(first, 1)
		w.wantMails("invalid 2")
	}
}

// Shares of the limit: each event comes once, and is struck off the request.
func TestMailsOfLimits(t *testing.T) {
	w := newWorld(t)
	id := w.submit(wants(job.MailTimeLimit50 | job.MailTimeLimit90))
	w.start(id, "n1")
	all := &MailDue{List: []LimitMail{{Job: id, Events: job.MailLimits}}}
	w.now += 300_000
	w.must(&MailDue{List: []LimitMail{{Job: id, Events: job.MailTimeLimit50 | job.MailTimeLimit80}}})
	w.wantMails("50 1 301s")
	if got := w.job(id).Request.Mail.Types; got != job.MailTimeLimit90 {
		t.Errorf("mail types after the first mail: %b", got)
	}
	w.must(all)
	w.wantMails("50 1 301s", "90 1 302s")
	if res := w.do(all); len(res.Skipped) != 1 {
		t.Errorf("the third time: %+v", res)
	}
	if res := w.do(&MailDue{List: []LimitMail{{Job: 99, Events: job.MailLimits}}}); len(res.Skipped) != 1 {
		t.Errorf("a job that there is not: %+v", res)
	}
}

// arrayOf submits an array of tasks 0 to n-1.
func (w *world) arrayOf(n int, types uint32) job.ID {
	return w.submit(func(j *NewJob) {
		j.Request.Mail.Types, j.Tasks = types, bitset.Of()
		for i := range n {
			j.Tasks.Add(i)
		}
	})
}

// runTask starts one task, on a core of its own, and tells the record that runs.
func (w *world) runTask(array job.ID, task uint32) job.ID {
	w.t.Helper()
	rest := w.m.Root().ArrayTask(array, task)
	return w.must(w.startCmd(rest.ID, task, int(task), "n1")).Jobs[0]
}

// An array has mails as one, of the first start and the last end.
func TestMailsOfArray(t *testing.T) {
	w := newWorld(t)
	id := w.arrayOf(3, allMails)
	first, second := w.runTask(id, 0), w.runTask(id, 1)
	w.exit(first, 2)
	last := w.runTask(id, 2)
	w.exit(second, 0)
	w.wantMails("begin 1 summary 1s")
	w.exit(last, 0)
	w.wantMails("begin 1 summary 1s", "fail 1 COMPLETED 0-512 summary")
}

func TestMailsOfArrayThatIsCancelled(t *testing.T) {
	w := newWorld(t)
	id := w.arrayOf(3, allMails)
	w.exit(w.runTask(id, 0), 0)
	w.cancel(Target{Job: id})
	w.wantMails("begin 1 summary 1s", "end 1 CANCELLED 0-9 summary")
}

func TestMailsOfArrayTasks(t *testing.T) {
	w := newWorld(t)
	id := w.arrayOf(2, job.MailEnd|job.MailArrayTasks)
	for task := range uint32(2) {
		w.exit(w.runTask(id, task), task)
	}
	w.wantMails("end 2 COMPLETED 0-0 0s", "end 1 FAILED 256-256 0s")
}

// A heterogeneous job has the mails of its first component only.
func TestMailsOfHet(t *testing.T) {
	w := newWorld(t)
	n := newJob()
	n.Request.Mail.Types = allMails
	ids := w.must(&Submit{Jobs: []NewJob{n, n}}).Jobs
	w.cancel(Target{Job: ids[0]}, Target{Job: ids[1]})
	w.wantMails(fmt.Sprintf("end %d CANCELLED 0-0", ids[0]))
}

// Mails leave the table when they are done, survive a snapshot, and are bounded.
func TestMailTable(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.cancel(Target{Job: w.submit(wants(job.MailEnd))})
	}
	again := restored(t, snapshot(t, w.m.Root()))
	sameRoots(t, w.m.Root(), again.Root())
	numbers := []uint64{}
	for n := range again.Root().Mails() {
		numbers = append(numbers, n)
	}
	if !slices.Equal(numbers, []uint64{1, 2, 3}) {
		t.Fatalf("numbers after a restore: %v", numbers)
	}
	w.must(&MailDone{Numbers: []uint64{2, 77}})
	w.wantMails("end 1 CANCELLED 0-0", "end 3 CANCELLED 0-0")
	w.must(&MailDone{Numbers: []uint64{1, 3}})
	w.wantMails()
	m := w.m
	for n := range uint64(mostMails + 5) {
		m.queueMail(job.MailEnd, job.MailEvent{Job: job.ID(n)}, job.MailEnd)
	}
	if m.work.mails.Len() != mostMails || m.work.counters.MailLost != 5 {
		t.Errorf("%d mails are due, %d lost", m.work.mails.Len(), m.work.counters.MailLost)
	}
}

// Without a mail program nothing is kept.
func TestNoMailProgram(t *testing.T) {
	w := newWorld(t)
	c := testCluster("n1", "n2", "n3", "n4")
	c.Policy.MailProg = ""
	w.must(&Configure{Cluster: c})
	w.cancel(Target{Job: w.submit(wants(job.MailEnd))})
	w.wantMails()
}
