package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"muster/job"
)

// maxScenario bounds the jobs of a scenario.
const maxScenario = 10_000_000

// Scenario reads a workload written by hand: a submit on each line, as
//
//	at=10m run=1h user=alice count=20 every=30s -- -N 2 -n 8 -t 2:00:00
//
// Words before -- say when it comes (at), how long it really runs (run, needed),
// whose it is (user), and how often (count) in which steps (every). Those behind
// are sbatch's options, which options reads. Times are seconds, or have a unit:
// s, m, h, d. A word may be in quotes. # begins a comment. An error names the line.
func Scenario(data []byte, options func(words []string) (*job.Request, error)) (*Workload, error) {
	w := &Workload{}
	err := lines(data, func(n int, line []byte) error {
		words, err := split(string(line))
		if err == nil && len(words) > 0 {
			err = submit(w, words, options)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		return nil
	})
	return w, err
}

// submit adds the jobs of one line.
func submit(w *Workload, words []string, options func([]string) (*job.Request, error)) error {
	j := Job{User: "user", Limit: -1, Run: -1, Procs: 1, Held: 1}
	count, every := int64(1), int64(0)
	var own []string
	for i, word := range words {
		if word == "--" {
			own = words[i+1:]
			break
		}
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q, want name=value, or -- before the options of sbatch", word)
		}
		var err error
		switch name {
		case "at":
			j.Submit, err = seconds(value)
		case "run":
			j.Run, err = seconds(value)
		case "every":
			every, err = seconds(value)
		case "count":
			count, err = strconv.ParseInt(value, 10, 32)
		case "user":
			j.User = value
		default:
			err = errors.New("want at, run, user, count or every")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	if j.Run <= 0 {
		return errors.New("run= is missing: how long does the job run?")
	}
	if count < 1 || int64(len(w.Jobs))+count > maxScenario {
		return fmt.Errorf("count=%d, want 1 to %d jobs in all", count, maxScenario)
	}
	r, err := options(own)
	if err != nil {
		return err
	}
	j.Request, j.Account, j.QOS = r, r.Account, r.QOS
	if r.Timing.Limit != 0 && r.Timing.Limit != job.Unlimited {
		j.Limit = int64(r.Timing.Limit) * 60
	}
	for range count {
		j.ID = int64(len(w.Jobs)) + 1
		w.Jobs = append(w.Jobs, j)
		j.Submit += every
	}
	return nil
}

// seconds reads a time with a unit or without.
func seconds(text string) (int64, error) {
	unit := int64(1)
	number := text
	if n := len(text); n > 0 {
		if u, ok := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[text[n-1]]; ok {
			number, unit = text[:n-1], u
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 {
		return 0, errors.New("want seconds, or a whole number with s, m, h or d")
	}
	return n * unit, nil
}

// split cuts a line into words; quotes of either kind keep blanks in a word.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == '#' && !open:
			return words, nil
		case c == ' ' || c == '\t':
			if open {
				words = append(words, word.String())
				word.Reset()
			}
			open = false
		default:
			open = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
