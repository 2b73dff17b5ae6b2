package admit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// updateJob is scontrol update JobId=: job.update.
func updateJob(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.UpdateRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	names, fields := splitTarget(req.Pairs, "JobId")
	var of []api.Pair
	fields = slices.DeleteFunc(fields, func(p api.Pair) bool {
		if p.Name == "UserId" {
			of = append(of, p)
		}
		return p.Name == "UserId"
	})
	var reply api.ChangeReply
	switch {
	case len(fields) == 0:
		return invalid("No changes specified")
	case len(names) > maxTargets:
		return api.Errorf(api.ErrInvalid, "more than %d jobs are named in one call", maxTargets)
	case len(names) == 0:
		var why *api.Failure
		if names, why = namedByField(core.Root(), fields, of); why != nil {
			reply.Failures = append(reply.Failures, *why)
			return send(r, &reply)
		}
	}
	work := 0
	for i, name := range names {
		f := &finder{root: core.Root(), work: work}
		failed, err := updateOne(ctx, core, r, f, name, fields, i)
		work = f.work
		if err != nil {
			return err
		}
		reply.Failures = append(reply.Failures, failed...)
	}
	return send(r, &reply)
}

// namedByField finds the job that an update without a job id means: the one that
// is not over, of the name that is given, and of the user if one is named.
func namedByField(root *state.Root, fields, of []api.Pair) ([]string, *api.Failure) {
	i := slices.IndexFunc(fields, func(p api.Pair) bool { return p.Name == "JobName" })
	if i < 0 {
		return nil, &api.Failure{Text: "No job ID specified", Own: true}
	}
	name := fields[i].Value
	ids := make(map[job.ID]bool)
	for j := range root.JobsNamed(name) {
		if len(of) > 0 && strconv.FormatUint(uint64(j.Owner.UID), 10) != of[0].Value {
			continue
		}
		ids[cmp.Or(j.Array.JobID, j.Het.Leader, j.ID)] = true
	}
	switch {
	case len(ids) == 1:
		for id := range ids {
			return []string{idText(id)}, nil
		}
	case len(ids) == 0 && len(of) > 0:
		return nil, &api.Failure{Text: fmt.Sprintf("No jobs with user ID %s and name '%s'", of[0].Value, name), Own: true}
	case len(ids) == 0:
		return nil, &api.Failure{Text: fmt.Sprintf("No jobs with name '%s'", name), Own: true}
	}
	return nil, &api.Failure{Text: fmt.Sprintf("%d jobs have the name '%s': name one by its job id", len(ids), name), Own: true}
}

// splitTarget takes the pair that names the target out of the pairs.
func splitTarget(pairs []api.Pair, name string) (targets []string, rest []api.Pair) {
	for _, p := range pairs {
		if p.Name == name {
			targets = append(targets, slurm.SplitOutside(strings.Trim(p.Value, ","), ',')...)
		} else {
			rest = append(rest, p)
		}
	}
	return targets, rest
}

// updateOne changes one job, or all records of one name.
func updateOne(ctx context.Context, core service.Core, r *service.Request, f *finder, name string, fields []api.Pair, n int) ([]api.Failure, error) {
	root := f.root
	t, err := f.find(name)
	switch {
	case err != nil || len(t.records) == 0:
		return []api.Failure{*t.failure(slurm.TextNoSuchJob)}, nil
	case !mayChange(root, r, t.records):
		return []api.Failure{*t.failure(slurm.TextInvalidUser)}, nil
	case t.records[0].Request.Cron.Spec != "":
		return []api.Failure{*t.failure(slurm.TextCronModify)}, nil
	}
	j := t.records[0]
	u := &jobUpdate{
		submission: submission{core: core, r: r, root: root, cluster: root.Cluster(), now: core.Now(), owner: *j.Owner},
		ctx:        ctx, job: j, request: *j.Request, cmd: &state.Update{Target: t.state},
	}
	if err := u.apply(fields); err != nil {
		return refusals(&t, err)
	}
	e := seal(core, r, u.cmd)
	e.Request = numbered(r.RequestID, n)
	result, err := propose(ctx, core, r, e)
	if err != nil {
		return nil, err
	}
	if f := t.unchanged(&result); f != nil {
		return []api.Failure{*f}, nil
	}
	return nil, nil
}

// refusals turns a refusal of ours into the answers for one target; other errors
// end the whole call.
func refusals(t *target, err error) ([]api.Failure, error) {
	var own ownError
	if errors.As(err, &own) {
		out := []api.Failure{{Text: own.text, Own: true}}
		if own.then != "" {
			out = append(out, *t.failure(own.then))
		}
		return out, nil
	}
	var e *api.Error
	if errors.As(err, &e) && (e.Kind == api.ErrInvalid || e.Kind == api.ErrDenied || e.Kind == api.ErrState) {
		lines := strings.Split(e.Text, "\n")
		return []api.Failure{*t.failure(lines[len(lines)-1])}, nil
	}
	return nil, err
}

// ownError is a refusal that scontrol says as an error of its own; then is the
// answer for the job after it, if there is one.
type ownError struct{ text, then string }

func (e ownError) Error() string { return e.text }

// jobUpdate is one job on its way to its new request.
type jobUpdate struct {
	submission
	ctx     context.Context
	job     *job.Job
	request job.Request // the new one
	cmd     *state.Update
	changed bool   // request differs
	placing bool   // where the job may run differs
	numCPUs uint32 // NumCPUs=, applied last
}

// apply sets all fields and checks the result as a submit would be.
func (u *jobUpdate) apply(fields []api.Pair) error {
	for _, p := range fields {
		f := jobField(p.Name)
		switch {
		case f == nil:
			return invalid("Update of this parameter is not supported: " + p.Name + "=" + p.Value)
		case p.Op != "" && !f.adds:
			return invalid("Option " + p.Name + " does not accept [+|-]= syntax")
		case f.root && !u.byOperator():
			return denied(slurm.TextDenied)
		case u.job.State.Ended():
			return &api.Error{Kind: api.ErrState, Text: slurm.TextEnded}
		case u.job.State != job.Pending && !f.running:
			return &api.Error{Kind: api.ErrState, Text: slurm.TextNotPending}
		}
		if err := f.set(u, p); err != nil {
			return err
		}
		u.placing = u.placing || f.placing
	}
	return u.finish()
}

// finish checks the new request and puts it into the command.
func (u *jobUpdate) finish() error {
	q := &u.request
	if err := u.applyRules(); err != nil {
		return err
	}
	if u.job.State == job.Pending && u.placing {
		if q.Size.Tasks != 0 && q.Size.Tasks < q.Size.MinNodes {
			return invalid(slurm.TextTaskCount)
		}
		q.Size.MinCPUs = MinCPUs(&q.Size)
		if u.numCPUs > 0 {
			if u.numCPUs > q.Size.MinCPUs {
				per := uint32(max(1, q.Size.CPUsPerTask))
				q.Size.Tasks = (u.numCPUs + per - 1) / per
			}
			q.Size.MinCPUs = u.numCPUs
		}
		if err := u.check(q); err != nil {
			return err
		}
		account, qos := u.job.Account, u.job.QOS
		if u.cmd.Account != nil {
			account = *u.cmd.Account
		}
		if u.cmd.QOS != nil {
			qos = *u.cmd.QOS
		}
		if err := u.checkReservation(q, account); err != nil {
			return err
		}
		if err := u.checkPartitions(q, account, qos); err != nil {
			return err
		}
	} else if u.changed {
		if err := u.checkText(q); err != nil {
			return err
		}
	}
	if err := u.checkAccount(); err != nil {
		return err
	}
	if u.changed {
		u.cmd.Request = q
	}
	return nil
}
