package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/job"
)

// hetGroups reads the value of --het-group: the numbers of components, such as
// 0,2-3, in ascending order.
func hetGroups(text string) ([]uint32, error) {
	names, err := hostlist.Expand("[" + text + "]")
	if err != nil {
		return nil, fmt.Errorf("Invalid --het-group value %q: %w", text, err)
	}
	var out []uint32
	for _, name := range names {
		n, err := strconv.ParseUint(name, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("Invalid --het-group value %q: %q is no component's number", text, name)
		}
		out = append(out, uint32(n))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// runGroups runs programs in several components of a heterogeneous job at once,
// as one application: the tasks are numbered through. The exit code is the highest
// of all. Each component's step is one of that component's job.
func (c *stepCommand) runGroups(leader job.ID, environ []string) int {
	steps, err := c.beginGroups(leader)
	defer func() {
		for _, s := range steps {
			s.c.client.Close()
		}
	}()
	if err != nil {
		if err != errSaid {
			c.in.errorf("%v", err)
		}
		return 1
	}
	var tasks, nodes uint32
	for _, s := range steps {
		s.start.Before, s.start.NodesBefore, s.start.Leader = tasks, nodes, leader
		tasks += s.grant.Tasks
		nodes += uint32(len(s.grant.Nodes))
	}
	for i, s := range steps {
		s.start.All, s.start.AllNodes = tasks, nodes
		s.keepFiles = i > 0
		if err := s.prepare(environ); err != nil {
			c.in.errorf("%v", err)
			return 1
		}
	}
	if len(steps) == 1 {
		return steps[0].runAround(environ)
	}
	return runTogether(steps)
}

// errSaid is an error that the user has been told.
var errSaid = errors.New("it has been said")

// beginGroups gets the steps of all groups, with one number if the job is
// heterogeneous. Those that it has got it returns with an error, too.
func (c *stepCommand) beginGroups(leader job.ID) (steps []*stepIO, err error) {
	groups, err := c.groups()
	if err != nil {
		return nil, err
	}
	var used []string
	if len(groups) > 1 && c.o.Run.MPI == "pmi2" {
		return nil, errors.New("--mpi=pmi2 is not supported with several components: start MPI programs that have some with their own mpirun")
	}
	if run := &c.o.Run; len(groups) > 1 && run.Prolog+run.Epilog != "" {
		return nil, errors.New("--prolog and --epilog are not supported with several components: run the programs before and after srun")
	}
	for _, g := range groups {
		one := *g.command
		one.client = nil
		id, err := one.component(leader, g.offset, used, len(c.more) > 0)
		if err != nil {
			return steps, err
		}
		if len(steps) > 0 && id != leader {
			one.number, one.numbered = steps[0].grant.Step, true
		}
		s := one.beginStep(id)
		if s == nil {
			return steps, errSaid
		}
		steps = append(steps, s)
		for _, n := range s.grant.Nodes {
			used = append(used, n.Name)
		}
	}
	return steps, nil
}

// component finds the job of a component and takes its size for the step, unless
// the command line has its own. Several commands in a job that has no components
// get nodes of their own; used are taken.
func (c *stepCommand) component(leader job.ID, group uint32, used []string, several bool) (job.ID, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	r, err := c.lookUpRef(api.JobRef{ID: leader, Offset: group, HasHet: true})
	if err != nil {
		r, err = c.lookUpRef(api.JobRef{ID: leader})
		if err == nil && several && r.Het.Leader == 0 && c.o.Run.HetGroup == "" {
			return r.ID, c.onOwnNodes(r, used)
		}
		if err != nil || group != 0 || r.Het.Leader != 0 {
			return 0, fmt.Errorf("Attempt to run a job step with het group value of %d, which job %d does not have", group, leader)
		}
	}
	c.fitTo(r)
	return r.ID, nil
}

// fitTo: what the environment says of nodes and tasks is that of the first
// component.
func (c *stepCommand) fitTo(r *api.JobRecord) {
	o := *c.o
	c.o = &o
	if o.WasSet("ntasks") != slurm.FromCommandLine {
		o.TaskCount, o.Job.Size.Tasks = false, 0
		for i := range r.Alloc.Nodes {
			o.Job.Size.Tasks += r.Alloc.Nodes[i].Tasks
		}
		o.TaskCount = o.Job.Size.Tasks > 0
	}
	if o.WasSet("nodes") != slurm.FromCommandLine {
		o.Job.Size.MinNodes, o.Job.Size.MaxNodes = 0, 0
		if o.WasSet("ntasks") != slurm.FromCommandLine {
			o.Job.Size.MinNodes = uint32(len(r.Alloc.Nodes))
			o.Job.Size.MaxNodes = o.Job.Size.MinNodes
		}
	}
	if o.WasSet("ntasks-per-node") != slurm.FromCommandLine {
		o.Job.Size.TasksPerNode = 0
	}
	if o.WasSet("cpus-per-task") != slurm.FromCommandLine {
		o.Job.Size.CPUsPerTask = r.Request.Size.CPUsPerTask
	}
}

// runTogether runs steps at once. Input of srun itself goes to all of them.
func runTogether(steps []*stepIO) int {
	codes := make([]int, len(steps))
	var shared []*io.PipeWriter
	var running sync.WaitGroup
	for i, s := range steps {
		var in *io.PipeReader
		if s.input == io.Reader(os.Stdin) {
			var w *io.PipeWriter
			in, w = io.Pipe()
			s.input, shared = in, append(shared, w)
		}
		running.Go(func() {
			codes[i] = s.run()
			if in != nil {
				in.Close() // what copies does not wait for it any more
			}
		})
	}
	if len(shared) > 0 {
		go copyToAll(shared)
	}
	running.Wait()
	return slices.Max(codes)
}

// copyToAll copies standard input to all that still read.
func copyToAll(to []*io.PipeWriter) {
	buf := make([]byte, 32<<10)
	for {
		n, err := os.Stdin.Read(buf)
		for _, w := range to {
			w.Write(buf[:n]) // a step that has ended takes nothing
		}
		if err != nil {
			break
		}
	}
	for _, w := range to {
		w.Close()
	}
}
