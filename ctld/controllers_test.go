package ctld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/wire"
	"muster/job"
	"muster/state"
)

// controllers are real controllers in this process: real raft, TLS on loopback,
// files. Nodes are played by the test over real streams.
type controllers struct {
	t     *testing.T
	dir   string
	file  string
	names []string
	addrs map[string]string
	auth  *identity.Authority
	up    map[string]*running
	root  bool // believe root from anywhere
}

type running struct {
	*Controller
	stop context.CancelFunc
	done chan error
}

const patience = 30 * time.Second

// newControllers makes the files of n controllers and the nodes n1 and n2.
func newControllers(t *testing.T, n int) *controllers {
	t.Helper()
	auth, err := identity.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cs := &controllers{t: t, dir: t.TempDir(), addrs: map[string]string{}, auth: auth, up: map[string]*running{}}
	var text strings.Builder
	fmt.Fprintln(&text, `name = "test"`)
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		cs.names = append(cs.names, name)
		cs.addrs[name] = l.Addr().String()
		cs.issue(identity.Controller, name)
		fmt.Fprintf(&text, "[[controller]]\nname = %q\naddresses = [\"127.0.0.1\"]\nbind = \"127.0.0.1\"\nport = %d\n", name, port)
	}
	fmt.Fprintln(&text, "[[node]]\nnames = \"n[1-2]\"\ncpus = 8\nmemory = \"1000M\"\n[[partition]]\nname = \"debug\"\nnodes = \"n[1-2]\"\ndefault = true")
	cs.file = filepath.Join(cs.dir, "cluster.toml")
	if err := os.WriteFile(cs.file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, name := range cs.names {
			cs.stop(name)
		}
	})
	return cs
}

// configure adds to the cluster file, before controllers are started.
func (cs *controllers) configure(text string) {
	cs.t.Helper()
	f, err := os.OpenFile(cs.file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		cs.t.Fatal(err)
	}
}

func (cs *controllers) issue(role identity.Role, name string) *identity.Identity {
	cs.t.Helper()
	dir := filepath.Join(cs.dir, string(role)+"-"+name)
	if _, err := os.Stat(dir); err != nil {
		if err := cs.auth.Issue(dir, role, name, time.Now()); err != nil {
			cs.t.Fatal(err)
		}
	}
	id, err := identity.Load(dir)
	if err != nil {
		cs.t.Fatal(err)
	}
	return id
}

func (cs *controllers) config(name string) Config {
	return Config{Name: name, Data: filepath.Join(cs.dir, name), Certs: filepath.Join(cs.dir, "controller-"+name),
		File: cs.file, RootFromAnywhere: cs.root, Log: slog.New(slog.DiscardHandler)}
}

func (cs *controllers) start(names ...string) {
	cs.t.Helper()
	for _, name := range names {
		c, port, err := open(cs.config(name))
		if err != nil {
			cs.t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		r := &running{Controller: c, stop: cancel, done: make(chan error, 1)}
		go func() { r.done <- c.run(ctx, port) }()
		cs.up[name] = r
	}
}

func (cs *controllers) stop(name string) {
	r := cs.up[name]
	if r == nil {
		return
	}
	delete(cs.up, name)
	r.stop()
	if err := <-r.done; err != nil {
		cs.t.Errorf("controller %s: %v", name, err)
	}
}

// wait looks again and again until ok; what it waits for has no event here.
func (cs *controllers) wait(what string, ok func() bool) {
	cs.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			cs.t.Fatalf("after %s still not: %s", patience, what)
		}
	}
}

// leader waits until one leads and the others have caught up with it.
func (cs *controllers) leader() (leader *running, followers []*running) {
	cs.t.Helper()
	cs.wait("one leads and the others follow", func() bool {
		leader, followers = nil, nil
		for _, name := range cs.names {
			switch r := cs.up[name]; {
			case r == nil:
			case r.leading.Load() != nil:
				leader = r
			case r.caughtUp():
				followers = append(followers, r)
			}
		}
		return leader != nil && len(followers) == len(cs.up)-1
	})
	return leader, followers
}

func (cs *controllers) client(role identity.Role, host, controller string) pb.ControllerClient {
	cs.t.Helper()
	conn, err := rpc.Dial(cs.issue(role, host), cs.addrs[controller])
	if err != nil {
		cs.t.Fatal(err)
	}
	cs.t.Cleanup(func() { conn.Close() })
	return pb.NewControllerClient(conn)
}

var alice = api.Caller{UID: 1001, GID: 1001, User: "alice", Group: "alice", Groups: []uint32{1001}}

// call makes a client's call and returns its chunks and end.
func call(t *testing.T, c pb.ControllerClient, who api.Caller, r api.Call, body wire.Message) ([][]byte, *api.End) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if body != nil {
		r.Body = wire.Encode(nil, body)
	}
	r.Version = api.Version
	stream, err := c.Call(ctx, &pb.CallRequest{Call: wire.Encode(nil, &r), Caller: wire.Encode(nil, &who)})
	var chunks [][]byte
	for err == nil {
		var m *pb.CallReply
		if m, err = stream.Recv(); err != nil {
			break
		}
		if m.End != nil {
			end := new(api.End)
			if err := wire.Decode(m.End, end); err != nil {
				t.Fatal(err)
			}
			return chunks, end
		}
		chunks = append(chunks, m.Chunk)
	}
	t.Fatalf("call %s: %v", r.Method, err)
	return nil, nil
}

// submission is a submit call; n makes its request id.
func submission(n byte) (api.Call, *api.SubmitRequest) {
	return api.Call{Method: api.MethodSubmit, RequestID: [16]byte{1, n}, FirstTry: time.Now().UnixMilli()},
		&api.SubmitRequest{Jobs: []api.SubmitJob{{Request: job.Request{Name: "j",
			Batch: job.Batch{WorkDir: "/", Umask: 0o22}, Memory: job.Memory{Per: job.MemoryPerNode, MB: 10}}}},
			Script: []byte("#!/bin/sh\ntrue\n"), Environment: []byte("A=1\x00")}
}

// node is a node daemon played by the test.
type node struct {
	t      *testing.T
	name   string
	stream interface {
		Send(*pb.FromNode) error
		Recv() (*pb.ToNode, error)
	}
	mu  sync.Mutex
	got []*pb.ToNode
	end error
	num uint64
}

// join opens a node's stream to a controller.
func (cs *controllers) join(name, controller string) *node {
	cs.t.Helper()
	stream, err := cs.client(identity.Compute, name, controller).Sync(cs.t.Context())
	if err != nil {
		cs.t.Fatal(err)
	}
	n := &node{t: cs.t, name: name, stream: stream}
	n.send(&pb.FromNode{Hello: &pb.Hello{Name: name, BootId: "boot", JournalId: "journal", StartedMs: 1,
		Found: &pb.Inventory{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, Cpus: 8, MemoryMb: 1000}}})
	go func() { // ends with the stream
		for {
			m, err := stream.Recv()
			n.mu.Lock()
			if err != nil {
				n.end = err
				n.mu.Unlock()
				return
			}
			n.got = append(n.got, m)
			n.mu.Unlock()
		}
	}()
	return n
}

func (n *node) send(m *pb.FromNode) {
	n.t.Helper()
	if err := n.stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		n.t.Fatal(err)
	}
}

// takesConfig has the node say that it goes by the configuration that it was sent; one
// that does not gets no job after some seconds.
func (n *node) takesConfig(cs *controllers) {
	n.t.Helper()
	var serial uint64
	cs.wait("the node has the configuration", func() bool {
		return n.find(func(m *pb.ToNode) bool {
			serial = max(serial, m.GetWelcome().GetConfig())
			return serial > 0
		})
	})
	n.send(&pb.FromNode{Heartbeat: &pb.Heartbeat{Config: serial}})
}

// find looks through all messages that came.
func (n *node) find(ok func(*pb.ToNode) bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.got {
		if ok(m) {
			return true
		}
	}
	return false
}

func (n *node) broken() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.end
}

func launched(id job.ID) func(*pb.ToNode) bool {
	return func(m *pb.ToNode) bool {
		for _, l := range m.GetDesired().GetLaunch() {
			if l.Attempt.Job == uint32(id) {
				return true
			}
		}
		return false
	}
}

// finish reports the end of a job and waits for the acknowledgement.
func (n *node) finish(cs *controllers, id job.ID, code uint32) {
	n.t.Helper()
	n.num++
	num := n.num
	n.send(&pb.FromNode{Report: &pb.Report{Number: num, Attempt: &pb.Attempt{Job: uint32(id)}, Ended: true, ExitCode: code, Released: true}})
	cs.wait("the report is acknowledged", func() bool {
		return n.find(func(m *pb.ToNode) bool {
			for _, a := range m.ReportAcks {
				if a == num {
					return true
				}
			}
			return false
		})
	})
}

// submit submits through a controller and returns the job and its index.
func (cs *controllers) submit(n byte, through string) (job.ID, uint64) {
	cs.t.Helper()
	r, body := submission(n)
	c := cs.client(identity.Login, "login", through)
	var end *api.End
	var chunks [][]byte
	cs.wait("the submit is taken", func() bool {
		chunks, end = call(cs.t, c, alice, r, body)
		return end.Err == nil || !end.Err.Retry()
	})
	if end.Err != nil {
		cs.t.Fatalf("submit through %s: %+v", through, end.Err)
	}
	var reply api.SubmitReply
	if err := wire.Decode(chunks[0], &reply); err != nil {
		cs.t.Fatal(err)
	}
	return reply.Jobs[0], end.Index
}

func TestAJobThroughFollowersAndARelay(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	n1 := cs.join("n1", followers[0].cfg.Name)
	id, index := cs.submit(1, followers[1].cfg.Name)
	cs.wait("the node behind a follower gets the job", func() bool { return n1.find(launched(id)) })

	// Whoever wrote sees it at any controller.
	for _, name := range cs.names {
		chunks, end := call(t, cs.client(identity.Login, "login", name), alice,
			api.Call{Method: api.MethodJobs, MinIndex: index}, &api.JobQuery{})
		if end.Err != nil || end.Index < index || len(chunks) == 0 {
			t.Errorf("job list at %s: index %d (want %d), %d chunks, %+v", name, end.Index, index, len(chunks), end.Err)
		}
	}
	n1.finish(cs, id, 3)
	if j := leader.Root().Job(id); j == nil || j.State != job.Failed || j.End.ExitCode != 3 {
		t.Errorf("the job ended as %+v", j)
	}
	for _, name := range cs.names {
		c := cs.up[name]
		cs.wait("the ledger has the record, and the outbox lets it go", func() bool {
			first, next := c.Root().OutboxRange()
			return c.ledger.last() == 1 && first == next
		})
		found := 0
		err := c.ledger.Jobs(t.Context(), 0, 0, []job.ID{id}, nil, func(j *job.Job) bool {
			found++
			return true
		})
		if err != nil || found != 1 {
			t.Errorf("%s: %d records of job %d (%v), want 1", name, found, id, err)
		}
	}
}

func TestAChangeOfLeaderBreaksNoStreamAndLosesNothing(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, followers := cs.leader()
	n1 := cs.join("n1", followers[0].cfg.Name)
	before, _ := cs.submit(1, leader.cfg.Name)
	cs.wait("the first job is launched", func() bool { return n1.find(launched(before)) })
	term := leader.leading.Load().term
	cs.stop(leader.cfg.Name)
	leader, _ = cs.leader()
	cs.wait("the next leader tells the node everything on the same stream", func() bool {
		return n1.find(func(m *pb.ToNode) bool { return m.Term > term && m.Desired.GetFull() })
	})
	if j := leader.Root().Job(before); j == nil || j.State != job.Running {
		t.Errorf("the running job is %+v", j)
	}
	after, _ := cs.submit(2, followers[0].cfg.Name)
	cs.wait("the next job is launched", func() bool { return n1.find(launched(after)) })
	n1.finish(cs, before, 0)
	n1.finish(cs, after, 0)
	for _, id := range []job.ID{before, after} {
		if j := leader.Root().Job(id); j == nil || j.State != job.Completed {
			t.Errorf("job %d ended as %+v", id, j)
		}
	}
	if err := n1.broken(); err != nil {
		t.Errorf("the node's stream broke: %v", err)
	}
	// The same request once more is the same job, from another leader too.
	if again, _ := cs.submit(1, followers[0].cfg.Name); again != before {
		t.Errorf("the first submit tried again gave job %d, was %d", again, before)
	}
}

func TestAllControllersRestart(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start(cs.names...)
	leader, _ := cs.leader()
	id, _ := cs.submit(1, leader.cfg.Name)
	for _, name := range cs.names {
		cs.stop(name)
	}
	cs.start(cs.names...)
	leader, _ = cs.leader()
	if leader.Root().Job(id) == nil {
		t.Errorf("job %d is lost", id)
	}
	n1 := cs.join("n1", leader.cfg.Name)
	cs.wait("the job is launched", func() bool { return n1.find(launched(id)) })
}

func TestWhoMayForwardWhat(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	leader, _ := cs.leader()
	n1 := cs.join("n1", "c1")
	id, _ := cs.submit(1, "c1")
	cs.wait("the job is launched", func() bool { return n1.find(launched(id)) })
	root := api.Caller{User: "root"}
	bob := api.Caller{UID: 1002, GID: 1002, User: "bob"}
	for i, c := range []struct {
		role identity.Role
		host string
		who  api.Caller
		ok   bool
	}{
		{identity.Login, "login", alice, true},
		{identity.Login, "login", root, false},
		{identity.Controller, "c1", root, true},
		{identity.Compute, "n1", alice, true}, // has a job on it
		{identity.Compute, "n1", bob, false},
		{identity.Compute, "n2", alice, false},
		{identity.Compute, "n1", root, false},
	} {
		client := cs.client(c.role, c.host, "c1")
		r, body := submission(byte(10 + i))
		_, end := call(t, client, c.who, r, body)
		if ok := end.Err == nil; ok != c.ok || !ok && end.Err.Kind != api.ErrDenied {
			t.Errorf("%s as %q from %s %s: %+v", r.Method, c.who.User, c.role, c.host, end.Err)
		}
		if _, end := call(t, client, c.who, api.Call{Method: api.MethodJobs}, &api.JobQuery{}); end.Err != nil {
			t.Errorf("a read as %q from %s %s: %+v", c.who.User, c.role, c.host, end.Err)
		}
	}
	if _, end := call(t, cs.client(identity.Login, "login", "c1"), alice, api.Call{Method: "no.such"}, nil); end.Err == nil || end.Err.Kind != api.ErrUnknownCall {
		t.Errorf("an unknown call: %+v", end.Err)
	}
	if n := leader.stats.counters().Calls["no.such"].Count; n != 0 {
		t.Error("unknown names fill the counters")
	}
}

func TestStreamsAreForTheirRoles(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	cs.leader()
	ctx := t.Context()
	refused := func(what string, open func() (interface{ RecvMsg(any) error }, error), into any) {
		t.Helper()
		s, err := open()
		if err == nil {
			err = s.RecvMsg(into)
		}
		if err == nil || !strings.Contains(err.Error(), "PermissionDenied") {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	compute := cs.client(identity.Compute, "n1", "c1")
	refused("a compute node relays", func() (interface{ RecvMsg(any) error }, error) { return compute.Relay(ctx) }, new(pb.RelayDown))
	refused("a compute node follows the plans", func() (interface{ RecvMsg(any) error }, error) {
		return compute.Plans(ctx, &pb.PlansRequest{})
	}, new(pb.PlansReply))
	refused("a compute node copies the ledger", func() (interface{ RecvMsg(any) error }, error) {
		return compute.Ledger(ctx, &pb.LedgerRequest{From: 1, Through: 1})
	}, new(pb.LedgerChunk))
	login := cs.client(identity.Login, "login", "c1")
	refused("a login host is a node", func() (interface{ RecvMsg(any) error }, error) { return login.Sync(ctx) }, new(pb.ToNode))
	refused("a node is another node", func() (interface{ RecvMsg(any) error }, error) {
		s, err := compute.Sync(ctx)
		if err == nil {
			err = s.Send(&pb.FromNode{Hello: &pb.Hello{Name: "n2"}})
		}
		return s, err
	}, new(pb.ToNode))
}

func TestStartIsRefusedWithAReason(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	cs.leader()
	cs.stop("c1")
	for want, change := range map[string]func(*Config){
		"names no controller": func(c *Config) { c.Name = "c9" },
		"authority":           func(c *Config) { c.Certs = filepath.Join(cs.dir, "nowhere") },
		"cluster file":        func(c *Config) { c.File = filepath.Join(cs.dir, "nowhere") },
	} {
		cfg := cs.config("c1")
		change(&cfg)
		if err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one about %q", err, want)
		}
	}
	cs.start("c1")
	if _, _, err := open(cs.config("c1")); err == nil {
		t.Error("two controllers took the same data directory")
	}
}

func TestTheClusterFileIsTheFirstConfiguration(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	leader, _ := cs.leader()
	if c := leader.Root().Cluster(); c == nil || c.Name != "test" {
		t.Fatalf("the cluster file is not the configuration: %+v", c)
	}
	if !leader.leading.Load().propose(t.Context(), "a test", &state.Tick{}) {
		t.Error("the leader could not commit")
	}
}
