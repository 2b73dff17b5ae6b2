package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"muster/job"
)

// logSize counts what the log has gained since the last snapshot. Raft itself
// counts entries only, and one of ours may hold a thousand commands.
type logSize struct {
	mu       sync.Mutex
	now      mark
	grown    chan struct{} // has one element when somebody should look
	restored chan struct{} // has one element after a restore
}

// mark is an amount of log.
type mark struct{ bytes, commands, entries uint64 }

func newLogSize() *logSize {
	return &logSize{grown: make(chan struct{}, 1), restored: make(chan struct{}, 1)}
}

func (l *logSize) add(bytes, commands int) {
	l.mu.Lock()
	l.now.bytes += uint64(bytes)
	l.now.commands += uint64(commands)
	l.now.entries++
	l.mu.Unlock()
	wake(l.grown)
}

func (l *logSize) mark() mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// cut takes off what a snapshot covers.
func (l *logSize) cut(m mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.bytes -= min(m.bytes, l.now.bytes)
	l.now.commands -= min(m.commands, l.now.commands)
	l.now.entries -= min(m.entries, l.now.entries)
}

func (l *logSize) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = mark{}
}

func (l *logSize) wakeBlobs() { wake(l.restored) }

func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

const (
	// trailingBytes of log are kept behind a snapshot, so that a follower
	// that was away for a moment gets entries and no whole snapshot.
	trailingBytes = 16 << 20
	minTrailing   = 64
	maxTrailing   = 10_240
)

// trailing turns trailingBytes into a count of entries of the size seen lately.
func trailing(m mark) uint64 {
	if m.entries == 0 || m.bytes == 0 {
		return maxTrailing
	}
	return min(max(trailingBytes*m.entries/m.bytes, minTrailing), maxTrailing)
}

// takeSnapshots asks raft for a snapshot when the log has grown enough. One that
// failed is tried again after a while, not at each entry.
func (s *Store) takeSnapshots(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.fsm.size.grown:
		}
		m := s.fsm.size.mark()
		if m.bytes < s.cfg.Timing.SnapshotBytes && m.commands < s.cfg.Timing.SnapshotCommands {
			continue
		}
		if err := s.Snapshot(); err != nil && ctx.Err() == nil {
			s.cfg.Log.Error("snapshot failed; it is tried again", "err", err)
			pause(ctx, 10*time.Second)
		}
	}
}

// Snapshot writes the state to disk and cuts the log.
func (s *Store) Snapshot() error {
	rc := s.raft.ReloadableConfig()
	rc.TrailingLogs = trailing(s.fsm.size.mark())
	if err := s.raft.ReloadConfig(rc); err != nil {
		return err
	}
	err := s.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// sweepEvery is the time between two looks for blobs that no job names. Two of
// them must agree, and a command is on its way for seconds at most.
const sweepEvery = 10 * time.Minute

// keepBlobs fetches what a restored snapshot names and this replica lacks, and
// removes what no job names any more.
func (s *Store) keepBlobs(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.fsm.size.restored:
			s.fetchMissing(ctx)
		case <-tick.C:
			if n, err := s.blobs.sweep(func(h job.Hash) int { return s.Root().Blob(h) }); err != nil {
				s.cfg.Log.Warn("old scripts and environments could not be removed", "err", err)
			} else if n > 0 {
				s.cfg.Log.Debug("removed old scripts and environments", "files", n)
			}
		}
	}
}

// Lacks is how many scripts and environments of jobs this replica has yet to fetch.
func (s *Store) Lacks() uint64 { return s.lacks.Load() }

// fetchMissing goes through all jobs once. What no controller has now is fetched
// when it is asked for.
func (s *Store) fetchMissing(ctx context.Context) {
	if s.cfg.FetchBlob == nil {
		s.lacks.Store(0)
		return
	}
	missing := map[job.Hash]bool{}
	for j := range s.Root().Jobs() {
		for _, h := range []job.Hash{j.Request.Batch.Script, j.Request.Batch.Environment} {
			if h != (job.Hash{}) && !s.blobs.has(h) {
				missing[h] = true
			}
		}
	}
	s.lacks.Store(uint64(len(missing)))
	defer func() {
		if s.lacks.Load() > 0 && ctx.Err() == nil { // nobody has them now
			time.AfterFunc(sweepEvery, s.fsm.size.wakeBlobs)
		}
	}()
	for h := range missing {
		for try := 1; try <= 5 && ctx.Err() == nil; try++ {
			_, err := s.fetch(ctx, h)
			if err == nil {
				s.lacks.Add(^uint64(0))
				break
			}
			s.cfg.Log.Warn("a script or environment is missing here and could not be fetched", "hash", h, "try", try, "err", err)
			pause(ctx, time.Duration(try)*time.Second)
		}
	}
}

// fetch gets a blob from another controller and keeps it.
func (s *Store) fetch(ctx context.Context, h job.Hash) ([]byte, error) {
	data, err := s.cfg.FetchBlob(ctx, h)
	if err != nil {
		return nil, err
	}
	if hashOf(data) != h {
		return nil, errors.New("another controller sent a blob that does not have the hash asked for")
	}
	return data, s.blobs.put(h, data)
}

// pause waits for about d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
