package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// The columns of the Standard Workload Format that are read, from 0
// (Chapin et al., "Benchmarks and standards for the evaluation of parallel job
// schedulers", JSSPP 1999; parallel workloads archive, version 2.2).
const (
	swfID        = 0
	swfSubmit    = 1
	swfRun       = 3
	swfAllocated = 4
	swfRequested = 7
	swfLimit     = 8
	swfUser      = 11
	swfColumns   = 18
)

// SWF reads the Standard Workload Format. The machine has MaxProcs processors, or if
// the header does not say, MaxNodes. An error names the line.
func SWF(data []byte) (*Workload, error) {
	w := &Workload{Jobs: make([]Job, 0, bytes.Count(data, []byte{'\n'}))}
	users := map[int64]string{}
	nodes := 0
	err := lines(data, func(n int, line []byte) error {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
			return nil
		case line[0] == ';':
			swfHeader(line, &w.Procs, &nodes)
			return nil
		}
		var v [swfColumns]int64
		if err := swfRow(line, &v); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		user, ok := users[v[swfUser]]
		if !ok {
			user = "u" + strconv.FormatInt(v[swfUser], 10)
			users[v[swfUser]] = user
		}
		w.Jobs = append(w.Jobs, Job{
			ID: v[swfID], Submit: v[swfSubmit], Run: v[swfRun], Limit: v[swfLimit], User: user,
			Procs: known(v[swfRequested], v[swfAllocated]), Held: known(v[swfAllocated], v[swfRequested]),
		})
		return nil
	})
	if w.Procs == 0 {
		w.Procs = nodes
	}
	return w, err
}

// known is the first of two numbers of processors that is not missing.
func known(a, b int64) int {
	if a > 0 {
		return int(a)
	}
	return int(max(b, 0))
}

// swfHeader notes the size of the machine if a header line says it.
func swfHeader(line []byte, procs, nodes *int) {
	name, value, _ := strings.Cut(strings.TrimLeft(string(line), "; "), ":")
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n <= 0 {
		return
	}
	switch name {
	case "MaxProcs":
		*procs = n
	case "MaxNodes":
		*nodes = n
	}
}

// swfRow reads the numbers of a line; columns that are missing are -1, fractions
// are cut off.
func swfRow(line []byte, v *[swfColumns]int64) error {
	for i := range v {
		v[i] = -1
	}
	at, column := 0, 0
	for ; column < swfColumns; column++ {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		if at == len(line) {
			break
		}
		start := at
		for at < len(line) && line[at] != ' ' && line[at] != '\t' {
			at++
		}
		n, ok := swfNumber(line[start:at])
		if !ok {
			return fmt.Errorf("column %d is %q, want a number", column+1, line[start:at])
		}
		v[column] = n
	}
	if column <= swfAllocated {
		return fmt.Errorf("it has %d columns, want %d", column, swfColumns)
	}
	return nil
}

// swfNumber reads a decimal number without its fraction.
func swfNumber(b []byte) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	n, digits := int64(0), 0
	for ; digits < len(b) && b[digits] >= '0' && b[digits] <= '9'; digits++ {
		if digits == 18 {
			return 0, false
		}
		n = n*10 + int64(b[digits]-'0')
	}
	if digits < len(b) {
		if b[digits] != '.' {
			return 0, false
		}
		for _, c := range b[digits+1:] {
			if c < '0' || c > '9' {
				return 0, false
			}
		}
	}
	if negative {
		n = -n
	}
	return n, len(b) > 0
}
