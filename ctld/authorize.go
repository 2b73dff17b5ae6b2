package ctld

import (
	"context"
	"maps"
	"slices"

	"muster/api"
	"muster/api/identity"
	"muster/ctld/service"
	"muster/job"
	"muster/state"
)

// authorize decides whether a daemon may forward a call, and changes the caller
// to what is believed of it. A host's word counts as far as its role goes: the
// key of a stolen compute node does not own the cluster.
func (c *Controller) authorize(ctx context.Context, peer identity.Peer, r *service.Request, m service.Method) *api.Error {
	if peer.Role == identity.Controller || c.cfg.RootFromAnywhere {
		return nil
	}
	r.Caller.Host = peer.Name
	if r.Caller.UID != 0 && r.Caller.User == rootName {
		// Accounts go by name, and this name manages them.
		return denied(peer.String() + " says that user " + rootName + " has another uid than 0")
	}
	switch {
	case peer.Role == identity.Compute && r.Caller.UID == 0 && m.Leader:
		return c.ownRoot(ctx, peer.Name, r)
	case peer.Role == identity.Compute:
		return c.userOfNode(ctx, peer.Name, r, m)
	case r.Caller.UID == 0 && m.Leader:
		return denied("root of " + peer.Name + " is not believed by the controllers; act from a controller's host")
	}
	return nil
}

func denied(hint string) *api.Error {
	return &api.Error{Kind: api.ErrDenied, Text: "Access/permission denied", Hint: hint}
}

// userOfNode judges a call that a compute node makes for a user. It can speak for
// the users whose jobs run on it, as those jobs know them; for all others, and
// for root, it may only read what anybody may.
func (c *Controller) userOfNode(ctx context.Context, node string, r *service.Request, m service.Method) *api.Error {
	if m.Site { // a node's root could say that an administrator with a job there asks
		return denied("accounts, configuration and controllers are not changed from compute node " + node + "; act from a login host or a controller's")
	}
	known := new(knownUser)
	if r.Caller.UID != 0 {
		c.holds(ctx, func() bool {
			known = knownOn(c.store.Root(), node, r.Caller.UID)
			return known.jobs > 0
		})
	}
	switch {
	case known.jobs > 0:
		r.Caller.Plain = true // its root could name an operator who has a job there
		return known.vouchFor(&r.Caller, node)
	case m.Leader:
		return denied("from compute node " + node + " only users with a job on it may change something")
	case m.Own:
		return denied("from compute node " + node + " only users with a job on it may read what is theirs alone")
	}
	r.Caller = api.Caller{UID: nobody, GID: nobody, User: "nobody", Host: node}
	return nil
}

const (
	// nobody is the overflow uid of Linux.
	nobody = 65_534
	// rootName is the user who manages accounts from the start.
	rootName = "root"
)

// knownUser is what the jobs of a user on a node say of the user. The first of
// them came from a host that is believed.
type knownUser struct {
	jobs   int
	names  map[string]bool
	groups map[uint32]bool
	named  map[string]bool // groups by name
}

// knownOn gathers what is known of a user by the jobs that hold something on a node.
func knownOn(root *state.Root, node string, uid uint32) *knownUser {
	k := &knownUser{names: map[string]bool{}, groups: map[uint32]bool{}, named: map[string]bool{}}
	n := root.NodeNamed(node)
	if n == nil {
		return k
	}
	for j := range root.OnNode(n.ID) {
		if j.Owner.UID != uid || !j.State.Active() && j.Flags&job.Completing == 0 {
			continue
		}
		k.jobs++
		k.names[j.Owner.User] = true
		k.groups[j.Owner.GID] = true
		for _, g := range j.Owner.Groups {
			k.groups[g] = true
		}
		for _, g := range j.Owner.GroupNames {
			k.named[g] = true
		}
	}
	return k
}

// vouchFor refuses a caller whose name or group the user's jobs do not know, and
// drops other groups that they do not know: a job with them would run on other
// nodes with their rights.
func (k *knownUser) vouchFor(who *api.Caller, node string) *api.Error {
	if !k.names[who.User] {
		return denied("the jobs on compute node " + node + " know this user by another name than " + who.User)
	}
	if !k.groups[who.GID] {
		return denied("the user's jobs on compute node " + node + " do not have the group of the caller; use newgrp with one that they have")
	}
	who.Groups = slices.DeleteFunc(slices.Clone(who.Groups), func(g uint32) bool { return !k.groups[g] })
	if len(k.named) == 0 {
		who.GroupNames = nil // the submitting host did not say; this one is not asked
		return nil
	}
	who.GroupNames = slices.Sorted(maps.Keys(k.named))
	return nil
}

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
