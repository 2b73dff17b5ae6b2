package differ

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Recording is what a cluster answered.
type Recording struct {
	Version string // what sbatch --version printed
	Seed    uint64
	Record  map[string]string // the most frequent value of each field of a job's record
	Env     map[string]string // and of each variable of a job
	Cases   []Case
	Answers []Answer // of the cases; Record and Env hold what is different from the most frequent, absent for what is missing
}

// absent stands for a field that the most frequent record has and this one lacks.
const absent = "\x00"

// NewRecording keeps the answers to cases in a short form.
func NewRecording(version string, seed uint64, cases []Case, answers []Answer) *Recording {
	r := &Recording{Version: version, Seed: seed, Cases: cases}
	var records, envs []map[string]string
	for _, a := range answers {
		records, envs = append(records, a.Record), append(envs, a.Env)
	}
	r.Record, r.Env = frequent(records), frequent(envs)
	for _, a := range answers {
		a.Record, a.Env = subtract(a.Record, r.Record), subtract(a.Env, r.Env)
		r.Answers = append(r.Answers, a)
	}
	return r
}

// Answer gives the whole answer to case i.
func (r *Recording) Answer(i int) Answer {
	a := r.Answers[i]
	a.Record, a.Env = add(a.Record, r.Record), add(a.Env, r.Env)
	return a
}

// families are the cases of some families only.
func (r *Recording) families(names []string) *Recording {
	out := &Recording{Version: r.Version, Seed: r.Seed, Record: r.Record, Env: r.Env}
	for i, c := range r.Cases {
		if slices.Contains(names, c.Family) {
			out.Cases, out.Answers = append(out.Cases, c), append(out.Answers, r.Answers[i])
		}
	}
	return out
}

// frequent finds the most frequent value of each key that most maps have.
func frequent(all []map[string]string) map[string]string {
	seen := make(map[string]map[string]int)
	total := 0
	for _, m := range all {
		if len(m) > 0 {
			total++
		}
		for k, v := range m {
			if seen[k] == nil {
				seen[k] = make(map[string]int)
			}
			seen[k][v]++
		}
	}
	out := make(map[string]string)
	for k, values := range seen {
		best, sum := "", 0
		for _, v := range slices.Sorted(maps.Keys(values)) {
			sum += values[v]
			if values[v] > values[best] {
				best = v
			}
		}
		if 2*sum > total {
			out[k] = best
		}
	}
	return out
}

// subtract keeps what differs from base; nil stays nil.
func subtract(m, base map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string)
	for k, v := range m {
		if b, ok := base[k]; !ok || b != v {
			out[k] = v
		}
	}
	for k := range base {
		if _, ok := m[k]; !ok {
			out[k] = absent
		}
	}
	if len(out) == 0 { // so that it is told from none at all
		out[absent] = absent
	}
	return out
}

// add is the other way round.
func add(m, base map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := maps.Clone(base)
	maps.Copy(out, m)
	maps.DeleteFunc(out, func(_, v string) bool { return v == absent })
	return out
}

// Write keeps a recording in a file.
func (r *Recording) Write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}

// ReadRecording reads a file that Write has made.
func ReadRecording(name string) (*Recording, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	r := new(Recording)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return r, nil
}
