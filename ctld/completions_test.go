package ctld

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written are the numbers of the jobs in a file of lines, in order; a line that
// can't be read is -1.
func written(t *testing.T, path string) (ids []int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		var l struct {
			ID int `json:"job_id"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			l.ID = -1
		}
		ids = append(ids, l.ID)
	}
	return ids
}

// TestLinesOfEndedJobs: each job has its line once, over a restart, a file that is
// moved away, and a line that was cut off.
func TestLinesOfEndedJobs(t *testing.T) {
	cs := newControllers(t, 1)
	path := filepath.Join(cs.dir, "ended.jsonl")
	cs.configure(fmt.Sprintf("[policy]\ncompletion_file = %q\n", path))
	cs.start("c1")
	cs.leader()
	n1 := cs.join("n1", "c1")
	n1.takesConfig(cs)
	mark := filepath.Join(cs.dir, "c1", "completions")
	cs.wait("it begins", func() bool { _, err := os.Stat(mark); return err == nil })
	cs.ranJobs(n1, 1, 2)
	cs.wait("two lines", func() bool { return len(written(t, path)) == 2 })
	first := written(t, path)

	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	cs.ranJobs(n1, 3, 1)
	cs.wait("a line in a new file", func() bool { return len(written(t, path)) == 1 })

	cs.stop("c1")
	// As if it had been killed in the middle of a line that was not marked yet.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)/2], 0o640); err != nil {
		t.Fatal(err)
	}
	var line struct{ Record uint64 }
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, fmt.Appendln(nil, line.Record-1), 0o600); err != nil {
		t.Fatal(err)
	}
	cs.start("c1")
	cs.wait("the line again", func() bool { return len(written(t, path)) == 2 })
	if got, want := written(t, path), []int{-1, first[1] + 1}; !slices.Equal(got, want) {
		t.Errorf("lines of jobs %v, want %v", got, want)
	}
}
