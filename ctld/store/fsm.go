package store

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"muster/state"
)

// fsm applies raft's entries to the state machine. Raft calls it from one
// goroutine; roots and their changes are seen from any.
type fsm struct {
	store   *Store
	machine *state.Machine
	size    *logSize
	hashes  ring

	mu      sync.Mutex
	changes chan struct{} // closed and replaced when a root is published
}

// applied is what an entry's future carries back to the batcher.
type applied struct {
	results []state.Result
	err     error
}

var _ raft.BatchingFSM = (*fsm)(nil)

func newFSM(s *Store) *fsm {
	return &fsm{store: s, machine: state.New(), changes: make(chan struct{}), size: newLogSize()}
}

// ApplyBatch implements raft.BatchingFSM.
func (f *fsm) ApplyBatch(logs []*raft.Log) []any {
	out := make([]any, len(logs))
	for i, l := range logs {
		out[i] = f.apply(l)
	}
	f.publish()
	return out
}

// Apply implements raft.FSM.
func (f *fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

func (f *fsm) apply(l *raft.Log) applied {
	if l.Type != raft.LogCommand {
		return applied{}
	}
	// A replica that could not apply an entry must not apply a later one.
	if err := f.store.Err(); err != nil {
		return applied{err: err}
	}
	results, err := f.applyEntry(l)
	if err != nil {
		err = fmt.Errorf("raft entry %d: %w", l.Index, err)
		f.store.fail(err)
		return applied{err: err}
	}
	return applied{results: results}
}

func (f *fsm) applyEntry(l *raft.Log) ([]state.Result, error) {
	e, err := state.DecodeEntry(l.Data)
	if err != nil {
		return nil, err
	}
	for _, b := range e.Blobs {
		if err := f.store.blobs.put(b.Hash, b.Data); err != nil {
			return nil, err
		}
	}
	results, err := f.machine.Apply(l.Index, e)
	if err != nil {
		return nil, err
	}
	f.size.add(len(l.Data), len(e.Commands))
	f.mark(f.hashes.add)
	return results, nil
}

// mark hands the hash of the state as it is now on.
func (f *fsm) mark(to func(Mark)) {
	r := f.machine.Root()
	to(Mark{Index: r.Index(), Hash: r.Hash()})
}

// publish wakes all who wait for a new root.
func (f *fsm) publish() {
	if f.store.Leading() == 0 {
		f.store.time.follow(f.machine.Root().Now())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changes)
	f.changes = make(chan struct{})
}

// changed is Store.Changed.
func (f *fsm) changed(r *state.Root) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The order matters: a root published after this look closes f.changes,
	// which the lock holds back.
	if f.machine.Root() != r {
		ready := make(chan struct{})
		close(ready)
		return ready
	}
	return f.changes
}

// Snapshot implements raft.FSM: it keeps a pointer and returns.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	return &snapshot{fsm: f, root: f.machine.Root(), size: f.size.mark()}, nil
}

// Restore implements raft.FSM.
func (f *fsm) Restore(r io.ReadCloser) error {
	f.store.lacks.Store(1) // until it is known which blobs are not here
	if err := f.machine.Restore(r); err != nil {
		return fmt.Errorf("restore a snapshot: %w", err)
	}
	f.size.reset()
	f.mark(f.hashes.reset)
	f.publish()
	f.size.wakeBlobs()
	return nil
}

// snapshot is one root on its way to disk.
type snapshot struct {
	fsm  *fsm
	root *state.Root
	size mark
}

// snapshotBuffer: raft's file sink writes through; big writes are cheaper.
const snapshotBuffer = 1 << 20

// Persist implements raft.FSMSnapshot. Blobs are durable before the snapshot
// is, since raft then drops the entries that held them.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.fsm.store.blobs.flush(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(sink, snapshotBuffer)
	if err := s.root.WriteSnapshot(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := sink.Close(); err != nil {
		return err
	}
	s.fsm.size.cut(s.size)
	return nil
}

// Release implements raft.FSMSnapshot.
func (s *snapshot) Release() {}
