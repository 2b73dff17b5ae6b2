package bind

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/api/slurm"
)

// machine has sockets of cores of threads; the CPUs of a core are numbered as
// Linux does: first all first threads, then all second ones.
func machine(sockets, cores, threads int) []CPU {
	var out []CPU
	for c := range sockets * cores {
		for t := range threads {
			out = append(out, CPU{ID: c + t*sockets*cores, Core: c, Socket: c / cores})
		}
	}
	return out
}

func shown(cpus []CPU, r Request) string {
	sets, notes := Choose(cpus, r)
	var out []string
	for _, s := range sets {
		if s == nil {
			out = append(out, "-")
		} else {
			out = append(out, Mask(s))
		}
	}
	if len(notes) > 0 {
		out = append(out, fmt.Sprintf("%d notes", len(notes)))
	}
	return strings.Join(out, " ")
}

func TestChoose(t *testing.T) {
	for _, x := range []struct {
		name       string
		cpus       []CPU
		bind, dist string
		tasks, cpt int
		one        bool
		want       string
	}{
		{"none", machine(1, 4, 1), "none", "", 4, 1, false, "- - - -"},
		{"as many tasks as cores", machine(1, 4, 1), "", "", 4, 1, false, "0x1 0x2 0x4 0x8"},
		{"as many CPUs as cores", machine(1, 4, 1), "", "", 2, 2, false, "0x3 0xc"},
		{"neither: all of the step's", machine(1, 4, 1), "", "", 3, 1, false, "- - -"},
		{"a task on each core has its threads", machine(1, 2, 2), "", "", 2, 1, false, "0x5 0xa"},
		{"one thread of each", machine(1, 2, 2), "", "", 2, 1, true, "0x1 0x2"},
		{"threads", machine(1, 2, 2), "threads", "", 4, 1, false, "0x1 0x2 0x4 0x8"},
		{"cores, more tasks than cores", machine(1, 2, 1), "cores", "", 3, 1, false, "0x1 0x2 0x1"},
		{"sockets in turns", machine(2, 2, 1), "cores", "", 4, 1, false, "0x1 0x4 0x2 0x8"},
		{"sockets block", machine(2, 2, 1), "cores", "block:block", 4, 1, false, "0x1 0x2 0x4 0x8"},
		{"each CPU in turns", machine(2, 2, 1), "cores", "block:fcyclic", 2, 2, false, "0x5 0xa"},
		{"a task stays in its socket", machine(2, 2, 1), "cores", "block:cyclic", 2, 2, false, "0x3 0xc"},
		{"sockets", machine(2, 2, 1), "sockets", "", 2, 1, false, "0x3 0xc"},
		{"ldoms by rank", machine(2, 2, 1), "rank_ldom", "", 3, 1, false, "0x3 0xc 0x3"},
		{"map", machine(1, 4, 1), "map_cpu:3,0x1", "", 3, 1, false, "0x8 0x2 0x8"},
		{"map with repetition", machine(1, 4, 1), "map_cpu:0*2,3", "", 3, 1, false, "0x1 0x1 0x8"},
		{"map of others' CPUs", machine(1, 2, 1), "map_cpu:0,7", "", 2, 1, false, "0x1 - 1 notes"},
		{"mask", machine(1, 4, 1), "mask_cpu:0x3,c", "", 2, 1, false, "0x3 0xc"},
		{"mask beyond the step's", machine(1, 2, 1), "mask_cpu:f", "", 1, 1, false, "0x3"},
		{"ldom map and mask", machine(2, 2, 1), "map_ldom:1,0", "", 2, 1, false, "0xc 0x3"},
		{"ldom mask", machine(2, 2, 1), "mask_ldom:3", "", 1, 1, false, "0xf"},
	} {
		b, err := slurm.ParseCPUBind(x.bind)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Bind: b, Tasks: x.tasks, CPUsPerTask: x.cpt, OneThread: x.one, Dist: x.dist}
		if got := shown(x.cpus, r); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
}

// TestNoCPUTwice: while there are CPUs enough, no two tasks that are bound to
// threads share one, and each has as many as it asked for, of the step's.
func TestNoCPUTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := machine(rapid.IntRange(1, 3).Draw(t, "sockets"), rapid.IntRange(1, 4).Draw(t, "cores"), rapid.IntRange(1, 2).Draw(t, "threads"))
		cpt := rapid.IntRange(1, len(cpus)).Draw(t, "CPUs a task")
		word := rapid.SampledFrom([]string{"block", "cyclic", "fcyclic", "*"})
		r := Request{Tasks: len(cpus) / cpt, CPUsPerTask: cpt, Dist: "block:" + word.Draw(t, "sockets by") + ":" + word.Draw(t, "cores by")}
		r.Bind.Kind = "threads"
		sets, _ := Choose(cpus, r)
		seen := map[int]bool{}
		for i, s := range sets {
			if s.Len() != cpt {
				t.Fatalf("task %d has %d CPUs, want %d", i, s.Len(), cpt)
			}
			for cpu := range s.All {
				if seen[cpu] || cpu >= len(cpus) {
					t.Fatalf("CPU %d of task %d is another's, or none of the step's", cpu, i)
				}
				seen[cpu] = true
			}
		}
	})
}
