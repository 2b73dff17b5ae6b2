package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"google.golang.org/grpc"

	"muster/api/identity"
)

// ListenNode opens the port of a node at addr (host:port, port 0 for any free
// one). Agents of all hosts may connect; what they may do there is not a
// question of who they are but of the grant that they bring.
func ListenNode(addr string, id *identity.Identity, log *slog.Logger) (*Listener, error) {
	if id.Role != identity.Compute {
		return nil, fmt.Errorf("listen on %s: the certificate is that of %s, want one of a compute node", addr, id)
	}
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Listener{
		id: id, inner: inner, log: log, stop: stop,
		config: id.Server([]string{protoGRPC}, identity.Controller, identity.Compute, identity.Login),
		raft:   newSide(ctx, inner.Addr()), grpc: newSide(ctx, inner.Addr()),
	}
	l.done.Go(func() { l.accept(ctx) })
	return l, nil
}

// DialNode makes a connection to a node at addr.
func DialNode(id *identity.Identity, addr string) (*grpc.ClientConn, error) {
	return dial(addr, id.ToNode([]string{protoGRPC}))
}
