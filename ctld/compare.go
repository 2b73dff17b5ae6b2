package ctld

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/ctld/store"
	"muster/state"
)

const (
	// compareEvery is about the time between two comparisons of states.
	compareEvery = time.Second
	// compareTime bounds one question for hashes.
	compareTime = 2 * time.Second
	// maxMarks bounds the indices in one question.
	maxMarks = 64
)

// Hashes implements pb.ControllerServer.
func (s *server) Hashes(ctx context.Context, in *pb.HashesRequest) (*pb.HashesReply, error) {
	peer, ok := rpc.PeerFrom(ctx)
	if !ok || peer.Role != identity.Controller {
		return nil, status.Error(codes.PermissionDenied, "only a controller asks for hashes of the state")
	}
	if len(in.Index) > maxMarks {
		return nil, status.Errorf(codes.InvalidArgument, "%d indices asked for, at most %d are answered", len(in.Index), maxMarks)
	}
	out := &pb.HashesReply{WallMs: s.c.clock.Now().UnixMilli(), Last: s.c.store.Root().Index(),
		Lacks: s.c.ledger.missing(s.c.store.Root()) + s.c.store.Lacks()}
	for _, m := range s.c.store.MarksAt(in.Index) {
		out.Hashes = append(out.Hashes, &pb.StateHash{Index: m.Index, Hash: m.Hash[:]})
	}
	return out, nil
}

// finding is what a controller makes of the states of the others.
type finding int

// The findings, by rising weight.
const (
	unknown finding = iota // too few answered to tell
	agreed                 // a majority, with this controller in it, has one state
	hold                   // states differ and no majority is known to have one of them
	outvote                // a majority, with this controller in it, has another state than somebody
	stop                   // a majority has another state than this controller
)

// ballot is the hashes that controllers have at one index.
type ballot struct {
	index  uint64
	mine   state.Hash
	others map[string]state.Hash // of the other controllers that know it, by name
}

// differ names the others whose hash is not mine, sorted.
func (b *ballot) differ(names []string) []string {
	var out []string
	for _, name := range names {
		if h, ok := b.others[name]; ok && h != b.mine {
			out = append(out, name)
		}
	}
	return out
}

// judge weighs the hashes at one index. Those who did not answer count for
// nobody: a majority is one of all voters.
func (b *ballot) judge(voters int) finding {
	count := map[state.Hash]int{b.mine: 1}
	most := 0 // of another hash than mine
	for _, h := range b.others {
		count[h]++
		if h != b.mine {
			most = max(most, count[h])
		}
	}
	need := voters/2 + 1
	switch {
	case most >= need:
		return stop
	case most > 0 && count[b.mine] >= need:
		return outvote
	case most > 0:
		return hold
	case count[b.mine] >= need:
		return agreed
	}
	return unknown
}

// weigh judges at all indices and returns the ballot that counts: states do not
// become equal again by themselves, so the gravest finding at any index is it.
func weigh(ballots []ballot, voters int) (finding, *ballot) {
	v, at := unknown, (*ballot)(nil)
	for i := range ballots {
		if w := ballots[i].judge(voters); at == nil || w > v {
			v, at = w, &ballots[i]
		}
	}
	return v, at
}

// compare compares this controller's state with that of the others about once a
// second, until ctx ends or this controller has to stop.
func (c *Controller) compare(ctx context.Context) error {
	var last finding
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.clock.After(compareEvery/2 + rand.N(compareEvery)):
		}
		marks := c.store.Marks()
		if len(c.peers.names()) == 0 || len(marks) == 0 {
			continue
		}
		v, at := weigh(c.ballots(ctx, marks), c.voters())
		if v == unknown {
			continue // what was found earlier holds
		}
		c.act(v, last, at)
		if v == stop {
			return nil
		}
		last = v
	}
}

// act does what a finding asks for. A change is logged once.
func (c *Controller) act(v, last finding, at *ballot) {
	who := strings.Join(at.differ(c.peers.names()), ", ")
	switch v {
	case stop:
		c.store.Diverged(fmt.Sprintf("at index %d its hash is %x, and a majority of the controllers has another (%s)", at.index, at.mine, who))
	case hold:
		why := fmt.Sprintf("at index %d its state differs from that of %s, and no majority is known to have either", at.index, who)
		c.store.Hold(why)
		if last != hold {
			c.log.Error("writing stops: "+why, "index", at.index, "hash", fmt.Sprintf("%x", at.mine))
		}
	case outvote, agreed:
		c.store.Hold("")
		if last == hold {
			c.log.Info("writing goes on: a majority has this controller's state", "index", at.index)
		}
		if v == outvote && last != outvote {
			c.log.Error("another controller's state differs from that of the majority, this one's included", "other", who, "index", at.index)
		}
	}
}

// maxTrip is the longest round trip after which another's clock is believed: half
// of it is not known.
const maxTrip = 500 * time.Millisecond

// askHashes asks one controller, and hears from the answer what its clock shows.
func (c *Controller) askHashes(ctx context.Context, name string, client pb.ControllerClient, in *pb.HashesRequest) (*pb.HashesReply, error) {
	start := c.clock.Now()
	reply, err := client.Hashes(ctx, in)
	if err != nil {
		return nil, err
	}
	c.peers.heard(name, reply.Last, reply.Lacks)
	if trip := c.clock.Now().Sub(start); trip <= maxTrip && reply.WallMs > 0 {
		c.store.HearClock(name, time.UnixMilli(reply.WallMs), start.Add(trip/2))
	}
	return reply, nil
}

// ballots asks all other controllers for their hashes at the indices of marks.
// Who does not answer in time is left out.
func (c *Controller) ballots(ctx context.Context, marks []store.Mark) []ballot {
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	in := &pb.HashesRequest{}
	out := make([]ballot, len(marks))
	for i, m := range marks {
		in.Index = append(in.Index, m.Index)
		out[i] = ballot{index: m.Index, mine: m.Hash, others: map[string]state.Hash{}}
	}
	names := c.peers.names()
	replies := make([]*pb.HashesReply, len(names))
	var questions sync.WaitGroup
	for i, name := range names {
		if client, ok := c.peers.client(name); ok {
			questions.Go(func() { replies[i], _ = c.askHashes(ctx, name, client, in) })
		}
	}
	questions.Wait()
	for i, r := range replies {
		if m, ok := c.memberNamed(names[i]); !ok || !m.Votes {
			continue // counts in no majority
		}
		for _, h := range r.GetHashes() {
			for k := range out {
				if out[k].index == h.Index && len(h.Hash) == len(state.Hash{}) {
					out[k].others[names[i]] = state.Hash(h.Hash)
				}
			}
		}
	}
	return out
}
