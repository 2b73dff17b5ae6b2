package admit

import (
	"context"
	"errors"
	"fmt"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// Bounds of a crontab.
const (
	maxCrontab        = 1 << 20 // bytes
	maxCrontabEntries = 1000
)

// setCrontab replaces the caller's crontab: crontab.set. Each entry is checked as a
// job that the caller submits; if one is refused, nothing is changed.
func setCrontab(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.CrontabRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	switch {
	case len(req.Text) > maxCrontab || len(req.Entries) > maxCrontabEntries:
		return invalid(fmt.Sprintf("A crontab has at most %d bytes and %d entries", maxCrontab, maxCrontabEntries))
	case req.Text == "" && len(req.Entries) > 0:
		return invalid("The entries of a crontab come with its text")
	}
	root := core.Root()
	cmd := &state.SetCrontab{Table: state.Crontab{UID: r.Caller.UID, Text: req.Text}, Jobs: make([]state.NewJob, len(req.Entries))}
	env := blob(req.Environment)
	blobs := []state.Blob{env}
	reply := &api.CrontabResult{}
	for i := range req.Entries {
		e := &req.Entries[i]
		s := &submission{core: core, r: r, root: root, cluster: root.Cluster(), now: core.Now()}
		script := blob(e.Script)
		e.Job.Request.Batch.Script, e.Job.Request.Batch.Environment = script.Hash, env.Hash
		err := s.admitEntry(ctx, e, req.Environment, &cmd.Jobs[i])
		var known *api.Error
		switch {
		case errors.As(err, &known):
			reply.Failure, reply.Failed = known.Text, uint32(i)
			return send(r, reply)
		case err != nil:
			return err
		}
		blobs = append(blobs, script)
		reply.Messages = append(reply.Messages, s.notes...)
	}
	result, err := propose(ctx, core, r, seal(core, r, cmd), blobs...)
	if err != nil {
		return err
	}
	if err := resultError(result); err != nil {
		return err
	}
	reply.Jobs = result.Jobs
	return send(r, reply)
}

// admitEntry checks one entry and makes the job of it that waits for its first run.
func (s *submission) admitEntry(ctx context.Context, e *api.CrontabEntry, env []byte, out *state.NewJob) error {
	whole := &api.SubmitRequest{Jobs: []api.SubmitJob{e.Job}, Script: e.Script, Environment: env}
	if err := s.checkWhole(whole); err != nil {
		return err
	}
	if e.Job.Array != "" {
		return invalid("An entry of a crontab can be no job array")
	}
	if len(e.Cron.Spec) > maxName {
		return invalid("The times of an entry are too long")
	}
	next, err := service.NextRun(s.root, e.Cron.Spec, max(s.now, e.Job.Request.Timing.Begin))
	if err != nil {
		return invalid(err.Error())
	}
	e.Job.Requeue = job.Yes // it comes back after each run
	e.Job.Request.Cron, e.Job.Request.Timing.Begin = e.Cron, next
	return s.admit(ctx, &e.Job, out)
}
