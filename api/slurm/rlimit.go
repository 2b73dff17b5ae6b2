package slurm

import (
	"fmt"
	"strings"

	"muster/job"
)

// limitNumbers: the resource limits that --propagate knows, with Linux's numbers.
var limitNumbers = []struct {
	name   string
	number int
}{
	{"CPU", 0}, {"FSIZE", 1}, {"DATA", 2}, {"STACK", 3}, {"CORE", 4}, {"RSS", 5}, {"NPROC", 6}, {"NOFILE", 7},
	{"MEMLOCK", 8}, {"AS", 9},
}

// LimitNumber is Linux's number of a resource limit named as in --propagate.
func LimitNumber(name string) (int, bool) {
	for _, l := range limitNumbers {
		if l.name == name {
			return l.number, true
		}
	}
	return 0, false
}

// PropagatedLimits lists the limits that --propagate asks for: all with ALL or
// an empty text, none with NONE.
func PropagatedLimits(text string) ([]string, error) {
	var out []string
	if text == "" || text == "ALL" {
		for _, l := range limitNumbers {
			out = append(out, l.name)
		}
		return out, nil
	}
	if text == "NONE" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimPrefix(word, "RLIMIT_")
		if _, ok := LimitNumber(word); !ok {
			return nil, fmt.Errorf("Bad rlimit name: %s", word) //lint:ignore ST1005 programs read the text
		}
		out = append(out, word)
	}
	return out, nil
}

// ReadLimits reads the soft limits of this process that are to be propagated.
func ReadLimits(names []string, get func(number int) (uint64, error)) ([]job.Limit, error) {
	var out []job.Limit
	for _, name := range names {
		n, _ := LimitNumber(name)
		v, err := get(n)
		if err != nil {
			return nil, fmt.Errorf("reading resource limit %s: %w", name, err)
		}
		out = append(out, job.Limit{Name: name, Value: v})
	}
	return out, nil
}
