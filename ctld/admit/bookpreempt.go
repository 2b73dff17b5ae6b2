package admit

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/partition"
)

// setPreempt sets a field of a QOS that is about making room for other jobs.
func setPreempt(q *accounting.QOS, p api.Pair) error {
	switch p.Name {
	case "preempt", "preempts":
		return setPreempted(q, p)
	case "preemptmode":
		m, ok := partition.ParsePreemptMode(p.Value)
		if !ok {
			return value(p, errors.New("want CLUSTER, OFF, CANCEL or REQUEUE"))
		}
		q.PreemptMode = m
	case "gracetime", "grace":
		n, err := strconv.ParseInt(p.Value, 10, 32)
		if err != nil || n < -1 {
			return value(p, errors.New("want a number of seconds"))
		}
		q.GraceTime = uint32(max(n, 0))
	default:
		return setSeconds(&q.Exempt, p)
	}
	return nil
}

// setPreempted sets, adds to or takes from the list of QOS that make room.
func setPreempted(q *accounting.QOS, p api.Pair) error {
	names := lower(p.Value)
	if slices.Contains(names, q.Name) {
		return value(p, errors.New("a QOS does not preempt itself"))
	}
	if p.Op == "" {
		q.Preempt = nil
	}
	for _, n := range names {
		q.Preempt = slices.DeleteFunc(slices.Clone(q.Preempt), func(s string) bool { return s == n })
		if p.Op != "-" && n != "-1" && n != "" {
			q.Preempt = append(q.Preempt, n)
		}
	}
	return nil
}

// setSeconds reads minutes, or a time such as 01:30:00; -1 removes it.
func setSeconds(b *accounting.Bound, p api.Pair) error {
	if strings.TrimSpace(p.Value) == "-1" {
		*b = 0
		return nil
	}
	n, err := slurm.ParseSeconds(p.Value)
	if err != nil {
		return value(p, err)
	}
	if n < 0 {
		return value(p, errors.New("want a time of 0 or more"))
	}
	*b = accounting.AtMost(uint64(n))
	return nil
}
