package differ

import (
	"fmt"
	"strings"
)

// Case is one command line of a generator.
type Case struct {
	Options    []string `json:",omitempty"` // long names of the options in it, for the list of known differences
	Command    string   // sbatch, squeue, …
	Args       []string `json:",omitempty"` // without the script
	Env        []string `json:",omitempty"` // NAME=value
	Directives []string `json:",omitempty"` // what stands after #SBATCH, one a line
	Runs       bool     `json:",omitempty"` // the job runs, and its environment is compared
	Family     string   `json:",omitempty"` // of a case that changes something: what is there before it, and what is looked at after it
	Root       bool     `json:",omitempty"` // who runs such a case; else the user
}

// Key is the case as a line of shell: its name in the recording.
func (c *Case) Key() string {
	var b strings.Builder
	if c.Runs {
		b.WriteString("run: ")
	}
	if c.Family != "" {
		fmt.Fprintf(&b, "%s: ", c.Family)
	}
	if c.Root {
		b.WriteString("root: ")
	}
	for _, e := range c.Env {
		fmt.Fprintf(&b, "%s ", shorten(quote(e)))
	}
	b.WriteString(c.Command)
	for _, a := range c.Args {
		fmt.Fprintf(&b, " %s", shorten(quote(a)))
	}
	for _, d := range c.Directives {
		fmt.Fprintf(&b, " #SBATCH %s", shorten(d))
	}
	return b.String()
}

// quote writes a word as a shell would need it.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,+@%", r)
}

// shorten keeps huge values out of keys.
func shorten(s string) string {
	if len(s) <= 120 {
		return s
	}
	return fmt.Sprintf("%s…(%d bytes)", s[:40], len(s))
}

// Answer is what a cluster made of a case.
type Answer struct {
	Code   int
	Stdout string            `json:",omitempty"`
	Stderr string            `json:",omitempty"`
	Record map[string]string `json:",omitempty"` // scontrol show job
	Env    map[string]string `json:",omitempty"` // of the job
}
