package admit

import (
	"context"
	"errors"
	"fmt"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/conf"
	"muster/ctld/service"
	"muster/state"
)

// mayConfigure tells whether a caller may change the configuration: one of admin level
// Administrator.
func mayConfigure(root *state.Root, r *service.Request) bool {
	return root.AdminLevel(r.Caller.UID, r.Caller.User) >= accounting.Administrator
}

// configure says what a cluster file would change, or makes it the configuration:
// config.apply. The text is checked here whatever the client said of it.
func configure(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.ConfigureRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	root := core.Root()
	if !mayConfigure(root, r) {
		return denied(slurm.TextInvalidUser)
	}
	reply := api.ConfigureReply{Serial: root.Configuration().Serial}
	if err := chooseText(root, &req, &reply); err != nil {
		return err
	}
	after, err := conf.Parse(req.Name, []byte(req.Source))
	if err != nil {
		return invalid(err.Error())
	}
	reply.Warnings = after.WarningLines(req.Name)
	if req.Source == root.Cluster().Source {
		reply.Same = true
		return send(r, &reply)
	}
	p := preview{root: root, after: after}
	if err := p.make(); err != nil {
		return invalid(req.Name + ": " + err.Error())
	}
	reply.Changes, reply.Effects, reply.Ends = p.changes, p.effects, p.ends
	if !req.Commit {
		return send(r, &reply)
	}
	cmd := &state.Configure{Cluster: after.Cluster, Base: req.Base, Force: req.Force, Undo: req.Undo}
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err != nil {
		return err
	}
	switch result.Code {
	case state.OK:
	case state.InUse:
		return &api.Error{Kind: api.ErrState, Text: "the configuration stays, running jobs have no place in the new one: " + result.Text,
			Hint: "let them end, or end them with --force"}
	case state.Conflict:
		return &api.Error{Kind: api.ErrState, Text: "the configuration stays: " + result.Text, Hint: "look at the difference again"}
	default:
		return resultError(result)
	}
	now, err := core.WaitIndex(ctx, r.Index)
	if err != nil {
		return err
	}
	reply.Serial = now.Configuration().Serial
	return send(r, &reply)
}

// chooseText puts the text of an earlier configuration into the request, if one is
// to come back.
func chooseText(root *state.Root, req *api.ConfigureRequest, reply *api.ConfigureReply) error {
	list := root.Configurations()
	if req.Before {
		if len(list) < 2 {
			return &api.Error{Kind: api.ErrState, Text: "there is no configuration before the one in force"}
		}
		req.Undo = list[len(list)-2].Serial
	}
	if req.Undo == 0 {
		if req.Source == "" {
			return invalid("a cluster file without any text")
		}
		return nil
	}
	for _, c := range list {
		if c.Serial == req.Undo {
			req.Name, req.Source, reply.Undo = fmt.Sprintf("configuration %d", c.Serial), c.Source, c.Serial
			return nil
		}
	}
	return &api.Error{Kind: api.ErrNotFound, Text: fmt.Sprintf("configuration %d is not remembered", req.Undo), Hint: "muster conf history lists those that are"}
}

// errFixed refuses what a live cluster cannot change.
var (
	errFixedName        = errors.New("the name of a cluster is in all its certificates and stays: write the old one")
	errFixedControllers = errors.New("controllers are not changed by this; leave the [[controller]] tables as they are")
)
