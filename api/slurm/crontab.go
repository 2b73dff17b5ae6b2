package slurm

import (
	"fmt"
	"strings"

	"muster/internal/crontime"
)

// CronEntry is one entry of a crontab (scrontab(1)): its times, its command with
// the crontab's variables put in, and the options of the #SCRON lines above it.
type CronEntry struct {
	Spec, Command string
	Options       []string // words of the #SCRON lines, without quotes
	Script        string   // the batch script that runs it
	First, Last   int      // its lines, from 0 on, with those of #SCRON
}

// CronError is a crontab with lines that cannot be read.
type CronError struct {
	First, Last int // lines, from 0 on
	Text        string
}

// Error names the line, from 1 on, and what is wrong.
func (e *CronError) Error() string { return fmt.Sprintf("line %d: %s", e.Last+1, e.Text) }

// mostEntries bounds a crontab.
const mostEntries = 1000

// ParseCrontab reads a crontab. Variables are set by NAME=value lines and count from
// there on; $NAME is replaced in commands only.
func ParseCrontab(text string) ([]CronEntry, error) {
	var entries []CronEntry
	var variables [][2]string // in the order in which they are put in
	entry, first := CronEntry{}, -1
	for n, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case trimmed == "":
			continue
		case strings.HasPrefix(trimmed, "#SCRON"):
			words, err := splitDirective(trimmed[len("#SCRON"):], "#SCRON")
			if err != nil {
				return nil, &CronError{n, n, err.Error()}
			}
			if first < 0 {
				first = n
			}
			entry.Options = append(entry.Options, words...)
			entry.Script += line + "\n"
			continue
		case trimmed[0] == '#':
			continue
		}
		if name, value, ok := cronVariable(trimmed); ok {
			variables = setVariable(variables, name, value)
			continue
		}
		spec, command, ok := crontime.Cut(trimmed)
		if !ok {
			return nil, &CronError{max(first, n), n, "neither an entry (five fields and a command) nor a variable (NAME=value)"}
		}
		if _, err := crontime.Parse(spec); err != nil {
			return nil, &CronError{n, n, err.Error()}
		}
		entry.Spec, entry.Command, entry.First, entry.Last = spec, expand(command, variables), n, n
		if first >= 0 {
			entry.First = first
		}
		entry.Script = "#!/bin/sh\n# This job was submitted through scrontab\n" + entry.Script +
			fmt.Sprintf("# crontab time request was: '%s'\n%s\n", entry.Spec, entry.Command)
		if entries = append(entries, entry); len(entries) > mostEntries {
			return nil, &CronError{n, n, fmt.Sprintf("a crontab has at most %d entries", mostEntries)}
		}
		entry, first = CronEntry{}, -1
	}
	return entries, nil
}

// cronVariable reads NAME=value, with blanks around the sign and quotes around the
// value if somebody likes.
func cronVariable(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, "=")
	name, value = strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")
	if !ok || name == "" || value == "" || strings.ContainsFunc(name, func(r rune) bool { return !nameRune(r) }) {
		return "", "", false
	}
	if q := value[0]; q == '\'' || q == '"' {
		inner, rest, closed := strings.Cut(value[1:], string(q))
		if !closed || strings.TrimLeft(rest, " \t") != "" {
			return "", "", false
		}
		value = inner
	}
	return name, value, true
}

func nameRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func setVariable(list [][2]string, name, value string) [][2]string {
	var out [][2]string
	for _, v := range list {
		if v[0] != name {
			out = append(out, v)
		}
	}
	return append(out, [2]string{name, value})
}

// expand puts variables in where $NAME stands; a name that is not set stays.
func expand(command string, variables [][2]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(command, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := 0
		for n < len(after) && nameRune(rune(after[n])) {
			n++
		}
		value := "$" + after[:n]
		for _, v := range variables {
			if v[0] == after[:n] {
				value = v[1]
			}
		}
		b.WriteString(value)
		command = after[n:]
	}
}

// MarkLines puts a mark before lines of a crontab, from 0 on: what is commented out
// because it is wrong, or because its job was cancelled.
func MarkLines(text, mark string, first, last int) string {
	lines := strings.Split(text, "\n")
	for n := max(first, 0); n <= last && n < len(lines); n++ {
		if lines[n] != "" {
			lines[n] = mark + lines[n]
		}
	}
	return strings.Join(lines, "\n")
}
