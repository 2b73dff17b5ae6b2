package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"muster/api"
	"muster/internal/durable"
	"muster/state"
)

// Mark is the hash of the state after one raft entry. Replicas that applied the
// same entries have the same.
type Mark struct {
	Index uint64
	Hash  state.Hash
}

// ringSize is how many entries back a replica remembers the hash of its state:
// seconds at the highest rates, hours on a quiet cluster.
const ringSize = 4096

// ring remembers the hashes of the last entries applied, oldest first. Indices
// grow but have gaps: not each entry of raft is one of ours.
type ring struct {
	mu    sync.Mutex
	marks [ringSize]Mark
	next  int // where the next one goes
	count int
}

// add notes the state after an entry.
func (r *ring) add(m Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks[r.next] = m
	r.next = (r.next + 1) % ringSize
	r.count = min(r.count+1, ringSize)
}

// reset forgets all but m: the state was replaced.
func (r *ring) reset(m Mark) {
	r.mu.Lock()
	r.next, r.count = 0, 0
	r.mu.Unlock()
	r.add(m)
}

// at is the n-th mark, counted from the oldest. The lock is held.
func (r *ring) at(n int) Mark { return r.marks[(r.next-r.count+n+ringSize)%ringSize] }

// find returns the marks of those of the indices that are remembered.
func (r *ring) find(indices []uint64) []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Mark
	for _, index := range indices {
		n, end := 0, r.count
		for n < end {
			if mid := (n + end) / 2; r.at(mid).Index < index {
				n = mid + 1
			} else {
				end = mid
			}
		}
		if n < r.count && r.at(n).Index == index {
			out = append(out, r.at(n))
		}
	}
	return out
}

// sample returns the newest mark and others at growing distances behind it, so
// that a replica that lags has one of them too. Newest first; at most 14.
func (r *ring) sample() []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Mark
	for back := 1; back <= r.count; back *= 2 {
		out = append(out, r.at(r.count-back))
	}
	if r.count > 0 && !slices.Contains(out, r.at(0)) {
		out = append(out, r.at(0))
	}
	return out
}

// Marks is a sample of the hashes of this replica's state, newest first.
func (s *Store) Marks() []Mark { return s.fsm.hashes.sample() }

// MarksAt finds the hashes that this replica's state had at raft indices, as far
// as it remembers them.
func (s *Store) MarksAt(indices []uint64) []Mark { return s.fsm.hashes.find(indices) }

// Hold refuses all commands with the reason why until it is called with "".
func (s *Store) Hold(why string) {
	if why == "" {
		s.held.Store(nil)
		return
	}
	s.held.Store(&why)
}

// Held tells whether commands are refused because of Hold.
func (s *Store) Held() bool { return s.held.Load() != nil }

// holdError is the refusal while commands are held; nil if they are not.
func (s *Store) holdError() error {
	why := s.held.Load()
	if why == nil {
		return nil
	}
	return &api.Error{Kind: api.ErrUnavailable, Text: fmt.Sprintf("controller %s takes no changes: %s", s.cfg.Name, *why),
		Hint: "start the controllers that are down, so that a majority shows which state is right"}
}

// evidenceGlob names the files that Diverged leaves in the data directory.
const evidenceGlob = "diverged-*.snapshot"

// Diverged stops this replica, whose state is not that of the majority. The state
// is kept in a file beside the raft log; while it lies there the replica does not
// start again.
func (s *Store) Diverged(why string) {
	root := s.Root()
	path := filepath.Join(s.cfg.Dir, fmt.Sprintf("diverged-%d.snapshot", root.Index()))
	err := fmt.Errorf("the state of controller %s is wrong: %s; it stops, its state at index %d is kept in %s", s.cfg.Name, why, root.Index(), path)
	if werr := writeEvidence(path, root); werr != nil {
		err = fmt.Errorf("the state of controller %s is wrong: %s; it stops, but its state could not be kept: %w", s.cfg.Name, why, werr)
	}
	s.cfg.Log.Error("this controller's state differs from that of the majority", "index", root.Index(), "err", err)
	s.fail(err)
}

func writeEvidence(path string, root *state.Root) error {
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, snapshotBuffer)
	err = errors.Join(root.WriteSnapshot(w), w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// refuseDiverged keeps a replica whose state was found wrong from starting with
// the same log and snapshots.
func refuseDiverged(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, evidenceGlob))
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("%s: the state in this data directory was found to differ from that of the other controllers; "+
		"keep the directory for the report and start with an empty one, which the others fill", found[0])
}
