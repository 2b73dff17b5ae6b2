package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/internal/wire"
	"muster/job"
)

// srun runs tasks in an allocation, which it asks for if it is in none: srun(1).
func srun(in *invocation) int {
	c, code := newStepCommand(in, slurm.Srun)
	if c == nil {
		return code
	}
	if c.o.Run.MPI == "list" {
		fmt.Fprintln(in.stdout, "MPI plugin types are...\n\tnone\n\tpmi2")
		return 0
	}
	if len(c.args) == 0 {
		fmt.Fprintf(in.stderr, "%s: fatal: No command given to execute.\n", in.name)
		return 1
	}
	id, err := c.currentJob()
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	several := len(c.more) > 0 || c.o.Run.HetGroup != ""
	switch {
	case id == 0:
		return c.allocateAndRun()
	case several:
		return c.runGroups(id, in.environ)
	}
	return c.runStep(id, in.environ)
}

// stepCommand is one call of srun or salloc.
type stepCommand struct {
	in       *invocation
	o        *slurm.Options
	args     []string // the program and its arguments
	client   *api.Client
	more     []*stepCommand // components after this one
	number   job.StepID     // of the step, with numbered: that of its other components
	numbered bool
}

// newStepCommand reads the command line; nil with an exit code if there is
// nothing more to do.
func newStepCommand(in *invocation, p slurm.Program) (*stepCommand, int) {
	s := &submission{in: in}
	c, err := readComponents(in, p)
	if err != nil {
		return nil, s.fail(err)
	}
	switch act := &c.o.Act; {
	case act.Help:
		return nil, printOptions(in, p)
	case act.Usage:
		fmt.Fprintf(in.stdout, "Usage: %s [OPTIONS...] [command [args...]]\n", in.name)
		return nil, 0
	case act.Version:
		return nil, printVersion(in)
	}
	if err := c.o.Finish(); err != nil {
		return nil, s.fail(err)
	}
	s.warnings = c.o.Warnings
	s.warn(c.o.Act.Quiet)
	return c, 0
}

// currentJob is the allocation that srun is in, or is told to use; 0 if none.
func (c *stepCommand) currentJob() (job.ID, error) {
	text := c.o.Run.JobID
	if text == "" {
		if text = c.in.env("SLURM_JOB_ID"); text == "" {
			text = c.in.env("SLURM_JOBID")
		}
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("Invalid job id specified: %q", text)
	}
	return job.ID(n), nil
}

// connect connects to the agent, once.
func (c *stepCommand) connect() error {
	if c.client != nil {
		return nil
	}
	client, err := c.in.connect()
	if err != nil {
		return fmt.Errorf("Unable to contact slurm controller (connect failure): %w", err)
	}
	c.client = client
	return nil
}

// stepRequest is what the options ask of a step.
func (c *stepCommand) stepRequest(id job.ID) *api.StepRequest {
	q, run := &c.o.Job, &c.o.Run
	r := &api.StepRequest{
		Job: id, Name: q.Name, MinNodes: q.Size.MinNodes, MaxNodes: q.Size.MaxNodes,
		CPUsPerTask: uint32(q.Size.CPUsPerTask), TasksPerNode: uint32(q.Size.TasksPerNode), Nodes: q.Place.Nodes,
		Exclude: q.Place.Exclude, Relative: run.Relative, Memory: q.Memory, Gres: q.Gres, Dist: q.Place.Dist,
		Exact:   run.Exact || c.o.WasSet("exclusive") == slurm.FromCommandLine && q.Place.Sharing != job.ShareDefault,
		Overlap: run.Overlap, Overcommit: q.Size.Overcommit, Immediate: run.Immediate >= 0,
		Step: c.number, Numbered: c.numbered,
	}
	if n := q.Size.TasksPerGPU; n > 0 && r.Gres.Bind == "" {
		r.Gres.Bind = "single:" + strconv.Itoa(int(n)) // srun(1), --ntasks-per-gpu
	}
	if c.o.TaskCount {
		r.Tasks = q.Size.Tasks
	}
	if r.Name == "" || c.o.WasSet("job-name") != slurm.FromCommandLine {
		r.Name = filepath.Base(c.args[0])
	}
	if c.o.WasSet("ntasks-per-node") == slurm.FromEnvironment && r.MinNodes > 0 && r.Tasks > r.TasksPerNode*r.MinNodes {
		r.TasksPerNode = 0 // of the job; the count given here wins
	}
	if c.o.WasSet("cpus-per-task") == slurm.FromCommandLine && c.o.WasSet("exact") == slurm.Unset {
		r.Exact = true // srun(1): -c implies --exact
	}
	return r
}

// allocateAndRun gets an allocation, runs the step in it and gives it back.
func (c *stepCommand) allocateAndRun() int {
	if c.o.Act.TestOnly {
		return c.test()
	}
	a, code := c.allocate()
	if a == nil {
		return code
	}
	env := a.environment(c.in.environ)
	holder := c.client // the allocation lasts as long as this connection
	defer holder.Close()
	c.client = nil
	for _, one := range c.components() {
		one.leaveToJob()
	}
	if len(c.more) > 0 {
		code = c.runGroups(a.id, env)
	} else {
		code = c.runStep(a.id, env)
	}
	reply := api.CompleteRequest{Job: a.id, ExitCode: uint32(code)}
	if code > 128 {
		reply.ExitCode, reply.Signal = 0, uint8(code-128)
	}
	var done api.ChangeReply
	if _, err := holder.Ask(api.MethodComplete, &reply, &done); err != nil && !alreadyEnded(err) {
		c.in.errorf("Unable to end job %d: %v", a.id, err)
	}
	return code
}

// leaveToJob takes away from a step's options what the allocation was made by.
func (c *stepCommand) leaveToJob() {
	q := &c.o.Job
	q.Memory, q.Gres = job.Memory{}, job.GresRequest{PerTask: q.Gres.PerTask, Bind: q.Gres.Bind}
	q.Place.Nodes, q.Place.Exclude = nil, nil
	q.Size.MaxNodes, q.Size.MinNodes = 0, 0
	if q.Size.CPUsPerTask == 0 {
		q.Size.CPUsPerTask = 1
	}
}

// alreadyEnded tells whether an allocation was not ended because it was over.
func alreadyEnded(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && (e.Kind == api.ErrState || e.Kind == api.ErrNotFound)
}

// runStep creates a step and runs its tasks; the exit code is the highest of
// theirs.
func (c *stepCommand) runStep(id job.ID, environ []string) int {
	s := c.beginStep(id)
	if s == nil {
		return 1
	}
	defer c.client.Close()
	if err := s.prepare(environ); err != nil {
		c.in.errorf("%v", err)
		return 1
	}
	return s.runAround(environ)
}

// beginStep gets a step from the controllers; nil if there is none. It belongs to
// the connection, which the caller closes.
func (c *stepCommand) beginStep(id job.ID) *stepIO {
	if err := c.connect(); err != nil {
		c.in.errorf("%v", err)
		return nil
	}
	s := &stepIO{c: c, start: &api.StepStart{}, grant: &api.Grant{}}
	if err := s.begin(id); err != nil {
		c.stepRefused(id, err)
		c.client.Close()
		return nil
	}
	return s
}

// begin asks for the step.
func (s *stepIO) begin(id job.ID) error {
	request := s.c.stepRequest(id)
	if err := s.programs(request); err != nil {
		return badPrograms{err}
	}
	if _, err := s.c.client.Ask(api.MethodStep, request, &s.start.StepReply); err != nil {
		return err
	}
	if err := wire.Decode(s.start.Grant, s.grant); err != nil {
		return fmt.Errorf("grant of the step: %w", err)
	}
	return nil
}

// badPrograms is an error of --multi-prog, which is no refusal of the step.
type badPrograms struct{ error }

// stepRefused prints why there is no step.
func (c *stepCommand) stepRefused(id job.ID, err error) int {
	var programs badPrograms
	if errors.As(err, &programs) {
		c.in.errorf("%v", err)
		return 1
	}
	var e *api.Error
	if !errors.As(err, &e) {
		c.in.errorf("Unable to create step for job %d: %v", id, err)
		return 1
	}
	if e.Kind == api.ErrNotFound {
		c.in.errorf("Unable to confirm allocation for job %d: %s", id, e.Text)
		fmt.Fprintf(c.in.stderr, "%s: Check SLURM_JOB_ID environment variable. Expired or invalid job %d\n", c.in.name, id)
		return 1
	}
	c.in.errorf("Unable to create step for job %d: %s", id, e.Text)
	if e.Hint != "" {
		fmt.Fprintf(c.in.stderr, "%s: %s\n", c.in.name, e.Hint)
	}
	return 1
}

// programs says what the tasks run: with --multi-prog, by the file.
func (s *stepIO) programs(r *api.StepRequest) error {
	if !s.c.o.Run.MultiProg {
		s.start.Programs = []api.Program{{Args: s.c.args}}
		return nil
	}
	data, err := os.ReadFile(s.c.args[0])
	if err != nil {
		return fmt.Errorf("Could not open multi_prog config file %s: %w", s.c.args[0], err)
	}
	named := map[uint32]bool{}
	// A line that ends with a backslash goes on in the next.
	for n, line := range strings.Split(strings.ReplaceAll(string(data), "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words := splitWords(line)
		if len(words) < 2 {
			return fmt.Errorf("Line %d of configuration file %s invalid: it names no program", n+1, s.c.args[0])
		}
		ranks, err := rankList(words[0], r.Tasks, named)
		if err != nil {
			return fmt.Errorf("%w\n%s: error: Line %d of configuration file %s invalid", err, s.c.in.name, n+1, s.c.args[0])
		}
		args := append(words[1:], s.c.args[1:]...)
		s.start.Programs = append(s.start.Programs, api.Program{Ranks: ranks, Args: args})
	}
	for i := range max(1, r.Tasks) {
		if !named[i] {
			return fmt.Errorf("Configuration file %s invalid, no record for task id %d\n%s: error: Line: no executable program specified for this task", s.c.args[0], i, s.c.in.name)
		}
	}
	return nil
}

// rankList reads the task numbers of a --multi-prog line: 0,2-3 or * for all that
// are left.
func rankList(text string, tasks uint32, named map[uint32]bool) ([]uint32, error) {
	var out []uint32
	add := func(r uint32) {
		if !named[r] {
			named[r] = true
			out = append(out, r)
		}
	}
	if text == "*" {
		for i := range max(1, tasks) {
			add(i)
		}
		return out, nil
	}
	names, err := hostlist.Expand("[" + text + "]")
	if err != nil {
		return nil, fmt.Errorf("task list %q: %w", text, err)
	}
	for _, name := range names {
		n, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("task list %q: %q is no number", text, name)
		}
		switch {
		case n >= uint64(max(1, tasks)):
			return nil, fmt.Errorf("Invalid task id, %d >= ntasks", n)
		case named[uint32(n)]:
			return nil, fmt.Errorf("task %d has a program already", n)
		}
		add(uint32(n))
	}
	return out, nil
}

// splitWords splits a line at blanks outside quotes.
func splitWords(line string) []string {
	var out []string
	var word []byte
	var quote byte
	in := false
	for i := range len(line) {
		switch ch := line[i]; {
		case quote != 0 && ch == quote:
			quote = 0
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, in = ch, true
		case quote == 0 && (ch == ' ' || ch == '\t'):
			if in {
				out = append(out, string(word))
			}
			word, in = word[:0], false
		default:
			word, in = append(word, ch), true
		}
	}
	if in {
		out = append(out, string(word))
	}
	return out
}
