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
//
// id=NAME names the jobs of a line, so that the --dependency of a later one can.
func Scenario(data []byte, options func(words []string, named Named) (*Ask, error)) (*Workload, error) {
	w := &Workload{}
	s := scenario{w: w, options: options, names: map[string][]int{}}
	err := lines(data, func(n int, line []byte) error {
		words, err := split(string(line))
		if err == nil && len(words) > 0 {
			err = s.submit(words)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		return nil
	})
	return w, err
}

// Ask is what the options of one line ask for.
type Ask struct {
	Request *job.Request
	Array   *Array // nil: a plain job
	Deps    []job.Dependency
	AnyDep  bool
}

// Named gives the IDs of the jobs that a line before names by id=. The error is
// that there is none.
type Named func(name string) ([]int64, error)

// scenario is a workload that is being read.
type scenario struct {
	w       *Workload
	options func(words []string, named Named) (*Ask, error)
	names   map[string][]int // by id=: places in w.Jobs
}

// named is the Named for jobs that are submitted from a time on.
func (s *scenario) named(from int64) Named {
	return func(name string) ([]int64, error) {
		places, ok := s.names[name]
		if !ok {
			return nil, fmt.Errorf("no line before has id=%s", name)
		}
		ids := make([]int64, len(places))
		for i, at := range places {
			j := &s.w.Jobs[at]
			if j.Submit > from {
				return nil, fmt.Errorf("a job of id=%s is submitted only %d s later", name, j.Submit-from)
			}
			ids[i] = j.ID
		}
		return ids, nil
	}
}

// submit adds the jobs of one line.
func (s *scenario) submit(words []string) error {
	w := s.w
	j := Job{User: "user", Limit: -1, Run: -1, Procs: 1, Held: 1}
	count, every := int64(1), int64(0)
	var own []string
	var id string
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
		case "id":
			id, err = value, s.free(value)
		default:
			err = errors.New("want at, run, user, id, count or every")
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
	ask, err := s.options(own, s.named(j.Submit))
	if err != nil {
		return err
	}
	r := ask.Request
	j.Array, j.Deps, j.AnyDep = ask.Array, ask.Deps, ask.AnyDep
	j.Request, j.Account, j.QOS = r, r.Account, r.QOS
	if r.Timing.Limit != 0 && r.Timing.Limit != job.Unlimited {
		j.Limit = int64(r.Timing.Limit) * 60
	}
	for range count {
		j.ID = int64(len(w.Jobs)) + 1
		if id != "" {
			s.names[id] = append(s.names[id], len(w.Jobs))
		}
		w.Jobs = append(w.Jobs, j)
		j.Submit += every
	}
	return nil
}

// free tells why a name cannot be one of a line. What separates the parts of a
// dependency is not allowed in it, and it must not look like a job's number.
func (s *scenario) free(name string) error {
	if _, ok := s.names[name]; ok {
		return errors.New("another line has that name")
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' || strings.ContainsAny(name, ":,?_+([") || strings.EqualFold(name, "singleton") {
		return errors.New("want a name that begins with no digit, is not singleton and has none of : , ? _ + ( [")
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
