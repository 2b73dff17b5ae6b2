package gres

import (
	"strconv"
	"strings"

	"muster/internal/bitset"
)

// BindKind is a way to bind tasks to devices (srun(1), --tres-bind).
type BindKind uint8

// The ways.
const (
	BindNone    BindKind = iota // every task to all
	BindClosest                 // to those near its cores
	BindSingle                  // to one near its cores; so many tasks share one
	BindPerTask                 // to so many of its own
	BindMap                     // to the one that a list names
	BindMask                    // to those that a list of masks names
)

// maxBindList bounds the tasks of a node that a list names.
const maxBindList = 4096

// Binding says which of the step's devices on a node are a task's.
type Binding struct {
	Verbose bool
	Kind    BindKind
	Count   int      // of BindSingle and BindPerTask, at least 1
	List    []uint64 // of BindMap and BindMask: by task of the node, in turns
}

// ParseBinding reads the argument of --gpu-bind. It is false for anything that
// srun(1) does not have.
func ParseBinding(text string) (b Binding, ok bool) {
	low := strings.ToLower(text)
	if rest, verbose := strings.CutPrefix(low, "verbose,"); verbose {
		b.Verbose, low = true, rest
	}
	word, arg, _ := strings.Cut(low, ":")
	switch word {
	case "none", "closest":
		if word == "closest" {
			b.Kind = BindClosest
		}
		return b, word == low
	case "single", "per_task":
		b.Kind = BindSingle
		if word == "per_task" {
			b.Kind = BindPerTask
		}
		n, err := strconv.ParseUint(arg, 10, 16)
		b.Count = int(n)
		return b, err == nil && n > 0
	case "map", "map_gpu":
		b.Kind = BindMap
		ok = b.list(arg, 10)
	case "mask", "mask_gpu":
		b.Kind = BindMask
		ok = b.list(arg, 16)
	}
	return b, ok
}

// list reads numbers with an optional count of repetitions: 0*4,1*4.
func (b *Binding) list(text string, base int) bool {
	for part := range strings.SplitSeq(text, ",") {
		value, times, repeated := strings.Cut(part, "*")
		if base == 16 {
			value = strings.TrimPrefix(value, "0x")
		}
		n, err := strconv.ParseUint(value, base, 63)
		count := uint64(1)
		if err == nil && repeated {
			count, err = strconv.ParseUint(times, 10, 16)
		}
		if err != nil || uint64(len(b.List))+count > maxBindList {
			return false
		}
		for range max(1, count) { // Slurm takes 0 as 1
			b.List = append(b.List, n)
		}
	}
	return len(b.List) > 0
}

// Bindable is a device that a step has on a node.
type Bindable struct {
	Index int         // the node's number
	Cores *bitset.Set // near it; nil: all
}

// Pick gives the places in a list of the step's devices that are those of a task,
// which is numbered on its node from 0; cores are those that it runs on, nil is
// any. In lists and masks devices are numbered as they stand in the list, or, with
// global, by the node's numbers. A task for which nothing is left has the first.
func (b *Binding) Pick(task int, devices []Bindable, cores *bitset.Set, global bool) []int {
	if len(devices) == 0 {
		return nil
	}
	near, far := sides(devices, cores)
	var out []int
	switch b.Kind {
	case BindNone:
		for i := range devices {
			out = append(out, i)
		}
	case BindClosest:
		out = near
	case BindSingle:
		if len(near) == 0 {
			near = far
		}
		out = []int{near[task/b.Count%len(near)]}
	case BindPerTask:
		all := append(near, far...)
		from := min(task*b.Count, len(all))
		out = all[from:min(from+b.Count, len(all))]
	case BindMap, BindMask:
		value := b.List[task%len(b.List)]
		for i, d := range devices {
			number := i
			if global {
				number = d.Index
			}
			if b.Kind == BindMap && value == uint64(number) || b.Kind == BindMask && number < 63 && value>>number&1 == 1 {
				out = append(out, i)
			}
		}
	}
	if len(out) == 0 {
		out = []int{0}
	}
	return out
}

// sides are the places of the devices near some cores, and of the others.
func sides(devices []Bindable, cores *bitset.Set) (near, far []int) {
	for i, d := range devices {
		if d.Cores == nil || cores == nil || d.Cores.Overlaps(cores) {
			near = append(near, i)
		} else {
			far = append(far, i)
		}
	}
	return near, far
}
