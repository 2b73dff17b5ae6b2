package noded

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	"google.golang.org/protobuf/proto"

	"muster/api/pb"
)

// journal keeps the node's reports on disk until the leader has acknowledged
// them. Many are written with one sync.
//
// Launches are not in it: their records are plain files (see records.go), which
// a crash of the daemon leaves and a crash of the machine makes void.
type journal struct {
	db   *bolt.DB
	id   string // random, made with the file
	next uint64 // number of the next report

	mu   sync.Mutex
	work []journalWork // at most a few for each attempt of the node
	wake chan struct{}
}

// journalWork is a report to be written, or a number to be forgotten.
type journalWork struct {
	report *pb.Report
	done   func(error) // called once the report is on disk
	acked  uint64
}

func openJournal(dir string) (*journal, error) {
	name := filepath.Join(dir, "journal.db")
	db, err := bolt.Open(name, 0o600, &bolt.Options{Timeout: time.Second, NoFreelistSync: true})
	if err != nil {
		return nil, fmt.Errorf("open %s (is another node daemon running on this data directory?): %w", name, err)
	}
	j := &journal{db: db, wake: make(chan struct{}, 1)}
	err = db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists([]byte("meta"))
		if err != nil {
			return err
		}
		reports, err := tx.CreateBucketIfNotExists([]byte("reports"))
		if err != nil {
			return err
		}
		if id := meta.Get([]byte("id")); id != nil {
			j.id = string(id)
		} else {
			b := make([]byte, 8)
			if _, err := rand.Read(b); err != nil {
				return err
			}
			j.id = hex.EncodeToString(b)
			if err := meta.Put([]byte("id"), []byte(j.id)); err != nil {
				return err
			}
		}
		j.next = reports.Sequence() + 1
		return nil
	})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	return j, nil
}

// unsent reads the reports that are not acknowledged, in their order.
func (j *journal) unsent() ([]*pb.Report, error) {
	var out []*pb.Report
	err := j.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("reports")).ForEach(func(k, v []byte) error {
			r := new(pb.Report)
			if err := proto.Unmarshal(v, r); err != nil {
				return fmt.Errorf("report %x: %w", k, err)
			}
			out = append(out, r)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return out, nil
}

// number gives a report its number. Only the node's loop calls it.
func (j *journal) number(r *pb.Report) {
	r.Number = j.next
	j.next++
}

// put writes a report; done is called from the journal's goroutine. It does not
// wait.
func (j *journal) put(r *pb.Report, done func(error)) {
	j.add(journalWork{report: r, done: done})
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// forget removes an acknowledged report, with one of the next writes.
func (j *journal) forget(number uint64) { j.add(journalWork{acked: number}) }

func (j *journal) add(w journalWork) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.work = append(j.work, w)
}

// forgetEvery is how long acknowledged reports wait at most for a report whose
// write they can go with.
const forgetEvery = time.Second

// While reports follow each other within busyGap, each write waits for a while so
// that more go with it; a report that comes alone is written at once.
const (
	busyGap = 20 * time.Millisecond
	gather  = 8 * time.Millisecond
)

// run writes until ctx ends and everything that came before is written.
func (j *journal) run(ctx context.Context) {
	defer j.db.Close()
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	var last time.Time // when the last write was done
	for {
		select {
		case <-j.wake:
			if time.Since(last) < busyGap {
				time.Sleep(gather)
			}
		case <-tick.C:
		case <-ctx.Done():
			j.commit(j.take())
			return
		}
		j.commit(j.take())
		last = time.Now()
	}
}

// take takes all that has gathered.
func (j *journal) take() []journalWork {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.work
	j.work = nil
	return w
}

// commit writes a batch in one transaction.
func (j *journal) commit(batch []journalWork) {
	if len(batch) == 0 {
		return
	}
	err := j.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("reports"))
		for _, w := range batch {
			if w.report == nil {
				if err := b.Delete(numberKey(w.acked)); err != nil {
					return err
				}
				continue
			}
			v, err := proto.Marshal(w.report)
			if err != nil {
				return err
			}
			if err := b.Put(numberKey(w.report.Number), v); err != nil {
				return err
			}
			if w.report.Number > b.Sequence() {
				if err := b.SetSequence(w.report.Number); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("write the journal: %w", err)
	}
	for _, w := range batch {
		if w.done != nil {
			w.done(err)
		}
	}
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// bootID is the kernel's name for this run of the machine.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return string(b[:min(36, len(b))]), nil
}
