// Package ledger keeps the records of finished jobs, and of what became of nodes and
// reservations, on disk, for good, with sums over them.
//
// Records come from the outbox of the replicated state, numbered without gaps,
// and go into one bbolt file a month. A record and its number enter in one
// transaction that is synced to disk, so after a crash the ledger has every
// record up to some number, each once. All replicas give equal segments: which
// file a record goes into follows from the records alone.
package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"muster/accounting"
	"muster/internal/wire"
)

// ErrGap is wrapped by the error of an Append that would leave numbers out.
// The ledger lacks records that it can only get from another replica.
var ErrGap = errors.New("records are missing")

// Numbered is one finished record with its number in the outbox.
type Numbered struct {
	Number uint64 // from 1
	accounting.Record
}

// Ledger is the finished jobs of one replica. Its methods may be called at the
// same time from several goroutines.
type Ledger struct {
	dir    string
	append sync.Mutex // held by the one that writes

	rolling sync.Mutex // held by the one that writes sums
	rollups *bolt.DB

	mu       sync.RWMutex // guards what follows
	segments []*segment   // by month; records are added to the last one
	last     uint64
}

// Open opens the ledger in a directory, and makes it if there is none. It fails
// if another process has it open, or if a file is damaged or of a later version.
func Open(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := &Ledger{dir: dir}
	// What a crash left of a segment that was being made has no record in it.
	if err := os.Remove(filepath.Join(dir, unfinished)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	entries, err := os.ReadDir(dir) // sorted by name, so by month
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for _, e := range entries {
		month, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		s, err := openSegment(dir, month)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.segments = append(l.segments, s)
		l.last = s.meta.Last
	}
	if l.rollups, err = openRollups(dir); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close closes the files. Nothing may be called after it.
func (l *Ledger) Close() error {
	var errs []error
	for _, s := range l.segments {
		errs = append(errs, s.db.Close())
	}
	if l.rollups != nil {
		errs = append(errs, l.rollups.Close())
	}
	return errors.Join(errs...)
}

// Last is the number of the last record that is safely on disk, 0 if none is.
func (l *Ledger) Last() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.last
}

// Append adds the records up to the number through, and returns when they are
// on disk. Records that it has already are passed over, so a batch may be given
// again after a crash or an error. The records must be in order and have no
// gaps between Last and through: ErrGap. After an error some first part of the
// batch may be in; Last says how much.
func (l *Ledger) Append(through uint64, records []Numbered) error {
	l.append.Lock()
	defer l.append.Unlock()
	last := l.Last()
	for len(records) > 0 && records[0].Number <= last {
		records = records[1:]
	}
	if err := contiguous(last, through, records); err != nil {
		return err
	}
	for len(records) > 0 {
		s, err := l.segmentFor(records[0])
		if err != nil {
			return err
		}
		n := 1
		for n < len(records) && monthOf(&records[n].Record) <= s.month {
			n++
		}
		if err := s.append(records[:n]); err != nil {
			return err
		}
		l.mu.Lock()
		l.last = records[n-1].Number
		l.mu.Unlock()
		records = records[n:]
	}
	return nil
}

func contiguous(last, through uint64, records []Numbered) error {
	next := last + 1
	for _, r := range records {
		if r.Number != next {
			return fmt.Errorf("ledger: record %d comes where %d should: %w", r.Number, next, ErrGap)
		}
		next++
	}
	if through >= next {
		return fmt.Errorf("ledger: records %d to %d were not given: %w", next, through, ErrGap)
	}
	if len(records) > 0 && through < next-1 {
		return fmt.Errorf("ledger: records go up to %d, beyond %d, which was said to be the last", next-1, through)
	}
	return nil
}

// segmentFor is the last segment, or a new one if the record's month is later.
// Months never go back: a record that ended in an earlier one and comes late is
// kept with its neighbours by number.
func (l *Ledger) segmentFor(r Numbered) (*segment, error) {
	month := monthOf(&r.Record)
	if n := len(l.segments); n > 0 && month <= l.segments[n-1].month {
		return l.segments[n-1], nil
	}
	s, err := createSegment(l.dir, month, l.last)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.segments = append(l.segments, s)
	l.mu.Unlock()
	return s, nil
}

// monthOf is the month in which what a record is about ended, in UTC: 2026-07.
func monthOf(r *accounting.Record) string { return r.End().Std().UTC().Format("2006-01") }

// Check reads every record again and compares it with the checksums. Its error
// names the segment that is damaged.
func (l *Ledger) Check() error {
	for _, s := range l.snapshot() {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// Sum is the checksum of a segment: equal on all replicas that have the same
// records.
type Sum struct {
	Month       string // 2026-07
	First, Last uint64 // numbers of its records; Last < First: it has none
	Hash        [32]byte
}

// Sums lists the segments by month.
func (l *Ledger) Sums() []Sum {
	var sums []Sum
	for _, s := range l.snapshot() {
		m := s.state()
		sums = append(sums, Sum{s.month, m.Before + 1, m.Last, m.Hash})
	}
	return sums
}

// snapshot is the list of segments as it is now.
func (l *Ledger) snapshot() []*segment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.segments[:len(l.segments):len(l.segments)]
}

// Decode reads a record back that Encoded gave.
func Decode(b []byte) (accounting.Record, error) {
	var r accounting.Record
	err := wire.Decode(b, &r)
	if err == nil && (r.Job == nil) == (r.Event == nil) {
		err = errors.New("it is neither a job nor an event")
	}
	if err != nil {
		return r, fmt.Errorf("ledger: record: %w", err)
	}
	return r, nil
}

// lockWait is how long Open waits for another process to let go of a file.
const lockWait = 2 * time.Second
