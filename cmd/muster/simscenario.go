package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"muster/api/slurm"
	"muster/job"
	"muster/sched/sim/trace"
)

// readScenario reads a workload written by hand, with sbatch's options.
func readScenario(data []byte) (*trace.Workload, error) {
	return trace.Scenario(data, sbatchOptions)
}

// sbatchOptions reads the options of one submit. Its --dependency names lines.
func sbatchOptions(words []string, named trace.Named) (*trace.Ask, error) {
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
	if o.Hold || o.Job.Timing.Begin != 0 || o.Job.Timing.Deadline != 0 {
		return nil, errors.New("--hold, --begin and --deadline are not played; use at=")
	}
	r := o.Job
	r.Size.MinCPUs = minCPUs(&r.Size)
	ask := &trace.Ask{Request: &r}
	if o.Array != "" {
		a, err := slurm.ParseArray(o.Array, slurm.MaxArrayIndex+1)
		if err != nil {
			return nil, fmt.Errorf("--array=%s: %w", o.Array, err)
		}
		ask.Array = &trace.Array{Tasks: a.Tasks, Limit: a.Limit, Bounds: a.Bounds}
	}
	text, err := numbered(o.Dependency, named)
	if err == nil {
		ask.Deps, ask.AnyDep, err = slurm.ParseDependency(text)
	}
	if err != nil {
		return nil, fmt.Errorf("--dependency=%s: %w", o.Dependency, err)
	}
	return ask, nil
}

// numbered puts the numbers of jobs in the place of the names of lines in a
// dependency: a name stands for all jobs of its line.
func numbered(text string, named trace.Named) (string, error) {
	if text == "" {
		return "", nil
	}
	separator := byte(',')
	if strings.Contains(text, "?") {
		separator = '?'
	}
	parts := slurm.SplitOutside(text, separator)
	for i, part := range parts {
		kind, targets, ok := strings.Cut(part, ":")
		switch {
		case !ok && strings.EqualFold(part, "singleton"):
			continue
		case !ok:
			kind, targets = "afterany", part // what Slurm takes a bare target for
		}
		out := []string{kind}
		for target := range strings.SplitSeq(targets, ":") {
			name, rest := target, ""
			if at := strings.IndexAny(target, "_+("); at >= 0 {
				name, rest = target[:at], target[at:]
			}
			ids, err := named(name)
			if err != nil {
				return "", err
			}
			for _, id := range ids {
				out = append(out, strconv.FormatInt(id, 10)+rest)
			}
		}
		parts[i] = strings.Join(out, ":")
	}
	return strings.Join(parts, string(separator)), nil
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
