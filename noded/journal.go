package noded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"muster/api/pb"
)

// journal keeps the node's reports on disk until the leader has acknowledged
// them. Many are written with one sync.
//
// Launches are not in it: their records are in another file (see records.go),
// which a crash of the daemon leaves and a crash of the machine makes void.
type journal struct {
	log  *journalFile
	id   string // random, made with the file
	next uint64 // number of the next report

	// trouble is told what is wrong when reports can't be written, again and
	// again, and nil when they can. It is called from the journal's goroutine.
	trouble func(error)

	mu   sync.Mutex
	work []journalWork // at most a few for each attempt of the node
	wake chan struct{}
}

// journalWork is a report to be written, or a number to be forgotten.
type journalWork struct {
	report *pb.Report
	done   func() // called once the report is on disk
	acked  uint64
}

// openJournal opens the journal of a data directory, or makes it. It is this
// process's alone until run ends.
func openJournal(dir string) (*journal, error) {
	name := filepath.Join(dir, "journal")
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	log, err := openJournalFile(name, hex.EncodeToString(id))
	if err != nil {
		return nil, err
	}
	return &journal{log: log, id: log.id, next: log.next, wake: make(chan struct{}, 1), trouble: func(error) {}}, nil
}

// unsent reads the reports that are not acknowledged, in their order.
func (j *journal) unsent() ([]*pb.Report, error) {
	var out []*pb.Report
	for _, number := range j.log.numbers() {
		r := new(pb.Report)
		if err := proto.Unmarshal(j.log.live[number], r); err != nil {
			return nil, fmt.Errorf("journal %s: report %d: %w", j.log.name, number, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// number gives a report its number. Only the node's loop calls it.
func (j *journal) number(r *pb.Report) {
	r.Number = j.next
	j.next++
}

// put writes a report; done is called from the journal's goroutine when it is on
// disk, which is never if the daemon ends before. It does not wait.
func (j *journal) put(r *pb.Report, done func()) {
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

// run writes until ctx ends and everything that came before is written, or can't
// be.
func (j *journal) run(ctx context.Context) {
	defer j.log.close()
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
			j.commit(ctx, j.take())
			return
		}
		j.commit(ctx, j.take())
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

// Pauses between tries of a write that fails; after troubleAfter of them the
// node asks for no more work.
const (
	firstRetry   = 20 * time.Millisecond
	longestRetry = 5 * time.Second
	troubleAfter = 5
)

// commit writes a batch. A disk that is full or does not answer may get better,
// and the ends of jobs may not be lost, so it is tried until ctx ends.
func (j *journal) commit(ctx context.Context, batch []journalWork) {
	if len(batch) == 0 {
		return
	}
	var entries []journalEntry
	for _, w := range batch {
		e := journalEntry{number: w.acked}
		if w.report != nil {
			e = journalEntry{number: w.report.Number, report: marshalReport(w.report)}
		}
		entries = append(entries, e)
	}
	failed := 0
	for pause := firstRetry; ; pause = min(2*pause, longestRetry) {
		err := j.log.append(entries)
		if err == nil {
			break
		}
		if failed++; failed >= troubleAfter {
			j.trouble(err)
		}
		select {
		case <-time.After(pause/2 + mrand.N(pause)):
		case <-ctx.Done():
			return
		}
	}
	if failed >= troubleAfter {
		j.trouble(nil)
	}
	for _, w := range batch {
		if w.done != nil {
			w.done()
		}
	}
}

// marshalReport codes a report, never as nothing at all.
func marshalReport(r *pb.Report) []byte {
	b, err := proto.Marshal(r)
	if err != nil {
		// Only a text that is not UTF-8 can't be coded, and a report has one.
		r.Detail = fmt.Sprintf("%+q", r.Detail)
		if b, err = proto.Marshal(r); err != nil {
			panic(fmt.Sprintf("report of job %d can't be coded: %v", r.GetAttempt().GetJob(), err))
		}
	}
	return b
}

// bootID is the kernel's name for this run of the machine.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return string(b[:min(36, len(b))]), nil
}
