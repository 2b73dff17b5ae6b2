package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"muster/internal/durable"
)

// newcomerFile is in the data directory of a replica that is not caught up yet.
const newcomerFile = "newcomer"

// bootstrapIndex is where the log of a new cluster ends: at its configuration.
const bootstrapIndex = 1

// newcomer is the transport of a replica that may have lost its disk. In an
// earlier life it may have confirmed entries that are committed by its word, so
// with an empty log it must not help to elect a controller that lacks them. It
// votes only in a cluster that is new itself, until it has all that a leader had
// sent it before.
type newcomer struct {
	*raft.NetworkTransport
	file    string
	rpcs    chan raft.RPC
	fresh   atomic.Bool
	refused atomic.Int64 // votes
	last    func() uint64

	mu     sync.Mutex
	target uint64 // the log must reach it; 0: no leader was heard yet
}

// newNewcomer wraps a transport. empty tells that there is no log here.
func newNewcomer(trans *raft.NetworkTransport, dir string, empty bool) (*newcomer, error) {
	n := &newcomer{NetworkTransport: trans, file: filepath.Join(dir, newcomerFile), rpcs: make(chan raft.RPC)}
	_, err := os.Stat(n.file)
	switch {
	case err == nil:
		n.fresh.Store(true)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	case empty:
		if err := writeSynced(n.file, nil); err != nil {
			return nil, err
		}
		n.fresh.Store(true)
	}
	return n, nil
}

// Consumer implements raft.Transport.
func (n *newcomer) Consumer() <-chan raft.RPC { return n.rpcs }

// run passes on what comes, but for the votes that are not to be given, until
// stop is closed. last is the end of the log here.
func (n *newcomer) run(stop <-chan struct{}, last func() uint64) {
	n.last = last
	for {
		select {
		case <-stop:
			return
		case rpc := <-n.NetworkTransport.Consumer():
			if n.fresh.Load() && n.answered(rpc) {
				continue
			}
			select {
			case n.rpcs <- rpc:
			case <-stop:
				return
			}
		}
	}
}

// answered refuses a vote that this replica must not give.
func (n *newcomer) answered(rpc raft.RPC) bool {
	switch c := rpc.Command.(type) {
	case *raft.AppendEntriesRequest:
		n.heard(max(c.PrevLogEntry, c.LeaderCommitIndex))
	case *raft.RequestVoteRequest:
		if c.LastLogIndex > bootstrapIndex {
			n.refused.Add(1)
			rpc.Respond(&raft.RequestVoteResponse{Term: c.Term}, nil)
			return true
		}
	case *raft.RequestPreVoteRequest:
		if c.LastLogIndex > bootstrapIndex {
			n.refused.Add(1)
			rpc.Respond(&raft.RequestPreVoteResponse{Term: c.Term}, nil)
			return true
		}
	}
	return false
}

// heard notes where a leader believes this log to be. A leader first goes on
// from where it stood, so the highest of these is not below anything that was
// confirmed in an earlier life.
func (n *newcomer) heard(index uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.target = max(n.target, index)
	if n.target > 0 && n.last() >= n.target {
		n.settle()
	}
}

// settle ends the time as a newcomer, durably: if the file came back with a power
// cut of all replicas, each would refuse its vote to the others. Where that fails
// it is tried again with the next entries.
func (n *newcomer) settle() {
	if !n.fresh.Load() {
		return
	}
	if err := os.Remove(n.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if durable.SyncDir(filepath.Dir(n.file)) == nil {
		n.fresh.Store(false)
	}
}
