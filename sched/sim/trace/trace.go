// Package trace reads workloads: logs of real clusters, and scenarios written by
// hand, as lists of jobs for the simulator.
package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"muster/internal/bitset"
	"muster/job"
)

// Workload is what a trace holds.
type Workload struct {
	Procs int   // processors of the machine that it was taken from; 0: not known
	Jobs  []Job // in the order of the trace
}

// Job is one job of a workload. Times are in seconds.
type Job struct {
	ID     int64 // as in the trace
	Submit int64 // from a zero of the trace's own
	Run    int64 // how long it runs once started, -1: not known
	Limit  int64 // the time limit that its user set, -1: none
	Procs  int   // processors asked for; held, where the trace does not say
	Held   int   // processors that it held; asked for, where the trace does not say
	User   string
	// Request is what else it asks for; nil if it asks for nothing but
	// processors.
	Request *job.Request
	Account string
	QOS     string
	Array   *Array // nil: a plain job
	// Deps are conditions on jobs that come before it in the trace, by their ID;
	// AnyDep: one of them is enough.
	Deps   []job.Dependency
	AnyDep bool
}

// Array says that a job is an array, and how long its tasks run.
type Array struct {
	Tasks  *bitset.Set
	Limit  uint32 // most tasks at once, 0: no throttle
	Bounds job.ArrayBounds
	Runs   map[uint32]int64 // seconds by index; nil: all as long as the job's Run
}

// Estimate is how long the job is expected to run, in seconds: its limit, or its
// run time if it has none.
func (j *Job) Estimate() int64 {
	if j.Limit > 0 {
		return j.Limit
	}
	return j.Run
}

// maxSize bounds what a trace may unpack to, in bytes.
const maxSize = 4 << 30

// Load reads a whole file, unpacked if it is packed by gzip or zstd, which is
// told from its first bytes.
func Load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	data, err := unpack(f)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", path, err)
	}
	return data, nil
}

// unpack reads all of r, unpacked.
func unpack(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	head = head[:n]
	r = io.MultiReader(bytes.NewReader(head), r)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		r = z
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	}
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("it unpacks to more than %d bytes", int64(maxSize))
	}
	return data, nil
}

// lines calls f with each line of a text and its number, from 1, until f fails.
// Carriage returns before the end of a line are taken off.
func lines(data []byte, f func(n int, line []byte) error) error {
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if err := f(n, bytes.TrimSuffix(line, []byte{'\r'})); err != nil {
			return err
		}
	}
	return nil
}
