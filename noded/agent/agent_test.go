package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	osuser "os/user"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/wire"
)

// fakeController answers calls with a function of the test.
type fakeController struct {
	pb.UnimplementedControllerServer
	addr   string
	answer func(call *api.Call, caller *api.Caller, s grpc.ServerStreamingServer[pb.CallReply]) *api.End
	server *grpc.Server
	port   *rpc.Listener
}

func (f *fakeController) Call(r *pb.CallRequest, s grpc.ServerStreamingServer[pb.CallReply]) error {
	call, caller := new(api.Call), new(api.Caller)
	if err := errors.Join(wire.Decode(r.Call, call), wire.Decode(r.Caller, caller)); err != nil {
		return err
	}
	if end := f.answer(call, caller, s); end != nil {
		return s.Send(&pb.CallReply{End: wire.Encode(nil, end)})
	}
	return errors.New("no answer")
}

// stop ends a controller as a crash does: the connections break.
func (f *fakeController) stop() {
	f.server.Stop()
	f.port.Close()
}

// site is a cluster's authority with controllers and one agent.
type site struct {
	t     testing.TB
	ca    *identity.Authority
	agent *Agent
	path  string
}

func newSite(t testing.TB) *site {
	ca, err := identity.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, ca: ca}
}

func (s *site) identity(role identity.Role, name string) *identity.Identity {
	dir := filepath.Join(s.t.TempDir(), name)
	if err := s.ca.Issue(dir, role, name, time.Now()); err != nil {
		s.t.Fatal(err)
	}
	id, err := identity.Load(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// controller starts one at addr, or at a free port of loopback.
func (s *site) controller(addr string, answer func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End) *fakeController {
	s.t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	port, err := rpc.Listen(addr, s.identity(identity.Controller, "c"), slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	f := &fakeController{addr: port.Addr().String(), answer: answer, server: rpc.NewServer(), port: port}
	pb.RegisterControllerServer(f.server, f)
	var serving sync.WaitGroup
	serving.Go(func() { f.server.Serve(port.GRPC()) })
	s.t.Cleanup(func() {
		f.stop()
		serving.Wait()
	})
	return f
}

// start runs the agent with the given controllers until the test ends.
func (s *site) start(controllers ...string) {
	s.t.Helper()
	s.path = filepath.Join(s.t.TempDir(), "a.sock")
	a, err := Listen(Config{Socket: s.path, Host: "login", Identity: s.identity(identity.Login, "login"),
		Controllers: controllers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.agent = a
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
}

func (s *site) client() *api.Client {
	c := api.New(s.path)
	s.t.Cleanup(func() { c.Close() })
	return c
}

func index(n uint64) *api.End { return &api.End{Index: n} }

func TestCallerIsTheKernelsWord(t *testing.T) {
	s := newSite(t)
	callers := make(chan *api.Caller, 1)
	c := s.controller("", func(call *api.Call, caller *api.Caller, _ grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		callers <- caller
		return index(1)
	})
	s.start(c.addr)
	if _, err := s.client().Do(&api.Call{Method: api.MethodSubmit}, nil); err != nil {
		t.Fatal(err)
	}
	me, err := osuser.Current()
	if err != nil {
		t.Fatal(err)
	}
	got := <-callers
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if int(got.UID) != os.Getuid() || int(got.GID) != os.Getgid() || int(got.PID) != os.Getpid() ||
		got.User != me.Username || got.Host != "login" || len(got.Groups) != len(groups) {
		t.Errorf("got %+v, want user %s, pid %d, groups %v", got, me.Username, os.Getpid(), groups)
	}
}

func TestAnswersAreStreamed(t *testing.T) {
	s := newSite(t)
	part := bytes.Repeat([]byte("x"), 1<<20)
	c := s.controller("", func(call *api.Call, _ *api.Caller, r grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		r.Send(&pb.CallReply{Chunk: call.Body})
		for range 20 {
			r.Send(&pb.CallReply{Chunk: part})
		}
		return index(9)
	})
	s.start(c.addr)
	body := bytes.Repeat([]byte("b"), 3<<20)
	chunks, end, err := s.client().All(&api.Call{Method: api.MethodJobs, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) != 21 || !bytes.Equal(chunks[0], body) || !bytes.Equal(chunks[20], part) || end.Index != 9 {
		t.Errorf("%d chunks, end %+v", len(chunks), end)
	}
}

func TestReadsSeeTheUsersOwnChanges(t *testing.T) {
	s := newSite(t)
	mins := make(chan uint64, 1)
	answer := func(call *api.Call, _ *api.Caller, _ grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		if call.Method == api.MethodSubmit {
			return index(42)
		}
		mins <- call.MinIndex
		return index(50)
	}
	s.start(s.controller("", answer).addr)
	for _, c := range []struct {
		method string
		min    uint64 // that the caller asks for
		want   uint64
	}{{api.MethodJobs, 0, 0}, {api.MethodSubmit, 0, 0}, {api.MethodJobs, 0, 42}, {api.MethodJobs, 41, 42}, {api.MethodJobs, 60, 60}} {
		// Each on its own connection: the index belongs to the user.
		if _, err := s.client().Do(&api.Call{Method: c.method, MinIndex: c.min}, nil); err != nil {
			t.Fatal(err)
		}
		if c.method == api.MethodSubmit {
			continue
		}
		if got := <-mins; got != c.want {
			t.Errorf("a read that asked for %d was passed on with %d, want %d", c.min, got, c.want)
		}
	}
}

func TestAnotherControllerIsAsked(t *testing.T) {
	s := newSite(t)
	var first, second atomic.Int32
	a := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		first.Add(1)
		return index(1)
	})
	b := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		second.Add(1)
		return index(2)
	})
	s.start(a.addr, b.addr)
	client := s.client()
	do := func() {
		t.Helper()
		if _, err := client.Do(&api.Call{Method: api.MethodSubmit}, nil); err != nil {
			t.Fatal(err)
		}
	}
	do()
	a.stop()
	do()
	do()
	if second.Load() < 2 {
		t.Errorf("the second controller answered %d calls, the first %d", second.Load(), first.Load())
	}
	b.stop()
	s.controller(a.addr, a.answer) // comes back while a call waits
	do()
}

func TestLeaderIsAskedOnceItIsKnown(t *testing.T) {
	s := newSite(t)
	var leaderCalls, followerCalls atomic.Int32
	leader := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		leaderCalls.Add(1)
		return index(1)
	})
	follower := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		followerCalls.Add(1)
		return &api.End{Index: 1, Leader: leader.addr}
	})
	s.start(follower.addr, leader.addr)
	s.agent.up.learn(follower.addr)
	for _, c := range s.agent.up.conns { // one that is not connected yet is not asked
		reach(t, c.conn, connectivity.Ready, false)
	}
	for range 5 {
		if _, err := s.client().Do(&api.Call{Method: api.MethodSubmit}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if leaderCalls.Load() < 4 {
		t.Errorf("the leader was asked %d times, the follower %d", leaderCalls.Load(), followerCalls.Load())
	}
}

func TestChangeWithoutLeaderIsTriedAgainUnderOneID(t *testing.T) {
	s := newSite(t)
	var ids []([16]byte)
	c := s.controller("", func(call *api.Call, _ *api.Caller, _ grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		if ids = append(ids, call.RequestID); len(ids) < 4 {
			return &api.End{Err: api.Errorf(api.ErrUnavailable, "no leader")}
		}
		return index(1)
	})
	s.start(c.addr)
	if _, err := s.client().Do(&api.Call{Method: api.MethodSubmit}, nil); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("tries under ids %x", ids)
		}
	}
}

func TestRefusalsPassThrough(t *testing.T) {
	s := newSite(t)
	c := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		return &api.End{Err: &api.Error{Kind: api.ErrNotFound, Text: "Invalid job id specified", Hint: "hint"}}
	})
	s.start(c.addr)
	_, err := s.client().Do(&api.Call{Method: api.MethodCancel}, nil)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.ErrNotFound || refused.Hint != "hint" {
		t.Errorf("got %v", err)
	}
}

func TestWaitEndsWhenTheClientHangsUp(t *testing.T) {
	s := newSite(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	c := s.controller("", func(call *api.Call, _ *api.Caller, r grpc.ServerStreamingServer[pb.CallReply]) *api.End {
		close(begun)
		<-r.Context().Done()
		close(ended)
		return index(1)
	})
	s.start(c.addr)
	raw, err := net.Dial("unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := api.WriteFrame(raw, api.FrameCall, wire.Encode(nil, &api.Call{Method: api.MethodWaitJob})); err != nil {
		t.Fatal(err)
	}
	<-begun
	raw.Close()
	<-ended
}

func TestGarbageIsRefusedAndTheNextServed(t *testing.T) {
	s := newSite(t)
	c := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End { return index(1) })
	s.start(c.addr)
	for _, junk := range []string{"GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x02\x09x", "\x00\x00\x00\x03\x01\xff\xff", "\x00"} {
		raw, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Write([]byte(junk)); err != nil {
			t.Fatal(err)
		}
		raw.(*net.UnixConn).CloseWrite()
		var said bytes.Buffer
		said.ReadFrom(raw) // ends when the agent closes
		raw.Close()
	}
	if _, err := s.client().Do(&api.Call{Method: api.MethodSubmit}, nil); err != nil {
		t.Error(err)
	}
}

func TestManyConnectionsOfOneUserAreRefused(t *testing.T) {
	u := newUsers()
	for range userConnections {
		if u.enter(7) == nil {
			t.Fatal("refused too early")
		}
	}
	if u.enter(7) != nil {
		t.Error("one more was let in")
	}
	if u.enter(8) == nil {
		t.Error("another user was refused")
	}
	u.leave(u.all[7])
	if u.enter(7) == nil {
		t.Error("refused although one had left")
	}
}

func TestSocket(t *testing.T) {
	s := newSite(t)
	c := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End { return index(1) })
	s.start(c.addr)
	info, err := os.Stat(s.path)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode of the socket: %v, %v", info, err)
	}
	if _, err := listen(s.path); err == nil || !strings.Contains(err.Error(), "another agent") {
		t.Errorf("a second agent on one path: got %v", err)
	}
	if _, err := listen("/" + strings.Repeat("x", 110)); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a path that is too long: got %v", err)
	}
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	again, err := listen(dead)
	if err != nil {
		t.Fatalf("in place of a dead agent's: %v", err)
	}
	again.Close()
}

// BenchmarkCall is one change through the agent to a controller and back, each with
// its own connection to the agent, as sbatch makes it.
func BenchmarkCall(b *testing.B) {
	s := newSite(b)
	c := s.controller("", func(*api.Call, *api.Caller, grpc.ServerStreamingServer[pb.CallReply]) *api.End { return index(1) })
	s.start(c.addr)
	body := make([]byte, 8<<10)
	for b.Loop() {
		client := api.New(s.path)
		if _, err := client.Do(&api.Call{Method: api.MethodSubmit, Body: body}, nil); err != nil {
			b.Fatal(err)
		}
		client.Close()
	}
}
