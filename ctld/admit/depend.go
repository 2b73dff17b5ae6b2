package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
	"muster/state"
)

// setDependencies reads --dependency and settles what can be settled now.
func (s *submission) setDependencies(ctx context.Context, j *api.SubmitJob, out *state.NewJob) error {
	list, anyOf, err := s.dependencies(ctx, j.Dependency)
	if err != nil {
		return err
	}
	out.Deps, out.AnyDep = list, anyOf
	return nil
}

// dependencies reads a list and looks the jobs up: those in memory stay to be
// watched by Apply; those in the ledger are settled by how they ended; unknown
// ones are refused where the outcome matters and fulfilled where it does not.
func (s *submission) dependencies(ctx context.Context, text string) ([]job.Dependency, bool, error) {
	list, anyOf, err := slurm.ParseDependency(text)
	if errors.Is(err, slurm.ErrExpand) {
		return nil, false, invalid(err.Error())
	}
	if err != nil {
		return nil, false, &api.Error{Kind: api.ErrInvalid, Text: err.Error(), Hint: "write it as type:id[:id...], joined by all commas or all question marks"}
	}
	var out []job.Dependency
	for _, d := range list {
		if slices.Contains(out, d) {
			continue // named twice
		}
		if d.Kind == job.DependSingleton || d.On == 0 || s.inMemory(d) {
			out = append(out, d)
			continue
		}
		done, err := s.settle(ctx, &d)
		switch {
		case err != nil:
			return nil, false, err
		case done && anyOf:
			return nil, false, nil // one of them is enough
		case !done:
			out = append(out, d)
		}
	}
	return out, anyOf, nil
}

// inMemory tells whether the state has the job that a condition is on.
func (s *submission) inMemory(d job.Dependency) bool {
	if d.Task != job.NoTask {
		return s.root.ArrayTask(d.On, d.Task) != nil
	}
	if s.root.Job(d.On) != nil {
		return true
	}
	for range s.root.Array(d.On) {
		return true
	}
	return false
}

// settle decides a condition on a job that has left the memory. Done means that
// it is fulfilled and needs no record.
func (s *submission) settle(ctx context.Context, d *job.Dependency) (done bool, err error) {
	found, good := false, true
	err = s.core.Ledger().Jobs(ctx, 0, 0, []job.ID{d.On}, nil, func(j *job.Job) bool {
		if d.Task == job.NoTask || j.Array.Task == d.Task {
			found = true
			good = good && j.State == job.Completed
		}
		return true
	})
	if err != nil {
		return false, api.Errorf(api.ErrUnavailable, "looking up job %d in the ledger: %v", d.On, err)
	}
	outcome := d.Kind == job.DependAfterOK || d.Kind == job.DependAfterNotOK || d.Kind == job.DependAfterCorr
	switch {
	case !outcome:
		return true, nil
	case !found:
		return false, &api.Error{Kind: api.ErrInvalid, Text: slurm.ErrDependency.Error(), Hint: fmt.Sprintf("there is no job %d", d.On)}
	case good == (d.Kind != job.DependAfterNotOK):
		return true, nil
	}
	d.State = job.FailedDep
	return false, nil
}
