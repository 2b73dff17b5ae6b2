package differ

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/api/slurm"
)

// family is a kind of case that changes something. Each case finds what before
// makes, and what look prints after it is part of the answer.
type family struct {
	name    string
	before  []string // lines of words; jobs that they submit are @0@, @1@, …
	running bool     // the first job runs before the case begins
	look    string   // a line
	undo    []string // lines, for what is no job
	lines   string   // the cases, a line each
}

// Lines have one blank between words, and ~ for a blank in a word. One that
// begins with "r " is root's, others are the user's.

// Changes makes the cases of commands that change jobs, accounts, reservations
// and partitions, and of those that make allocations.
func Changes() []Case {
	var out []Case
	for _, f := range families() {
		out = append(out, f.cases()...)
	}
	return out
}

func (f *family) cases() []Case {
	var out []Case
	for line := range strings.SplitSeq(strings.TrimSpace(f.lines), "\n") {
		words, root := wordsOf(line)
		out = append(out, Case{Options: namesIn(words), Command: words[0], Args: words[1:], Family: f.name, Root: root})
	}
	return distinct(out)
}

// wordsOf reads a line.
func wordsOf(line string) (words []string, root bool) {
	line, root = strings.CutPrefix(line, "r ")
	for w := range strings.SplitSeq(line, " ") {
		words = append(words, strings.ReplaceAll(w, "~", " "))
	}
	return words, root
}

// allocationLines are the command lines of srun and salloc: each option in some
// forms of value, with a program that ends at once, or with --test-only.
func allocationLines() string {
	var b strings.Builder
	for _, command := range []struct {
		name, words string
		of          slurm.Program
	}{{"srun", "--test-only", slurm.Srun}, {"salloc", "-I1", slurm.Salloc}} {
		for _, o := range slurm.OptionHelp(command.of) {
			if waits(o.Name) {
				continue
			}
			for _, v := range someValues(o) {
				word := "--" + o.Name
				if o.Arg != slurm.NoArg && v != "" {
					word += "=" + strings.ReplaceAll(v, " ", "~")
				}
				fmt.Fprintf(&b, "%s %s %s true\n", command.name, command.words, word)
			}
		}
	}
	return b.String()
}

// waits tells of options with which an allocation would not end by itself, or
// which depend on what else is there.
func waits(name string) bool {
	switch name {
	case "begin", "hold", "dependency", "immediate", "test-only", "no-shell", "pty", "jobid", "het-group", "get-user-env", "clusters", "cluster", "multi-prog", "async", "no-allocate":
		return true
	}
	return false
}

// Change answers the cases of Changes, one after the other.
func (c *Cluster) Change(cases []Case) ([]Answer, error) {
	byName := make(map[string]family)
	for _, f := range families() {
		byName[f.name] = f
	}
	if err := c.useUpIDs(); err != nil {
		return nil, err
	}
	answers := make([]Answer, len(cases))
	for i := range cases {
		a, err := c.change(&cases[i], byName[cases[i].Family])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cases[i].Key(), err)
		}
		answers[i] = a
	}
	return answers, nil
}

func (c *Cluster) change(cs *Case, f family) (Answer, error) {
	c.queue = nil
	for _, line := range f.before {
		out := c.line(line)
		if out.Code != 0 {
			return Answer{}, fmt.Errorf("%s: exit code %d: %s", line, out.Code, out.Stderr)
		}
		if id := submitted.FindStringSubmatch(strings.TrimSpace(out.Stdout)); id != nil {
			c.queue = append(c.queue, id[1])
		}
	}
	if f.running {
		if err := c.awaitRunning(c.queue[0]); err != nil {
			return Answer{}, err
		}
	}
	run := c.command
	if cs.Root {
		run = func(name string, args, _ []string) Answer { return c.AsRoot(name, args...) }
	}
	a := run(cs.Command, c.fillAll(cs.Args), nil)
	a.Stdout, a.Stderr = c.changed(a.Stdout), c.changed(a.Stderr)
	if f.look != "" {
		a.Record = c.seen(c.line(f.look).Stdout)
	}
	for _, line := range f.undo {
		c.line(line)
	}
	if len(c.queue) > 0 {
		c.AsRoot("scancel", append([]string{"-Q"}, c.queue...)...)
	}
	return a, nil
}

// line runs a line, and gives its answer as it is.
func (c *Cluster) line(line string) Answer {
	words, root := wordsOf(line)
	if root {
		return c.AsRoot(words[0], c.fillAll(words[1:])...)
	}
	return c.command(words[0], c.fillAll(words[1:]), nil)
}

func (c *Cluster) fillAll(args []string) []string {
	var out []string
	for _, a := range args {
		out = append(out, c.fillQueue(a))
	}
	return out
}

func (c *Cluster) awaitRunning(id string) error {
	for end := time.Now().Add(jobTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if c.AsRoot("squeue", "-h", "-t", "R", "-o", "%i", "-j", id).Stdout != "" {
			return nil
		}
	}
	return fmt.Errorf("job %s does not run: %s", id, c.AsRoot("squeue", "-j", id).Stdout)
}

var (
	newAllocation = regexp.MustCompile(`(?i)\b(job allocation|job|allocation|jobid) (\d+)`)
)

// changed normalises what a command printed: ids, moments, and blanks at the ends.
func (c *Cluster) changed(text string) string {
	text = newAllocation.ReplaceAllStringFunc(text, func(m string) string {
		sub := newAllocation.FindStringSubmatch(m)
		for _, id := range c.queue {
			if id == sub[2] {
				return m
			}
		}
		if len(sub[2]) < 3 || strings.HasPrefix(sub[2], "9999") {
			return m
		}
		return sub[1] + " <ID>"
	})
	return c.shown(strings.ReplaceAll(text, c.Dir, "DIR"))
}

// seen makes fields of what a look printed: those of scontrol's records by their
// names, else each line by its first word.
func (c *Cluster) seen(text string) map[string]string {
	if records := parseRecords(text); len(records) > 0 {
		id := c.queue[0]
		if record := records[id]; record != nil {
			return c.record(record, id)
		}
	}
	out := map[string]string{"seen": "yes"} // so that nothing is told from no look
	if strings.Contains(text, "Name=") {
		for line := range strings.Lines(text) {
			parseLine(out, strings.TrimSpace(line))
		}
		for key, value := range out {
			out[key] = c.changed(value)
		}
		return out
	}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		out[fmt.Sprintf("line%d", i)] = c.changed(line)
	}
	return out
}
