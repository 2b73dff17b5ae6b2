// Package admit answers the calls that change something: it checks what a user
// sent against the present state, works out what needs a clock or a name, and
// proposes the command. Nothing that a client says is believed.
package admit

import (
	"context"
	"errors"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/wire"
	"muster/job"
	"muster/state"
)

// Methods are the changing calls with their handlers. All run on the leader.
func Methods() []service.Method {
	return []service.Method{
		{Name: api.MethodSubmit, Leader: true, Handle: submit},
		{Name: api.MethodCancel, Leader: true, Handle: cancel},
		{Name: api.MethodControlJob, Leader: true, Handle: controlJob},
		{Name: api.MethodWaitJob, Leader: false, Handle: waitJob},
		{Name: api.MethodAllocate, Leader: true, Handle: submit},
		{Name: api.MethodReady, Leader: false, Handle: ready},
		{Name: api.MethodComplete, Leader: true, Handle: complete},
		{Name: api.MethodStep, Leader: true, Handle: createStep},
		{Name: api.MethodStepEnd, Leader: true, Handle: endStep},
		{Name: api.MethodUpdateJob, Leader: true, Handle: updateJob},
		{Name: api.MethodUpdateNode, Leader: true, Handle: updateNode},
		{Name: api.MethodUpdatePart, Leader: true, Handle: updatePartition},
		{Name: api.MethodUpdateResv, Leader: true, Handle: updateReservation},
		{Name: api.MethodBookChange, Leader: true, Site: true, Handle: changeBook},
		{Name: api.MethodConfigure, Leader: true, Site: true, Handle: configure},
		{Name: api.MethodBackup, Leader: true, Site: true, Handle: backup},
		{Name: api.MethodControllers, Leader: true, Site: true, Handle: controllers},
		{Name: api.MethodSetCrontab, Leader: true, Handle: setCrontab},
	}
}

// decode reads the request message of a call.
func decode(r *service.Request, into wire.Message) error {
	if err := wire.Decode(r.Body, into); err != nil {
		return api.Errorf(api.ErrInvalid, "%s: %v", r.Method, err)
	}
	return nil
}

// send answers a call with one message.
func send(r *service.Request, m wire.Message) error { return r.Send(wire.Encode(nil, m)) }

// actor is who asks, for the record.
func actor(r *service.Request) state.Actor {
	return state.Actor{UID: r.Caller.UID, User: r.Caller.User, Host: r.Caller.Host}
}

// seal makes the envelope of the one command that a call comes to. A repeated
// try carries the same request id and is answered from memory by Apply.
func seal(core service.Core, r *service.Request, c state.Command) state.Envelope {
	e := state.Seal(c, actor(r), r.RequestID)
	e.FirstTry = core.Now() - job.Time(min(r.AgeMS, 1<<40))
	return e
}

// propose commits one command. An error is the cluster's, never the command's
// own refusal, which is in the result.
func propose(ctx context.Context, core service.Core, r *service.Request, e state.Envelope, blobs ...state.Blob) (state.Result, error) {
	result, index, err := core.Propose(ctx, e, blobs...)
	if err != nil {
		var known *api.Error
		if errors.As(err, &known) {
			return result, err
		}
		return result, api.Errorf(api.ErrInternal, "%v", err)
	}
	r.Index = max(r.Index, index)
	return result, nil
}

// resultText is what Slurm says for the outcome of a command.
func resultText(code state.Code, text string) string {
	switch code {
	case state.NoSuchJob:
		return slurm.TextNoSuchJob
	case state.NoSuchNode:
		return slurm.TextNodeName
	case state.NoSuchPartition:
		return slurm.TextPartition
	case state.NoSuchReservation:
		return slurm.TextReservation
	case state.AlreadyDone:
		return slurm.TextFinished
	case state.NotRequeueable:
		return slurm.TextDisabled
	case state.OverLimit:
		return textPolicy
	}
	if text != "" {
		return text
	}
	return slurm.TextDisabled
}

// resultError makes the error of a command that was refused as a whole; nil if
// it was done.
func resultError(res state.Result) error {
	kind := api.ErrState
	switch res.Code {
	case state.OK:
		return nil
	case state.NoSuchJob, state.NoSuchNode, state.NoSuchPartition, state.NoSuchReservation:
		kind = api.ErrNotFound
	case state.TooOld:
		kind = api.ErrTooOld
	case state.Invalid:
		kind = api.ErrInvalid
	}
	return &api.Error{Kind: kind, Text: resultText(res.Code, res.Text)}
}

// invalid and denied make the refusals of a request.
func invalid(text string) error { return &api.Error{Kind: api.ErrInvalid, Text: text} }
func denied(text string) error  { return &api.Error{Kind: api.ErrDenied, Text: text} }
