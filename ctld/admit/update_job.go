package admit

import (
	"context"
	"errors"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// textNotPending is Slurm's refusal to change what only a waiting job may change.
const textNotPending = "Job is no longer pending execution"

// updateJob is scontrol update JobId=: job.update.
func updateJob(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.UpdateRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	names, fields := splitTarget(req.Pairs, "JobId")
	switch {
	case len(names) == 0:
		return invalid("No job ID specified")
	case len(fields) == 0:
		return invalid("No changes specified")
	case len(names) > maxTargets:
		return api.Errorf(api.ErrInvalid, "more than %d jobs are named in one call", maxTargets)
	}
	var reply api.ChangeReply
	work := 0
	for i, name := range names {
		f := &finder{root: core.Root(), work: work}
		text, err := updateOne(ctx, core, r, f, name, fields, i)
		work = f.work
		if err != nil {
			return err
		}
		if text != "" {
			reply.Failures = append(reply.Failures, api.Failure{Target: name, Text: text})
		}
	}
	return send(r, &reply)
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

// updateOne changes one job, or all records of one name; failure is Slurm's text.
func updateOne(ctx context.Context, core service.Core, r *service.Request, f *finder, name string, fields []api.Pair, n int) (failure string, err error) {
	root := f.root
	t, err := f.find(name)
	switch {
	case err != nil || len(t.records) == 0:
		return slurm.TextNoSuchJob, nil
	case !mayChange(r, t.records):
		return slurm.TextInvalidUser, nil
	case t.records[0].Request.Cron.Spec != "":
		return slurm.TextCronModify, nil
	}
	j := t.records[0]
	u := &jobUpdate{
		submission: submission{core: core, r: r, root: root, cluster: root.Cluster(), now: core.Now(), owner: *j.Owner},
		ctx:        ctx, job: j, request: *j.Request, cmd: &state.Update{Target: t.state},
	}
	if err := u.apply(fields); err != nil {
		return failureText(err)
	}
	e := seal(core, r, u.cmd)
	e.Request = numbered(r.RequestID, n)
	result, err := propose(ctx, core, r, e)
	if err != nil {
		return "", err
	}
	if result.Code != state.OK {
		return resultText(result.Code, result.Text), nil
	}
	if len(result.Skipped) > 0 && len(result.Skipped) >= len(t.records) {
		return resultText(result.Skipped[0].Code, result.Skipped[0].Text), nil
	}
	return "", nil
}

// failureText turns a refusal of ours into the text of one target; other errors
// end the whole call.
func failureText(err error) (string, error) {
	var e *api.Error
	if errors.As(err, &e) && (e.Kind == api.ErrInvalid || e.Kind == api.ErrDenied || e.Kind == api.ErrState) {
		lines := strings.Split(e.Text, "\n")
		return lines[len(lines)-1], nil
	}
	return "", err
}

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
		case f.root && !u.byRoot():
			return denied(slurm.TextDenied)
		case u.job.State.Ended() && !f.ended:
			return &api.Error{Kind: api.ErrState, Text: slurm.TextFinished}
		case u.job.State != job.Pending && !f.running && !f.ended:
			return &api.Error{Kind: api.ErrState, Text: textNotPending}
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
