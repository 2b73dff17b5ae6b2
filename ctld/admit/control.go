package admit

import (
	"context"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// controlJob is scontrol's verbs on jobs: job.control. Each job that is named
// gets its own answer.
func controlJob(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.ControlRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	if len(req.Jobs) > maxTargets {
		return api.Errorf(api.ErrInvalid, "more than %d jobs are named in one call", maxTargets)
	}
	c := &controller{core: core, r: r, req: &req, find: finder{root: core.Root()}}
	if c.req.Verb == "top" && !r.Operates(c.find.root) {
		return send(r, &api.ChangeReply{Failures: []api.Failure{{Target: strings.Join(req.Jobs, ","), Text: slurm.TextDenied}}})
	}
	var reply api.ChangeReply
	n := 0
	for _, text := range req.Jobs {
		ids, err := c.find.named(text)
		if err != nil {
			return err
		}
		for _, id := range ids {
			failure, err := c.one(ctx, id, n)
			if err != nil {
				return err
			}
			if failure != nil {
				reply.Failures = append(reply.Failures, *failure)
			}
			n++
		}
	}
	return send(r, &reply)
}

// requeueDelay is how long a job that a user requeued waits before it may start
// again, as in Slurm (scontrol(1) requeue): time to look at it, hold or change it.
const requeueDelay = 121 * time.Second

// controller is one call on its way.
type controller struct {
	core service.Core
	r    *service.Request
	req  *api.ControlRequest
	find finder
}

// one applies the verb to one name; nil: it was done.
func (c *controller) one(ctx context.Context, text string, n int) (*api.Failure, error) {
	t, err := c.find.find(text)
	if err != nil || len(t.records) == 0 {
		return t.failure(slurm.TextNoSuchJob), nil
	}
	cmd, why := c.command(&t)
	if why != "" {
		return t.failure(why), nil
	}
	e := seal(c.core, c.r, cmd)
	e.Request = numbered(c.r.RequestID, n)
	result, err := propose(ctx, c.core, c.r, e)
	if err != nil {
		return nil, err
	}
	return t.unchanged(&result), nil
}

// numbered makes the ids of several commands of one call: each try of the call
// gives the n-th command the same id.
func numbered(id [16]byte, n int) state.RequestID {
	out := state.RequestID(id)
	if id == ([16]byte{}) {
		return out
	}
	out[15] += byte(n)
	out[14] += byte(n >> 8)
	return out
}

// command makes the command of the verb, or says why it can't be.
func (c *controller) command(t *target) (state.Command, string) {
	root := c.r.Operates(c.find.root)
	owner := mayChange(c.find.root, c.r, t.records)
	switch c.req.Verb {
	case "hold", "uhold", "release":
		if !owner {
			return nil, slurm.TextInvalidUser
		}
		return c.hold(t, root)
	case "requeue", "requeuehold":
		if !owner {
			return nil, slurm.TextDenied
		}
		return c.requeue(t, root)
	case "suspend", "resume":
		if !owner {
			return nil, slurm.TextDenied
		}
		return c.suspend(t)
	case "top":
		if !root {
			return nil, slurm.TextDenied
		}
		top := uint32(1<<32 - 3)
		return &state.Update{Target: t.state, Priority: &top}, ""
	}
	return nil, "scontrol " + c.req.Verb + " is not known to this controller"
}

// hold is hold, uhold and release. A job that an operator holds is released by
// operators alone.
func (c *controller) hold(t *target, root bool) (state.Command, string) {
	for _, j := range t.records {
		if c.req.Verb == "release" && j.Held == job.HeldByAdmin && !root {
			return nil, slurm.TextDenied
		}
	}
	if allFinished(t.records) {
		return nil, slurm.TextEnded
	}
	held := job.HeldByUser
	switch {
	case c.req.Verb == "release":
		held = job.NotHeld
	case c.req.Verb == "hold" && root:
		held = job.HeldByAdmin
	}
	return &state.Update{Target: t.state, Held: &held}, ""
}

// requeue is requeue and requeuehold.
func (c *controller) requeue(t *target, root bool) (state.Command, string) {
	if j := t.records[0]; j.Het.Leader != 0 && j.Het.Leader != j.ID {
		return nil, slurm.TextNotHetLeader
	}
	if j := t.records[0]; len(t.records) == 1 && j.Request.Cron.Spec != "" && c.req.Verb == "requeue" {
		return c.skipRun(j)
	}
	waiting, forbidden := 0, 0
	for _, j := range t.records {
		if j.State == job.Pending {
			waiting++
		}
		if !j.Request.Requeue || j.Request.Interactive {
			forbidden++
		}
	}
	switch {
	case forbidden == len(t.records):
		return nil, slurm.TextDisabled
	case waiting == len(t.records):
		return nil, slurm.TextPending
	}
	cmd := &state.Requeue{Targets: []state.Target{t.state}, Special: c.req.Special, Begin: c.core.Now().Add(requeueDelay)}
	if c.req.Verb == "requeuehold" {
		cmd.Hold = job.HeldByUser
		if root {
			cmd.Hold = job.HeldByAdmin
		}
	}
	return cmd, ""
}

// skipRun is requeue of a job of a crontab: it leaves out its next run (scrontab(1)).
func (c *controller) skipRun(j *job.Job) (state.Command, string) {
	next, err := service.NextRun(c.find.root, j.Request.Cron.Spec, max(c.core.Now(), j.Request.Timing.Begin))
	if err != nil {
		return nil, err.Error()
	}
	target := state.Target{Job: j.ID}
	if j.State != job.Pending {
		return &state.Requeue{Targets: []state.Target{target}, Begin: next}, ""
	}
	req := *j.Request
	req.Timing.Begin = next
	return &state.Update{Target: target, Request: &req}, ""
}

// suspend is suspend and resume.
func (c *controller) suspend(t *target) (state.Command, string) {
	resume := c.req.Verb == "resume"
	fits := 0
	for _, j := range t.records {
		if resume && j.State == job.Suspended || !resume && j.State == job.Running {
			fits++
		}
	}
	if fits == 0 {
		switch {
		case allFinished(t.records):
			return nil, slurm.TextFinished
		case t.records[0].State == job.Pending:
			return nil, slurm.TextPending
		case resume:
			return nil, "Job is not suspended"
		}
		// What is suspended already stays so, without an error.
	}
	return &state.Suspend{Targets: []state.Target{t.state}, Resume: resume}, ""
}
