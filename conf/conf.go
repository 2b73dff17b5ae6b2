// Package conf reads cluster.toml, the one file that describes a cluster: its
// controllers, nodes and partitions, its limits and its policy.
//
// It is strict: a key that it does not know, a value of the wrong kind or a
// partition of unknown nodes is an error that names file and line. Nothing is
// guessed and nothing is passed over.
package conf

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"muster/partition"
)

// File is what a cluster file says.
type File struct {
	Cluster     partition.Cluster
	Controllers []Daemon // in the order of the file; an odd number of them vote
	Nodes       []Daemon // one for each of Cluster.Nodes, in the same order
	// Warnings are keys that the file sets and nothing acts on yet. Whoever
	// reads a file for somebody shows them.
	Warnings []Problem
	schema   *schema // what Diff compares
}

// Daemon says where a controller or a node daemon is found, and what it needs
// to start on its host.
type Daemon struct {
	Name      string
	Addresses []string // host names or IP addresses, tried in this order
	Bind      string   // address to listen on; "" is all
	Port      uint16
	DataDir   string
	Real      bool // node: bind jobs to the host's own CPUs
	Votes     bool // controller: it counts in majorities
}

// Node finds the daemon of a node by its name.
func (f *File) Node(name string) (Daemon, bool) { return byName(f.Nodes, name) }

// Controller finds a controller by its name.
func (f *File) Controller(name string) (Daemon, bool) { return byName(f.Controllers, name) }

func byName(list []Daemon, name string) (Daemon, bool) {
	i := slices.IndexFunc(list, func(d Daemon) bool { return d.Name == name })
	if i < 0 {
		return Daemon{}, false
	}
	return list[i], true
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line int // from 1; 0 if it is of the file as a whole
	Text string
}

// Error lists all that is wrong with a file, in the order of its lines.
type Error struct {
	Name     string // of the file
	Problems []Problem
}

// Error writes one line for each problem: file:line: what is wrong.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Name + ": " + p.Text
		if p.Line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Name, p.Line, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// WarningLines are the warnings about a file as lines for people:
// file:line: warning: text.
func (f *File) WarningLines(name string) []string {
	lines := make([]string, len(f.Warnings))
	for i, w := range f.Warnings {
		lines[i] = fmt.Sprintf("%s:%d: warning: %s", name, w.Line, w.Text)
	}
	return lines
}

// Load reads a cluster file. Its error is one of reading, or an *Error.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cluster file: %w", err)
	}
	return Parse(path, text)
}

// Parse reads the text of a cluster file; name stands in its errors, which are
// of type *Error.
func Parse(name string, text []byte) (*File, error) {
	var raw map[string]any
	if _, err := toml.Decode(string(text), &raw); err != nil {
		return nil, syntaxError(name, err)
	}
	d := &decoder{lines: scanLines(string(text))}
	var s schema
	d.table("", raw, &s)
	b := &builder{decoder: d, schema: &s}
	file := b.build()
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
		return nil, &Error{Name: name, Problems: d.problems}
	}
	file.Cluster.Source = string(text)
	file.Warnings = d.warnings
	file.schema = &s
	return file, nil
}

// syntaxError turns an error of the TOML reader into one of ours.
func syntaxError(name string, err error) error {
	var p toml.ParseError
	if errors.As(err, &p) {
		return &Error{Name: name, Problems: []Problem{{p.Position.Line, p.Message}}}
	}
	return &Error{Name: name, Problems: []Problem{{0, err.Error()}}}
}
