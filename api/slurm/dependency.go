package slurm

import (
	"errors"
	"strconv"
	"strings"

	"muster/job"
)

// ErrDependency is Slurm's answer to a dependency that it does not take.
var ErrDependency = errors.New("Job dependency problem") //lint:ignore ST1005 programs read the text

// ErrExpand is its answer to expand:, which needs jobs that can change size.
var ErrExpand = errors.New("Requested operation not supported on this system") //lint:ignore ST1005 programs read the text

// maxDependencies bounds one list.
const maxDependencies = 4096

// dependWords: the words before the colon, longest first where one starts another.
var dependWords = []struct {
	word string
	kind job.DependKind
}{
	{"afternotok", job.DependAfterNotOK}, {"aftercorr", job.DependAfterCorr}, {"afterany", job.DependAfterAny},
	{"afterok", job.DependAfterOK}, {"afterburstbuffer", job.DependAfterBurstBuffer}, {"after", job.DependAfter},
}

// ParseDependency reads a list as --dependency takes it (sbatch(1)):
// type:id[_task][+minutes][:id…] and singleton, joined by all commas (all of
// them) or all question marks (one is enough). A bare id means afterany. An
// empty text or 0 is no dependency. Whether the jobs exist is not asked.
func ParseDependency(text string) (list []job.Dependency, anyOf bool, err error) {
	if text == "" || text == "0" {
		return nil, false, nil
	}
	separator := ","
	if strings.Contains(text, "?") {
		if strings.Contains(outsideBrackets(text), ",") {
			return nil, false, ErrDependency
		}
		separator, anyOf = "?", true
	}
	for _, part := range SplitOutside(text, separator[0]) {
		if list, err = appendDependency(list, part); err != nil {
			return nil, false, err
		}
		if len(list) > maxDependencies {
			return nil, false, ErrDependency
		}
	}
	return list, anyOf, nil
}

// appendDependency reads what stands between two separators.
func appendDependency(list []job.Dependency, part string) ([]job.Dependency, error) {
	if rest, ok := cutFold(part, "singleton"); ok {
		state, rest, ok := dependState(rest)
		if !ok || rest != "" {
			return nil, ErrDependency
		}
		return append(list, job.Dependency{Kind: job.DependSingleton, Task: job.NoTask, State: state}), nil
	}
	word, ids, hasWord := strings.Cut(part, ":")
	kind := job.DependAfterAny
	if !hasWord {
		ids = part
	} else {
		if strings.EqualFold(word, "expand") {
			return nil, ErrExpand
		}
		kind = 0
		for _, d := range dependWords {
			if strings.EqualFold(word, d.word) {
				kind = d.kind
			}
		}
		if kind == 0 {
			return nil, ErrDependency
		}
	}
	for id := range strings.SplitSeq(ids, ":") {
		var ok bool
		if list, ok = appendTarget(list, kind, id); !ok {
			return nil, ErrDependency
		}
	}
	return list, nil
}

// appendTarget reads one id[_task][+minutes][(state)].
func appendTarget(list []job.Dependency, kind job.DependKind, text string) ([]job.Dependency, bool) {
	state, tail, ok := dependState(text)
	if !ok {
		return nil, false
	}
	d := job.Dependency{Kind: kind, Task: job.NoTask, State: state}
	target, delay, hasDelay := strings.Cut(tail, "+")
	if hasDelay {
		n, ok := digits(delay)
		if !ok || n == 0 {
			return nil, false
		}
		d.Delay = job.Minutes(n)
	}
	idText, task, hasTask := strings.Cut(target, "_")
	id, ok := digits(idText)
	if !ok || id == 0 {
		return nil, false
	}
	d.On = job.ID(id)
	if !hasTask || task == "*" {
		return append(list, d), true
	}
	if n, ok := digits(task); ok {
		d.Task = uint32(n)
		return append(list, d), n <= MaxArrayIndex
	}
	tasks, err := ParseArray(task, MaxArrayIndex+1)
	if err != nil || tasks.Limit != 0 || tasks.Tasks.Len() > maxDependencies {
		return nil, false
	}
	for i := range tasks.Tasks.All {
		d.Task = uint32(i)
		list = append(list, d)
	}
	return list, true
}

// dependState cuts off the (state) that squeue prints after each condition;
// only failed is taken over, the rest is found out anew.
func dependState(text string) (job.DependState, string, bool) {
	head, tail, has := strings.Cut(text, "(")
	if !has {
		return job.Unfulfilled, text, true
	}
	word, after, closed := strings.Cut(tail, ")")
	if !closed || after != "" {
		return 0, "", false
	}
	if word == "failed" {
		return job.FailedDep, head, true
	}
	return job.Unfulfilled, head, true
}

// outsideBrackets is text without what stands in brackets.
func outsideBrackets(text string) string {
	var b strings.Builder
	depth := 0
	for _, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth <= 0 {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}

// SplitOutside splits text at sep where it does not stand in brackets.
func SplitOutside(text string, sep byte) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth--
		case sep:
			if depth <= 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

// FormatDependency writes conditions as scontrol and squeue print them:
// afterok:12(unfulfilled). isArray tells whether an id is an array, whose ids
// end in _*; nil for never.
func FormatDependency(list []job.Dependency, anyOf bool, isArray func(job.ID) bool) string {
	var b []byte
	for i, d := range list {
		if i > 0 {
			b = append(b, ",?"[btoi(anyOf)])
		}
		if d.Kind == job.DependSingleton {
			b = append(b, "singleton"...)
		} else {
			for _, w := range dependWords {
				if w.kind == d.Kind {
					b = append(b, w.word...)
				}
			}
			b = append(b, ':')
			b = strconv.AppendUint(b, uint64(d.On), 10)
			switch {
			case d.Task != job.NoTask:
				b = strconv.AppendUint(append(b, '_'), uint64(d.Task), 10)
			case isArray != nil && isArray(d.On):
				b = append(b, "_*"...)
			}
			if d.Delay != 0 {
				b = strconv.AppendUint(append(b, '+'), uint64(d.Delay), 10)
			}
		}
		b = append(b, '(')
		b = append(b, [...]string{"unfulfilled", "fulfilled", "failed"}[d.State%3]...)
		b = append(b, ')')
	}
	return string(b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
