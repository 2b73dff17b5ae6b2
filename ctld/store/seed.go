package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"muster/internal/durable"
	"muster/state"
)

// Seed makes the data directory of a controller from a state that came from elsewhere.
type Seed struct {
	s     *Store
	snaps raft.SnapshotStore
}

// seedTerm is raft's term of a state that no log of this cluster led to.
const seedTerm = 1

// NewSeed begins a new directory, of a cluster with the members of cfg.
func NewSeed(cfg Config) (*Seed, error) {
	cfg.Timing = cfg.Timing.withDefaults()
	if err := claim(cfg.Dir, owner{Cluster: cfg.Cluster, Name: cfg.Name}); err != nil {
		return nil, err
	}
	s, snaps, err := openStopped(cfg)
	if err != nil {
		return nil, err
	}
	return &Seed{s, snaps}, nil
}

// Blob keeps a script or an environment.
func (s *Seed) Blob(data []byte) error { return s.s.blobs.put(hashOf(data), data) }

// State makes a root what the controller begins with. The blobs that it names must be
// there. It returns when all is on disk.
func (s *Seed) State(root *state.Root) error {
	if err := s.s.blobs.flush(); err != nil {
		return err
	}
	if err := s.s.bolt.SetUint64([]byte("CurrentTerm"), seedTerm); err != nil {
		return fmt.Errorf("raft log in %s: %w", s.s.cfg.Dir, err)
	}
	_, trans := raft.NewInmemTransport("") // it only writes addresses into the snapshot
	sink, err := s.snaps.Create(raft.SnapshotVersionMax, root.Index(), seedTerm, configuration(s.s.cfg.Members), 1, trans)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(sink, snapshotBuffer)
	err = root.WriteSnapshot(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return errors.Join(err, sink.Cancel())
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.s.cfg.Dir, newcomerFile)); err != nil {
		return err
	}
	return durable.SyncDir(s.s.cfg.Dir)
}

// Close closes the files.
func (s *Seed) Close() error { return s.s.closeStopped() }
