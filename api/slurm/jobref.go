package slurm

import (
	"fmt"

	"muster/api"
	"muster/job"
)

// maxRefs bounds how many tasks one reference such as 12_[0-999] may name.
const maxRefs = 1 << 16

// ParseJobRefs reads what squeue -j, scontrol show job and sacct -j may name: a
// job's name as ParseJobName reads it. An index list gives one reference for
// each task.
func ParseJobRefs(text string) ([]api.JobRef, error) {
	bad := fmt.Errorf("Invalid job id: %s", text) //lint:ignore ST1005 Slurm's text
	n, err := ParseJobName(text)
	if err != nil || n.Tasks != nil && n.HasHet {
		return nil, bad
	}
	ref := api.JobRef{ID: n.ID, Offset: n.Offset, HasHet: n.HasHet, Step: n.Step, HasStep: n.HasStep}
	if n.Tasks == nil {
		return []api.JobRef{ref}, nil
	}
	if n.Tasks.Len() > maxRefs {
		return nil, bad
	}
	var refs []api.JobRef
	for i := range n.Tasks.All {
		ref.Task, ref.HasTask = uint32(i), true
		refs = append(refs, ref)
	}
	return refs, nil
}

// StepName is the part of a step's name after the dot.
func StepName(s job.StepID) string {
	switch s {
	case job.BatchStep:
		return "batch"
	case job.ExternStep:
		return "extern"
	case job.InteractiveStep:
		return "interactive"
	}
	return fmt.Sprint(uint32(s))
}
