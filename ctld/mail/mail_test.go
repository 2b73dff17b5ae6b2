package mail

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/clock"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// core is a state machine that commands are applied to at once.
type core struct {
	t *testing.T

	mu      sync.Mutex
	m       *state.Machine
	index   uint64
	now     job.Time
	changed chan struct{}
	refuse  bool // proposals fail
	tried   int  // proposals
}

func newCore(t *testing.T) *core {
	c := &core{t: t, m: state.New(), now: 1_700_000_000_000, changed: make(chan struct{})}
	c.apply(&state.Configure{Cluster: partition.Cluster{
		Name: "c", Partitions: []partition.Partition{{Name: "main", NodeList: "ALL", Default: true}},
		Policy: partition.Policy{MailProg: "/bin/mail", MailDomain: "example.org"},
		Nodes:  []partition.Node{{Name: "n1", Declared: partition.Shape{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 1, CPUs: 4, MemoryMB: 1000}}},
	}})
	return c
}

func (c *core) apply(list ...state.Command) []state.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &state.Entry{Now: c.now}
	for _, cmd := range list {
		e.Commands = append(e.Commands, state.Seal(cmd, state.Actor{UID: 1000, User: "anna"}, state.RequestID{}))
	}
	c.index++
	res, err := c.m.Apply(c.index, e)
	if err != nil {
		c.t.Error(err)
	}
	close(c.changed)
	c.changed = make(chan struct{})
	return res
}

func (c *core) Root() *state.Root { return c.m.Root() }
func (c *core) Now() job.Time     { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *core) Changed(r *state.Root) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m.Root() != r {
		gone := make(chan struct{})
		close(gone)
		return gone
	}
	return c.changed
}

func (c *core) propose(_ context.Context, _ string, list ...state.Command) bool {
	c.mu.Lock()
	c.tried++
	no := c.refuse
	c.mu.Unlock()
	if no {
		return false
	}
	c.apply(list...)
	return true
}

// due makes mails due: each about a job that is cancelled while it waits.
func (c *core) due(n int) {
	for range n {
		res := c.apply(&state.Submit{Jobs: []state.NewJob{{
			Owner:   job.Owner{UID: 1000, User: "anna"},
			Request: job.Request{Name: "sim", Partitions: []string{"main"}, Mail: job.Mail{Types: job.MailEnd}},
		}}})
		c.apply(&state.End{Targets: []state.Target{{Job: res[0].Jobs[0]}}, To: job.Cancelled})
	}
}

func (c *core) left() (n int) {
	for range c.Root().Mails() {
		n++
	}
	return n
}

// until waits for a state.
func (c *core) until(what string, ok func() bool) {
	c.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		root := c.Root()
		if ok() {
			return
		}
		select {
		case <-c.Changed(root):
		case <-limit:
			c.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// run starts a sender; stop ends it and waits.
func run(c *core, s *Sender) (stop func()) {
	s.Core, s.Propose = c, c.propose
	if s.Clock == nil {
		s.Clock = clock.NewFake(time.Unix(1_700_000_000, 0))
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.RunUntil(ctx) }()
	return func() { cancel(); <-ended }
}

func TestEachMailOnce(t *testing.T) {
	c := newCore(t)
	c.due(30)
	var mu sync.Mutex
	var sent []string
	stop := run(c, &Sender{Run: func(_ context.Context, m *Message) error {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, m.To+" "+m.Subject)
		if len(sent)%3 == 0 {
			return errors.New("the program failed") // and is not run again
		}
		return nil
	}})
	c.until("the first 30 are struck off", func() bool { return c.left() == 0 })
	c.due(10)
	c.until("10 more are struck off", func() bool { return c.left() == 0 })
	stop()
	slices.Sort(sent)
	if len(sent) != 40 || len(slices.Compact(slices.Clone(sent))) != 40 {
		t.Errorf("%d mails, some twice: %q", len(sent), sent)
	}
	if want := "anna@example.org Slurm Job_id=1 Name=sim Ended, CANCELLED, ExitCode 0"; !slices.Contains(sent, want) {
		t.Errorf("%q is not among %q", want, sent)
	}
}

// Programs that hang hold up no more than their share of the senders, and the
// sender ends all the same.
func TestHangingPrograms(t *testing.T) {
	c := newCore(t)
	c.due(3)
	hung := make(chan struct{}, 3)
	stop := run(c, &Sender{Run: func(ctx context.Context, m *Message) error {
		if strings.Contains(m.Subject, "Job_id=1 ") || strings.Contains(m.Subject, "Job_id=2 ") || strings.Contains(m.Subject, "Job_id=3 ") {
			hung <- struct{}{}
			<-ctx.Done()
		}
		return nil
	}})
	for range 3 {
		<-hung
	}
	c.due(20)
	c.until("the others are sent", func() bool { return c.left() == 3 })
	stop()
	if c.left() > 3 {
		t.Errorf("%d mails are left", c.left())
	}
}

// No more programs than senders run at once.
func TestProgramsAreBounded(t *testing.T) {
	c := newCore(t)
	c.due(3 * senders)
	var mu sync.Mutex
	running, most := 0, 0
	full, release := make(chan struct{}), make(chan struct{})
	stop := run(c, &Sender{Run: func(context.Context, *Message) error {
		mu.Lock()
		if running++; running == senders && most < senders {
			close(full)
		}
		most = max(most, running)
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		mu.Unlock()
		return nil
	}})
	<-full
	close(release)
	c.until("all are sent", func() bool { return c.left() == 0 })
	stop()
	if most != senders {
		t.Errorf("%d programs ran at once", most)
	}
}

// A mail that was sent and could not be struck off is not sent again by the same
// leader, but struck off later.
func TestStrikingOffIsTriedAgain(t *testing.T) {
	c := newCore(t)
	c.refuse = true
	c.due(1)
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	sent := make(chan struct{}, 10)
	stop := run(c, &Sender{Clock: fake, Run: func(context.Context, *Message) error { sent <- struct{}{}; return nil }})
	<-sent
	for tried := 0; tried == 0; {
		c.mu.Lock()
		tried = c.tried
		c.mu.Unlock()
	}
	c.mu.Lock()
	c.refuse = false
	c.mu.Unlock()
	c.until("it is struck off", func() bool {
		fake.Advance(limitGrain)
		return c.left() == 0
	})
	stop()
	if len(sent) != 0 {
		t.Error("it was sent twice")
	}
}

// The program gets subject and address as arguments and Slurm's variables; what it
// says when it fails is in the error; it is killed with its children in time.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "mail")
	write := func(body string) {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	e := &job.MailEvent{Event: job.MailFail, Job: 4, Task: job.NoTask, Name: "a b", Owner: "anna", User: "bert", State: job.Failed, Low: 512, High: 512, Timed: true, Seconds: 9}
	m := compose(&partition.Cluster{Name: "c", Policy: partition.Policy{MailProg: script, MailDomain: "example.org"}}, e)
	write("{ for a in \"$@\"; do echo \"[$a]\"; done; env | grep SLURM | sort; cat; } >" + dir + "/out\n")
	if err := runProgram(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(dir + "/out")
	want := "[-s]\n[Slurm Job_id=4 Name=a b Failed, Run time 00:00:09, FAILED, ExitCode 2]\n[bert]\nSLURM_CLUSTER_NAME=c\nSLURM_JOB_EXIT_CODE_MAX=2\nSLURM_JOB_ID=4\n" +
		"SLURM_JOB_MAIL_TYPE=Failed\nSLURM_JOB_NAME=a b\nSLURM_JOB_RUN_TIME=00:00:09\nSLURM_JOB_STATE=FAILED\nSLURM_JOB_USER=anna\n"
	if string(got) != want {
		t.Errorf("the program saw\n%s\nwant\n%s", got, want)
	}
	write("echo no such user >&2; exit 67\n")
	if err := runProgram(context.Background(), m); err == nil || !strings.Contains(err.Error(), "no such user") || !strings.Contains(err.Error(), "67") {
		t.Errorf("a program that fails: %v", err)
	}
	write("sleep 1000 & echo $! >" + dir + "/child.new; mv " + dir + "/child.new " + dir + "/child; wait\n")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(dir + "/child"); err == nil {
				cancel()
				return
			}
		}
	}()
	if err := runProgram(ctx, m); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that hangs: %v", err)
	}
	m.To = "-oops"
	if err := runProgram(context.Background(), m); err == nil {
		t.Error("an address that looks like an option reached the program")
	}
}
