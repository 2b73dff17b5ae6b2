package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	bolt "go.etcd.io/bbolt"

	"muster/accounting"
	"muster/internal/durable"
	"muster/internal/wire"
	"muster/job"
)

const (
	suffix     = ".ledger"
	unfinished = "segment.new"
	version    = 2 // of the layout of a segment
)

// The buckets of a segment. Numbers in keys are big-endian, so that their order
// is the order of the numbers.
const (
	bucketMeta   = "meta"   // "meta": segmentMeta
	bucketRecord = "record" // number: the record
	bucketEnd    = "end"    // time of the end, number; of jobs, as are the following
	bucketJob    = "job"    // job id, number
	bucketArray  = "array"  // array job id, number
	bucketUser   = "user"   // uid, time of the end, number
	bucketName   = "name"   // user name, a zero byte, uid: of those in bucketUser
)

// segmentMeta is kept with the records, in the same transaction.
type segmentMeta struct {
	Version uint32
	Before  uint64 // number before the segment's first
	Last    uint64 // number of its last record
	// Hash is a chain over the records in the order of their keys: each link
	// covers the one before, the key and the record.
	Hash [32]byte
}

// Code implements wire.Message.
func (m *segmentMeta) Code(c *wire.Coder) {
	wire.Uint(c, 1, &m.Version)
	c.Uint64(2, &m.Before)
	c.Uint64(3, &m.Last)
	c.Fixed(4, m.Hash[:])
}

// link is the hash with one more record.
func link(hash [32]byte, key, record []byte) [32]byte {
	h := sha256.New()
	h.Write(hash[:])
	h.Write(key)
	h.Write(record)
	return [32]byte(h.Sum(nil))
}

// segment is the file of one month.
type segment struct {
	month string
	db    *bolt.DB
	mu    sync.Mutex
	meta  segmentMeta // as on disk
}

func openSegment(dir, month string) (*segment, error) {
	path := filepath.Join(dir, month+suffix)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	s := &segment{month: month, db: db}
	err = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketMeta))
		if b == nil {
			return fmt.Errorf("it is no ledger segment")
		}
		if err := wire.Decode(b.Get([]byte(bucketMeta)), &s.meta); err != nil {
			return err
		}
		if s.meta.Version != version {
			return fmt.Errorf("it has version %d, this program reads %d", s.meta.Version, version)
		}
		return nil
	})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	return s, nil
}

// createSegment makes an empty file under another name first, so that no crash
// leaves half a segment.
func createSegment(dir, month string, before uint64) (*segment, error) {
	path := filepath.Join(dir, unfinished)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	meta := segmentMeta{Version: version, Before: before, Last: before}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{bucketMeta, bucketRecord, bucketEnd, bucketJob, bucketArray, bucketUser, bucketName} {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		return putMeta(tx, &meta)
	})
	if closing := db.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(path, filepath.Join(dir, month+suffix))
	}
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger segment %s: %w", month, err)
	}
	return openSegment(dir, month)
}

func putMeta(tx *bolt.Tx, m *segmentMeta) error {
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(bucketMeta), wire.Encode(nil, m))
}

// state is what the segment holds now.
func (s *segment) state() segmentMeta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta
}

// append adds records in one transaction.
func (s *segment) append(records []Numbered) error {
	meta := s.state()
	err := s.db.Update(func(tx *bolt.Tx) error {
		for _, r := range records {
			key := number(r.Number)
			value := wire.Encode(nil, &r.Record)
			meta.Hash = link(meta.Hash, key, value)
			if err := putRecord(tx, &r.Record, key, value); err != nil {
				return err
			}
		}
		meta.Last = records[len(records)-1].Number
		return putMeta(tx, &meta)
	})
	if err != nil {
		return fmt.Errorf("ledger segment %s: records %d to %d: %w", s.month, records[0].Number, records[len(records)-1].Number, err)
	}
	s.mu.Lock()
	s.meta = meta
	s.mu.Unlock()
	return nil
}

// putRecord puts a record and its entries in the indices.
func putRecord(tx *bolt.Tx, r *accounting.Record, key, value []byte) error {
	records := tx.Bucket([]byte(bucketRecord))
	records.FillPercent = 0.95 // keys only ever ascend
	if err := records.Put(key, value); err != nil {
		return err
	}
	j := r.Job
	if j == nil {
		return nil
	}
	end := append(number(uint64(j.Times.End)), key...)
	if err := tx.Bucket([]byte(bucketEnd)).Put(end, nil); err != nil {
		return err
	}
	if err := putUser(tx, j.Owner, end); err != nil {
		return err
	}
	if err := tx.Bucket([]byte(bucketJob)).Put(append(id(j.ID), key...), nil); err != nil {
		return err
	}
	if j.Array.JobID == 0 {
		return nil
	}
	return tx.Bucket([]byte(bucketArray)).Put(append(id(j.Array.JobID), key...), nil)
}

// putUser puts a record into the index of its user.
func putUser(tx *bolt.Tx, o *job.Owner, end []byte) error {
	uid := id(job.ID(o.UID))
	names, name := tx.Bucket([]byte(bucketName)), append(append([]byte(o.User), 0), uid...)
	if k, _ := names.Cursor().Seek(name); !bytes.Equal(k, name) {
		if err := names.Put(name, nil); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(bucketUser)).Put(append(uid, end...), nil)
}

// number writes a number as a key.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// id writes a job id as the start of a key.
func id(n job.ID) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// check compares all records with the checksum.
func (s *segment) check() error {
	return s.db.View(func(tx *bolt.Tx) error {
		var meta segmentMeta
		if err := wire.Decode(tx.Bucket([]byte(bucketMeta)).Get([]byte(bucketMeta)), &meta); err != nil {
			return fmt.Errorf("ledger segment %s: %w", s.month, err)
		}
		var hash [32]byte
		count := uint64(0)
		err := tx.Bucket([]byte(bucketRecord)).ForEach(func(k, v []byte) error {
			hash = link(hash, k, v)
			count++
			return nil
		})
		if err == nil && (hash != meta.Hash || count != meta.Last-meta.Before) {
			err = fmt.Errorf("its records are not what was written: %d of %d, or changed; take the file from another controller", count, meta.Last-meta.Before)
		}
		if err != nil {
			return fmt.Errorf("ledger segment %s: %w", s.month, err)
		}
		return nil
	})
}
