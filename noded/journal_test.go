package noded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/api/pb"
)

// openAt opens a journal's file in a test.
func openAt(t rapid.TB, name string) *journalFile {
	j, err := openJournalFile(name, "0123456789abcdef")
	if err != nil {
		t.Fatalf("open the journal: %v", err)
	}
	return j
}

// TestJournalSurvivesCrashes writes batches, and crashes at some: what was written
// before is there, and of the batch itself all or nothing.
func TestJournalSurvivesCrashes(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		name := filepath.Join(dir, fmt.Sprint(runs))
		j := openAt(t, name)
		defer func() { j.close() }()
		if rapid.Bool().Draw(t, "small") {
			j.limit = 300 // written anew again and again
		}
		model, highest := map[uint64]string{}, uint64(0)
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			before, size := maps.Clone(model), j.size
			var batch []journalEntry
			for range rapid.IntRange(1, 4).Draw(t, "entries") {
				if known := slices.Sorted(maps.Keys(model)); len(known) > 0 && rapid.Bool().Draw(t, "forget") {
					number := rapid.SampledFrom(known).Draw(t, "number")
					batch = append(batch, journalEntry{number: number})
					delete(model, number)
					continue
				}
				highest++
				text := rapid.StringMatching(`[a-z]{1,60}`).Draw(t, "report")
				batch = append(batch, journalEntry{highest, []byte(text)})
				model[highest] = text
			}
			if err := j.append(batch); err != nil {
				t.Fatal(err)
			}
			if !rapid.Bool().Draw(t, "restart") {
				continue
			}
			j.close()
			whole := !rapid.Bool().Draw(t, "crash") || j.size < size // written anew: by a rename
			if !whole {
				spoil(t, name, size)
				model = before
			}
			j = openAt(t, name)
			if got := texts(j); !maps.Equal(got, model) {
				t.Fatalf("after a restart %v, want %v", got, model)
			}
			if whole && j.next <= highest || len(j.id) != 16 {
				t.Fatalf("id %q, next number %d after %d", j.id, j.next, highest)
			}
			highest = j.next - 1
		}
	})
}

func texts(j *journalFile) map[uint64]string {
	out := map[uint64]string{}
	for n, b := range j.live {
		out[n] = string(b)
	}
	return out
}

// spoil does to what follows a place in a file what a crash may do: some of it is
// cut off, and some that is there is zero or anything.
func spoil(t *rapid.T, name string, from int64) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := int(from)
	if at >= len(b) {
		t.Fatalf("nothing was written after byte %d", at)
	}
	if rapid.Bool().Draw(t, "cut") {
		b = b[:rapid.IntRange(at, len(b)-1).Draw(t, "left")]
	} else {
		i := rapid.IntRange(at, len(b)-1).Draw(t, "spoilt")
		b[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "how"))
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedJournalIsNotTaken spoils a byte before the last batch: it is never
// passed over, whichever it is.
func TestDamagedJournalIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "journal")
	j := openAt(t, name)
	for n := range uint64(3) {
		if err := j.append([]journalEntry{{n + 1, []byte("report")}}); err != nil {
			t.Fatal(err)
		}
	}
	last := j.size - 20
	j.close()
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int(last) {
		bad := slices.Clone(good)
		bad[i] ^= 0x40
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if j, err := openJournalFile(name, "0123456789abcdef"); err == nil {
			t.Errorf("byte %d spoilt: %v is taken", i, texts(j))
			j.close()
		} else if !errors.Is(err, errDamaged) {
			t.Errorf("byte %d spoilt: %v", i, err)
		}
	}
}

func TestJournalIsOneDaemons(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j := openAt(t, name)
	if _, err := openJournalFile(name, "0123456789abcdef"); err == nil {
		t.Error("opened twice")
	}
	j.close()
	openAt(t, name).close()
}

func TestJournalStaysShort(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j := openAt(t, name)
	defer j.close()
	j.limit = 4000
	var longest int64
	for n := range uint64(500) {
		if err := j.append([]journalEntry{{n + 1, make([]byte, 100)}, {number: n}}); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, j.size)
		j.limit = min(j.limit, 4000)
	}
	if longest > 4000 || len(j.live) != 1 {
		t.Errorf("%d bytes with %d reports", longest, len(j.live))
	}
}

// breakJournal makes writes to a journal fail until the returned function is
// called, as a full disk would.
func breakJournal(t *testing.T, dir string, j *journal) (mend func()) {
	t.Helper()
	j.log.file.Close()
	inTheWay := filepath.Join(dir, "journal.new")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(inTheWay); err != nil {
			t.Error(err)
		}
	}
}

func TestReportsWaitForADiskThatFails(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	states := make(chan error, 100)
	j.trouble = func(err error) { states <- err }
	mend := breakJournal(t, dir, j)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { j.run(ctx); close(ended) }()
	r := &pb.Report{Attempt: &pb.Attempt{Job: 7}, Detail: "x\xffy"} // not UTF-8
	j.number(r)
	written := make(chan struct{})
	j.put(r, func() { close(written) })
	if err := <-states; err == nil {
		t.Error("no trouble")
	}
	select {
	case <-written:
		t.Error("written to a disk that fails")
	default:
	}
	mend()
	<-written
	for err := range states {
		if err == nil {
			break
		}
	}
	stop()
	<-ended
	if j, err = openJournal(dir); err != nil {
		t.Fatal(err)
	}
	defer j.log.close()
	if kept, err := j.unsent(); err != nil || len(kept) != 1 || kept[0].Number != r.Number || kept[0].Attempt.Job != 7 {
		t.Errorf("kept %v (%v)", kept, err)
	}
}

// TestNodeTakesNoWorkWhileItCanNotReport has the journal fail under a job.
func TestNodeTakesNoWorkWhileItCanNotReport(t *testing.T) {
	s := newSite(t)
	mend := breakJournal(t, s.cfg.DataDir, s.node.journal)
	s.launch(1, "true")
	s.wait("the node's word that it is unfit", func() bool { return s.hello.Problem != "" })
	if len(s.reports) > 0 {
		t.Errorf("reported what is not on disk: %v", s.reports)
	}
	mend()
	if r := s.released(1); !r.Ended || r.ExitCode != 0 {
		t.Errorf("report %v", r)
	}
	s.wait("the node's word that it is well", func() bool { return s.hello.Problem == "" })
}

// TestNodeEndsWhileItCanNotReport: what could not be written is found out again.
func TestNodeEndsWhileItCanNotReport(t *testing.T) {
	s := newSite(t)
	mend := breakJournal(t, s.cfg.DataDir, s.node.journal)
	s.launch(1, "exit 3")
	s.wait("the node's word that it is unfit", func() bool { return s.hello.Problem != "" })
	s.stop()
	mend()
	s.start()
	if r := s.released(1); !r.Ended || r.ExitCode != 3 {
		t.Errorf("report %v", r)
	}
}
