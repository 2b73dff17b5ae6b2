package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"

	"muster/internal/durable"
)

// idKey is where the store behind keeps the id of the log. With it there, the
// segments must be too: they may have what was acknowledged.
const idKey = "tail"

// Open opens the log whose segments are in dir, or makes it, and hands what an
// earlier process left in the segments on to the store behind.
func Open(dir string, behind Store) (*Log, error) {
	id, err := behind.Get([]byte(idKey))
	if err != nil && !errors.Is(err, boltdb.ErrKeyNotFound) {
		return nil, fmt.Errorf("raft log in %s: %w", dir, err)
	}
	fresh := len(id) == 0
	if fresh { // files that are here were made by a start that a crash ended
		id = make([]byte, 8)
		rand.Read(id) // never fails
		for _, path := range names(dir) {
			if err := create(path); err != nil {
				return nil, fmt.Errorf("make a segment of the raft log: %w", err)
			}
		}
	}
	segments, err := openSegments(dir)
	if err != nil { // cut short, or gone
		return nil, fmt.Errorf("segments of the raft log in %s: %w%s", dir, err, remedy)
	}
	l := newLog(behind, segments)
	err = l.start(dir, fresh, id)
	if err != nil {
		for _, s := range segments {
			err = errors.Join(err, s.disk.Close())
		}
		return nil, fmt.Errorf("segments of the raft log in %s: %w", dir, err)
	}
	return l, nil
}

// start makes a new log, or brings the store behind up to date.
func (l *Log) start(dir string, fresh bool, id []byte) error {
	number := binary.LittleEndian.Uint64(id)
	if !fresh {
		return l.recover(number)
	}
	if err := l.format(number); err != nil {
		return err
	}
	if err := durable.SyncDir(dir); err != nil {
		return err
	}
	return l.behind.Set([]byte(idKey), id)
}

func openSegments(dir string) (segments [2]*segment, err error) {
	for i, path := range names(dir) {
		d, err := openDisk(path)
		if err != nil {
			if i == 1 {
				err = errors.Join(err, segments[0].disk.Close())
			}
			return segments, err
		}
		segments[i] = &segment{disk: d, size: segmentBytes}
	}
	return segments, nil
}

func newLog(behind Store, segments [2]*segment) *Log {
	return &Log{behind: behind, segments: segments, fresh: newStretch(), spawn: func(f func()) { go f() }}
}

// format makes an empty log.
func (l *Log) format(id uint64) error {
	for i, s := range l.segments {
		if err := s.begin(header{id: id, generation: uint64(2 - i), first: 1, settled: true}); err != nil {
			return err
		}
	}
	l.now = 0
	return nil
}

// remedy is what to do about a damaged log.
const remedy = ": acknowledged changes may be lost here; give this controller an empty data directory, start it with --join, " +
	"and run muster controllers replace with its name while the others lead: they fill it"

// recover puts what the segments hold over the store behind.
func (l *Log) recover(id uint64) error {
	list, err := l.stored(id)
	if err != nil {
		return fmt.Errorf("%w%s", err, remedy)
	}
	if len(list) == 0 {
		return nil
	}
	if err := l.behind.StoreLogs(list); err != nil {
		return err
	}
	return l.begin(true)
}

// stored reads all that may be missing in the store behind, and finds the segment
// that was written last.
func (l *Log) stored(id uint64) ([]*raft.Log, error) {
	var data [2][]byte
	var valid [2]bool
	for i, s := range l.segments {
		var err error
		if data[i], valid[i], err = s.load(); err != nil {
			return nil, err
		}
		if valid[i] && s.head.id != id {
			return nil, fmt.Errorf("segment %d belongs to another log", i)
		}
	}
	if !valid[0] && !valid[1] {
		return nil, fmt.Errorf("each of the two segments %w", errDamaged)
	}
	l.now = 0
	if !valid[0] || valid[1] && l.segments[1].head.generation > l.segments[0].head.generation {
		l.now = 1
	}
	last, before := l.segments[l.now], l.segments[1-l.now]
	logs, err := last.records(data[l.now])
	if err != nil || last.head.settled {
		return logs, err
	}
	if !valid[1-l.now] {
		before.former(data[1-l.now], id, last.head.generation-1)
	}
	older, err := before.records(data[1-l.now])
	if err != nil {
		return nil, err
	}
	if before.next != last.head.first {
		return nil, fmt.Errorf("segment %d %w at its end", 1-l.now, errDamaged)
	}
	return slices.Concat(older, logs), nil
}
