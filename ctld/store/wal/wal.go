// Package wal is a raft log that appends to a file, with one sync for each call,
// and hands what it has gathered on to a slower store in large stretches.
//
// There are two files, segments, of a fixed size. When the one that is written is
// full, its entries go to the store behind while the other one is filled. At any
// time the log is what the store behind has, with the entries of the segments put
// over it in the order in which they were stored. Only stores are put off like
// that: what is to be deleted is handed on first, so nothing that was deleted can
// come back.
package wal

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// Store is the store behind. Its changes must be durable and atomic.
type Store interface {
	raft.LogStore
	raft.StableStore
}

// Log is a raft.LogStore. Its methods may be called from any goroutine.
type Log struct {
	behind Store
	spawn  func(func()) // runs a function at the same time

	writing  sync.Mutex // of those who change something
	segments [2]*segment
	now      int        // which of them is written
	doubt    bool       // a record whose write failed may be in it all the same
	handing  chan error // has the outcome of the handing on of old; nil: none runs
	buf      []byte     // of one record; kept

	reading sync.RWMutex // of old and fresh, which are set with both locks held
	old     *stretch     // in the other segment and not known to be in the store behind
	fresh   *stretch     // in the segment that is written
}

var _ raft.LogStore = (*Log)(nil)

// stretch is the entries of one segment.
type stretch struct {
	logs        []*raft.Log // in the order in which they were stored
	byIndex     map[uint64]*raft.Log
	first, last uint64 // 0: there is none
}

func newStretch() *stretch { return &stretch{byIndex: map[uint64]*raft.Log{}} }

func (s *stretch) add(logs []*raft.Log) {
	for _, l := range logs {
		if s.first == 0 || l.Index < s.first {
			s.first = l.Index
		}
		s.last = max(s.last, l.Index)
		s.byIndex[l.Index] = l
	}
	s.logs = append(s.logs, logs...)
}

// keptBuffer bounds the buffer that is kept between records.
const keptBuffer = 1 << 20

// StoreLog implements raft.LogStore.
func (l *Log) StoreLog(one *raft.Log) error { return l.StoreLogs([]*raft.Log{one}) }

// StoreLogs implements raft.LogStore: all entries are durable when it returns, or
// none is after a crash. Entries must not be changed afterwards.
func (l *Log) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	size := recordSize(logs)
	large := !l.segments[l.now].fitsEmpty(size)
	if large || l.doubt {
		if err := l.settle(); err != nil {
			return err
		}
	}
	if large {
		return l.behind.StoreLogs(logs)
	}
	if !l.segments[l.now].fits(size) {
		if err := l.turn(); err != nil {
			return err
		}
	}
	s := l.segments[l.now]
	l.buf = appendRecord(l.buf[:0], s.head.id, s.head.generation, s.next, logs)
	err := s.append(l.buf)
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	if err != nil {
		l.doubt = true
		return fmt.Errorf("append to the raft log: %w", err)
	}
	l.reading.Lock()
	l.fresh.add(logs)
	l.reading.Unlock()
	return nil
}

// turn goes on in the other segment and hands the full one on.
func (l *Log) turn() error {
	if err := l.finish(); err != nil {
		return err
	}
	if err := l.begin(false); err != nil {
		return err
	}
	l.reading.Lock()
	l.old, l.fresh = l.fresh, newStretch()
	l.reading.Unlock()
	done := make(chan error, 1)
	logs := l.old.logs
	l.spawn(func() { done <- l.behind.StoreLogs(logs) }) // finish waits for it
	l.handing = done
	return nil
}

// begin empties the other segment and makes it the one that is written.
func (l *Log) begin(settled bool) error {
	s, other := l.segments[l.now], l.segments[1-l.now]
	h := header{id: s.head.id, generation: s.head.generation + 1, first: s.next, settled: settled}
	if err := other.begin(h); err != nil {
		s.shut() // the header may be on disk all the same
		return fmt.Errorf("begin a segment of the raft log: %w", err)
	}
	l.now, l.doubt = 1-l.now, false
	return nil
}

// finish returns once the other segment's entries are in the store behind.
func (l *Log) finish() error {
	if l.handing != nil {
		err := <-l.handing
		l.handing = nil
		if err == nil {
			l.forgetOld()
		}
	}
	if l.old == nil {
		return nil
	}
	// It failed before: perhaps there is room on the disk now.
	if err := l.behind.StoreLogs(l.old.logs); err != nil {
		return err
	}
	l.forgetOld()
	return nil
}

func (l *Log) forgetOld() {
	l.reading.Lock()
	l.old = nil
	l.reading.Unlock()
}

// settle hands all on, and makes sure that none of it is put over the store
// behind again after a crash.
func (l *Log) settle() error {
	if err := l.finish(); err != nil {
		return err
	}
	if len(l.fresh.logs) == 0 && l.segments[l.now].head.settled && !l.doubt {
		return nil
	}
	if len(l.fresh.logs) > 0 {
		if err := l.behind.StoreLogs(l.fresh.logs); err != nil {
			return err
		}
	}
	if err := l.begin(true); err != nil {
		return err
	}
	l.reading.Lock()
	l.fresh = newStretch()
	l.reading.Unlock()
	return nil
}

// DeleteRange implements raft.LogStore; both ends are deleted too.
func (l *Log) DeleteRange(from, to uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.settle(); err != nil {
		return err
	}
	return l.behind.DeleteRange(from, to)
}

// GetLog implements raft.LogStore.
func (l *Log) GetLog(index uint64, out *raft.Log) error {
	if found := l.held(index); found != nil {
		*out = *found
		return nil
	}
	return l.behind.GetLog(index, out)
}

// held finds an entry that is in a segment. Who finds none there looks into the
// store behind afterwards: an entry is in there before it is forgotten here.
func (l *Log) held(index uint64) *raft.Log {
	l.reading.RLock()
	defer l.reading.RUnlock()
	if e := l.fresh.byIndex[index]; e != nil {
		return e
	}
	if l.old != nil {
		return l.old.byIndex[index]
	}
	return nil
}

// FirstIndex implements raft.LogStore; 0 if the log is empty.
func (l *Log) FirstIndex() (uint64, error) {
	first := uint64(0)
	for _, s := range l.stretches() {
		if first == 0 || s.first != 0 && s.first < first {
			first = s.first
		}
	}
	behind, err := l.behind.FirstIndex()
	if first == 0 || behind != 0 && behind < first {
		first = behind
	}
	return first, err
}

// LastIndex implements raft.LogStore; 0 if the log is empty.
func (l *Log) LastIndex() (uint64, error) {
	spans := l.stretches() // before the look behind, as in held
	last, err := l.behind.LastIndex()
	for _, s := range spans {
		last = max(last, s.last)
	}
	return last, err
}

// span is where a stretch begins and ends.
type span struct{ first, last uint64 }

func (l *Log) stretches() []span {
	l.reading.RLock()
	defer l.reading.RUnlock()
	list := []span{{l.fresh.first, l.fresh.last}}
	if l.old != nil {
		list = append(list, span{l.old.first, l.old.last})
	}
	return list
}

// Close hands all on and closes the files. The store behind stays open.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	err := l.settle()
	for _, s := range l.segments {
		err = errors.Join(err, s.disk.Close())
	}
	return err
}
