// Package cyclelog records cycles of the planner, each with the state that it was
// made from, in a ring of files, and plans them again to see that the plan is the
// same bit for bit.
package cyclelog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"muster/internal/wire"
	"muster/job"
	"muster/sched"
	"muster/sched/feed"
	"muster/state"
)

// magic begins a record; the number is its version.
const magic = "muster cycle 1\n"

// suffix is that of the files of records.
const suffix = ".cycle.zst"

// Log writes records into a directory. One goroutine owns it.
type Log struct {
	dir  string
	keep int
	next uint64
	enc  *zstd.Encoder
}

// Open opens a log that keeps the last so many records of a directory, which it
// makes if need be; it goes on behind those that are there.
func Open(dir string, keep int) (*Log, error) {
	if keep < 1 {
		return nil, fmt.Errorf("cycle log: to keep %d records, want 1 or more", keep)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cycle log: %w", err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, keep: keep, enc: enc, next: 1}
	names, err := Files(dir)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		var n uint64
		if _, err := fmt.Sscanf(filepath.Base(names[len(names)-1]), "%d", &n); err != nil {
			return nil, fmt.Errorf("cycle log: %s is not the name of a record", names[len(names)-1])
		}
		l.next = n + 1
	}
	return l, nil
}

// Files lists the records of a directory, oldest first.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cycle log: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out, nil
}

// Add records one cycle: the root that was planned from, with what, and the plan.
func (l *Log) Add(root *state.Root, now job.Time, budget sched.Budget, plan *sched.Plan) error {
	var b bytes.Buffer
	b.WriteString(magic)
	head, err := json.Marshal(header{now, budget})
	if err != nil {
		return err
	}
	writePart(&b, head)
	body, err := canonical(plan, root)
	if err != nil {
		return err
	}
	writePart(&b, body)
	if err := root.WriteSnapshot(&b); err != nil {
		return fmt.Errorf("cycle log: %w", err)
	}
	name := filepath.Join(l.dir, fmt.Sprintf("%016d%s", l.next, suffix))
	if err := os.WriteFile(name, l.enc.EncodeAll(b.Bytes(), nil), 0o600); err != nil {
		return fmt.Errorf("cycle log: %w", err)
	}
	if l.next > uint64(l.keep) {
		old := filepath.Join(l.dir, fmt.Sprintf("%016d%s", l.next-uint64(l.keep), suffix))
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cycle log: %w", err)
		}
	}
	l.next++
	return nil
}

// header is what a plan was made with, besides the state.
type header struct {
	Now    job.Time
	Budget sched.Budget
}

func writePart(b *bytes.Buffer, part []byte) {
	b.Write(binary.AppendUvarint(nil, uint64(len(part))))
	b.Write(part)
}

// canonical is all of a plan that anybody acts on, as bytes.
func canonical(plan *sched.Plan, root *state.Root) ([]byte, error) {
	var b bytes.Buffer
	commands := feed.Commands(plan, root)
	if change := feed.Promises(plan, root); change != nil {
		commands = append(commands, change)
	}
	for _, c := range commands {
		fmt.Fprintf(&b, "command %d %x\n", c.Kind(), wire.Encode(nil, c))
	}
	for i := range plan.Verdicts {
		v, err := json.Marshal(&plan.Verdicts[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "verdict %s\n", v)
	}
	fmt.Fprintf(&b, "steps %d cut %v\n", plan.Steps, plan.Cut)
	return b.Bytes(), nil
}

// Replayed is what came of planning a record again.
type Replayed struct {
	Now     job.Time
	Waiting int // records in the queue
	Starts  int
	Same    bool   // the plan is the recorded one
	Differs string // the first line that is different: recorded, and now
}

// Replay plans a record again. The error is of a file that cannot be read.
func Replay(path string) (*Replayed, error) {
	r, err := replay(path)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", path, err)
	}
	return r, nil
}

func replay(path string) (*Replayed, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	data, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(data)
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(r, start); err != nil || string(start) != magic {
		return nil, errors.New("it is no record of a cycle, or of another version")
	}
	var h header
	head, err := readPart(r)
	if err == nil {
		err = json.Unmarshal(head, &h)
	}
	if err != nil {
		return nil, err
	}
	recorded, err := readPart(r)
	if err != nil {
		return nil, err
	}
	m := state.New()
	if err := m.Restore(r); err != nil {
		return nil, err
	}
	view := feed.New().Update(m.Root())
	plan := view.Plan(h.Now, h.Budget)
	again, err := canonical(plan, m.Root())
	if err != nil {
		return nil, err
	}
	out := &Replayed{Now: h.Now, Waiting: len(view.Waiting), Starts: len(plan.Starts), Same: bytes.Equal(recorded, again)}
	if !out.Same {
		out.Differs = firstDifference(string(recorded), string(again))
	}
	return out, nil
}

func readPart(r *bytes.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	part := make([]byte, n)
	_, err = io.ReadFull(r, part)
	return part, err
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; i < max(len(x), len(y)); i++ {
		var p, q string
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return fmt.Sprintf("recorded %q, now %q", p, q)
		}
	}
	return ""
}

// Dir is the directory of the log.
func (l *Log) Dir() string { return l.dir }
