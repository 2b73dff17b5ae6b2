package mail

import (
	"testing"

	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// Which events have come after so many minutes of a limit of 100, one of which the
// job was suspended.
func TestReached(t *testing.T) {
	all := job.MailLimits
	for _, c := range []struct {
		minutes job.Time
		types   uint32
		want    uint32
	}{
		{0, all, 0}, {50, all, 0}, {51, all, job.MailTimeLimit50}, {80, all, job.MailTimeLimit50}, {81, all, job.MailTimeLimit50 | job.MailTimeLimit80},
		{91, all, all &^ job.MailTimeLimit}, {101, all, all}, {101, job.MailTimeLimit80 | job.MailEnd, job.MailTimeLimit80}, {90, job.MailTimeLimit90, 0},
	} {
		j := &job.Job{Request: &job.Request{Mail: job.Mail{Types: c.types}}, Times: job.Times{Start: 0, LimitEnd: 101 * 60_000, Limit: 100}}
		if got := reached(j, c.minutes*60_000); got != c.want {
			t.Errorf("after %d minutes: %b, want %b", c.minutes, got, c.want)
		}
	}
}

// Only running jobs that want such mails are watched, and each event comes once.
func TestLimits(t *testing.T) {
	c := newCore(t)
	c.apply(&state.NodeRegister{Name: "n1", BootID: "b", Journal: "j"})
	submit := func(types uint32) job.ID {
		id := c.apply(&state.Submit{Jobs: []state.NewJob{{Owner: job.Owner{User: "anna"}, Request: job.Request{Partitions: []string{"main"}, Mail: job.Mail{Types: types}}}}})[0].Jobs[0]
		n := c.Root().NodeNamed("n1").ID
		res := c.apply(&state.Start{Job: id, Task: job.NoTask, Limit: 10, Alloc: job.Allocation{Partition: "main", CPUs: 1, BatchNode: n,
			Nodes: []job.Share{{Node: n, Name: "n1", CPUs: 1, Cores: bitset.Of(int(id))}}}})
		if res[0].Code != state.OK {
			t.Fatal(res)
		}
		return id
	}
	submit(job.MailEnd)
	id := submit(job.MailTimeLimit50)
	l := limits{}
	if list := l.due(c.Root(), c.now); len(list) != 0 || len(l.watched) != 1 {
		t.Errorf("at the start: %v, watched %v", list, l.watched)
	}
	c.now += 6 * 60_000
	list := l.due(c.Root(), c.now)
	if len(list) != 1 || list[0].Job != id || list[0].Events != job.MailTimeLimit50 {
		t.Fatalf("after 6 of 10 minutes: %+v", list)
	}
	c.apply(&state.MailDue{List: list})
	if list := l.due(c.Root(), c.now); len(list) != 0 || len(l.watched) != 0 {
		t.Errorf("afterwards: %v, watched %v", list, l.watched)
	}
}
