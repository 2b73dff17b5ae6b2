package main

import (
	"errors"
	"os"
	"time"

	"muster/api/slurm"
	"muster/job"
	"muster/sched/sim/trace"
)

// readScenario reads a workload written by hand, with sbatch's options.
func readScenario(data []byte) (*trace.Workload, error) {
	return trace.Scenario(data, sbatchOptions)
}

// sbatchOptions reads the options of one submit.
func sbatchOptions(words []string) (*job.Request, error) {
	given, rest, err := slurm.Getopt(words, slurm.Flags(slurm.Sbatch), true)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errors.New(rest[0] + " is no option of sbatch")
	}
	o := slurm.NewOptions(&slurm.Input{Program: slurm.Sbatch, Now: time.Unix(0, 0).UTC(), Dir: "/", UID: 1000, ReadFile: os.ReadFile})
	if err := o.Apply(given, slurm.FromCommandLine); err != nil {
		return nil, err
	}
	if err := o.Finish(); err != nil {
		return nil, err
	}
	switch {
	case o.Array != "":
		return nil, errors.New("--array is not played; use count=")
	case o.Dependency != "":
		return nil, errors.New("--dependency is not played")
	case o.Hold, o.Job.Timing.Begin != 0, o.Job.Timing.Deadline != 0:
		return nil, errors.New("--hold, --begin and --deadline are not played; use at=")
	}
	r := o.Job
	r.Size.MinCPUs = minCPUs(&r.Size)
	return &r, nil
}

// minCPUs is the number of CPUs that the counts of a request ask for.
func minCPUs(s *job.Size) uint32 {
	nodes := max(1, s.MinNodes)
	tasks := s.Tasks
	if tasks == 0 {
		tasks = nodes * uint32(max(1, s.TasksPerNode))
	}
	return max(tasks*uint32(max(1, s.CPUsPerTask)), nodes*uint32(max(1, s.MinCPUsPerNode)))
}
