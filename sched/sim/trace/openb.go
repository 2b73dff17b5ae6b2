package trace

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// GPUNode is a node of the "openb" cluster (Weng et al., "Beware of
// fragmentation: scheduling GPU-sharing workloads with fragmentation gradient
// descent", USENIX ATC 2023). CPU is in thousandths of a CPU, memory in MiB.
type GPUNode struct {
	Name     string
	CPU, MiB int64
	GPUs     int
	Model    string
}

// GPUPod is a request of that cluster. Milli is of each GPU, in thousandths.
type GPUPod struct {
	Name     string
	CPU, MiB int64
	GPUs     int
	Milli    int64
	Models   string // those that suit, separated by |; "": all
}

// OpenbNodes reads a list of nodes in CSV with a header; the columns may be in
// any order. An error names line and column.
func OpenbNodes(data []byte) ([]GPUNode, error) {
	var out []GPUNode
	err := eachRow(data, []string{"sn", "cpu_milli", "memory_mib", "gpu"}, func(r *row) error {
		out = append(out, GPUNode{Name: r.text("sn"), CPU: r.number("cpu_milli"), MiB: r.number("memory_mib"), GPUs: int(r.number("gpu")), Model: r.text("model")})
		return r.err
	})
	return out, err
}

// OpenbPods reads a list of pods in CSV with a header, sorted by name. Columns
// that a list lacks are empty.
func OpenbPods(data []byte) ([]GPUPod, error) {
	var out []GPUPod
	err := eachRow(data, []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, func(r *row) error {
		out = append(out, GPUPod{Name: r.text("name"), CPU: r.number("cpu_milli"), MiB: r.number("memory_mib"),
			GPUs: int(r.number("num_gpu")), Milli: r.number("gpu_milli"), Models: r.text("gpu_spec")})
		return r.err
	})
	slices.SortStableFunc(out, func(a, b GPUPod) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

// row is one line of a table with a header.
type row struct {
	columns map[string]int
	values  []string
	err     error // the first number that was none
}

func (r *row) text(column string) string {
	at, ok := r.columns[column]
	if !ok || at >= len(r.values) {
		return ""
	}
	return strings.TrimSpace(r.values[at])
}

// number reads a whole number that is not negative; an empty one is 0.
func (r *row) number(column string) int64 {
	text := r.text(column)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if (err != nil || n < 0) && r.err == nil {
		r.err = fmt.Errorf("%s is %q, want a whole number from 0", column, text)
	}
	return n
}

// eachRow calls f with each row of a CSV table that must have some columns.
func eachRow(data []byte, need []string, f func(*row) error) error {
	c := csv.NewReader(bytes.NewReader(data))
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	r := row{columns: map[string]int{}}
	for i, name := range header {
		r.columns[strings.TrimSpace(name)] = i
	}
	for _, name := range need {
		if _, ok := r.columns[name]; !ok {
			return fmt.Errorf("the header has no column %s", name)
		}
	}
	for {
		if r.values, err = c.Read(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := f(&r); err != nil {
			line, _ := c.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}
