package main

import (
	"fmt"
	"os"
	"slices"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// readComponents reads the command line of srun or salloc: options and program,
// and with words ":" those of further components (srun(1), heterogeneous jobs).
// Options that are not of one component hold for the later ones, too.
func readComponents(in *invocation, p slurm.Program) (*stepCommand, error) {
	input := &slurm.Input{Program: p, Now: in.now(), Dir: in.dir, UID: in.uid, ReadFile: os.ReadFile}
	var first *stepCommand
	var sticky []slurm.Given
	for words := in.args; ; {
		given, rest, err := slurm.Getopt(words, slurm.Flags(p), true)
		if err != nil {
			return nil, err
		}
		more := false
		c := &stepCommand{in: in, o: slurm.NewOptions(input)}
		c.args, words, more = cutComponent(rest, p)
		if err := c.o.ApplyEnvironment(in.getenv); err != nil {
			return nil, err
		}
		if err := c.o.Apply(slices.Concat(sticky, given), slurm.FromCommandLine); err != nil {
			return nil, err
		}
		sticky = append(sticky, slurm.Sticky(given)...)
		if first == nil {
			first = c
		} else {
			first.more = append(first.more, c)
		}
		if !more {
			break
		}
	}
	first.sharePrograms()
	return first, nil
}

// cutComponent cuts a component's program at the next ":". The command of salloc
// is that of all its components, and may have such a word itself.
func cutComponent(words []string, p slurm.Program) (args, rest []string, more bool) {
	at := slices.Index(words, ":")
	if at < 0 || p == slurm.Salloc && at > 0 {
		return words, nil, false
	}
	return words[:at], words[at+1:], true
}

// sharePrograms: a component without a program runs that of the next one; the
// command of salloc stands in the last.
func (c *stepCommand) sharePrograms() {
	all := c.components()
	for i := len(all) - 2; i >= 0; i-- {
		if len(all[i].args) == 0 {
			all[i].args = all[i+1].args
		}
	}
}

// components are all of the command line, this one first.
func (c *stepCommand) components() []*stepCommand {
	return append([]*stepCommand{c}, c.more...)
}

// group is one step of several that run as one application.
type group struct {
	command *stepCommand
	offset  uint32 // of the component in its heterogeneous job
}

// groups says which component of the job runs which command: those that
// --het-group names, else the first command in the first component, and so on.
func (c *stepCommand) groups() ([]group, error) {
	var out []group
	for i, one := range c.components() {
		list := []uint32{uint32(i)}
		if text := one.o.Run.HetGroup; text != "" {
			var err error
			if list, err = hetGroups(text); err != nil {
				return nil, err
			}
		}
		for _, g := range list {
			if slices.ContainsFunc(out, func(o group) bool { return o.offset == g }) {
				return nil, fmt.Errorf("Duplicate het groups in single srun not supported")
			}
			out = append(out, group{one, g})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--het-group names no component")
	}
	slices.SortStableFunc(out, func(a, b group) int { return int(a.offset) - int(b.offset) })
	if len(out) > 1 && slices.ContainsFunc(out, func(g group) bool { return g.command.o.Run.MultiProg }) {
		return nil, fmt.Errorf("--multi-prog option not supported with multiple het groups")
	}
	return out, nil
}

// onOwnNodes makes a component of a step in a job that is not heterogeneous: it
// gets nodes that no earlier component has.
func (c *stepCommand) onOwnNodes(r *api.JobRecord, used []string) error {
	o := *c.o
	c.o = &o
	if o.WasSet("ntasks") != slurm.FromCommandLine {
		o.TaskCount, o.Job.Size.Tasks = false, 0
	}
	if o.WasSet("nodes") != slurm.FromCommandLine {
		o.Job.Size.MinNodes, o.Job.Size.MaxNodes = 1, 1
	}
	want, all := int(o.Job.Size.MinNodes), len(r.Alloc.Nodes)
	if len(used)+want > all {
		return fmt.Errorf("Allocation failure of %d nodes: job size of %d, already allocated %d nodes to previous components.", want, all, len(used))
	}
	o.Job.Place.Exclude = slices.Concat(o.Job.Place.Exclude, used)
	return nil
}

// hetEnvironment is what an allocation's environment says of the components of a
// heterogeneous job.
func hetEnvironment(records []*api.JobRecord) slurm.HetJob {
	h := slurm.HetJob{Size: uint32(len(records))}
	for _, r := range records {
		one := slurm.HetComponent{ID: r.ID, Name: r.Name, Account: r.Account, Partition: r.Partition, QOS: r.QOS}
		for i := range r.Alloc.Nodes {
			n := &r.Alloc.Nodes[i]
			one.Nodes = append(one.Nodes, slurm.NodeTasks{Name: n.Name, CPUs: n.CPUs, Tasks: n.Tasks})
		}
		h.Components = append(h.Components, one)
	}
	return h
}

// jobOf is the id that a heterogeneous job is known by: its leader's.
func jobOf(r *api.JobRecord) job.ID {
	if r.Het.Leader != 0 {
		return r.Het.Leader
	}
	return r.ID
}
