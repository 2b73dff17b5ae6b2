package ctld

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/ctld/dispatch"
)

var errReplaced = errors.New("the node has opened a newer stream")

// Sync implements pb.ControllerServer: the stream of one node.
func (s *server) Sync(stream grpc.BidiStreamingServer[pb.FromNode, pb.ToNode]) error {
	peer, ok := rpc.PeerFrom(stream.Context())
	if !ok || peer.Role != identity.Compute {
		return status.Error(codes.PermissionDenied, "only a compute node has a node's stream")
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	hello := first.Hello
	if hello == nil {
		return status.Error(codes.InvalidArgument, "a node's stream begins with hello")
	}
	if hello.Name != peer.Name {
		return status.Errorf(codes.PermissionDenied, "the certificate is that of node %q, not of %q", peer.Name, hello.Name)
	}
	s.c.log.Info("node connected", "node", hello.Name, "boot", hello.BootId, "running", len(hello.Running))
	l := s.c.gate.open(hello)
	defer s.c.log.Info("node disconnected", "node", hello.Name)
	defer l.shut()
	received := make(chan error, 1)
	go func() { // ends with the stream
		for {
			m, err := stream.Recv()
			if err != nil {
				received <- err
				return
			}
			l.receive(m)
		}
	}()
	return drain(s.stop, l.box, received, func(m *pb.ToNode) error { return stream.Send(m) })
}

// drain sends what comes into a mailbox until the stream or the server ends.
func drain(stop <-chan struct{}, box *dispatch.Mailbox, received <-chan error, send func(*pb.ToNode) error) error {
	for {
		select {
		case <-box.Ready():
		case err := <-received:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case <-stop:
			return status.Error(codes.Unavailable, "the controller stops")
		}
		list, closed := box.Take()
		for _, m := range list {
			if err := send(m); err != nil {
				return err
			}
		}
		if closed != nil {
			return status.Error(codes.Aborted, closed.Error())
		}
	}
}

// Blob implements pb.ControllerServer. A hash is 128 bits that only those know
// who have the content or a launch that names it.
func (s *server) Blob(r *pb.BlobRequest, stream grpc.ServerStreamingServer[pb.BlobChunk]) error {
	const chunk = 256 << 10
	h, ok := hashOf(r.Hash)
	if !ok {
		return status.Errorf(codes.InvalidArgument, "a hash has 16 bytes, not %d", len(r.Hash))
	}
	data, err := s.blob(stream.Context(), h)
	if err != nil {
		return status.Error(codes.NotFound, err.Error())
	}
	for len(data) > 0 {
		n := min(len(data), chunk)
		if err := stream.Send(&pb.BlobChunk{Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// blob asks other controllers on behalf of a node, but not for one of them:
// else two that lack a blob would ask each other for ever.
func (s *server) blob(ctx context.Context, h hash) ([]byte, error) {
	if peer, ok := rpc.PeerFrom(ctx); ok && peer.Role == identity.Controller {
		return s.c.store.LocalBlob(h)
	}
	return s.c.store.Blob(ctx, h)
}
