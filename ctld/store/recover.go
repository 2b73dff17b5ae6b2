package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"muster/internal/clock"
)

// Recover makes a stopped replica the only member of its cluster. It is for a cluster
// that has lost the majority of its voters for good: what only they had
// acknowledged is lost, and what of the log here was never acknowledged becomes
// true. It returns the raft index at which the state now stands. No
// other replica of the old cluster may start with its old directory afterwards.
func Recover(cfg Config) (index uint64, err error) {
	cfg.Timing = cfg.Timing.withDefaults()
	s, snaps, err := openStopped(cfg)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.closeStopped()) }()
	if _, err := os.Stat(filepath.Join(cfg.Dir, newcomerFile)); !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("controller %s had not caught up with the others when it stopped: recover another one", cfg.Name)
	}
	self := memberNamed(cfg.Members, cfg.Name)
	if self < 0 {
		return 0, fmt.Errorf("the cluster file names no controller %q", cfg.Name)
	}
	alone := configuration([]Member{{Name: cfg.Name, Address: cfg.Members[self].Address, Votes: true}})
	log := raftLog{log: cfg.Log, name: "raft"}
	_, trans := raft.NewInmemTransport("") // it only writes addresses into the snapshot
	if err := raft.RecoverCluster(s.raftConfig(log), s.fsm, s.log, s.bolt, snaps, trans, alone); err != nil {
		return 0, fmt.Errorf("recover controller %s: %w", cfg.Name, err)
	}
	return s.Root().Index(), s.Err()
}

// openStopped opens the files of a replica whose controller does not run.
func openStopped(cfg Config) (*Store, raft.SnapshotStore, error) {
	if _, err := os.Stat(filepath.Join(cfg.Dir, ownerFile)); err != nil {
		return nil, nil, fmt.Errorf("data directory of controller %s: %w", cfg.Name, err)
	}
	if err := errors.Join(claim(cfg.Dir, owner{Cluster: cfg.Cluster, Name: cfg.Name}), refuseDiverged(cfg.Dir)); err != nil {
		return nil, nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	s := &Store{cfg: cfg, time: newStateTime(cfg.Clock), failed: make(chan struct{})}
	s.fsm = newFSM(s)
	snaps, err := s.openLog(raftLog{log: cfg.Log, name: "raft"}) // first: its lock tells whether the controller runs
	if err != nil {
		return nil, nil, err
	}
	if s.blobs, err = openBlobs(filepath.Join(cfg.Dir, "blobs")); err != nil {
		return nil, nil, errors.Join(err, s.log.Close(), s.bolt.Close())
	}
	return s, snaps, nil
}

func (s *Store) closeStopped() error {
	return errors.Join(s.log.Close(), s.bolt.Close(), s.blobs.close())
}
