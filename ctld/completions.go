package ctld

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/accounting/completion"
	"muster/accounting/ledger"
)

// completions appends a line of JSON for each job that has ended to the file that
// the configuration names. Each controller keeps its own file by its own ledger, so
// each has them all. A line is written at least once: a controller that is killed
// between a line and its mark writes it again, with the same number in it.
type completions struct {
	c      *Controller
	ledger *ledgerWriter
	mark   string // file with the number of the last record whose line is on disk
}

func newCompletions(c *Controller) *completions {
	return &completions{c: c, ledger: c.ledger, mark: filepath.Join(c.cfg.Data, "completions")}
}

// run writes until ctx ends. A file that can't be written is tried again with the
// next records; the controller works on.
func (w *completions) run(ctx context.Context) error {
	grown := w.ledger.watch()
	defer w.ledger.unwatch(grown)
	failing, path := false, ""
	for {
		root := w.c.store.Root()
		named := root.Cluster().Policy.CompletionFile
		if named == path {
			select {
			case <-ctx.Done():
				return nil
			case <-grown:
			case <-w.c.store.Changed(root): // maybe the configuration; most often not, so not each time
				if !w.ledger.pause(ctx, gatherTime) {
					return nil
				}
				continue
			}
		}
		if root.Configuration().Serial == 0 {
			continue // what is written is not known yet
		}
		path = named
		err := w.catchUp(ctx, path)
		switch {
		case err != nil && ctx.Err() == nil && !failing:
			w.c.log.Error("lines of ended jobs can't be written; they are kept for later", "file", path, "err", err)
		case err == nil && failing:
			w.c.log.Info("lines of ended jobs are written again", "file", path)
		}
		failing = err != nil
	}
}

// catchUp appends the lines that are missing. Without a file nothing is owed, and
// with one it begins with what ends from then on.
func (w *completions) catchUp(ctx context.Context, path string) error {
	if path == "" {
		if err := os.Remove(w.mark); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	last := w.ledger.last()
	done, err := w.load()
	if errors.Is(err, os.ErrNotExist) {
		return w.save(last)
	}
	if err != nil || done >= last {
		return err
	}
	return w.ledger.file.Encoded(ctx, done+1, last, func(first uint64, records [][]byte) error {
		return w.append(path, first, records)
	})
}

// append writes the lines of some records and marks them as written.
func (w *completions) append(path string, first uint64, records [][]byte) error {
	var lines []byte
	cluster := w.c.store.Root().Cluster().Name
	for i, b := range records {
		number := first + uint64(i)
		r, err := ledger.Decode(b)
		if err != nil {
			return fmt.Errorf("record %d: %w", number, err)
		}
		if r.Job == nil {
			continue // an event
		}
		if lines, err = completion.Append(lines, cluster, number, r.Job); err != nil {
			return err
		}
	}
	if len(lines) > 0 {
		// Opened each time, so that it may be moved away meanwhile.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o640)
		if err != nil {
			return err
		}
		if cutOff(f) {
			lines = append([]byte("\n"), lines...)
		}
		_, err = f.Write(lines)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return w.save(first + uint64(len(records)) - 1)
}

// cutOff tells whether the last line of a file has no end: the writer was killed in
// the middle of it, and will write it again.
func cutOff(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

func (w *completions) load() (uint64, error) {
	b, err := os.ReadFile(w.mark)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s holds no number of a record: remove it to begin with the next job: %w", w.mark, err)
	}
	return n, nil
}

// save puts the mark in place in one step; a crash leaves the old one or the new.
func (w *completions) save(n uint64) error {
	f, err := os.CreateTemp(filepath.Dir(w.mark), "completions-")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, n)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), w.mark)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
