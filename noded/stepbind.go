package noded

import (
	"fmt"
	"slices"
	"strings"

	"muster/api/slurm"
	"muster/internal/bitset"
	"muster/noded/bind"
	"muster/noded/shepherd"
)

// bindTasks chooses the CPUs of the step's tasks on this node. Where the node
// declares CPUs that are not the machine's, nothing is bound; tasks whose step asked
// for it are told.
func (st *step) bindTasks() error {
	s := st.start
	asked, err := slurm.ParseCPUBind(s.CPUBind)
	if err != nil {
		return fmt.Errorf("start of the step: %w", err)
	}
	sets, notes := make([]*bitset.Set, len(st.part.Tasks)), []string(nil)
	cpus := st.cpus()
	if cpus != nil {
		sets, notes = bind.Choose(cpus, bind.Request{
			Bind: asked, Tasks: len(sets), CPUsPerTask: int(s.CPUsPerTask), OneThread: s.OneThread, Dist: s.Dist,
		})
	} else if asked.Kind != "" && asked.Kind != "none" {
		notes = []string{"--cpu-bind: node " + st.node.cfg.Name + " declares other CPUs than its machine has: tasks are not bound"}
	}
	st.bindings = make([]binding, len(sets))
	for i, set := range sets {
		b := &st.bindings[i]
		if set == nil && st.part.Cores != nil { // a step of some of its job's cores keeps to them
			set = allOf(cpus)
		}
		for cpu := range set.All {
			b.cpus = append(b.cpus, uint32(cpu))
		}
		if asked.Verbose {
			b.report = st.report(i, &asked, set)
		}
	}
	if len(notes) > 0 && len(st.bindings) > 0 {
		st.bindings[0].report = "slurmstepd: error: " + strings.Join(slices.Compact(notes), "\nslurmstepd: error: ") + "\n" + st.bindings[0].report
	}
	return nil
}

// binding is what a task is bound to, and what it says of that.
type binding struct {
	cpus   []uint32
	report string
}

// cpus are the machine's CPUs of the step; nil where the node's are not those.
func (st *step) cpus() []bind.CPU {
	v := st.node.inventory()
	if v.Cores == nil {
		return nil
	}
	var out []bind.CPU
	for c := range st.cores().All {
		if c >= len(v.Cores) {
			return nil
		}
		for _, id := range v.Cores[c] {
			out = append(out, bind.CPU{ID: id, Core: c, Socket: c / int(max(1, v.CoresPerSocket))})
		}
	}
	return out
}

// cores are those of the node that the step has.
func (st *step) cores() *bitset.Set {
	if st.part.Cores != nil {
		return st.part.Cores
	}
	out := &bitset.Set{}
	for _, c := range st.launch.GetPart().GetCores() {
		out.Add(int(c))
	}
	return out
}

// coresOf are the cores of the node that a task is bound to, or else all of the
// step's.
func (st *step) coresOf(local uint32) *bitset.Set {
	cpus := st.bindings[local].cpus
	if len(cpus) == 0 {
		return st.cores()
	}
	out := &bitset.Set{}
	for _, c := range st.cpus() {
		if slices.Contains(cpus, uint32(c.ID)) {
			out.Add(c.Core)
		}
	}
	return out
}

func allOf(cpus []bind.CPU) *bitset.Set {
	out := &bitset.Set{}
	for _, c := range cpus {
		out.Add(c.ID)
	}
	return out
}

// report is the line of --cpu-bind=verbose, as Slurm's task/affinity writes it.
func (st *step) report(local int, asked *slurm.CPUBind, set *bitset.Set) string {
	kind, done := "MASK", " set"
	switch {
	case asked.Kind == "none" || set.Empty():
		kind, done = "NONE", ""
	case asked.Kind == "map_cpu":
		kind = "MAP"
	case asked.Kind == "rank_ldom":
		kind = "LDRANK"
	case asked.Kind == "map_ldom":
		kind = "LDMAP"
	case asked.Kind == "mask_ldom":
		kind = "LDMASK"
	}
	if set.Empty() {
		set = allOf(st.cpus())
	}
	return fmt.Sprintf("cpu-bind=%s - %s, task %2d %2d [%s]: mask %s%s\n", kind, st.node.cfg.Name,
		st.start.Before+st.part.Tasks[local], local, shepherd.PIDMark, bind.Mask(set), done)
}
