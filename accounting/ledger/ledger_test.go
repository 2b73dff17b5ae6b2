package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"muster/accounting"
	"muster/job"
)

// december is a moment one minute before a new month.
var december = job.TimeOf(time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC))

// record makes the n-th record: jobs end a second apart, three to an array.
func record(n int) Numbered {
	return Numbered{uint64(n), accounting.Record{Job: &job.Job{
		ID:      job.ID(1000 + n),
		Array:   job.Array{JobID: job.ID(1000 + n/3*3), Task: uint32(n % 3)},
		State:   job.Completed,
		Request: &job.Request{Name: fmt.Sprint("job ", n)},
		Times:   job.Times{End: december + job.Time(n)*1000},
		Owner:   &job.Owner{UID: uint32(n % 7), User: fmt.Sprint("user", n%7)},
	}}}
}

func records(from, to int) []Numbered {
	var out []Numbered
	for n := from; n <= to; n++ {
		out = append(out, record(n))
	}
	return out
}

func open(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func fill(t testing.TB, l *Ledger, from, to, batch int) {
	t.Helper()
	for ; from <= to; from += batch {
		end := min(from+batch-1, to)
		if err := l.Append(uint64(end), records(from, end)); err != nil {
			t.Fatal(err)
		}
	}
}

// read gives the numbers of records, which follow from their ids.
func read(t testing.TB, l *Ledger, from, to job.Time, ids ...job.ID) []int {
	t.Helper()
	var got []int
	err := l.Jobs(context.Background(), from, to, ids, nil, func(j *job.Job) bool {
		n := int(j.ID) - 1000
		if want := record(n).Job; !reflect.DeepEqual(j, want) {
			t.Fatalf("record %d: got %+v, want %+v", n, j, want)
		}
		got = append(got, n)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 1, 1000, 70)
	check := func(l *Ledger) {
		t.Helper()
		if got := read(t, l, 0, 0); len(got) != 1000 || got[0] != 1 || got[999] != 1000 {
			t.Errorf("all: %d records", len(got))
		}
		// The month changes after record 59.
		if got := read(t, l, december+58_000, december+62_000); !reflect.DeepEqual(got, []int{58, 59, 60, 61}) {
			t.Errorf("over the end of the month: %v", got)
		}
		if got := read(t, l, december+999_000, 0); !reflect.DeepEqual(got, []int{999, 1000}) {
			t.Errorf("from: %v", got)
		}
		if got := read(t, l, 0, december+2000); !reflect.DeepEqual(got, []int{1}) {
			t.Errorf("to: %v", got)
		}
		if got := read(t, l, 0, 0, 1500, 1007, 9999); !reflect.DeepEqual(got, []int{7, 500}) {
			t.Errorf("by id: %v", got)
		}
		if got := read(t, l, 0, 0, 1060); !reflect.DeepEqual(got, []int{60, 61, 62}) {
			t.Errorf("by array: %v", got)
		}
		if err := l.Check(); err != nil {
			t.Error(err)
		}
	}
	check(l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	if l.Last() != 1000 {
		t.Errorf("Last is %d after reopening", l.Last())
	}
	check(l)
	if sums := l.Sums(); len(sums) != 2 || sums[0].Month != "2026-11" || sums[0].Last != 59 || sums[1].First != 60 || sums[1].Last != 1000 {
		t.Errorf("segments: %+v", sums)
	}
}

func TestOrderOfLateRecords(t *testing.T) {
	l := open(t, t.TempDir())
	late := []Numbered{record(100), record(5), record(101), record(3)}
	for i := range late {
		late[i].Number = uint64(i + 1)
	}
	if err := l.Append(4, late); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l, 0, 0); !reflect.DeepEqual(got, []int{3, 5, 100, 101}) {
		t.Errorf("by end: %v", got)
	}
	if got := read(t, l, 0, 0, 1003, 1005, 1100); !reflect.DeepEqual(got, []int{100, 5, 3}) {
		// 1003 names an array too: record 3 and 5 are of it.
		t.Errorf("by id, in the order of recording: %v", got)
	}
}

func TestRequeuedJobHasARecordAnAttempt(t *testing.T) {
	l := open(t, t.TempDir())
	again := record(1)
	again.Number = 2
	if err := l.Append(2, []Numbered{record(1), again}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l, 0, 0, 1001); !reflect.DeepEqual(got, []int{1, 1}) {
		t.Errorf("got %v", got)
	}
}

func TestAppendAgainAndGaps(t *testing.T) {
	l := open(t, t.TempDir())
	fill(t, l, 1, 100, 100)
	if err := l.Append(120, records(50, 120)); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(90, records(80, 90)); err != nil {
		t.Errorf("a batch given again: %v", err)
	}
	for _, c := range []struct {
		through uint64
		batch   []Numbered
	}{
		{130, records(122, 130)},
		{130, records(121, 129)},
		{130, nil},
		{122, []Numbered{record(121), record(121)}},
	} {
		if err := l.Append(c.through, c.batch); !errors.Is(err, ErrGap) {
			t.Errorf("through %d: got %v, want ErrGap", c.through, err)
		}
	}
	if err := l.Append(121, records(121, 122)); err == nil {
		t.Error("a record beyond the last number was taken")
	}
	if got := read(t, l, 0, 0); len(got) != 120 || l.Last() != 120 {
		t.Errorf("%d records, last %d; want 120", len(got), l.Last())
	}
}

// Segments do not depend on how the records were cut into batches.
func TestSumsAreEqualOnReplicas(t *testing.T) {
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	fill(t, a, 1, 300, 7)
	fill(t, b, 1, 300, 120)
	if !reflect.DeepEqual(a.Sums(), b.Sums()) {
		t.Errorf("%x\n%x", a.Sums(), b.Sums())
	}
	fill(t, b, 301, 301, 1)
	if reflect.DeepEqual(a.Sums(), b.Sums()) {
		t.Error("one record more, and the sums are equal")
	}
}

// A ledger that is filled from another one's records is equal to it.
func TestACopyIsEqual(t *testing.T) {
	const n = 2*encodedRecords + 10 // over the end of the month and of chunks
	a, b := open(t, t.TempDir()), open(t, t.TempDir())
	fill(t, a, 1, n, 5000)
	fill(t, b, 1, 7, 7)
	copied := func(through uint64) {
		t.Helper()
		err := a.Encoded(context.Background(), b.Last()+1, through, func(first uint64, encoded [][]byte) error {
			var list []Numbered
			for i, r := range encoded {
				rec, err := Decode(r)
				if err != nil {
					return err
				}
				list = append(list, Numbered{first + uint64(i), rec})
			}
			return b.Append(first+uint64(len(list))-1, list)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	copied(100)
	if b.Last() != 100 {
		t.Errorf("copied through %d, want 100", b.Last())
	}
	copied(n + 5) // more than there is
	if !reflect.DeepEqual(a.Sums(), b.Sums()) {
		t.Errorf("%x\n%x", a.Sums(), b.Sums())
	}
	if err := b.Check(); err != nil {
		t.Error(err)
	}
	stop := errors.New("enough")
	if err := a.Encoded(context.Background(), 1, n, func(uint64, [][]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the function", err)
	}
}

func TestStopsWhenAsked(t *testing.T) {
	l := open(t, t.TempDir())
	fill(t, l, 1, 600, 600)
	seen := 0
	if err := l.Jobs(context.Background(), 0, 0, nil, nil, func(*job.Job) bool { seen++; return seen < 10 }); err != nil || seen != 10 {
		t.Errorf("%d records, %v", seen, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen = 0
	err := l.Jobs(ctx, 0, 0, nil, nil, func(*job.Job) bool { seen++; cancel(); return true })
	if !errors.Is(err, context.Canceled) || seen > chunk+59 {
		t.Errorf("%d records after the end of the context, %v", seen, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	for name, change := range map[string]func(tx *bolt.Tx) error{
		"changed": func(tx *bolt.Tx) error {
			return tx.Bucket([]byte(bucketRecord)).Put(number(7), []byte("x"))
		},
		"missing": func(tx *bolt.Tx) error {
			return tx.Bucket([]byte(bucketRecord)).Delete(number(20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir())
			fill(t, l, 1, 20, 20)
			if err := l.segments[0].db.Update(change); err != nil {
				t.Fatal(err)
			}
			if err := l.Check(); err == nil || !strings.Contains(err.Error(), "2026-11") {
				t.Errorf("got %v", err)
			}
			if err := l.Jobs(context.Background(), 0, 0, nil, nil, func(*job.Job) bool { return true }); err == nil {
				t.Error("reading found nothing wrong")
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "2026-01"+suffix), []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "2026-01") {
		t.Errorf("a damaged file: %v", err)
	}
	dir = t.TempDir()
	l := open(t, dir)
	fill(t, l, 1, 1, 1)
	if err := l.segments[0].db.Update(func(tx *bolt.Tx) error {
		return putMeta(tx, &segmentMeta{Version: version + 1})
	}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("a later version: %v", err)
	}
}

func TestHundredThousandRecords(t *testing.T) {
	const n = 100_000
	l := open(t, t.TempDir())
	fill(t, l, 1, n, 5000)
	if got := read(t, l, december+90_000_000, december+90_003_000); !reflect.DeepEqual(got, []int{90000, 90001, 90002}) {
		t.Errorf("got %v", got)
	}
	count := 0
	for range 2 {
		count = 0
		if err := l.Jobs(context.Background(), 0, 0, nil, nil, func(*job.Job) bool { count++; return true }); err != nil {
			t.Fatal(err)
		}
	}
	if count != n || l.Last() != n {
		t.Errorf("%d records, last %d", count, l.Last())
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

// A process that is killed while it writes loses nothing that it had reported,
// and what is there is there once.
func TestCrash(t *testing.T) {
	if dir := os.Getenv("LEDGER_CRASH_DIR"); dir != "" {
		crashWriter(t, dir)
		return
	}
	dir := t.TempDir()
	for round := 1; round <= 5; round++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
		cmd.Env = append(os.Environ(), "LEDGER_CRASH_DIR="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		reported := 0
		for range 10 * round {
			if _, err := fmt.Fscanf(out, "%d\n", &reported); err != nil {
				t.Fatalf("round %d: the writer said nothing more after %d: %v", round, reported, err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(out)
		fmt.Sscan(lastLine(string(rest)), &reported)
		cmd.Wait()
		l := open(t, dir)
		if l.Last() < uint64(reported) {
			t.Fatalf("round %d: %d were reported, %d are there", round, reported, l.Last())
		}
		if got := read(t, l, 0, 0); len(got) != int(l.Last()) {
			t.Fatalf("round %d: %d records, last number %d", round, len(got), l.Last())
		}
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}

// lastLine is the last whole line of a text.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-2)]
}

// crashWriter appends for ever and reports the last number after each batch.
// Its batches overlap, as those after a crash do.
func crashWriter(t *testing.T, dir string) {
	l := open(t, dir)
	for {
		last := int(l.Last())
		if err := l.Append(uint64(last+11), records(max(1, last-3), last+11)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(l.Last())
	}
}

func BenchmarkAppend(b *testing.B) {
	l := open(b, b.TempDir())
	const batch = 100
	for n := 1; b.Loop(); n += batch {
		if err := l.Append(uint64(n+batch-1), records(n, n+batch-1)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "µs/record")
}
