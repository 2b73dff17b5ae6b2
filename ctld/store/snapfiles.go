package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"

	"muster/internal/durable"
)

// snapshotFiles is raft's store of snapshots in files, whose names outlive a power
// cut too. Raft's own syncs the files and the directory of all snapshots, but not
// the directory of each, nor the one above. Where the sync of a file does not keep
// its name, all snapshots would be empty after a power cut, and the log is cut
// off behind them.
type snapshotFiles struct {
	*raft.FileSnapshotStore
	dir string // with one directory for each snapshot
}

// openSnapshots opens the snapshots below a data directory.
func openSnapshots(data string, log raftLog) (*snapshotFiles, error) {
	files, err := raft.NewFileSnapshotStoreWithLogger(data, keptSnapshots, log)
	if err == nil {
		err = durable.SyncDir(data)
	}
	if err != nil {
		return nil, fmt.Errorf("snapshots in %s: %w", data, err)
	}
	return &snapshotFiles{files, filepath.Join(data, "snapshots")}, nil
}

// Create implements raft.SnapshotStore. Both files of a snapshot have their names
// from the beginning, in a directory that gets its own name at the end.
func (s *snapshotFiles) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.FileSnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, err
	}
	if err := durable.SyncDir(filepath.Join(s.dir, sink.ID()+".tmp")); err != nil {
		return nil, errors.Join(fmt.Errorf("begin snapshot %s: %w", sink.ID(), err), sink.Cancel())
	}
	return sink, nil
}
