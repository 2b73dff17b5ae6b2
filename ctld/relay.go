package ctld

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/ctld/dispatch"
)

// Relay implements pb.ControllerServer on the leader: the traffic of all nodes
// that are connected to another controller.
func (s *server) Relay(stream grpc.BidiStreamingServer[pb.RelayUp, pb.RelayDown]) error {
	peer, ok := rpc.PeerFrom(stream.Context())
	if !ok || peer.Role != identity.Controller {
		return status.Error(codes.PermissionDenied, "only a controller relays")
	}
	if _, member := s.c.memberNamed(peer.Name); !member {
		return status.Errorf(codes.PermissionDenied, "controller %s is no member: muster controllers add adds it", peer.Name)
	}
	l := s.c.leading.Load()
	if l == nil {
		return status.Error(codes.Unavailable, "this controller does not lead")
	}
	l.followers.joined(peer.Name)
	defer l.followers.left(peer.Name)
	out := newFunnel[*pb.RelayDown]()
	sessions := map[string]*dispatch.Session{}
	defer func() {
		for _, n := range sessions {
			n.Close()
		}
	}()
	received := make(chan *pb.RelayUp)
	ended := make(chan error, 1)
	go func() { // ends with the stream
		ended <- pump(stream.Context(), stream.Recv, received)
	}()
	for {
		select {
		case m := <-received:
			l.relayed(peer.Name, m, sessions, out)
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-out.ready:
			for _, m := range out.take() {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
		case <-s.stop:
			return status.Error(codes.Unavailable, "the controller stops")
		case <-l.ended:
			return status.Error(codes.Unavailable, "this controller no longer leads")
		}
	}
}

// pump hands what a stream receives to a channel until it ends.
func pump[T any](ctx context.Context, recv func() (T, error), to chan<- T) error {
	for {
		m, err := recv()
		if err != nil {
			return err
		}
		select {
		case to <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// relayed takes one message of a node that is connected to another controller.
func (l *lead) relayed(from string, m *pb.RelayUp, sessions map[string]*dispatch.Session, out *funnel[*pb.RelayDown]) {
	if m.Node == "" {
		l.followers.report(from, m.Ledger)
		return
	}
	s := sessions[m.Node]
	switch {
	case m.Gone:
		if s != nil {
			s.Close()
			delete(sessions, m.Node)
		}
	case m.Message == nil:
	case m.Message.Hello != nil:
		if s != nil {
			s.Close()
		}
		if m.Message.Hello.Name == m.Node {
			sessions[m.Node] = l.dispatcher.Attach(m.Message.Hello, relayed{node: m.Node, out: out})
		}
	case s != nil:
		s.Receive(m.Message)
	}
}

// relayed is the Outbox of a node behind another controller.
type relayed struct {
	node string
	out  *funnel[*pb.RelayDown]
}

// Send implements dispatch.Outbox.
func (r relayed) Send(m *pb.ToNode) { r.out.put(&pb.RelayDown{Node: r.node, Message: m}) }

// Close implements dispatch.Outbox: a message without content ends the stream.
func (r relayed) Close(error) { r.out.put(&pb.RelayDown{Node: r.node}) }

// funnel gathers messages of many for one sender. Its users bound what is in it:
// a node's reports wait for acknowledgements, and a message to a node is made
// once for each change of the state.
type funnel[T any] struct {
	ready chan struct{} // has one element when there is something to take
	mu    sync.Mutex
	list  []T
}

func newFunnel[T any]() *funnel[T] { return &funnel[T]{ready: make(chan struct{}, 1)} }

func (f *funnel[T]) put(m T) {
	f.mu.Lock()
	f.list = append(f.list, m)
	f.mu.Unlock()
	wake(f.ready)
}

func (f *funnel[T]) take() []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.list
	f.list = nil
	return list
}

func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
