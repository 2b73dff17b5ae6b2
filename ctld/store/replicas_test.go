package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"muster/api/identity"
	"muster/api/rpc"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// replicas are the stores of one cluster in this process, over real TLS on
// loopback and real files.
type replicas struct {
	t      testing.TB
	dir    string
	voters []Member
	timing Timing

	mu    sync.Mutex // stores fetch blobs from each other
	up    map[string]*Store
	ports map[string]*rpc.Listener
	ids   map[string]*identity.Identity
}

// raftOver is raft's stream layer for a store under test.
type raftOver struct {
	net.Listener
	id *identity.Identity
}

// Dial implements raft.StreamLayer.
func (r raftOver) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return rpc.DialRaft(r.id, string(addr), timeout)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// newReplicas makes certificates and addresses for n controllers.
func newReplicas(t testing.TB, n int, timing Timing) *replicas {
	t.Helper()
	a, err := identity.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{t: t, dir: t.TempDir(), timing: timing, up: map[string]*Store{},
		ports: map[string]*rpc.Listener{}, ids: map[string]*identity.Identity{}}
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		certs := filepath.Join(r.dir, name+"-certs")
		if err := a.Issue(certs, identity.Controller, name, time.Now()); err != nil {
			t.Fatal(err)
		}
		if r.ids[name], err = identity.Load(certs); err != nil {
			t.Fatal(err)
		}
		if r.ports[name], err = rpc.Listen("127.0.0.1:0", r.ids[name], quiet()); err != nil {
			t.Fatal(err)
		}
		r.voters = append(r.voters, Member{Name: name, Address: r.ports[name].Addr().String(), Votes: true})
	}
	t.Cleanup(func() {
		for name := range r.up {
			r.stop(name)
		}
		for _, p := range r.ports {
			if p != nil {
				p.Close()
			}
		}
	})
	return r
}

// start opens a store.
func (r *replicas) start(name string) *Store {
	r.t.Helper()
	if r.ports[name] == nil {
		var err error
		if r.ports[name], err = rpc.Listen(r.address(name), r.ids[name], quiet()); err != nil {
			r.t.Fatal(err)
		}
	}
	s, err := Open(Config{Cluster: "test", Name: name, Dir: filepath.Join(r.dir, name), Members: r.voters,
		Stream: raftOver{r.ports[name].Raft(), r.ids[name]}, Timing: r.timing, Log: quiet(),
		FetchBlob: func(_ context.Context, h job.Hash) ([]byte, error) { return r.fetch(name, h) }})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up[name] = s
	return s
}

func (r *replicas) startAll() {
	for _, v := range r.voters {
		r.start(v.Name)
	}
}

func (r *replicas) address(name string) string {
	for _, v := range r.voters {
		if v.Name == name {
			return v.Address
		}
	}
	r.t.Fatalf("no replica %s", name)
	return ""
}

func (r *replicas) fetch(self string, h job.Hash) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, s := range r.up {
		if name != self {
			if data, err := s.LocalBlob(h); err == nil {
				return data, nil
			}
		}
	}
	return nil, errors.New("nobody has it")
}

// stop ends a store without giving its lead away first, as a crash does. (What
// was not yet on disk is another test's concern: here the process lives on.)
func (r *replicas) stop(name string) {
	r.mu.Lock()
	s := r.up[name]
	delete(r.up, name)
	r.mu.Unlock()
	if s == nil {
		return
	}
	s.stop()
	if err := s.raft.Shutdown().Error(); err != nil {
		r.t.Error(err)
	}
	close(s.down)
	s.tasks.Wait()
	if err := errors.Join(s.trans.Close(), s.bolt.Close(), s.blobs.close(), r.ports[name].Close()); err != nil {
		r.t.Error(err)
	}
	r.ports[name] = nil
}

// leader waits until one of the stores leads.
func (r *replicas) leader() *Store {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		for _, s := range r.up {
			if s.Leading() != 0 {
				r.mu.Unlock()
				return s
			}
		}
		r.mu.Unlock()
	}
	r.t.Fatal("no leader after 30 s")
	return nil
}

// within is a context that ends with the test's patience.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// commit proposes to whoever leads until somebody has committed it.
func (r *replicas) commit(e state.Envelope, blobs ...state.Blob) (state.Result, uint64) {
	r.t.Helper()
	var err error
	for range 1000 {
		var res state.Result
		var index uint64
		if res, index, err = r.leader().Propose(within(r.t), e, blobs...); err == nil {
			return res, index
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Fatalf("not committed after 1000 tries: %v", err)
	return state.Result{}, 0
}

// configure gives the cluster a partition and a node.
func (r *replicas) configure() {
	r.t.Helper()
	c := partition.Cluster{Name: "test", TimeZone: "UTC",
		Nodes:      []partition.Node{{Name: "n1", Declared: partition.Shape{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 1, CPUs: 4, MemoryMB: 1000}}},
		Partitions: []partition.Partition{{Name: "debug", NodeList: "n1", Default: true}},
		Timers:     partition.Timers{MinJobAge: 300}}
	if res, _ := r.commit(state.Seal(&state.Configure{Cluster: c}, state.Actor{}, state.RequestID{})); res.Code != state.OK {
		r.t.Fatalf("configure: %+v", res)
	}
}

// submission is a submit of number n, with its own script.
func submission(n int) (state.Envelope, state.Blob) {
	script := fmt.Appendf(nil, "#!/bin/sh\necho %d\n%s", n, bytes.Repeat([]byte("# padding\n"), 20))
	blob := state.Blob{Hash: hashOf(script), Data: script}
	req := state.RequestID{1, byte(n), byte(n >> 8), byte(n >> 16)}
	return state.Seal(&state.Submit{Jobs: []state.NewJob{{
		Owner:    job.Owner{UID: 1000, GID: 1000, User: "user", Group: "user"},
		Request:  job.Request{Name: fmt.Sprint("j", n), Partitions: []string{"debug"}, Batch: job.Batch{Script: blob.Hash, WorkDir: "/"}},
		Priority: 1,
	}}}, state.Actor{UID: 1000, User: "user"}, req), blob
}

func (r *replicas) submit(n int) (job.ID, uint64) {
	r.t.Helper()
	e, blob := submission(n)
	e.FirstTry = r.leader().Now()
	res, index := r.commit(e, blob)
	if res.Code != state.OK || len(res.Jobs) != 1 {
		r.t.Fatalf("submit %d: %+v", n, res)
	}
	return res.Jobs[0], index
}

func TestNothingAcknowledgedIsLostWithTheLeader(t *testing.T) {
	r := newReplicas(t, 3, Timing{})
	r.startAll()
	r.configure()
	ids := map[job.ID]int{}
	var index uint64
	for round := range 3 {
		for n := range 20 {
			var id job.ID
			id, index = r.submit(round*20 + n)
			if was, taken := ids[id]; taken {
				t.Fatalf("job id %d given to submits %d and %d", id, was, round*20+n)
			}
			ids[id] = round*20 + n
		}
		lost := r.leader().cfg.Name
		r.stop(lost)
		root, err := r.leader().WaitIndex(within(t), index)
		if err != nil {
			t.Fatal(err)
		}
		for id, n := range ids {
			if j := root.Job(id); j == nil || j.Request.Name != fmt.Sprint("j", n) {
				t.Fatalf("after leader %s was killed, job %d (submit %d) is %+v", lost, id, n, j)
			}
		}
		r.start(lost)
	}
	// The same request again is the same job.
	e, blob := submission(7)
	e.FirstTry = r.leader().Now()
	res, _ := r.commit(e, blob)
	if !res.Repeated || len(res.Jobs) != 1 || ids[res.Jobs[0]] != 7 {
		t.Errorf("a second try of submit 7 gave %+v", res)
	}
}

func TestAllControllersAtOnce(t *testing.T) {
	r := newReplicas(t, 3, Timing{})
	r.startAll()
	r.configure()
	var ids []job.ID
	for n := range 30 {
		id, _ := r.submit(n)
		ids = append(ids, id)
	}
	before := r.leader().Root().Now()
	for _, v := range r.voters {
		r.stop(v.Name)
	}
	r.startAll()
	s := r.leader()
	for _, id := range ids {
		if s.Root().Job(id) == nil {
			t.Errorf("job %d is lost", id)
		}
	}
	if s.Now() < before {
		t.Errorf("state time went back from %d to %d", before, s.Now())
	}
}

func TestSnapshotBringsALateReplicaUpWithItsBlobs(t *testing.T) {
	r := newReplicas(t, 3, Timing{SnapshotCommands: 50})
	for _, name := range []string{"c1", "c2"} {
		r.start(name)
	}
	r.configure()
	var hashes []job.Hash
	var index uint64
	for n := range 150 {
		_, blob := submission(n)
		hashes = append(hashes, blob.Hash)
		_, index = r.submit(n)
	}
	for _, s := range r.up {
		if _, err := s.WaitIndex(within(t), index); err != nil {
			t.Fatal(err)
		}
		rc := s.raft.ReloadableConfig()
		rc.TrailingLogs = 1
		if err := s.raft.ReloadConfig(rc); err != nil {
			t.Fatal(err)
		}
		if err := s.raft.Snapshot().Error(); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
			t.Fatal(err)
		}
		if first, err := s.bolt.FirstIndex(); err != nil || first < 50 {
			t.Fatalf("the log of %s still begins at %d (%v): the test would prove nothing", s.cfg.Name, first, err)
		}
	}
	late := r.start("c3")
	root, err := late.WaitIndex(within(t), index)
	if err != nil {
		t.Fatal(err)
	}
	if want := r.leader().Root(); root.Index() == want.Index() && root.Hash() != want.Hash() {
		t.Errorf("at index %d its state differs from the leader's", root.Index())
	}
	for _, h := range hashes {
		if _, err := late.Blob(within(t), h); err != nil {
			t.Errorf("script %x: %v", h, err)
		}
	}
	// What was fetched is kept: the others may go.
	for _, name := range []string{"c1", "c2"} {
		r.stop(name)
	}
	for _, h := range hashes {
		if _, err := late.LocalBlob(h); err != nil {
			t.Errorf("script %x is not kept: %v", h, err)
		}
	}
}

// A controller that lost its disk confirmed entries that only it and the dead
// leader have. It must not elect the third, which lacks them.
func TestAWipedReplicaDoesNotVoteBeforeItIsCaughtUp(t *testing.T) {
	r := newReplicas(t, 3, Timing{})
	r.startAll()
	r.configure()
	leader := r.leader().cfg.Name
	var rest []string
	for _, v := range r.voters {
		if v.Name != leader {
			rest = append(rest, v.Name)
		}
	}
	behind, wiped := rest[0], rest[1]
	r.stop(behind)
	var ids []job.ID
	for n := range 20 {
		id, _ := r.submit(n)
		ids = append(ids, id)
	}
	r.stop(wiped)
	r.stop(leader)
	if err := os.RemoveAll(filepath.Join(r.dir, wiped)); err != nil {
		t.Fatal(err)
	}
	r.start(behind)
	s := r.start(wiped)
	for deadline := time.Now().Add(20 * time.Second); s.newcomer.refused.Load() < 3; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s was asked for a vote %d times in 20 s, want 3", wiped, s.newcomer.refused.Load())
		}
	}
	if r.up[behind].Leading() != 0 || s.Leading() != 0 {
		t.Fatal("the controllers that lack acknowledged jobs elected a leader")
	}
	r.start(leader)
	for _, id := range ids {
		if r.leader().Root().Job(id) == nil {
			t.Errorf("job %d is lost", id)
		}
	}
	// Once caught up it is a voter as the others are, also without the old leader.
	if _, err := s.WaitIndex(within(t), r.leader().Root().Index()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); s.newcomer.fresh.Load(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still a newcomer 20 s after it was caught up")
		}
	}
	r.stop(r.leader().cfg.Name)
	r.submit(20)
}

func TestSnapshotAndLogRestoreTheSame(t *testing.T) {
	r := newReplicas(t, 1, Timing{SnapshotCommands: 1 << 40})
	s := r.start("c1")
	r.configure()
	for n := range 40 {
		r.submit(n)
		if n == 20 {
			if err := s.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := s.Root()
	r.stop("c1")
	s = r.start("c1")
	root, err := s.WaitIndex(within(t), want.Index())
	if err != nil {
		t.Fatal(err)
	}
	if root.Index() != want.Index() || root.Hash() != want.Hash() {
		t.Errorf("restored to index %d hash %x, want %d %x", root.Index(), root.Hash(), want.Index(), want.Hash())
	}
	for n := range 40 {
		_, blob := submission(n)
		if got, err := s.LocalBlob(blob.Hash); err != nil || !bytes.Equal(got, blob.Data) {
			t.Errorf("script of submit %d: %v", n, err)
		}
	}
}

func TestLinearizableReads(t *testing.T) {
	r := newReplicas(t, 3, Timing{})
	r.startAll()
	r.configure()
	s := r.leader()
	var readers sync.WaitGroup
	for range 50 {
		readers.Go(func() {
			if err := s.Verify(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	for _, v := range r.voters {
		if v.Name != s.cfg.Name {
			if err := r.up[v.Name].Verify(within(t)); err == nil {
				t.Errorf("%s confirmed a lead that it does not have", v.Name)
			}
			r.stop(v.Name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for s.Leading() != 0 && ctx.Err() == nil {
		if err := s.Verify(ctx); err != nil {
			return
		}
	}
	if ctx.Err() != nil {
		t.Error("a leader without followers still confirms its lead")
	}
}

func TestAnotherControllersDirectoryIsRefused(t *testing.T) {
	r := newReplicas(t, 1, Timing{})
	r.start("c1")
	r.stop("c1")
	_, err := Open(Config{Cluster: "other", Name: "c1", Dir: filepath.Join(r.dir, "c1"), Members: r.voters, Log: quiet()})
	if err == nil {
		t.Fatal("another cluster's directory was taken")
	}
	t.Log(err)
}
