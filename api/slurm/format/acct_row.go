package format

import (
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// AcctRow is one line of sacct: a job, or one of its steps.
type AcctRow struct {
	Job  *api.JobRecord
	Step *job.Step // nil: the job itself
}

// Steps are the steps of a job as sacct shows them. The batch script's own is
// made from the job's result if it is not kept as a step.
func Steps(r *api.JobRecord) []job.Step {
	started := r.Alloc != nil && r.Times.Start != 0 && r.State != job.Pending
	if !started || request(r).Interactive || r.Het.Offset > 0 {
		return r.Steps
	}
	for i := range r.Steps {
		if r.Steps[i].ID == job.BatchStep {
			return r.Steps
		}
	}
	return append([]job.Step{batchStep(r)}, r.Steps...)
}

// batchStep is the step of the batch script.
func batchStep(r *api.JobRecord) job.Step {
	s := job.Step{ID: job.BatchStep, Name: "batch", Start: r.Times.Start, Tasks: 1, State: r.State}
	if !r.State.Active() {
		s.End = r.Times.End
	}
	if r.End != nil {
		s.ExitCode, s.Signal, s.Usage = r.End.ExitCode, r.End.Signal, r.End.Usage
	}
	switch {
	case r.State.ByController() && s.Signal == 0 && s.ExitCode != 0:
		s.State = job.Failed
	case r.State.ByController() || r.State == job.Failed && s.Signal != 0:
		s.State = job.Cancelled
	}
	for i := range r.Alloc.Nodes {
		n := &r.Alloc.Nodes[i]
		if n.Name == r.BatchHost {
			s.Nodes, s.CPUs, s.MemoryMB, s.Devices = []job.NodeID{n.Node}, n.CPUs, n.MemoryMB, n.Devices
		}
	}
	return s
}

// elapsed is how long a row's job or step ran, in seconds.
func (a *AcctRow) elapsed(now job.Time) int64 {
	if a.Step == nil {
		return RunSeconds(a.Job, now)
	}
	end := a.Step.End
	if end == 0 {
		if a.Step.Start == 0 {
			return 0
		}
		end = now
	}
	return max(0, end.Unix()-a.Step.Start.Unix())
}

// cpus is how many CPUs it holds or held.
func (a *AcctRow) cpus() uint32 {
	switch {
	case a.Step != nil:
		return a.Step.CPUs
	case a.Job.State == job.Pending || a.Job.Alloc == nil:
		return 0
	}
	return a.Job.Alloc.CPUs
}

// nodes are its nodes as a host list.
func (a *AcctRow) nodes() string {
	if a.Step == nil {
		return appendText(a.Job.Nodes, "None assigned")
	}
	var names []string
	for _, id := range a.Step.Nodes {
		if a.Job.Alloc == nil {
			break
		}
		for i := range a.Job.Alloc.Nodes {
			if n := &a.Job.Alloc.Nodes[i]; n.Node == id {
				names = append(names, n.Name)
			}
		}
	}
	return NodeNames(names)
}

// nodeCount is the number of its nodes; of a job that waits, the least asked for.
func (a *AcctRow) nodeCount() uint32 {
	if a.Step != nil {
		return uint32(len(a.Step.Nodes))
	}
	return a.Job.Count.Nodes
}

// state is the word of its state; a cancelled job says by whom.
func (a *AcctRow) state() string {
	if a.Step != nil {
		return a.Step.State.String()
	}
	r := a.Job
	switch {
	case r.State == job.Cancelled && r.End != nil && r.End.ByUser:
		return "CANCELLED by " + strconv.FormatUint(uint64(r.End.By), 10)
	case r.Flags&job.Requeued != 0:
		return "REQUEUED"
	case r.Flags&job.Resizing != 0:
		return "RESIZING"
	}
	return r.State.String()
}

// usage is what it used: of a job, the sum over its steps.
func (a *AcctRow) usage() job.Usage {
	if a.Step != nil {
		return a.Step.Usage
	}
	var sum job.Usage
	for _, s := range Steps(a.Job) {
		sum.UserUS += s.Usage.UserUS
		sum.SystemUS += s.Usage.SystemUS
	}
	return sum
}

// held is what it holds or held, as trackable resources.
func (a *AcctRow) held() api.Resources {
	if a.Step == nil {
		return a.Job.Used
	}
	r := api.Resources{CPUs: a.Step.CPUs, Nodes: uint32(len(a.Step.Nodes)), MemoryMB: a.Step.MemoryMB}
	for _, d := range a.Step.Devices {
		found := false
		for i := range r.Gres {
			if r.Gres[i].Name == d.Name {
				r.Gres[i].Count, found = r.Gres[i].Count+d.Count, true
			}
		}
		if !found {
			r.Gres = append(r.Gres, item(d.Name, d.Count))
		}
	}
	return r
}

// appendID writes the name of a row's job or step; raw uses the job's own number
// also for tasks and components.
func (a *AcctRow) appendID(dst []byte, raw bool) []byte {
	if raw {
		dst = appendUint(dst, a.Job.ID)
	} else {
		dst = AppendJobID(dst, a.Job)
	}
	if a.Step == nil {
		return dst
	}
	return append(append(dst, '.'), slurm.StepName(a.Step.ID)...)
}

func appendText(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
