package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"muster/ctld/store/wal"
	"muster/internal/faults"
)

const (
	// keptSnapshots: the last, and the one before it in case the last is damaged.
	keptSnapshots = 2
	// maxAppend is the most entries in one message to a follower.
	maxAppend = 256
	// cachedEntries stay in memory for the followers, at 256 KiB at most each.
	cachedEntries = 128
	// transportTimeout bounds one exchange between controllers.
	transportTimeout = 5 * time.Second
	// lockTimeout is how long to wait for the log's file lock.
	lockTimeout = 2 * time.Second
)

func (s *Store) openRaft() error {
	log := raftLog{log: s.cfg.Log, name: "raft"}
	snaps, err := s.openLog(log)
	if err != nil {
		return err
	}
	s.trans = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: s.cfg.Stream, MaxPool: 3, Timeout: transportTimeout, Logger: log,
		ServerAddressProvider: addresses{s}, MsgpackUseNewTimeFormat: true,
	})
	if err := s.startRaft(snaps, log); err != nil {
		return errors.Join(err, s.trans.Close(), s.log.Close(), s.bolt.Close())
	}
	return nil
}

// openLog opens raft's log and snapshots.
func (s *Store) openLog(log raftLog) (raft.SnapshotStore, error) {
	path := filepath.Join(s.cfg.Dir, "raft.db")
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) { // known before there is a log, so that a crash in between changes nothing
		if err := writeSynced(filepath.Join(s.cfg.Dir, newcomerFile), nil); err != nil {
			return nil, err
		}
	}
	s.bolt, err = boltdb.New(boltdb.Options{Path: path, MsgpackUseNewTimeFormat: true, NoSync: faults.On(faults.BoltNoSync),
		BoltOptions: &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: lockTimeout}})
	if errors.Is(err, bbolt.ErrTimeout) {
		return nil, fmt.Errorf("raft log %s is in use: does controller %s run already?", path, s.cfg.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("raft log %s: %w", path, err)
	}
	if s.log, err = wal.Open(s.cfg.Dir, s.bolt); err != nil {
		return nil, errors.Join(err, s.bolt.Close())
	}
	snaps, err := openSnapshots(s.cfg.Dir, log)
	if err != nil {
		return nil, errors.Join(err, s.log.Close(), s.bolt.Close())
	}
	return snaps, nil
}

func (s *Store) startRaft(snaps raft.SnapshotStore, log raftLog) error {
	c := s.raftConfig(log)
	known, err := raft.HasExistingState(s.log, s.bolt, snaps)
	if err != nil {
		return fmt.Errorf("raft log in %s: %w", s.cfg.Dir, err)
	}
	if s.newcomer, err = newNewcomer(s.trans, s.cfg.Dir, !known); err != nil {
		return err
	}
	if !known && !s.cfg.Join {
		if err := raft.BootstrapCluster(c, s.log, s.bolt, snaps, s.newcomer, configuration(s.cfg.Members)); err != nil {
			return fmt.Errorf("first start of controller %s: %w", s.cfg.Name, err)
		}
	}
	cached, err := raft.NewLogCache(cachedEntries, s.log)
	if err != nil {
		return fmt.Errorf("raft log in %s: %w", s.cfg.Dir, err)
	}
	s.raft, err = raft.NewRaft(c, s.fsm, cached, s.bolt, snaps, s.newcomer)
	if err != nil {
		return fmt.Errorf("start raft in %s: %w", s.cfg.Dir, err)
	}
	s.running.Store(s.raft)
	s.tasks.Go(func() { s.newcomer.run(s.down, s.raft.LastIndex) })
	s.raft.RegisterObserver(raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		if _, ok := o.Data.(raft.LeaderObservation); ok {
			wake(s.seen)
		}
		return false
	}))
	return nil
}

func (s *Store) raftConfig(log raftLog) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(s.cfg.Name)
	c.HeartbeatTimeout = s.cfg.Timing.Heartbeat
	c.ElectionTimeout = s.cfg.Timing.Election
	c.LeaderLeaseTimeout = s.cfg.Timing.Lease
	c.MaxAppendEntries = maxAppend
	c.BatchApplyCh = true
	c.NotifyCh = s.notify
	c.NoLegacyTelemetry = true
	c.Logger = log
	if log.log == nil {
		c.LogOutput = os.Stderr
	}
	return c
}

// watchLeadership runs Lead while raft says that this controller leads.
func (s *Store) watchLeadership(ctx context.Context) {
	end := func() {}
	defer func() { end() }()
	for {
		select {
		case <-ctx.Done():
			return
		case lead := <-s.notify:
			end()
			end = func() {}
			if lead {
				end = s.startLead(ctx)
			}
		}
	}
}

// startLead takes up the lead; the function it returns ends it and waits.
func (s *Store) startLead(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.lead(ctx)
	}()
	return func() {
		s.leading.Store(0)
		cancel()
		s.batch.shut()
		<-done
		// It may have been about to open.
		s.leading.Store(0)
		s.batch.shut()
	}
}

// lead waits until all that earlier leaders acknowledged is applied, sets state
// time and opens the batcher.
func (s *Store) lead(ctx context.Context) {
	if err := s.raft.Barrier(0).Error(); err != nil {
		s.cfg.Log.Warn("lost the lead before it could be taken up", "err", err)
		return
	}
	if ctx.Err() != nil {
		return
	}
	s.newcomer.settle() // this log is the longest of a majority
	s.time.found(s.Root().Now())
	term := s.raft.CurrentTerm()
	s.batch.open()
	s.leading.Store(term)
	s.cfg.Log.Info("this controller leads", "term", term, "index", s.Root().Index())
	if s.cfg.Lead != nil {
		s.cfg.Lead(ctx, term)
	}
	<-ctx.Done()
	s.leading.CompareAndSwap(term, 0)
}
