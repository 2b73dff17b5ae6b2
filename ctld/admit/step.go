package admit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/job"
	"muster/state"
)

// grantTime is how long a grant can be used to launch, in milliseconds: long
// enough for clocks that differ.
const grantTime = 10 * 60_000

// Slurm's texts about steps.
const (
	textMoreCPUs  = "More processors requested than permitted"
	textNodesBusy = "Requested nodes are busy"
	textStepNodes = "Requested node configuration is not available"
	textMemory    = "Memory required by task is not available"
	textStepGres  = "Invalid generic resource (gres) specification"
)

// createStep gives a step of a running job its resources, as soon as other steps
// leave them: step.create.
func createStep(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.StepRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	for {
		root := core.Root()
		j, err := stepJob(root, r, req.Job)
		if err != nil {
			return err
		}
		if req.Attach {
			return attach(core, r, root, j, req.Step)
		}
		plan, busy, err := layOut(root, j, &req)
		switch {
		case err != nil:
			return err
		case busy == "" && req.Hidden:
			return grant(core, r, root, j, plan, job.StepID(1<<31|rand.Uint32N(1<<30)))
		case busy == "":
			id, again, err := beginStep(ctx, core, r, j, plan)
			if err != nil || !again {
				if err == nil {
					err = grant(core, r, root, j, plan, id)
				}
				return err
			}
		case req.Immediate:
			return &api.Error{Kind: api.ErrState, Text: textNodesBusy, Hint: busy}
		}
		select {
		case <-core.Changed(root):
		case <-ctx.Done():
			return api.Errorf(api.ErrUnavailable, "waiting for resources of job %d: %v", req.Job, ctx.Err())
		}
	}
}

// stepJob finds the job of a step, if the caller may begin steps in it.
func stepJob(root *state.Root, r *service.Request, id job.ID) (*job.Job, error) {
	j := root.Job(id)
	switch {
	case j == nil:
		return nil, &api.Error{Kind: api.ErrNotFound, Text: slurm.TextNoSuchJob}
	case j.Owner.UID != r.Caller.UID && r.Caller.UID != 0:
		return nil, denied(slurm.TextDenied)
	case j.State == job.Pending:
		return nil, &api.Error{Kind: api.ErrState, Text: slurm.TextPending}
	case !j.State.Active() || j.Cancel != nil:
		return nil, &api.Error{Kind: api.ErrState, Text: slurm.TextFinished}
	}
	return j, nil
}

// beginStep proposes a step; again is set if another one was faster.
func beginStep(ctx context.Context, core service.Core, r *service.Request, j *job.Job, p *stepPlan) (id job.StepID, again bool, err error) {
	cmd := &state.StepCreate{Job: j.ID, Attempt: j.Attempt, Step: p.step(), Numbered: p.req.Numbered}
	cmd.Step.ID = p.req.Step
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err != nil || result.Code == state.StepWaits {
		return 0, true, err
	}
	return result.Step, false, resultError(result)
}

// grant signs what the step may do and answers the call with it.
func grant(core service.Core, r *service.Request, root *state.Root, j *job.Job, p *stepPlan, id job.StepID) error {
	g := &api.Grant{Cluster: root.Cluster().Name, Job: j.ID, Attempt: j.Attempt, Step: id, UID: j.Owner.UID,
		Expires: core.Now() + grantTime, KillWait: root.Cluster().Timers.KillWait, Hidden: p.req.Hidden, Attach: p.req.Attach, GPUBind: p.req.Gres.Bind}
	for i := range p.nodes {
		n := &p.nodes[i]
		address, err := nodeAddress(root, n.share)
		if err != nil {
			return err
		}
		out := api.GrantNode{Name: n.share.Name, Address: address, CPUs: n.part.CPUs, MemoryMB: n.part.MemoryMB,
			Devices: n.part.Devices, PerTask: p.perTask, Tasks: n.ranks, Cores: n.part.Cores}
		g.Tasks += uint32(len(n.ranks))
		g.Nodes = append(g.Nodes, out)
	}
	reply := &api.StepReply{Grant: wire.Encode(nil, g)}
	var err error
	if reply.Signature, reply.Certificate, err = core.Sign(reply.Grant); err != nil {
		return api.Errorf(api.ErrInternal, "signing the grant of step %d.%d: %v", j.ID, id, err)
	}
	return send(r, reply)
}

// attach signs a grant to look at the output of a running step.
func attach(core service.Core, r *service.Request, root *state.Root, j *job.Job, id job.StepID) error {
	at := slices.IndexFunc(j.Steps, func(s job.Step) bool { return s.ID == id && s.Active() })
	if at < 0 {
		return &api.Error{Kind: api.ErrNotFound, Text: "Job/step already completing or completed"}
	}
	p := &stepPlan{req: &api.StepRequest{Attach: true}}
	for i, n := range j.Steps[at].Nodes {
		share := j.Alloc.OnNode(n)
		if share < 0 {
			continue
		}
		// Which ranks they are does not matter, only how many.
		node := stepNode{share: &j.Alloc.Nodes[share], ranks: make([]uint32, j.Steps[at].Parts[i].Tasks)}
		p.nodes = append(p.nodes, node)
	}
	return grant(core, r, root, j, p, id)
}

// nodeAddress is where the daemon of a node serves steps: the last of the
// addresses that it registered with.
func nodeAddress(root *state.Root, share *job.Share) (string, error) {
	n := root.Node(share.Node)
	if n == nil || n.Port == 0 || len(n.Address) == 0 {
		return "", api.Errorf(api.ErrUnavailable, "node %s has not said where it serves steps", share.Name)
	}
	return net.JoinHostPort(n.Address[len(n.Address)-1], strconv.Itoa(int(n.Port))), nil
}

// endStep records how a step ended: step.end.
func endStep(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.StepEndRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	j := core.Root().Job(req.Job)
	switch {
	case j == nil:
		return send(r, &api.ChangeReply{}) // purged: its end closed the step
	case j.Owner.UID != r.Caller.UID && r.Caller.UID != 0:
		return denied(slurm.TextDenied)
	}
	cmd := &state.StepEnd{Job: req.Job, Attempt: req.Attempt, Step: req.Step, ExitCode: req.ExitCode, Signal: req.Signal,
		Usage: req.Usage, At: core.Now()}
	if _, err := propose(ctx, core, r, seal(core, r, cmd)); err != nil {
		return err
	}
	return send(r, &api.ChangeReply{})
}

// complete ends an allocation that has no script: job.complete.
func complete(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.CompleteRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	j := core.Root().Job(req.Job)
	switch {
	case j == nil:
		return &api.Error{Kind: api.ErrNotFound, Text: slurm.TextNoSuchJob}
	case j.Owner.UID != r.Caller.UID && r.Caller.UID != 0:
		return denied(slurm.TextDenied)
	}
	cmd := &state.Complete{Job: req.Job, Attempt: j.Attempt, ExitCode: req.ExitCode, Signal: req.Signal}
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err == nil {
		err = resultError(result)
	}
	if err != nil {
		return err
	}
	return send(r, &api.ChangeReply{})
}

// ready answers once a job waits no longer: job.ready.
func ready(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.ReadyRequest
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
		j := root.Job(req.Job)
		if j == nil || j.State != job.Pending {
			reply := &api.ReadyReply{Known: j != nil}
			if j != nil {
				reply.State, reply.Attempt, reply.Reason, reply.Detail = j.State, j.Attempt, j.Reason, j.Detail
			}
			r.Index = root.Index()
			return send(r, reply)
		}
		select {
		case <-core.Changed(root):
		case <-ctx.Done():
			return api.Errorf(api.ErrUnavailable, "waiting for job %d: %v", req.Job, ctx.Err())
		}
	}
}

// step is the record of a plan.
func (p *stepPlan) step() job.Step {
	s := job.Step{Name: p.req.Name, Overlap: p.req.Overlap}
	for i := range p.nodes {
		n := &p.nodes[i]
		part := n.part
		part.Tasks = uint32(len(n.ranks))
		s.Nodes = append(s.Nodes, n.share.Node)
		s.Parts = append(s.Parts, part)
		s.Tasks += part.Tasks
		s.CPUs += part.CPUs
		s.MemoryMB += part.MemoryMB
		for _, d := range part.Devices {
			at := slices.IndexFunc(s.Devices, func(x job.DeviceShare) bool { return x.Name == d.Name && x.Type == d.Type })
			if at < 0 {
				at = len(s.Devices)
				s.Devices = append(s.Devices, job.DeviceShare{Name: d.Name, Type: d.Type})
			}
			s.Devices[at].Count += d.Count
		}
	}
	return s
}

// tooMany is the refusal of a step that the whole allocation has no room for.
func tooMany(format string, args ...any) error {
	return &api.Error{Kind: api.ErrInvalid, Text: textMoreCPUs, Hint: fmt.Sprintf(format, args...)}
}
