package admit

import (
	"context"
	"net"
	"strconv"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
)

// memberVerb is the step that a word names; 0 if none.
func memberVerb(word string) service.MemberVerb {
	switch word {
	case api.VerbAdd:
		return service.AddMember
	case api.VerbPromote:
		return service.Promote
	case api.VerbDemote:
		return service.Demote
	case api.VerbRemove:
		return service.RemoveMember
	case api.VerbTransfer:
		return service.Transfer
	}
	return 0
}

// controllers changes who the controllers are: controllers.change.
func controllers(ctx context.Context, core service.Core, r *service.Request) error {
	var q api.ControllersRequest
	if err := decode(r, &q); err != nil {
		return err
	}
	if !mayConfigure(core.Root(), r) {
		return denied(slurm.TextInvalidUser)
	}
	c := service.MemberChange{What: memberVerb(q.Verb), Name: q.Name, Address: q.Address, Force: q.Force}
	switch {
	case c.What == 0:
		return invalid("controllers are not changed by " + strconv.Quote(q.Verb) + ", but by add, promote, demote, remove and transfer")
	case c.Name == "" && c.What != service.Transfer:
		return invalid("which controller? Give its name")
	case c.What == service.AddMember:
		if host, port, err := net.SplitHostPort(c.Address); err != nil || host == "" || port == "" {
			return invalid("controller " + c.Name + ": " + strconv.Quote(c.Address) + " is no address: want host:port")
		}
	}
	return core.ChangeMember(ctx, c)
}
