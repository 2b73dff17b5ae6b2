package ctld

import (
	"errors"
	"strings"
	"testing"

	"muster/api"
	"muster/ctld/service"
	"muster/ctld/store"
)

// What is refused of changes of the members, with the word that says why.
func TestMembersThatMayNotBeChanged(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start("c1", "c2", "c3")
	leader, followers := cs.leader()
	gone, left := followers[0].cfg.Name, followers[1].cfg.Name
	if err := leader.ChangeMember(t.Context(), service.MemberChange{What: service.AddMember, Name: "c4", Address: "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	cs.stop(gone)
	cs.wait(gone+" is seen to be gone", func() bool { _, up := leader.peers.standing(gone); return !up })
	for _, c := range []struct {
		change service.MemberChange
		want   string
	}{
		{service.MemberChange{What: service.AddMember, Name: left, Address: "127.0.0.1:1"}, "member already"},
		{service.MemberChange{What: service.Promote, Name: "c9"}, "c9 is a member"},
		{service.MemberChange{What: service.Promote, Name: "c4"}, "does not answer"},
		{service.MemberChange{What: service.RemoveMember, Name: left}, "fewer than half"},
		{service.MemberChange{What: service.Demote, Name: left}, "fewer than half"},
		{service.MemberChange{What: service.RemoveMember, Name: leader.cfg.Name, Force: true}, "transfer"},
		{service.MemberChange{What: service.Transfer, Name: "c4"}, "no vote"},
	} {
		before := leader.store.Members()
		err := leader.ChangeMember(t.Context(), c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.change, err, c.want)
		}
		if after := leader.store.Members(); len(after) != len(before) {
			t.Errorf("%+v was refused and done: %v", c.change, after)
		}
	}
	var refused *api.Error
	if err := cs.up[left].ChangeMember(t.Context(), service.MemberChange{What: service.Transfer}); !errors.As(err, &refused) || refused.Kind != api.ErrUnavailable {
		t.Errorf("a follower took a change: %v", err)
	}
}

// The connections, the addresses that nodes hear of, and what counts as a majority
// follow the members, on followers too.
func TestTheOthersFollowTheMembers(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start("c1", "c2", "c3")
	leader, followers := cs.leader()
	if err := leader.ChangeMember(t.Context(), service.MemberChange{What: service.AddMember, Name: "c4", Address: "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range append(followers, leader) {
		cs.wait(c.cfg.Name+" knows c4", func() bool { _, ok := c.peers.client("c4"); return ok })
		if n := c.voters(); n != 3 {
			t.Errorf("%s counts %d voters, want 3: c4 has no vote", c.cfg.Name, n)
		}
	}
	if err := leader.ChangeMember(t.Context(), service.MemberChange{What: service.RemoveMember, Name: "c4"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range append(followers, leader) {
		cs.wait(c.cfg.Name+" has forgotten c4", func() bool { _, ok := c.peers.client("c4"); return !ok })
	}
}

func TestConnectionsThatStayAreKept(t *testing.T) {
	cs := newControllers(t, 1)
	p := newPeers(cs.issue("controller", "c1"), "c1")
	defer p.close()
	set := func(list ...store.Member) {
		t.Helper()
		if err := p.set(list); err != nil {
			t.Fatal(err)
		}
	}
	set(store.Member{Name: "c1", Address: "127.0.0.1:1"}, store.Member{Name: "c2", Address: "127.0.0.1:2"})
	c2 := p.named("c2")
	set(store.Member{Name: "c2", Address: "127.0.0.1:2"}, store.Member{Name: "c3", Address: "127.0.0.1:3"})
	if p.named("c2") != c2 {
		t.Error("the connection to c2 was made anew")
	}
	set(store.Member{Name: "c2", Address: "127.0.0.1:4"})
	if p.named("c2") == c2 || p.named("c3") != nil {
		t.Errorf("c2 has moved and c3 is gone, but the connections are %v", p.names())
	}
}
