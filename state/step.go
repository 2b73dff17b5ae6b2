package state

import (
	"fmt"
	"slices"

	"muster/internal/wire"
	"muster/job"
)

// Limits of what a job's record keeps of its steps.
const (
	maxSteps     = 40_000 // of one attempt, as MaxStepCount of slurm.conf(5)
	maxStepsOpen = 4_096  // that have not ended
)

// StepCreate begins a step of a running job. Step is complete but for number,
// state and start. With Numbered it gets the number that it has: that of the other
// components of a heterogeneous step.
type StepCreate struct {
	Job      job.ID
	Attempt  uint32
	Step     job.Step
	Numbered bool
}

// StepEnd ends a step of a job.
type StepEnd struct {
	Job      job.ID
	Attempt  uint32
	Step     job.StepID
	ExitCode uint32
	Signal   uint8
	Usage    job.Usage
	At       job.Time
}

// Complete ends an allocation that has no batch script: salloc or srun is done
// with it.
type Complete struct {
	Job      job.ID
	Attempt  uint32
	ExitCode uint32
	Signal   uint8
}

// Kind implements Command.
func (*StepCreate) Kind() Kind { return KindStep }

// Kind implements Command.
func (*StepEnd) Kind() Kind { return KindStepEnd }

// Kind implements Command.
func (*Complete) Kind() Kind { return KindComplete }

// Code implements wire.Message.
func (s *StepCreate) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Job)
	wire.Uint(c, 2, &s.Attempt)
	wire.Struct(c, 3, &s.Step)
	c.Bool(4, &s.Numbered)
}

// Code implements wire.Message.
func (s *StepEnd) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Job)
	wire.Uint(c, 2, &s.Attempt)
	wire.Uint(c, 3, &s.Step)
	wire.Uint(c, 4, &s.ExitCode)
	wire.Uint(c, 5, &s.Signal)
	wire.Struct(c, 6, &s.Usage)
	wire.Int(c, 7, &s.At)
}

// Code implements wire.Message.
func (s *Complete) Code(c *wire.Coder) {
	wire.Uint(c, 1, &s.Job)
	wire.Uint(c, 2, &s.Attempt)
	wire.Uint(c, 3, &s.ExitCode)
	wire.Uint(c, 4, &s.Signal)
}

// newStepCommand is newCommand for what is about steps.
func newStepCommand(k Kind) Command {
	switch k {
	case KindStep:
		return new(StepCreate)
	case KindStepEnd:
		return new(StepEnd)
	case KindComplete:
		return new(Complete)
	default:
		return nil
	}
}

// dispatchStep is dispatch for what is about steps.
func (m *Machine) dispatchStep(c Command) Result {
	switch c := c.(type) {
	case *StepCreate:
		return m.stepCreate(c)
	case *StepEnd:
		return m.stepEnd(c)
	case *Complete:
		return m.complete(c)
	default:
		return Result{Code: Invalid, Text: fmt.Sprintf("internal error: no handler for command kind %d", c.Kind())}
	}
}

// stepCreate gives a step its number and its part of the job's resources.
func (m *Machine) stepCreate(c *StepCreate) Result {
	r := m.edit(c.Job)
	switch {
	case r == nil:
		return Result{Code: NoSuchJob, Text: fmt.Sprintf("job %d is not known", c.Job)}
	case r.State != job.Running || r.Attempt != c.Attempt || r.Cancel != nil:
		return Result{Code: WrongState, Text: fmt.Sprintf("job %d takes no step: it is %s", c.Job, r.State)}
	case len(r.Steps) >= maxSteps:
		return Result{Code: Invalid, Text: "Step limit reached for this job"}
	case len(c.Step.Parts) == 0 || len(c.Step.Parts) != len(c.Step.Nodes):
		return Result{Code: Invalid, Text: "the step names no nodes, or not what it holds on each"}
	}
	if why := r.noMoreSteps(c); why.Code != OK {
		return why
	}
	for i, n := range c.Step.Nodes {
		at := r.Alloc.OnNode(n)
		if at < 0 || r.Alloc.Nodes[at].Released {
			return Result{Code: Invalid, Text: fmt.Sprintf("node %d is not the job's", n)}
		}
		if why := partFits(&r.Job, at, &c.Step.Parts[i], c.Step.Overlap); why != "" {
			return Result{Code: StepWaits, Text: "node " + r.Alloc.Nodes[at].Name + ": " + why}
		}
	}
	s := c.Step
	if !c.Numbered {
		s.ID = m.nextStep(r)
	}
	s.State, s.Start, s.End = job.Running, m.work.now, 0
	r.StepSeq = max(r.StepSeq, uint32(s.ID)+1)
	r.Steps = append(slices.Clip(r.Steps), s)
	m.put(r)
	return Result{Jobs: []job.ID{c.Job}, Step: s.ID}
}

// noMoreSteps says why a job takes no further step; OK if it does.
func (r *jobRow) noMoreSteps(c *StepCreate) Result {
	open := 0
	for i := range r.Steps {
		if r.Steps[i].Active() {
			open++
		}
		if c.Numbered && r.Steps[i].ID == c.Step.ID {
			return Result{Code: Invalid, Text: fmt.Sprintf("job %d has a step %d already", c.Job, c.Step.ID)}
		}
	}
	switch {
	case open >= maxStepsOpen:
		return Result{Code: StepWaits, Text: fmt.Sprintf("job %d has %d running steps", c.Job, open)}
	case c.Numbered && (r.Het.Leader == 0 || c.Step.ID >= maxSteps):
		return Result{Code: Invalid, Text: fmt.Sprintf("step %d.%d is no component of a heterogeneous step", c.Job, c.Step.ID)}
	}
	return Result{}
}

// nextStep is the number of a job's next step. The components of a heterogeneous
// job count together, so that a step can have one number in all of them.
func (m *Machine) nextStep(r *jobRow) job.StepID {
	next := r.StepSeq
	if lead := m.work.Job(r.Het.Leader); lead != nil {
		for _, id := range lead.Het.IDs {
			if other := m.work.Job(id); other != nil {
				next = max(next, other.StepSeq)
			}
		}
	}
	return job.StepID(next)
}

// partFits says why a part of a step has no room in share i; "" if it has.
func partFits(j *job.Job, i int, p *job.StepPart, overlap bool) string {
	room := j.RoomForStep(i)
	share := &j.Alloc.Nodes[i]
	cpus, memory, devices, cores := room.CPUs, room.MemoryMB, room.Devices, room.Cores
	if overlap {
		cpus, memory, cores = share.CPUs, share.MemoryMB, share.Cores
	}
	others := p.Cores.Clone()
	others.Subtract(cores)
	switch {
	case p.CPUs > cpus:
		return fmt.Sprintf("%d CPUs are wanted, %d of %d are free", p.CPUs, cpus, share.CPUs)
	case share.MemoryMB > 0 && p.MemoryMB > memory:
		return fmt.Sprintf("%d MB are wanted, %d of %d are free", p.MemoryMB, memory, share.MemoryMB)
	case !others.Empty():
		return "cores are held by other steps"
	}
	for _, d := range p.Devices {
		if d.Index == nil || overlap {
			continue
		}
		rest := d.Index.Clone()
		if free := devices[d.Name]; free != nil {
			rest.Subtract(free)
		}
		if !rest.Empty() {
			return "devices " + d.Name + " are held by other steps"
		}
	}
	return ""
}

// stepEnd ends a step, unless the end of its job did.
func (m *Machine) stepEnd(c *StepEnd) Result {
	r := m.edit(c.Job)
	if r == nil || r.Attempt != c.Attempt {
		return Result{Code: Stale, Text: fmt.Sprintf("job %d is not at attempt %d", c.Job, c.Attempt)}
	}
	at := slices.IndexFunc(r.Steps, func(s job.Step) bool { return s.ID == c.Step })
	if at < 0 || !r.Steps[at].Active() || !r.State.Active() {
		return Result{Code: Stale, Text: fmt.Sprintf("step %d.%d has ended", c.Job, c.Step)}
	}
	r.Steps = slices.Clone(r.Steps)
	s := &r.Steps[at]
	s.ExitCode, s.Signal, s.Usage = c.ExitCode, c.Signal, c.Usage
	s.End = max(min(c.At, m.work.now), s.Start)
	switch {
	case c.Signal == oomSignal:
		s.State = job.OutOfMemory
	case c.Signal != 0: // whoever sent it: so sacct says of steps, as of batch scripts
		s.State = job.Cancelled
	case c.ExitCode != 0:
		s.State = job.Failed
	default:
		s.State = job.Completed
	}
	m.put(r)
	return Result{Jobs: []job.ID{c.Job}}
}

// signalTerm is what the end of a job sends to its steps.
const signalTerm = 15

// closeSteps ends what the end of a job finds running, and works out the derived
// exit code: the highest of all steps.
func closeSteps(r *jobRow, at job.Time) {
	if len(r.Steps) == 0 {
		return
	}
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.Active() && r.Cancel == nil && r.State != job.Timeout {
			// Not that by which the job itself was ended.
			r.End.DerivedSig = max(r.End.DerivedSig, s.Signal)
		}
		if s.Active() {
			s.State, s.End, s.Signal = job.Cancelled, max(at, s.Start), signalTerm
		}
		if s.ExitCode > r.End.Derived {
			r.End.Derived = s.ExitCode
		}
	}
}

// complete ends an interactive allocation.
func (m *Machine) complete(c *Complete) Result {
	r := m.edit(c.Job)
	switch {
	case r == nil:
		return Result{Code: NoSuchJob, Text: fmt.Sprintf("job %d is not known", c.Job)}
	case r.Attempt != c.Attempt || r.State.Ended():
		return Result{Code: AlreadyDone, Text: fmt.Sprintf("job %d has already ended", c.Job)}
	case !r.Request.Interactive:
		return Result{Code: WrongState, Text: fmt.Sprintf("job %d has a batch script, which ends it", c.Job)}
	case r.State == job.Pending:
		m.endWaiting(r, job.Cancelled, job.ReasonNone, true)
		return Result{Jobs: []job.ID{c.Job}}
	}
	state, reason := job.Completed, job.ReasonNone
	switch {
	case c.Signal != 0:
		state, reason = job.Failed, job.ReasonRaisedSignal
	case c.ExitCode != 0:
		state, reason = job.Failed, job.ReasonNonZeroExitCode
	}
	m.endAttempt(r, state, reason, m.work.now)
	r.End.ExitCode, r.End.Signal = c.ExitCode, c.Signal
	m.finish(r)
	return Result{Jobs: []job.ID{c.Job}}
}
