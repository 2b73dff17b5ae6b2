package ctld

import (
	"context"

	"muster/api"
	"muster/api/identity"
	"muster/ctld/service"
	"muster/job"
)

// authorize decides whether a daemon may forward a call. A host's word counts
// as far as its role goes: the key of a stolen compute node does not own the
// cluster.
func (c *Controller) authorize(ctx context.Context, peer identity.Peer, r *service.Request, m service.Method) *api.Error {
	if peer.Role == identity.Controller || c.cfg.RootFromAnywhere {
		return nil
	}
	r.Caller.Host = peer.Name
	if !m.Leader { // a read
		if r.Caller.UID == 0 && peer.Role == identity.Compute {
			// Reads are for anyone; an admin's view of private data is not.
			r.Caller.UID = nobody
		}
		return nil
	}
	if r.Caller.UID == 0 && peer.Role == identity.Compute {
		return c.ownRoot(ctx, peer.Name, r)
	}
	if m.Name == api.MethodConfigure && peer.Role == identity.Compute {
		// Root of the node could say that it is an administrator.
		return &api.Error{Kind: api.ErrDenied, Text: "Access/permission denied",
			Hint: "the configuration is not changed from compute node " + peer.Name + "; act from a login or a controller host"}
	}
	if r.Caller.UID == 0 {
		return &api.Error{Kind: api.ErrDenied, Text: "Access/permission denied",
			Hint: "root of " + peer.Name + " is not believed by the controllers; act from a controller's host"}
	}
	if peer.Role == identity.Compute && !c.holds(ctx, func() bool { return c.hasJobOn(r.Caller.UID, peer.Name) }) {
		return &api.Error{Kind: api.ErrDenied, Text: "Access/permission denied",
			Hint: "from compute node " + peer.Name + " only users with a job on it may change something"}
	}
	return nil
}

// nobody is the overflow uid of Linux.
const nobody = 65_534

// holds tells whether something is so. A follower that lags behind the leader
// catches up before it says no: the first thing that a job does may be a call.
func (c *Controller) holds(ctx context.Context, is func() bool) bool {
	if is() {
		return true
	}
	if c.store.Leading() != 0 {
		return false
	}
	index, err := c.reads.get(ctx, c)
	return err == nil && c.waitFor(ctx, index) == nil && is()
}

// hasJobOn tells whether a user's job holds something on a node.
func (c *Controller) hasJobOn(uid uint32, node string) bool {
	root := c.store.Root()
	n := root.NodeNamed(node)
	if n == nil {
		return false
	}
	for j := range root.OnNode(n.ID) {
		if j.Owner.UID == uid && (j.State.Active() || j.Flags&job.Completing != 0) {
			return true
		}
	}
	return false
}
