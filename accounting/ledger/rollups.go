package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"muster/accounting"
	"muster/accounting/rollup"
	"muster/internal/wire"
)

// The sums over the records are in a file of their own. They follow from the records
// up to a number, which is kept with them in the same transaction, and from the time
// zone. They are no part of the checksums.
const (
	rollupFile    = "rollup.db"
	rollupVersion = 1

	bucketCluster = "cluster" // start of an hour: rollup.Cluster
	bucketEvent   = "event"   // end, number: accounting.Event
)

// bucketOf is the bucket of a grain: start, key: rollup.Sum.
func bucketOf(g rollup.Grain) []byte {
	return [][]byte{[]byte("month"), []byte("day"), []byte("hour")}[g]
}

// rollupMeta says how far the sums go.
type rollupMeta struct {
	Version uint32
	Zone    string
	Through uint64 // number of the last record in the sums
}

// Code implements wire.Message.
func (m *rollupMeta) Code(c *wire.Coder) {
	wire.Uint(c, 1, &m.Version)
	c.String(2, &m.Zone)
	c.Uint64(3, &m.Through)
}

func openRollups(dir string) (*bolt.DB, error) {
	db, err := bolt.Open(filepath.Join(dir, rollupFile), 0o600, &bolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("ledger: the sums in %s: %w; if the file is damaged, remove it: it is made anew from the records", filepath.Join(dir, rollupFile), err)
	}
	return db, nil
}

func readRollupMeta(tx *bolt.Tx) (rollupMeta, error) {
	var m rollupMeta
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		return m, nil
	}
	err := wire.Decode(b.Get([]byte(bucketMeta)), &m)
	return m, err
}

// ErrRolling is wrapped by the error of Use while sums are made from many records.
var ErrRolling = errors.New("the sums over finished jobs are being made")

const (
	// rollRecords is how many records are added to the sums in one transaction.
	rollRecords = 20_000
	// rollLag is how many records may be missing in the sums: so many are read one by
	// one for an answer.
	rollLag = 100_000
)

// Roll adds records that the sums lack, some at a time, and tells whether more are
// left. If the sums are for another time zone, they are made anew.
func (l *Ledger) Roll(ctx context.Context, zone *time.Location) (more bool, err error) {
	l.rolling.Lock()
	defer l.rolling.Unlock()
	meta, err := l.rollupsFor(zone)
	if err != nil {
		return false, err
	}
	last := l.Last()
	if meta.Through >= last {
		return false, nil
	}
	batch := rollup.NewBatch(rollup.Calendar{Zone: zone})
	events := map[uint64]*accounting.Event{}
	through := min(last, meta.Through+rollRecords)
	err = l.records(ctx, meta.Through+1, through, func(n uint64, r *accounting.Record) {
		batch.Add(r)
		if r.Event != nil {
			events[n] = r.Event
		}
	})
	if err != nil {
		return false, err
	}
	meta.Through = through
	if err := l.rollups.Update(func(tx *bolt.Tx) error { return putBatch(tx, &meta, batch, events) }); err != nil {
		return false, fmt.Errorf("ledger: sums through record %d: %w", through, err)
	}
	return through < last, nil
}

// rollupsFor empties the sums if they are of another version or time zone.
func (l *Ledger) rollupsFor(zone *time.Location) (meta rollupMeta, err error) {
	err = l.rollups.View(func(tx *bolt.Tx) error { meta, err = readRollupMeta(tx); return err })
	want := rollupMeta{Version: rollupVersion, Zone: zone.String(), Through: meta.Through}
	if err == nil && meta == want {
		return meta, nil
	}
	want.Through = 0
	err = l.rollups.Update(func(tx *bolt.Tx) error {
		for _, name := range append([][]byte{[]byte(bucketMeta), []byte(bucketCluster), []byte(bucketEvent)}, grainBuckets()...) {
			if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, bolt.ErrBucketNotFound) {
				return err
			}
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return putRollupMeta(tx, &want)
	})
	if err != nil {
		return want, fmt.Errorf("ledger: empty the sums: %w", err)
	}
	return want, nil
}

func grainBuckets() [][]byte {
	var out [][]byte
	for _, g := range rollup.Grains() {
		out = append(out, bucketOf(g))
	}
	return out
}

func putRollupMeta(tx *bolt.Tx, m *rollupMeta) error {
	return tx.Bucket([]byte(bucketMeta)).Put([]byte(bucketMeta), wire.Encode(nil, m))
}

// putBatch adds what was gathered to what is there.
func putBatch(tx *bolt.Tx, meta *rollupMeta, batch *rollup.Batch, events map[uint64]*accounting.Event) error {
	for slot, sum := range batch.Sums {
		b, key := tx.Bucket(bucketOf(slot.Grain)), wire.Encode(number(uint64(slot.Start)), &slot.Key)
		if old := b.Get(key); old != nil {
			var have rollup.Sum
			if err := wire.Decode(old, &have); err != nil {
				return err
			}
			sum.Add(&have)
		}
		if err := b.Put(key, wire.Encode(nil, sum)); err != nil {
			return err
		}
	}
	b := tx.Bucket([]byte(bucketCluster))
	for start, hour := range batch.Hours {
		if old := b.Get(number(uint64(start))); old != nil {
			var have rollup.Cluster
			if err := wire.Decode(old, &have); err != nil {
				return err
			}
			hour.Add(&have)
		}
		if err := b.Put(number(uint64(start)), wire.Encode(nil, hour)); err != nil {
			return err
		}
	}
	b = tx.Bucket([]byte(bucketEvent))
	for n, e := range events {
		if err := b.Put(append(number(uint64(e.To)), number(n)...), wire.Encode(nil, e)); err != nil {
			return err
		}
	}
	return putRollupMeta(tx, meta)
}

// records calls f with records by their numbers.
func (l *Ledger) records(ctx context.Context, from, through uint64, f func(n uint64, r *accounting.Record)) error {
	return l.Encoded(ctx, from, through, func(first uint64, list [][]byte) error {
		for i, b := range list {
			r, err := Decode(b)
			if err != nil {
				return fmt.Errorf("record %d: %w", first+uint64(i), err)
			}
			f(first+uint64(i), &r)
		}
		return nil
	})
}

// Use sums up what was used between two moments, in seconds since the epoch, from
// the records up to the number through. The moments are moved outwards to whole hours
// of the zone.
func (l *Ledger) Use(ctx context.Context, zone *time.Location, from, to int64) (u *rollup.Use, through uint64, err error) {
	u = rollup.NewUse(rollup.Calendar{Zone: zone}, from, to)
	var meta rollupMeta
	err = l.rollups.View(func(tx *bolt.Tx) error {
		if meta, err = readRollupMeta(tx); err != nil {
			return err
		}
		if meta.Zone != zone.String() {
			meta.Through = 0
			return nil // nothing that is there counts
		}
		if err := u.Cover(func(g rollup.Grain, start int64) error { return takeSums(tx, u, g, start) }); err != nil {
			return err
		}
		return errors.Join(takeHours(tx, u), takeEvents(tx, u))
	})
	if err != nil {
		return nil, 0, fmt.Errorf("ledger: the sums: %w", err)
	}
	last := l.Last()
	if last > meta.Through+rollLag {
		return nil, 0, fmt.Errorf("%w: %d of %d records are in them", ErrRolling, meta.Through, last)
	}
	err = l.records(ctx, meta.Through+1, last, func(_ uint64, r *accounting.Record) { u.Add(r, 0) })
	return u, last, err
}

func takeSums(tx *bolt.Tx, u *rollup.Use, g rollup.Grain, start int64) error {
	prefix := number(uint64(start))
	c := tx.Bucket(bucketOf(g)).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		var key rollup.Key
		var sum rollup.Sum
		if err := errors.Join(wire.Decode(k[len(prefix):], &key), wire.Decode(v, &sum)); err != nil {
			return err
		}
		u.Take(key, &sum)
	}
	return nil
}

func takeHours(tx *bolt.Tx, u *rollup.Use) error {
	c := tx.Bucket([]byte(bucketCluster)).Cursor()
	for k, v := c.Seek(number(uint64(u.From))); k != nil && int64(binary.BigEndian.Uint64(k)) < u.To; k, v = c.Next() {
		var hour rollup.Cluster
		if err := wire.Decode(v, &hour); err != nil {
			return err
		}
		u.TakeHour(int64(binary.BigEndian.Uint64(k)), &hour)
	}
	return nil
}

// takeEvents takes those that ended within the stretch or later and began before its
// end.
func takeEvents(tx *bolt.Tx, u *rollup.Use) error {
	c := tx.Bucket([]byte(bucketEvent)).Cursor()
	for k, v := c.Seek(number(uint64(u.From * 1000))); k != nil; k, v = c.Next() {
		var e accounting.Event
		if err := wire.Decode(v, &e); err != nil {
			return err
		}
		if e.From.Unix() < u.To {
			u.Events = append(u.Events, e)
		}
	}
	return nil
}
