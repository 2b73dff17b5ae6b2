package admit

import (
	"context"
	"slices"

	"muster/api"
	"muster/ctld/service"
	"muster/job"
)

// waitJob answers once all records of a job have ended, or one runs if that is
// asked for: job.wait.
func waitJob(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.WaitRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	if r.MinIndex > 0 {
		if _, err := core.WaitIndex(ctx, r.MinIndex); err != nil {
			return api.Errorf(api.ErrUnavailable, "waiting for index %d: %v", r.MinIndex, err)
		}
	}
	for {
		root := core.Root()
		records, _ := whole(root, req.Job)
		if len(records) == 0 {
			reply, err := waitedInLedger(ctx, core, req.Job)
			if err != nil {
				return err
			}
			return send(r, reply)
		}
		if req.Start && slices.ContainsFunc(records, func(j *job.Job) bool { return j.State.Active() }) {
			return send(r, &api.WaitReply{Known: true, State: job.Running})
		}
		if allFinished(records) {
			r.Index = root.Index()
			return send(r, outcome(records))
		}
		select {
		case <-core.Changed(root):
		case <-ctx.Done():
			return api.Errorf(api.ErrUnavailable, "waiting for job %d: %v", req.Job, ctx.Err())
		}
	}
}

// outcome is the highest exit code of some records.
func outcome(records []*job.Job) *api.WaitReply {
	reply := &api.WaitReply{Known: true}
	for _, j := range records {
		addOutcome(reply, j)
	}
	return reply
}

func addOutcome(reply *api.WaitReply, j *job.Job) {
	code := j.End.ExitCode
	if code == 0 && (j.End.Signal != 0 || j.State != job.Completed) {
		code = 1 // killed, or never run
	}
	if code >= reply.Exit {
		reply.Exit, reply.Signal, reply.State = code, j.End.Signal, j.State
	}
}

// waitedInLedger is the outcome of a job that has left the memory.
func waitedInLedger(ctx context.Context, core service.Core, id job.ID) (*api.WaitReply, error) {
	reply := &api.WaitReply{}
	err := core.Ledger().Jobs(ctx, 0, 0, []job.ID{id}, nil, func(j *job.Job) bool {
		reply.Known = true
		addOutcome(reply, j)
		return true
	})
	if err != nil {
		return nil, api.Errorf(api.ErrUnavailable, "looking up job %d in the ledger: %v", id, err)
	}
	return reply, nil
}
