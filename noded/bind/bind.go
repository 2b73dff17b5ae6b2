// Package bind chooses the CPUs of each task of a step on one node: srun(1),
// --cpu-bind and --distribution.
package bind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api/slurm"
	"muster/internal/bitset"
)

// CPU is one of those that the step has on the node.
type CPU struct{ ID, Core, Socket int }

// Request is what is asked for.
type Request struct {
	Bind        slurm.CPUBind
	Tasks       int
	CPUsPerTask int
	OneThread   bool   // of each core: --threads-per-core=1, --hint=nomultithread
	Dist        string // of --distribution
}

// Choose returns the CPUs of each task; nil for one that may use all of the
// step's. What can't be done as asked is said in a note, and the task is not bound.
func Choose(cpus []CPU, r Request) (sets []*bitset.Set, notes []string) {
	sets = make([]*bitset.Set, r.Tasks)
	usable := cpus
	if r.OneThread {
		usable = firstThreads(cpus)
	}
	if len(usable) == 0 || r.Tasks == 0 || r.Bind.Kind == "none" {
		return sets, nil
	}
	kind := r.Bind.Kind
	if kind == "" {
		kind = automatic(usable, r.Tasks*max(1, r.CPUsPerTask))
	}
	switch kind {
	case "threads", "cores", "sockets", "ldoms":
		d := newDealer(usable, r.Dist)
		for i := range sets {
			sets[i] = widen(d.take(max(1, r.CPUsPerTask)), usable, kind)
		}
	case "rank_ldom":
		for i := range sets {
			sets[i] = domain(usable, i%(highest(usable, socketOf)+1))
		}
	case "":
		if r.OneThread {
			for i := range sets {
				sets[i] = ids(usable)
			}
		}
	default:
		return listed(usable, r)
	}
	return sets, nil
}

func socketOf(c CPU) int { return c.Socket }
func coreOf(c CPU) int   { return c.Core }

// firstThreads leaves one CPU of each core.
func firstThreads(cpus []CPU) []CPU {
	var out []CPU
	for _, c := range cpus {
		if !slices.ContainsFunc(out, func(o CPU) bool { return o.Core == c.Core }) {
			out = append(out, c)
		}
	}
	return out
}

// automatic is the kind of which the step has as many as its tasks need; "" if
// there is none.
func automatic(cpus []CPU, need int) string {
	switch need {
	case distinct(cpus, socketOf):
		return "sockets"
	case distinct(cpus, coreOf):
		return "cores"
	case len(cpus):
		return "threads"
	}
	return ""
}

func distinct(cpus []CPU, of func(CPU) int) int {
	seen := map[int]bool{}
	for _, c := range cpus {
		seen[of(c)] = true
	}
	return len(seen)
}

func highest(cpus []CPU, of func(CPU) int) int {
	n := 0
	for _, c := range cpus {
		n = max(n, of(c))
	}
	return n
}

func ids(cpus []CPU) *bitset.Set {
	out := &bitset.Set{}
	for _, c := range cpus {
		out.Add(c.ID)
	}
	return out
}

// domain is a NUMA domain: a socket. nil if the step has nothing there.
func domain(cpus []CPU, n int) *bitset.Set {
	out := &bitset.Set{}
	for _, c := range cpus {
		if c.Socket == n {
			out.Add(c.ID)
		}
	}
	if out.Empty() {
		return nil
	}
	return out
}

// widen adds the rest of the cores or sockets in which a task has CPUs, as far as
// they are the step's.
func widen(taken []CPU, all []CPU, kind string) *bitset.Set {
	out := ids(taken)
	of := coreOf
	switch kind {
	case "threads":
		return out
	case "sockets", "ldoms":
		of = socketOf
	}
	for _, c := range all {
		if slices.ContainsFunc(taken, func(t CPU) bool { return of(t) == of(c) }) {
			out.Add(c.ID)
		}
	}
	return out
}

// listed reads a list of CPUs, domains or masks; tasks beyond its end begin again.
func listed(cpus []CPU, r Request) (sets []*bitset.Set, notes []string) {
	have := ids(cpus)
	for i := range r.Tasks {
		text := r.Bind.List[i%len(r.Bind.List)]
		var want *bitset.Set
		switch r.Bind.Kind {
		case "map_cpu", "map_ldom":
			n, err := strconv.ParseInt(text, 0, 32)
			if err != nil { // leading zeros
				n, _ = strconv.ParseInt(text, 10, 32)
			}
			want = bitset.Of(int(n))
		default:
			want = ParseMask(text)
		}
		if strings.HasSuffix(r.Bind.Kind, "ldom") {
			cpusOf := &bitset.Set{}
			for n := range want.All {
				cpusOf.Union(domain(cpus, n))
			}
			want = cpusOf
		}
		want.Intersect(have)
		if want.Empty() {
			notes = append(notes, fmt.Sprintf("--cpu-bind=%s:%s: none of these CPUs is the step's, task %d on this node is not bound", r.Bind.Kind, text, i))
			want = nil
		}
		sets = append(sets, want)
	}
	return sets, notes
}

// ParseMask reads a hexadecimal mask, however long; what is no digit counts as 0.
func ParseMask(text string) *bitset.Set {
	out := &bitset.Set{}
	digits := strings.TrimPrefix(strings.ToLower(text), "0x")
	for i := range len(digits) {
		v, _ := strconv.ParseUint(digits[len(digits)-1-i:len(digits)-i], 16, 8)
		for bit := range 4 {
			if v>>bit&1 == 1 {
				out.Add(4*i + bit)
			}
		}
	}
	return out
}

// Mask writes a set as a hexadecimal mask.
func Mask(s *bitset.Set) string {
	var b strings.Builder
	for digit := s.Max() / 4; digit >= 0; digit-- {
		v := 0
		for bit := range 4 {
			if s.Has(4*digit + bit) {
				v |= 1 << bit
			}
		}
		b.WriteString(strconv.FormatInt(int64(v), 16))
	}
	return "0x" + b.String()
}
