package slurm

import (
	"bytes"
	"fmt"
	"strings"
)

// ScriptError is a batch script that is refused. Lines are printed one by one
// after "sbatch: error: ".
type ScriptError struct {
	Lines []string
	Code  int
}

// Error joins the lines.
func (e *ScriptError) Error() string { return strings.Join(e.Lines, "\n") }

func scriptError(lines ...string) error { return &ScriptError{lines, 1} }

// CheckScript refuses what is no batch script, in Slurm's words: an empty file,
// one without an interpreter, one with DOS line ends, one with NUL bytes.
func CheckScript(script []byte) error {
	switch {
	case len(script) == 0:
		return scriptError("Batch script is empty!")
	case len(bytes.TrimSpace(script)) == 0:
		return scriptError("Batch script contains only whitespace!")
	case !bytes.HasPrefix(script, []byte("#!")):
		return scriptError("This does not look like a batch script.  The first",
			"line must start with #! followed by the path to an interpreter.", "For instance: #!/bin/sh")
	case bytes.IndexByte(script, 0) >= 0:
		return scriptError("The Slurm controller does not allow scripts that", "contain a NULL character '\\0'.")
	case bytes.Contains(script, []byte("\r\n")):
		return scriptError("Batch script contains DOS line breaks (\\r\\n)", "instead of expected UNIX line breaks (\\n).")
	}
	return nil
}

// Directives are the options that a script names for each component of the job;
// there is always at least one component.
type Directives struct {
	Components [][]Given
	Warnings   []string
}

// ReadDirectives reads the #SBATCH lines of a script up to its first command,
// and the #PBS and #BSUB lines unless ignorePBS is set. An unknown option is an
// error that stops the submission.
func ReadDirectives(script []byte, name string, ignorePBS bool) (*Directives, error) {
	r := &directiveReader{file: name, flags: Flags(Sbatch), words: [][]string{nil}}
	number := 0
	for line := range bytes.Lines(script) {
		number++
		more, err := r.line(strings.TrimRight(string(line), "\n"), number)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	d := &Directives{Warnings: r.warnings}
	for i, words := range r.words {
		given, rest, err := Getopt(words, r.flags, true)
		if err != nil {
			return nil, err
		}
		if len(rest) > 0 {
			return nil, &ScriptError{[]string{"Invalid directive found in batch script: " + rest[0]}, 255}
		}
		if i == 0 && !ignorePBS {
			foreign, err := foreignDirectives(script)
			if err != nil {
				return nil, err
			}
			given = append(foreign, given...)
		}
		d.Components = append(d.Components, given)
	}
	return d, nil
}

// directiveReader gathers the words of the directives, by component.
type directiveReader struct {
	file     string
	flags    []Flag
	words    [][]string
	warnings []string
}

// line reads one line; false ends the reading at the first command.
func (r *directiveReader) line(line string, number int) (bool, error) {
	rest, ok := strings.CutPrefix(line, "#SBATCH")
	if !ok {
		if rest, ok = strings.CutPrefix(line, "#SLURM"); ok {
			r.warnings = append(r.warnings, "Change from #SLURM to #SBATCH in your script and verify the options are valid in sbatch")
		}
	}
	if !ok {
		text := strings.TrimLeft(line, " \t\r\v\f")
		return text == "" || text[0] == '#', nil
	}
	text := strings.TrimLeft(rest, " \t\r\v\f")
	if after, het := separatorWord(text); het {
		r.words = append(r.words, nil)
		text = after
	}
	words, err := splitDirective(text, fmt.Sprintf("%s: line %d", r.file, number))
	if err != nil {
		return false, err
	}
	last := len(r.words) - 1
	r.words[last] = append(r.words[last], words...)
	return true, nil
}

// separatorWord tells whether a directive starts the next component.
func separatorWord(text string) (string, bool) {
	for _, word := range []string{"hetjob", "packjob"} {
		if rest, ok := cutFold(text, word); ok && (rest == "" || strings.ContainsRune(" \t\r", rune(rest[0]))) {
			return rest, true
		}
	}
	return text, false
}

// splitDirective splits the text of a directive into words: quotes group, a
// backslash keeps the next byte, # starts a comment. No variable is expanded.
func splitDirective(text, place string) ([]string, error) {
	var words []string
	for {
		whole := text
		text = strings.TrimLeft(text, " \t\r\v\f")
		if text == "" || text[0] == '#' {
			return words, nil
		}
		if text[0] == ':' {
			return nil, scriptError(fmt.Sprintf("%s: Unexpected `:` in [%s]", place, whole))
		}
		word, rest, quote := directiveWord(text)
		if quote != 0 {
			return nil, scriptError(fmt.Sprintf("%s: Unmatched `%c` in [%s]", place, quote, whole))
		}
		if word == "" { // a bare "" ends the line, as it does in Slurm
			return words, nil
		}
		words = append(words, word)
		text = rest
	}
}

// directiveWord reads one word; quote is the quote that was not closed. A
// backslash before a blank keeps the blank, before any other byte it is dropped
// and the byte is kept.
func directiveWord(text string) (word, rest string, quote byte) {
	var b []byte
	i := 0
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			if i++; i < len(text) {
				b = append(b, text[i])
			}
			continue
		case quote != 0:
			if c == quote {
				quote = 0
				continue
			}
		case c == '"' || c == '\'':
			quote = c
			continue
		case c == '#':
			return string(b), "", 0
		case strings.IndexByte(" \t\r\v\f", c) >= 0:
			return string(b), text[i:], 0
		}
		b = append(b, c)
	}
	return string(b), "", quote
}
