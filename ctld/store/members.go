package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/raft"
)

// Member is one controller of the cluster.
type Member struct {
	Name    string // raft's server id
	Address string // host:port of its one port
	Votes   bool   // false: it follows the log and answers reads, and counts in no majority
}

// Members are the controllers by raft's configuration, the last one that this
// replica has heard of, sorted by name. It is empty on a replica that waits to be
// added. An address that the cluster file names is the file's, so that a controller
// may move without a change in raft's log.
func (s *Store) Members() []Member {
	r := s.running.Load()
	if r == nil {
		return nil
	}
	return s.overlaid(r.GetConfiguration().Configuration())
}

func (s *Store) overlaid(c raft.Configuration) []Member {
	var out []Member
	for _, v := range c.Servers {
		m := Member{Name: string(v.ID), Address: string(v.Address), Votes: v.Suffrage == raft.Voter}
		if i := memberNamed(s.cfg.Members, m.Name); i >= 0 {
			m.Address = s.cfg.Members[i].Address
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func memberNamed(list []Member, name string) int {
	return slices.IndexFunc(list, func(m Member) bool { return m.Name == name })
}

// configuration is a list of members in raft's words.
func configuration(list []Member) raft.Configuration {
	var c raft.Configuration
	for _, m := range list {
		v := raft.Server{ID: raft.ServerID(m.Name), Address: raft.ServerAddress(m.Address), Suffrage: raft.Nonvoter}
		if m.Votes {
			v.Suffrage = raft.Voter
		}
		c.Servers = append(c.Servers, v)
	}
	return c
}

// addresses finds a member's address by its name.
type addresses struct{ s *Store }

// ServerAddr implements raft.ServerAddressProvider.
func (a addresses) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	known := a.s.cfg.Members
	i := memberNamed(known, string(id))
	if i < 0 {
		known = a.s.Members()
		i = memberNamed(known, string(id))
	}
	if i < 0 {
		return "", fmt.Errorf("neither the cluster file nor the list of members names controller %q", id)
	}
	return raft.ServerAddress(known[i].Address), nil
}

// SetMember adds a controller, or moves it, or gives it a vote or takes it. Only the
// leader can. It returns when a majority of the voters after the change has it.
func (s *Store) SetMember(m Member) error {
	if m.Name == s.cfg.Name && !m.Votes {
		return s.mustHandOn()
	}
	id, address := raft.ServerID(m.Name), raft.ServerAddress(m.Address)
	list := s.Members()
	i := memberNamed(list, m.Name)
	var f raft.Future
	switch {
	case m.Votes:
		f = s.raft.AddVoter(id, address, 0, 0)
	case i >= 0 && list[i].Votes:
		f = s.raft.DemoteVoter(id, 0, 0)
	default:
		f = s.raft.AddNonvoter(id, address, 0, 0)
	}
	return s.settled("change controller "+m.Name, f)
}

// RemoveMember takes a controller out. Only the leader can, and not itself: it would
// have to lead without being a member until others have heard of it.
func (s *Store) RemoveMember(name string) error {
	if name == s.cfg.Name {
		return s.mustHandOn()
	}
	return s.settled("remove controller "+name, s.raft.RemoveServer(raft.ServerID(name), 0, 0))
}

func (s *Store) mustHandOn() error {
	return fmt.Errorf("controller %s leads: muster controllers transfer first", s.cfg.Name)
}

// Transfer hands the lead to a voter, or to the one with the longest log if name is "".
func (s *Store) Transfer(name string) error {
	if name == "" {
		return s.settled("hand on the lead", s.raft.LeadershipTransfer())
	}
	list := s.Members()
	i := memberNamed(list, name)
	if i < 0 || !list[i].Votes {
		return fmt.Errorf("controller %s has no vote, so it cannot lead", name)
	}
	return s.settled("hand the lead to "+name, s.raft.LeadershipTransferToServer(raft.ServerID(name), raft.ServerAddress(list[i].Address)))
}

func (s *Store) settled(what string, f raft.Future) error {
	err := f.Error()
	if errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipLost) || errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		return s.notLeading()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// voters counts the members that vote.
func (s *Store) voters() int {
	n := 0
	for _, m := range s.Members() {
		if m.Votes {
			n++
		}
	}
	return n
}
