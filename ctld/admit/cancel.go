package admit

import (
	"context"
	"slices"
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/bitset"
	"muster/job"
	"muster/state"
)

// maxTargets bounds how many jobs one call may name.
const maxTargets = 10000

func idText(id job.ID) string { return strconv.FormatUint(uint64(id), 10) }

// cancel ends or signals jobs: job.cancel.
func cancel(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.CancelRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	if len(req.Jobs) > maxTargets {
		return api.Errorf(api.ErrInvalid, "more than %d jobs are named in one call: use selectors such as --user or --name", maxTargets)
	}
	c := &canceller{core: core, r: r, req: &req, root: core.Root()}
	if err := c.choose(); err != nil {
		return err
	}
	if !req.List && len(c.doomed) > 0 {
		var err error
		if req.Signal == 0 && !req.Batch && !req.Full {
			err = c.end(ctx)
		} else {
			err = c.signal(ctx)
		}
		if err != nil {
			return err
		}
	}
	return send(r, &c.reply)
}

// canceller is one call on its way.
type canceller struct {
	core   service.Core
	r      *service.Request
	req    *api.CancelRequest
	root   *state.Root
	doomed []doomed
	reply  api.CancelReply
}

// doomed is one job that is to be ended or signalled; at is its line in the reply.
type doomed struct {
	target target
	step   *job.StepID
	at     int
}

// choose finds the jobs that are meant. Those that may not be touched get their
// refusal at once.
func (c *canceller) choose() error {
	if len(c.req.Jobs) == 0 {
		for j := range c.root.Jobs() {
			if !j.State.Ended() && c.matches(j) {
				c.add(target{name: nameOf(j), records: []*job.Job{j}, state: recordTarget(j)}, nil)
			}
		}
		return nil
	}
	f := &finder{root: c.root}
	for _, text := range c.req.Jobs {
		t, err := f.find(text)
		if err != nil {
			return invalid(err.Error())
		}
		n, _ := slurm.ParseJobName(text) // read by find already
		if c.selective() {
			for _, j := range t.records {
				if c.matches(j) {
					c.add(target{name: nameOf(j), records: []*job.Job{j}, state: narrow(j, n.Tasks)}, nil)
				}
			}
			continue
		}
		var step *job.StepID
		if n.HasStep {
			step = &n.Step
		}
		c.add(t, step)
	}
	return nil
}

// recordTarget names one record to the state: of the rest of an array, exactly
// the tasks that it holds.
func recordTarget(j *job.Job) state.Target { return narrow(j, nil) }

// narrow is recordTarget for those of the tasks that are in only; nil is all.
func narrow(j *job.Job, only *bitset.Set) state.Target {
	switch {
	case j.IsArrayRest():
		tasks := j.Array.Waiting.Clone()
		if only != nil {
			tasks.Intersect(only)
		}
		return state.Target{Job: j.Array.JobID, Tasks: tasks}
	case j.Array.JobID != 0 && j.Array.Task != job.NoTask:
		return state.Target{Job: j.Array.JobID, Tasks: bitset.Of(int(j.Array.Task))}
	}
	return state.Target{Job: j.ID}
}

// selective tells whether the request narrows the jobs that it names.
func (c *canceller) selective() bool {
	q := c.req
	return len(q.Users)+len(q.Names)+len(q.Partitions)+len(q.Accounts)+len(q.QOS)+len(q.Reservations)+len(q.WCKeys)+len(q.Nodes)+len(q.States) > 0
}

// matches tells whether a job passes all selectors.
func (c *canceller) matches(j *job.Job) bool {
	q := c.req
	in := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	switch {
	case len(q.States) > 0 && !slices.Contains(q.States, j.State),
		len(q.Users) > 0 && !slices.Contains(q.Users, j.Owner.User) && !slices.Contains(q.Users, strconv.FormatUint(uint64(j.Owner.UID), 10)),
		!in(q.Names, j.Request.Name), !in(q.Accounts, j.Account), !in(q.QOS, j.QOS), !in(q.WCKeys, j.Request.WCKey),
		!in(q.Reservations, j.Request.Reservation):
		return false
	case len(q.Partitions) > 0 && !slices.ContainsFunc(partitionsOf(j), func(p string) bool { return slices.Contains(q.Partitions, p) }):
		return false
	}
	return len(q.Nodes) == 0 || j.Alloc != nil && j.State.Active() &&
		slices.ContainsFunc(j.Alloc.Nodes, func(n job.Share) bool { return slices.Contains(q.Nodes, n.Name) })
}

// partitionsOf lists the partition of a started job, those asked for of others.
func partitionsOf(j *job.Job) []string {
	if j.Alloc != nil {
		return []string{j.Alloc.Partition}
	}
	return j.Request.Partitions
}

// add notes one job, with its refusal if it may not be touched.
func (c *canceller) add(t target, step *job.StepID) {
	line := api.CancelResult{Job: t.name, Known: len(t.records) > 0, Step: step != nil}
	if len(t.records) > 0 {
		line.Name, line.Partition = t.records[0].Request.Name, first(partitionsOf(t.records[0]))
	}
	switch {
	case len(t.records) == 0, allFinished(t.records):
		line.Finished = true // scancel is silent about jobs that have ended or are not there
	case !c.mayTouch(t.records):
		line.Failure = slurm.TextDenied
	case t.component && c.req.Signal == 0 && t.records[0].State == job.Pending:
		line.Failure = slurm.TextWholeHet // components wait together or not at all
	case c.req.Signal == 0 && !c.req.Cron && slices.ContainsFunc(t.records, func(j *job.Job) bool { return j.Request.Cron.Spec != "" }):
		line.Failure = slurm.TextCronCancel
	default:
		c.doomed = append(c.doomed, doomed{t, step, len(c.reply.Jobs)})
	}
	c.reply.Jobs = append(c.reply.Jobs, line)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// mayTouch tells whether the caller is root or owns all the records.
func (c *canceller) mayTouch(records []*job.Job) bool {
	return mayChange(c.root, c.r, records)
}

// mayChange tells whether the caller may act on jobs: their owner, an operator, or a
// coordinator of their accounts.
func mayChange(root *state.Root, r *service.Request, records []*job.Job) bool {
	if r.Operates(root) {
		return true
	}
	for _, j := range records {
		if j.Owner.UID != r.Caller.UID && !r.Coordinates(root, j.Account) {
			return false
		}
	}
	return true
}

// end cancels all jobs that were chosen in one command.
func (c *canceller) end(ctx context.Context) error {
	cmd := &state.End{To: job.Cancelled}
	for _, d := range c.doomed {
		if d.step != nil && *d.step != job.BatchStep {
			c.endStep(ctx, d)
			continue
		}
		cmd.Targets = append(cmd.Targets, d.target.state)
	}
	if len(cmd.Targets) == 0 {
		return nil
	}
	result, err := propose(ctx, c.core, c.r, seal(c.core, c.r, cmd))
	if err != nil {
		return err
	}
	if result.Code != state.OK && len(c.doomed) > 1 {
		return resultError(result)
	}
	c.skipped(result)
	return nil
}

// endStep kills the tasks of one step; its srun then reports its end.
func (c *canceller) endStep(ctx context.Context, d doomed) {
	const sigkill = 9
	line := &c.reply.Jobs[d.at]
	for _, j := range d.target.records {
		running := slices.ContainsFunc(j.Steps, func(s job.Step) bool { return s.ID == *d.step && s.Active() })
		if !j.State.Active() || !running {
			line.Failure = slurm.TextFinished
			continue
		}
		if err := c.core.Signal(ctx, service.Signal{Job: j.ID, Number: sigkill, Step: d.step}); err != nil {
			line.Failure = err.Error()
		}
	}
}

// skipped writes what the state refused into the reply.
func (c *canceller) skipped(result state.Result) {
	if result.Code != state.OK {
		result.Skipped = append(result.Skipped, state.Skip{Job: c.doomed[0].target.state.Job, Code: result.Code, Text: result.Text})
	}
	for _, s := range result.Skipped {
		for _, d := range c.doomed {
			if d.target.state.Job != s.Job {
				continue
			}
			if s.Code == state.AlreadyDone || s.Code == state.NoSuchJob {
				c.reply.Jobs[d.at].Finished = true
			} else {
				c.reply.Jobs[d.at].Failure = resultText(s.Code, s.Text)
			}
		}
	}
}

// signal sends a signal to the running ones of the jobs that were chosen.
// SIGKILL to a whole job ends it, waiting or running, also with --full, as in Slurm.
func (c *canceller) signal(ctx context.Context) error {
	const sigkill = 9
	number := c.req.Signal
	if number == 0 {
		number = sigkill
	}
	if number == sigkill && !c.req.Batch {
		return c.end(ctx)
	}
	for _, d := range c.doomed {
		for _, j := range d.target.records {
			if !j.State.Active() {
				if !j.State.Ended() && !c.req.Batch {
					c.reply.Jobs[d.at].Failure = slurm.TextNoSuchJob // of those that a signal could reach
				}
				continue
			}
			err := c.core.Signal(ctx, service.Signal{Job: j.ID, Number: number, Batch: c.req.Batch, Full: c.req.Full, Step: d.step})
			if err != nil {
				c.reply.Jobs[d.at].Failure = err.Error()
			}
		}
	}
	return nil
}
