package noded

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"muster/api/pb"
	"muster/internal/wire"
	"muster/job"
	"muster/noded/shepherd"
)

// The test program is its own shepherd: it is started again under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "muster-shepherd" {
		if err := shepherd.Main(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// leader is a controller that says what the test wants and remembers what the
// node says. Reports are acknowledged when ack is set.
type leader struct {
	pb.UnimplementedControllerServer
	t    testing.TB
	addr string

	mu      sync.Mutex
	cond    *sync.Cond
	stream  pb.Controller_SyncServer
	hello   *pb.Hello
	hellos  int
	reports []*pb.Report
	beat    *pb.Heartbeat // the last
	signals map[uint64]string
	blobs   map[[16]byte][]byte
	asked   int // for a blob
	ack     bool
	full    *pb.Desired // sent to each new stream
	index   uint64
}

func newLeader(t testing.TB) *leader {
	l := &leader{t: t, ack: true, full: &pb.Desired{Full: true}, blobs: map[[16]byte][]byte{}, signals: map[uint64]string{}}
	l.cond = sync.NewCond(&l.mu)
	s := grpc.NewServer()
	pb.RegisterControllerServer(s, l)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.addr = lis.Addr().String()
	go s.Serve(lis)
	t.Cleanup(s.Stop)
	return l
}

func (l *leader) Sync(s pb.Controller_SyncServer) error {
	for {
		m, err := s.Recv()
		if err != nil {
			return nil
		}
		l.mu.Lock()
		switch {
		case m.Hello != nil:
			l.stream, l.hello = s, m.Hello
			l.hellos++
			l.send(&pb.ToNode{Welcome: &pb.Welcome{HeartbeatMs: 200, KillWaitS: 1, Cluster: "test"}, Desired: l.full})
		case m.Report != nil:
			l.reports = append(l.reports, m.Report)
			if l.ack {
				l.send(&pb.ToNode{ReportAcks: []uint64{m.Report.Number}})
			}
		case m.Heartbeat != nil:
			l.beat = m.Heartbeat
		case m.SignalDone != nil:
			l.signals[m.SignalDone.Id] = m.SignalDone.Error
		}
		l.cond.Broadcast()
		l.mu.Unlock()
	}
}

func (l *leader) Blob(r *pb.BlobRequest, s pb.Controller_BlobServer) error {
	l.mu.Lock()
	d, ok := l.blobs[[16]byte(r.Hash)]
	l.asked++
	l.cond.Broadcast()
	l.mu.Unlock()
	if !ok {
		return fmt.Errorf("no blob %x", r.Hash)
	}
	for len(d) > 0 {
		n := min(len(d), 7)
		if err := s.Send(&pb.BlobChunk{Data: d[:n]}); err != nil {
			return err
		}
		d = d[n:]
	}
	return nil
}

// send sends to the node; the caller holds the lock.
func (l *leader) send(m *pb.ToNode) {
	m.Term, m.LeaderTimeMs = 1, time.Now().UnixMilli()
	if m.Desired != nil {
		l.index++
		m.Index = l.index
	}
	if err := l.stream.Send(m); err != nil {
		l.t.Logf("send to the node: %v", err)
	}
}

func (l *leader) tell(m *pb.ToNode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(m)
}

// wait waits until ok says so; it is called with the lock held.
func (l *leader) wait(what string, ok func() bool) {
	l.t.Helper()
	late := time.AfterFunc(30*time.Second, func() { l.mu.Lock(); l.cond.Broadcast(); l.mu.Unlock() })
	defer late.Stop()
	end := time.Now().Add(30 * time.Second)
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ok() {
		if time.Now().After(end) {
			l.t.Fatalf("no %s after 30 s; reports: %v", what, l.reports)
		}
		l.cond.Wait()
	}
}

// released waits for the end of a job and returns what was reported of it, in
// one report or in two.
func (l *leader) released(id uint32) *pb.Report {
	l.t.Helper()
	var out *pb.Report
	l.wait(fmt.Sprintf("end of job %d", id), func() bool {
		var ended *pb.Report
		for _, r := range l.reports {
			if r.Attempt.Job != id {
				continue
			}
			if r.Ended || r.Failed {
				ended = r
			}
			if r.Released {
				if out = ended; out == nil {
					out = r
				}
				return true
			}
		}
		return false
	})
	return out
}

// site is a node under test, its leader and a directory for its jobs' output.
type site struct {
	*leader
	cfg  Config
	node *Node  // the daemon that runs
	work string // working directory of the jobs
	uid  uint32
	gid  uint32
	stop func() // ends the daemon, not its jobs
}

func newSite(t testing.TB, change ...func(*Config)) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "noded-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &site{leader: newLeader(t), work: filepath.Join(dir, "work"), uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}
	if os.Getuid() == 0 {
		s.uid, s.gid = 65534, 65534 // nobody
	}
	prog := filepath.Join(dir, "muster-shepherd")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, prog); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.work, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.work, 0o777); err != nil {
		t.Fatal(err)
	}
	s.cfg = Config{
		Name: "n1", DataDir: filepath.Join(dir, "data"), Controllers: []string{s.addr}, Shepherd: prog,
		Socket: filepath.Join(dir, "agent.sock"), Dial: dialPlain, BootID: "boot-1",
		Log: slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range change {
		f(&s.cfg)
	}
	s.start()
	t.Cleanup(func() {
		s.stop()
		s.killShepherd()
		removeGroups(s.cfg.DataDir)
		os.RemoveAll(dir)
	})
	return s
}

type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) { l.t.Logf("%s", b); return len(b), nil }

func dialPlain(addr string) (pb.ControllerClient, io.Closer, error) {
	c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, err
	}
	return pb.NewControllerClient(c), c, nil
}

// start starts the daemon and waits until it has said hello.
func (s *site) start() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.mu.Lock()
	before := s.hellos
	s.mu.Unlock()
	n, err := open(s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.node = n
	go func() { done <- n.run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("node daemon: %v", err)
		}
		s.stop = func() {}
	}
	s.wait("hello", func() bool { return s.hellos > before })
}

func (s *site) shepherdPID() int {
	b, err := os.ReadFile(filepath.Join(s.cfg.DataDir, "shepherd.pid"))
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.t.Fatal(err)
	}
	return pid
}

func (s *site) killShepherd() { syscall.Kill(s.shepherdPID(), syscall.SIGKILL) }

// removeGroups ends what is left in a node's control groups, and removes them.
func removeGroups(dataDir string) {
	b, _ := os.ReadFile(filepath.Join(dataDir, "cgroups"))
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Reverse(lines) // v2 is last in the list, and can kill
	for _, line := range lines {
		kind, dir, ok := strings.Cut(line, " ")
		if !ok || kind == "daemon" { // which this process is in
			continue
		}
		os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600)
		jobs, _ := filepath.Glob(filepath.Join(dir, "slot_*"))
		for _, group := range append(jobs, dir) {
			for end := time.Now().Add(5 * time.Second); syscall.Rmdir(group) == syscall.EBUSY && time.Now().Before(end); {
				time.Sleep(2 * time.Millisecond) // a process that was killed is not gone at once
			}
		}
	}
}

// option changes a launch or its request before it is sent.
type option func(*pb.Launch, *job.Request)

// launch has a script started as job id.
func (s *site) launch(id uint32, script string, options ...option) {
	s.tell(&pb.ToNode{Desired: &pb.Desired{Launch: []*pb.Launch{s.launchOf(id, script, options...)}}})
}

func (s *site) launchOf(id uint32, script string, options ...option) *pb.Launch {
	body := []byte("#!/bin/sh\n" + script + "\n")
	if strings.HasPrefix(script, "#!") {
		body = []byte(script + "\n")
	}
	sum := sha256.Sum256(body)
	req := &job.Request{Name: "test", Batch: job.Batch{WorkDir: s.work, Umask: 0o022}}
	l := &pb.Launch{
		Attempt: &pb.Attempt{Job: id}, BootId: s.hello.BootId, JournalId: s.hello.JournalId, Batch: true,
		Uid: s.uid, Gid: s.gid, User: "nobody", Info: &pb.JobInfo{Name: "test", ArrayTask: job.NoTask},
		Script: &pb.Batch{Script: sum[:16], ScriptData: body, EnvironmentData: []byte("PATH=/usr/bin:/bin\x00MYVAR=x y")},
		Nodes:  []*pb.NodePart{{Name: "n1", Cpus: 1, Tasks: 1}}, Part: &pb.Part{Cpus: 1, MemoryMb: 200},
		StartMs: time.Now().UnixMilli(),
	}
	for _, f := range options {
		f(l, req)
	}
	l.Info.Request = wire.Encode(nil, req)
	return l
}

// output is a file that a job wrote.
func (s *site) output(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.work, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// appears waits until a job has written text into a file.
func (s *site) appears(name, text string) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		b, _ := os.ReadFile(filepath.Join(s.work, name))
		if strings.Contains(string(b), text) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s does not get %q; it has %q", name, text, b)
		}
	}
}

func stdout(name string) option {
	return func(_ *pb.Launch, r *job.Request) { r.Batch.Stdout = name }
}
