package ctld

import (
	"context"
	"slices"
	"time"

	"muster/api"
	"muster/ctld/service"
	"muster/ctld/store"
)

const (
	// membersEvery is how often a controller looks who the members are. Raft says it
	// without asking anybody.
	membersEvery = 200 * time.Millisecond
	// maxLag is how many entries a controller may be behind the leader to get a vote.
	maxLag = 1000
)

// fileMembers are the controllers of the cluster file.
func (c *Controller) fileMembers() []store.Member {
	var out []store.Member
	for _, d := range c.file.Controllers {
		out = append(out, store.Member{Name: d.Name, Address: address(d), Votes: d.Votes})
	}
	return out
}

// members are the controllers, by the cluster file while raft knows none.
func (c *Controller) members() []store.Member {
	if list := c.store.Members(); len(list) > 0 {
		return list
	}
	return c.fileMembers()
}

// memberNamed finds a controller by its name.
func (c *Controller) memberNamed(name string) (store.Member, bool) {
	list := c.members()
	i := slices.IndexFunc(list, func(m store.Member) bool { return m.Name == name })
	if i < 0 {
		return store.Member{}, false
	}
	return list[i], true
}

// voters counts the controllers that vote.
func (c *Controller) voters() int {
	n := 0
	for _, m := range c.members() {
		if m.Votes {
			n++
		}
	}
	return n
}

// followMembers keeps connections to all members, and tells the nodes where they
// are, until ctx ends.
func (c *Controller) followMembers(ctx context.Context) error {
	var known []store.Member
	for {
		if list := c.members(); !slices.Equal(list, known) {
			if err := c.peers.set(list); err != nil {
				c.log.Error("the connections to the other controllers could not be changed", "err", err)
			} else {
				c.log.Info("the controllers are", "members", list)
				known = list
			}
			if l := c.leading.Load(); l != nil {
				l.dispatcher.SetControllers(c.addresses())
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.clock.After(membersEvery):
		}
	}
}

// ChangeMember implements service.Core.
func (c *Controller) ChangeMember(_ context.Context, change service.MemberChange) error {
	if c.store.Leading() == 0 {
		return api.Errorf(api.ErrUnavailable, "controller %s does not lead", c.cfg.Name)
	}
	now, known := c.memberNamed(change.Name)
	switch change.What {
	case service.Transfer:
		return c.store.Transfer(change.Name)
	case service.AddMember:
		if known {
			return api.Errorf(api.ErrState, "controller %s is a member already, at %s", change.Name, now.Address)
		}
		return c.store.SetMember(store.Member{Name: change.Name, Address: change.Address})
	}
	if !known {
		return api.Errorf(api.ErrInvalid, "no controller %s is a member: muster controllers list shows them", change.Name)
	}
	now.Votes = change.What == service.Promote
	if change.What == service.Promote {
		if err := c.caughtUpPeer(change.Name); err != nil {
			return err
		}
		return c.store.SetMember(now)
	}
	if err := c.enoughWithout(change); err != nil {
		return err
	}
	if change.What == service.Demote {
		return c.store.SetMember(now)
	}
	return c.store.RemoveMember(change.Name)
}

// caughtUpPeer refuses a vote for a controller that would hold up the others: with
// it a majority has to include more of those that are there.
func (c *Controller) caughtUpPeer(name string) error {
	index, up := c.peers.standing(name)
	own := c.store.Root().Index()
	switch {
	case !up:
		return api.Errorf(api.ErrState, "controller %s does not answer, so it gets no vote: start it with --join", name)
	case index == 0 || index+maxLag < own:
		return api.Errorf(api.ErrState, "controller %s is at index %d, the leader at %d: it gets a vote when it has caught up", name, index, own)
	case c.peers.lacks(name) > 0:
		return api.Errorf(api.ErrState, "controller %s has yet to fetch %d finished jobs and scripts: it gets a vote when it has them", name, c.peers.lacks(name))
	}
	return nil
}

// enoughWithout refuses to take a vote where the voters that answer would be no
// majority of those that are left.
func (c *Controller) enoughWithout(change service.MemberChange) error {
	left, up := 0, 0
	for _, m := range c.members() {
		if !m.Votes || m.Name == change.Name {
			continue
		}
		left++
		if _, answers := c.peers.standing(m.Name); answers || m.Name == c.cfg.Name {
			up++
		}
	}
	if 2*up > left || change.Force {
		return nil
	}
	return &api.Error{Kind: api.ErrState, Hint: "start the others, or say --force if they never come back",
		Text: "without " + change.Name + " fewer than half of the voters would answer, and nothing could be changed any more"}
}
