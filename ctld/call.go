package ctld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/ctld/service"
	"muster/internal/wire"
)

const (
	// maxHops: agent to follower, follower to leader, and once more when the
	// lead has just moved.
	maxHops = 3
	// maxAge is how long a follower that has lost the leader still answers
	// local reads, with their age.
	maxAge = 10 * time.Second
	// drainTime is how long calls may take to finish at shutdown.
	drainTime = 2 * time.Second
	// indexWait bounds the wait for an index that nobody else can give either.
	indexWait = 5 * time.Second
)

// replies is the stream that a call is answered on.
type replies = grpc.ServerStreamingServer[pb.CallReply]

// Call implements pb.ControllerServer.
func (s *server) Call(in *pb.CallRequest, stream replies) error {
	peer, ok := rpc.PeerFrom(stream.Context())
	if !ok {
		return status.Error(codes.Unauthenticated, "nobody knows who calls")
	}
	var r service.Request
	if err := errors.Join(wire.Decode(in.Call, &r.Call), wire.Decode(in.Caller, &r.Caller)); err != nil {
		return end(stream, &api.End{Err: api.Errorf(api.ErrInvalid, "malformed call: %v", err)})
	}
	m, ok := s.c.methods[r.Method]
	if !ok {
		return end(stream, &api.End{Err: api.Errorf(api.ErrUnknownCall, "this controller does not know the call %q", r.Method)})
	}
	start := s.c.clock.Now()
	defer func() { s.c.stats.called(m.Name, &r.Caller, s.c.clock.Now().Sub(start)) }()
	if err := s.c.authorize(stream.Context(), peer, &r, m); err != nil {
		return end(stream, &api.End{Err: err})
	}
	ctx := stream.Context()
	here, err := s.c.answersHere(ctx, &r, m)
	if err != nil {
		return end(stream, &api.End{Err: apiError(err)})
	}
	if !here {
		return s.c.forward(ctx, in, &r.Caller, stream)
	}
	return s.c.handle(ctx, &r, m, stream)
}

// handle runs the handler of a call in this controller.
func (c *Controller) handle(ctx context.Context, r *service.Request, m service.Method, stream replies) error {
	r.Send = func(chunk []byte) error { return stream.Send(&pb.CallReply{Chunk: chunk}) }
	e := api.End{AgeMS: c.age(), Leader: c.leaderAddress()}
	if err := m.Handle(ctx, c, r); err != nil {
		if status.Code(err) != codes.Unknown { // the stream itself failed
			return err
		}
		e.Err = apiError(err)
	}
	e.Index = r.Index
	if e.Index == 0 {
		e.Index = c.store.Root().Index()
	}
	return end(stream, &e)
}

func end(stream replies, e *api.End) error {
	return stream.Send(&pb.CallReply{End: wire.Encode(nil, e)})
}

// apiError is what a client is shown of an error.
func apiError(err error) *api.Error {
	var e *api.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &api.Error{Kind: api.ErrUnavailable, Text: err.Error()}
	}
	return &api.Error{Kind: api.ErrInternal, Text: err.Error()}
}

// answersHere tells whether this controller may answer a call itself, after
// waiting for what the answer must include; else the leader must be asked.
func (c *Controller) answersHere(ctx context.Context, r *service.Request, m service.Method) (bool, error) {
	leads := c.store.Leading() != 0
	switch {
	case m.Leader:
		return leads, nil
	case r.Read == api.ReadLinearizable && leads:
		if err := c.store.Verify(ctx); err != nil {
			return false, &api.Error{Kind: api.ErrUnavailable, Text: err.Error()}
		}
		return true, nil
	case r.Read == api.ReadLinearizable && m.Live:
		return false, nil
	case r.Read == api.ReadLinearizable:
		index, err := c.reads.get(ctx, c)
		if err != nil {
			return false, &api.Error{Kind: api.ErrUnavailable, Text: err.Error()}
		}
		return true, c.waitFor(ctx, max(index, r.MinIndex))
	case leads:
		return true, c.waitFor(ctx, r.MinIndex)
	case c.caughtUp() && c.store.Root().Index() >= r.MinIndex:
		return true, nil
	case c.otherLeader():
		return false, nil // faster than waiting, and it knows all jobs
	case !c.caughtUp():
		return false, api.Errorf(api.ErrUnavailable, "controller %s has not caught up with a leader", c.cfg.Name)
	}
	return true, c.waitFor(ctx, r.MinIndex)
}

// leaderAddress is where the leader is, so that agents ask it for changes; "" if
// none is known.
func (c *Controller) leaderAddress() string {
	if m, ok := c.memberNamed(c.store.Leader()); ok {
		return m.Address
	}
	return ""
}

// otherLeader tells whether another controller is known to lead.
func (c *Controller) otherLeader() bool {
	name := c.store.Leader()
	return name != "" && name != c.cfg.Name
}

func (c *Controller) waitFor(ctx context.Context, index uint64) error {
	if c.store.Root().Index() >= index {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	if _, err := c.store.WaitIndex(ctx, index); err != nil {
		return &api.Error{Kind: api.ErrUnavailable, Text: err.Error()}
	}
	return nil
}

// forward passes a call to the leader and its answer back. The leader believes
// what a controller says of the caller, so it gets what authorize has made of it.
func (c *Controller) forward(ctx context.Context, in *pb.CallRequest, who *api.Caller, stream replies) error {
	leader := c.store.Leader()
	client, ok := c.peers.client(leader)
	if !ok {
		return end(stream, &api.End{Err: &api.Error{Kind: api.ErrUnavailable, Text: "no controller leads at the moment",
			Hint: "with more than half of the controllers up one is elected within seconds"}})
	}
	if in.Hops+1 >= maxHops {
		return end(stream, &api.End{Err: api.Errorf(api.ErrUnavailable, "the lead moves between controllers")})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := client.Call(ctx, &pb.CallRequest{Call: in.Call, Caller: wire.Encode(nil, who), Hops: in.Hops + 1})
	for err == nil {
		var m *pb.CallReply
		if m, err = answer.Recv(); err == nil {
			if err := stream.Send(m); err != nil {
				return err
			}
			if len(m.End) > 0 {
				return nil
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return nil // an End without any content has no bytes
	}
	return end(stream, &api.End{Err: &api.Error{Kind: api.ErrUnavailable, Text: fmt.Sprintf("controller %s, which leads: %v", leader, err)}})
}
