package slurm

import (
	"fmt"
	"strings"

	"muster/internal/bitset"
	"muster/job"
)

// JobName is a job as commands name it: 12, 12_3, 12_[1-3,7], 12_*, 12+1, 12.0.
type JobName struct {
	ID      job.ID
	Tasks   *bitset.Set // array indices; nil: the whole job or array
	Offset  uint32      // component of a heterogeneous job
	HasHet  bool
	Step    job.StepID
	HasStep bool
}

// ParseJobName reads a job's name.
func ParseJobName(text string) (JobName, error) {
	bad := fmt.Errorf("Invalid job id %s", text) //lint:ignore ST1005 programs read the text
	var n JobName
	head, step, hasStep := strings.Cut(text, ".")
	if hasStep {
		if n.Step, n.HasStep = parseStep(step); !n.HasStep {
			return JobName{}, bad
		}
	}
	head, tasks, hasTasks := strings.Cut(head, "_")
	head, offset, hasHet := strings.Cut(head, "+")
	id, ok := jobNumber(head)
	if !ok {
		return JobName{}, bad
	}
	n.ID = id
	if hasHet {
		o, ok := digits(offset)
		if !ok {
			return JobName{}, bad
		}
		n.Offset, n.HasHet = uint32(o), true
	}
	if hasTasks && tasks != "*" {
		a, err := ParseArray(tasks, MaxArrayIndex+1)
		if err != nil || tasks == "" {
			return JobName{}, bad
		}
		n.Tasks = a.Tasks
	}
	return n, nil
}

// jobNumber reads a job id: 1 up to 2^32-3.
func jobNumber(text string) (job.ID, bool) {
	if text == "" || len(text) > 10 || !allDigits(text) {
		return 0, false
	}
	var n uint64
	for _, c := range []byte(text) {
		n = n*10 + uint64(c-'0')
	}
	return job.ID(n), n > 0 && n < uint64(job.NoTask)
}

func parseStep(text string) (job.StepID, bool) {
	switch text {
	case "batch":
		return job.BatchStep, true
	case "extern":
		return job.ExternStep, true
	case "interactive":
		return job.InteractiveStep, true
	}
	n, ok := digits(text)
	return job.StepID(n), ok
}
