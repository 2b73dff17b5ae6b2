package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"muster/job"
)

// chunk is how many records are read in one transaction. A transaction that
// stays open while a slow client takes records would hold up the writer.
const chunk = 256

// Jobs calls f for each record of a job that ended in [from, to), where 0 is open,
// the first to end first; or, if ids are given, for each record of a job or an array
// with one of these ids, whenever it ended, in the order of recording. If users are
// given, by name or uid, records of others may be left out. It stops when f returns
// false. A job that was requeued has one record an attempt.
func (l *Ledger) Jobs(ctx context.Context, from, to job.Time, ids []job.ID, users []string, f func(*job.Job) bool) error {
	if len(ids) > 0 {
		return l.byID(ctx, ids, f)
	}
	var cursors []*cursor
	for _, s := range l.snapshot() {
		prefixes := [][]byte{nil}
		if len(users) > 0 {
			var err error
			if prefixes, err = s.uids(users); err != nil {
				return err
			}
		}
		for _, p := range prefixes {
			cursors = append(cursors, &cursor{segment: s, prefix: p, next: number(uint64(max(from, 0))), to: to})
		}
	}
	for {
		var first *cursor
		for _, c := range cursors {
			if err := c.fill(ctx); err != nil {
				return err
			}
			if len(c.found) > 0 && (first == nil || bytes.Compare(c.found[0].key, first.found[0].key) < 0) {
				first = c
			}
		}
		if first == nil {
			return nil
		}
		r, err := Decode(first.found[0].record)
		if err != nil {
			return err
		}
		first.found = first.found[1:]
		if !f(r.Job) {
			return nil
		}
	}
}

// Most that Encoded reads and gives at once, but always one record.
const (
	encodedRecords = 4096
	encodedBytes   = 1 << 20
)

// Encoded calls f with the records numbered from to through that are there, as
// they are kept, in order and some at a time; first is the number of the first
// one. An error of f ends it.
func (l *Ledger) Encoded(ctx context.Context, from, through uint64, f func(first uint64, records [][]byte) error) error {
	from = max(from, 1)
	for _, s := range l.snapshot() {
		for last := min(through, s.state().Last); from <= last; {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("ledger: reading stopped: %w", err)
			}
			records, err := s.encoded(from, last)
			if err != nil {
				return err
			}
			if err := f(from, records); err != nil {
				return err
			}
			from += uint64(len(records))
		}
	}
	return nil
}

// encoded reads records from a number on, one at least.
func (s *segment) encoded(from, last uint64) ([][]byte, error) {
	var out [][]byte
	size := 0
	err := s.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketRecord)).Cursor()
		k, v := c.Seek(number(from))
		for n := from; n <= last; n++ {
			if !bytes.Equal(k, number(n)) {
				return fmt.Errorf("ledger segment %s: record %d is not there", s.month, n)
			}
			if size += len(v); len(out) > 0 && (size > encodedBytes || len(out) == encodedRecords) {
				return nil
			}
			out = append(out, bytes.Clone(v))
			k, v = c.Next()
		}
		return nil
	})
	return out, err
}

// entry is a record with its key in the index by end.
type entry struct{ key, record []byte }

// cursor goes through the records of a segment by their end, a chunk at a time.
type cursor struct {
	segment *segment
	prefix  []byte // uid; nil: of all users
	next    []byte // first key not yet read; nil: there is none
	to      job.Time
	found   []entry // read, not yet given
}

// fill reads the next chunk if the last one is used up.
func (c *cursor) fill(ctx context.Context) error {
	if len(c.found) > 0 || c.next == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ledger: reading stopped: %w", err)
	}
	return c.segment.db.View(func(tx *bolt.Tx) error {
		records := tx.Bucket([]byte(bucketRecord))
		bucket := bucketEnd
		if c.prefix != nil {
			bucket = bucketUser
		}
		index := tx.Bucket([]byte(bucket)).Cursor()
		k, _ := index.Seek(slices.Concat(c.prefix, c.next))
		c.next = nil
		for ; k != nil && bytes.HasPrefix(k, c.prefix); k, _ = index.Next() {
			k := k[len(c.prefix):]
			if c.to != 0 && job.Time(binary.BigEndian.Uint64(k)) >= c.to {
				return nil
			}
			if len(c.found) == chunk {
				c.next = bytes.Clone(k)
				return nil
			}
			record := records.Get(k[8:])
			if record == nil {
				return fmt.Errorf("ledger segment %s: the index has record %d, which is not there", c.segment.month, binary.BigEndian.Uint64(k[8:]))
			}
			c.found = append(c.found, entry{bytes.Clone(k), bytes.Clone(record)})
		}
		return nil
	})
}

// byID gives the records of jobs and arrays, segment by segment.
func (l *Ledger) byID(ctx context.Context, ids []job.ID, f func(*job.Job) bool) error {
	for _, s := range l.snapshot() {
		numbers, err := s.numbers(ids)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(numbers, chunk) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("ledger: reading stopped: %w", err)
			}
			records, err := s.records(part)
			if err != nil {
				return err
			}
			for _, r := range records {
				r, err := Decode(r)
				if err != nil {
					return err
				}
				if !f(r.Job) {
					return nil
				}
			}
		}
	}
	return nil
}

// uids finds the uids of users, given by name or uid, as they begin keys.
func (s *segment) uids(users []string) ([][]byte, error) {
	var out [][]byte
	err := s.db.View(func(tx *bolt.Tx) error {
		index := tx.Bucket([]byte(bucketName)).Cursor()
		for _, u := range users {
			if n, err := strconv.ParseUint(u, 10, 32); err == nil {
				out = append(out, id(job.ID(n)))
			}
			prefix := append([]byte(u), 0)
			for k, _ := index.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = index.Next() {
				out = append(out, bytes.Clone(k[len(prefix):]))
			}
		}
		return nil
	})
	slices.SortFunc(out, bytes.Compare)
	return slices.CompactFunc(out, bytes.Equal), err
}

// numbers finds the records of jobs and arrays, each once, in order.
func (s *segment) numbers(ids []job.ID) ([]uint64, error) {
	var found []uint64
	err := s.db.View(func(tx *bolt.Tx) error {
		for _, bucket := range []string{bucketJob, bucketArray} {
			index := tx.Bucket([]byte(bucket)).Cursor()
			for _, want := range ids {
				prefix := id(want)
				for k, _ := index.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = index.Next() {
					found = append(found, binary.BigEndian.Uint64(k[len(prefix):]))
				}
			}
		}
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// records reads records by their numbers.
func (s *segment) records(numbers []uint64) ([][]byte, error) {
	var out [][]byte
	err := s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketRecord))
		for _, n := range numbers {
			record := b.Get(number(n))
			if record == nil {
				return fmt.Errorf("ledger segment %s: the index has record %d, which is not there", s.month, n)
			}
			out = append(out, bytes.Clone(record))
		}
		return nil
	})
	return out, err
}
