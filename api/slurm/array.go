package slurm

import (
	"errors"
	"strings"

	"muster/internal/bitset"
	"muster/job"
)

// MaxArrayIndex is the highest index that any array may have, whatever the
// cluster's MaxArraySize.
const MaxArrayIndex = 4_000_000

// ErrArray is Slurm's answer to any index list that it does not take.
var ErrArray = errors.New("Invalid job array specification") //lint:ignore ST1005 programs read the text

// Array is an index list as --array gives it.
type Array struct {
	Tasks  *bitset.Set
	Limit  uint32 // most tasks at once, 0: no throttle
	Bounds job.ArrayBounds

	work int64 // indices named so far, repeats counted
}

// maxArrayWork bounds the indices of one list with repeats, so that a long list
// of long ranges is not worked through.
const maxArrayWork = 2 * (MaxArrayIndex + 1)

// ParseArray reads an index list: numbers and ranges a-b[:step], separated by
// commas, then %N for a throttle. Indices must be below max. Every error is
// ErrArray.
func ParseArray(text string, max int) (*Array, error) {
	max = min(max, MaxArrayIndex+1)
	list, throttle, hasThrottle := strings.Cut(text, "%")
	a := &Array{Tasks: new(bitset.Set)}
	if hasThrottle {
		n, _ := digits(leadingDigits(throttle)) // what is no number sets none
		a.Limit = uint32(n)
	}
	list = strings.TrimSuffix(strings.TrimPrefix(strings.TrimLeft(list, blanks), "["), "]")
	if list == "" && hasThrottle {
		list = "0" // what Slurm makes of a bare throttle
	}
	for part := range strings.SplitSeq(list, ",") {
		if err := a.add(part, max); err != nil {
			return nil, err
		}
	}
	a.bounds()
	return a, nil
}

// leadingDigits is the number that a text begins with.
func leadingDigits(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}

// add reads one number or range.
func (a *Array) add(part string, max int) error {
	span, stepText, hasStep := strings.Cut(part, ":")
	loText, hiText, isRange := strings.Cut(span, "-")
	lo, ok := digits(loText)
	if !ok || lo >= int64(max) || hasStep && !isRange {
		return ErrArray
	}
	if !isRange {
		a.Tasks.Add(int(lo))
		return nil
	}
	hi, ok := digits(hiText)
	if !ok || hi < lo || hi >= int64(max) {
		return ErrArray
	}
	step := int64(1)
	if hasStep {
		if step, ok = digits(stepText); !ok || step == 0 {
			return ErrArray
		}
	}
	if a.work += (hi - lo) / step; a.work > maxArrayWork {
		return ErrArray
	}
	if step == 1 {
		a.Tasks.AddRange(int(lo), int(hi)+1)
		return nil
	}
	for i := lo; i <= hi; i += step {
		a.Tasks.Add(int(i))
	}
	return nil
}

// bounds works out what the SLURM_ARRAY_TASK_* variables say. The step is the
// distance of the first two indices if all are that far apart, else 1.
func (a *Array) bounds() {
	first := a.Tasks.Next(0)
	b := job.ArrayBounds{Count: uint32(a.Tasks.Len()), Min: uint32(first), Max: uint32(a.Tasks.Max()), Step: 1}
	if second := a.Tasks.Next(first + 1); second >= 0 && int(b.Count) < int(b.Max-b.Min)+1 {
		step := second - first
		even := true
		last := first
		for i := range a.Tasks.All {
			if even = i == first || i-last == step; !even {
				break
			}
			last = i
		}
		if even {
			b.Step = uint32(step)
		}
	}
	a.Bounds = b
}
