// Package store keeps the replicated state of one controller: raft with its log
// and snapshots, the blobs beside them, and the batcher that gathers commands
// into raft entries.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"muster/api"
	"muster/ctld/store/wal"
	"muster/internal/clock"
	"muster/internal/coalesce"
	"muster/internal/faults"
	"muster/job"
	"muster/state"
)

// Config is what a store needs to know.
type Config struct {
	Cluster string
	Name    string           // of this controller
	Dir     string           // data directory, made if it is not there
	Members []Member         // of a new cluster; of an old one, where they are found
	Join    bool             // do not begin a new cluster: with an empty directory, wait to be added to one
	Stream  raft.StreamLayer // carries raft's own connections
	Timing  Timing
	Log     *slog.Logger
	Clock   clock.Clock // nil: the system's
	// Lead runs while this controller leads: from the moment at which all that
	// earlier leaders acknowledged is applied, until ctx ends. It must return
	// promptly then.
	Lead func(ctx context.Context, term uint64)
	// FetchBlob gets a blob from another controller.
	FetchBlob func(ctx context.Context, h job.Hash) ([]byte, error)
}

// Timing holds raft's timers and the bounds on its log. The zero value of each
// means its default.
type Timing struct {
	Heartbeat time.Duration // silence of the leader after which a follower asks for votes, at random up to twice it
	Election  time.Duration // how long a candidate waits for votes
	Lease     time.Duration // a leader that reaches no majority for so long steps down; at most Heartbeat
	// SnapshotBytes and SnapshotCommands bound the log: a snapshot is taken
	// when the entries since the last one have so much of either.
	SnapshotBytes    uint64
	SnapshotCommands uint64
}

// Defaults: a new leader within about a second of the old one's death. A follower
// refuses its vote as long as it believes in the old leader, so two of them have to
// lose patience, and a candidate that was refused waits once more. A controller
// that gets no processor for a third of a second keeps its lead.
const (
	defaultHeartbeat        = 400 * time.Millisecond
	defaultElection         = 400 * time.Millisecond
	defaultLease            = 400 * time.Millisecond
	defaultSnapshotBytes    = 64 << 20
	defaultSnapshotCommands = 200_000
)

func (t Timing) withDefaults() Timing {
	set := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	set(&t.Heartbeat, defaultHeartbeat)
	set(&t.Election, defaultElection)
	set(&t.Lease, min(defaultLease, t.Heartbeat))
	if t.SnapshotBytes == 0 {
		t.SnapshotBytes = defaultSnapshotBytes
	}
	if t.SnapshotCommands == 0 {
		t.SnapshotCommands = defaultSnapshotCommands
	}
	return t
}

// Store is one replica. Its methods may be called from any goroutine.
type Store struct {
	cfg      Config
	raft     *raft.Raft
	running  atomic.Pointer[raft.Raft] // raft, for those who may come before it is there
	bolt     *boltdb.BoltStore         // terms and votes, and the log behind log
	log      *wal.Log
	trans    *raft.NetworkTransport
	newcomer *newcomer // trans, as raft sees it
	fsm      *fsm
	blobs    *blobs
	time     *stateTime
	batch    *batcher
	verify   coalesce.Group[struct{}]
	lacks    atomic.Uint64 // blobs that jobs name and that are not here, as of the last look
	notify   chan bool     // of leadership, from raft
	seen     chan struct{} // has one element when another leader was seen

	leading atomic.Uint64          // term in which Lead runs, 0: it does not
	held    atomic.Pointer[string] // why no command is taken; nil: they are
	stop    context.CancelFunc
	tasks   sync.WaitGroup
	failed  chan struct{} // closed when the replica must stop
	down    chan struct{} // closed when raft has been shut down
	once    sync.Once
	err     error // why, set before failed is closed
}

// Open starts a replica. A fresh data directory gets the configuration with all
// Members; the same on each of them, so it does not matter who is first.
func Open(cfg Config) (*Store, error) {
	cfg.Timing = cfg.Timing.withDefaults()
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	if err := claim(cfg.Dir, owner{Cluster: cfg.Cluster, Name: cfg.Name}); err != nil {
		return nil, err
	}
	if err := refuseDiverged(cfg.Dir); err != nil {
		return nil, err
	}
	files, err := openBlobs(filepath.Join(cfg.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, blobs: files, time: newStateTime(cfg.Clock), notify: make(chan bool, 16),
		seen: make(chan struct{}, 1), failed: make(chan struct{}), down: make(chan struct{})}
	s.fsm = newFSM(s)
	s.carryTime()
	if err := s.openRaft(); err != nil {
		return nil, errors.Join(err, files.close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.batch = newBatcher(s)
	s.tasks.Go(func() { s.batch.run(ctx) })
	s.tasks.Go(s.batch.collect)
	s.tasks.Go(func() { s.watchLeadership(ctx) })
	s.tasks.Go(func() { s.takeSnapshots(ctx) })
	s.tasks.Go(func() { s.keepBlobs(ctx) })
	s.tasks.Go(func() { s.keepTime(ctx) })
	return s, nil
}

// Close gives the lead away, if this controller has it, and stops. Nothing that
// was acknowledged depends on it.
func (s *Store) Close() error {
	if s.raft.State() == raft.Leader && s.voters() > 1 {
		if err := s.raft.LeadershipTransfer().Error(); err != nil {
			s.cfg.Log.Warn("the lead could not be given away; the others elect a leader by themselves", "err", err)
		}
	}
	s.stop()
	err := s.raft.Shutdown().Error()
	close(s.down)
	s.tasks.Wait()
	return errors.Join(err, s.trans.Close(), s.log.Close(), s.bolt.Close(), s.blobs.close())
}

// Failed is closed when the replica cannot go on; Err says why.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err is why Failed was closed.
func (s *Store) Err() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

func (s *Store) fail(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.failed)
	})
}

// Root is the last state applied here.
func (s *Store) Root() *state.Root { return s.fsm.machine.Root() }

// Changed returns a channel that is closed once a root later than r is published.
func (s *Store) Changed(r *state.Root) <-chan struct{} { return s.fsm.changed(r) }

// WaitIndex returns a root that includes index, or the error of ctx.
func (s *Store) WaitIndex(ctx context.Context, index uint64) (*state.Root, error) {
	for {
		r := s.Root()
		if r.Index() >= index {
			return r, nil
		}
		select {
		case <-s.Changed(r):
		case <-ctx.Done():
			return nil, fmt.Errorf("controller %s is at index %d, not yet at %d: %w", s.cfg.Name, r.Index(), index, ctx.Err())
		}
	}
}

// Now is the present state time; on a follower its best guess.
func (s *Store) Now() job.Time { return s.time.now() }

// Leading is the term in which this controller leads, with all that was
// acknowledged before applied; 0 if it does not.
func (s *Store) Leading() uint64 { return s.leading.Load() }

// Leader names the controller that leads as far as is known here; "" if none.
func (s *Store) Leader() string {
	_, id := s.raft.LeaderWithID()
	return string(id)
}

// LeaderSeen has an element when Leader may have changed; one goroutine may wait on it.
func (s *Store) LeaderSeen() <-chan struct{} { return s.seen }

// Verify returns once a majority has confirmed, after the call, that this
// controller leads. A root taken after it includes all that was acknowledged
// before the call: a leader acknowledges only what it has applied.
func (s *Store) Verify(ctx context.Context) error {
	if s.Leading() == 0 {
		return s.notLeading()
	}
	if faults.On(faults.StaleRead) {
		return nil
	}
	check := func() (struct{}, error) { return struct{}{}, s.raft.VerifyLeader().Error() }
	if _, err := s.verify.Wait(ctx, check); err != nil {
		return fmt.Errorf("confirm the lead of controller %s: %w", s.cfg.Name, err)
	}
	return nil
}

// Blob reads a script or environment, from another controller if this one lacks it.
func (s *Store) Blob(ctx context.Context, h job.Hash) ([]byte, error) {
	data, err := s.blobs.get(h)
	if err == nil || s.cfg.FetchBlob == nil {
		return data, err
	}
	return s.fetch(ctx, h)
}

// LocalBlob reads a blob from this controller's own files.
func (s *Store) LocalBlob(h job.Hash) ([]byte, error) { return s.blobs.get(h) }

func (s *Store) notLeading() *api.Error {
	return &api.Error{Kind: api.ErrUnavailable, Text: fmt.Sprintf("controller %s does not lead", s.cfg.Name)}
}
