// Package rpc carries gRPC and raft between daemons over one TLS port that knows
// who is at the other end.
package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"muster/api/identity"
)

// The protocols of the port, by their ALPN names.
const (
	protoRaft = "muster-raft" // between controllers only
	protoGRPC = "h2"
)

// Bounds of the port against hosts that connect and say nothing.
const (
	handshakeTime = 10 * time.Second
	handshakesMax = 256
)

// Listener is the port of a controller: it shakes hands, and hands each
// connection to raft or to gRPC.
type Listener struct {
	id         *identity.Identity
	inner      net.Listener
	config     *tls.Config
	log        *slog.Logger
	raft, grpc *side
	stop       context.CancelFunc
	done       sync.WaitGroup
}

// Listen opens the port of a controller at addr (host:port).
func Listen(addr string, id *identity.Identity, log *slog.Logger) (*Listener, error) {
	if id.Role != identity.Controller {
		return nil, fmt.Errorf("listen on %s: the certificate is that of %s, want one of a controller", addr, id)
	}
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &Listener{
		id: id, inner: inner, log: log, stop: stop,
		config: id.Server([]string{protoGRPC, protoRaft}, identity.Controller, identity.Compute, identity.Login),
		raft:   newSide(ctx, inner.Addr()), grpc: newSide(ctx, inner.Addr()),
	}
	l.done.Go(func() { l.accept(ctx) })
	return l, nil
}

// Addr is the address that the port listens on.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Raft gives the connections of other controllers' raft.
func (l *Listener) Raft() net.Listener { return l.raft }

// GRPC gives the connections for a server made by NewServer.
func (l *Listener) GRPC() net.Listener { return l.grpc }

// Close closes the port and waits for the handshakes under way. Connections that
// were handed on stay with their owners.
func (l *Listener) Close() error {
	l.stop()
	err := l.inner.Close()
	l.done.Wait()
	return err
}

func (l *Listener) accept(ctx context.Context) {
	slots := make(chan struct{}, handshakesMax)
	for {
		conn, err := l.inner.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			l.log.Warn("accept a connection", "err", err)
			select { // out of descriptors, most likely: do not spin
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				return
			}
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			conn.Close()
			return
		}
		l.done.Go(func() {
			defer func() { <-slots }()
			l.greet(ctx, conn)
		})
	}
}

// greet shakes hands and hands the connection on.
func (l *Listener) greet(ctx context.Context, raw net.Conn) {
	conn := tls.Server(raw, l.config)
	within, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	if err := conn.HandshakeContext(within); err != nil {
		l.log.Warn("connection refused", "from", raw.RemoteAddr().String(), "err", err)
		raw.Close()
		return
	}
	peer, err := identity.StatePeer(conn.ConnectionState())
	if err != nil {
		l.log.Warn("connection refused", "from", raw.RemoteAddr().String(), "err", err)
		conn.Close()
		return
	}
	switch proto := conn.ConnectionState().NegotiatedProtocol; {
	case proto == protoGRPC:
		l.grpc.hand(ctx, conn)
	case proto == protoRaft && peer.Role == identity.Controller:
		l.raft.hand(ctx, conn)
	default:
		l.log.Warn("connection refused", "from", raw.RemoteAddr().String(), "peer", peer.String(), "protocol", proto)
		conn.Close()
	}
}

// DialRaft connects to another controller's raft.
func DialRaft(id *identity.Identity, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	d := tls.Dialer{Config: id.Client([]string{protoRaft}, identity.Controller)}
	return d.DialContext(ctx, "tcp", addr)
}

// side is one of the two listeners behind the port.
type side struct {
	ctx   context.Context
	close context.CancelFunc
	addr  net.Addr
	conns chan net.Conn
}

func newSide(ctx context.Context, addr net.Addr) *side {
	ctx, cancel := context.WithCancel(ctx)
	return &side{ctx: ctx, close: cancel, addr: addr, conns: make(chan net.Conn)}
}

func (s *side) hand(ctx context.Context, conn net.Conn) {
	select {
	case s.conns <- conn:
	case <-s.ctx.Done():
		conn.Close()
	case <-time.After(handshakeTime): // nobody serves this side
		conn.Close()
	}
}

// Accept implements net.Listener.
func (s *side) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener: only this side ends.
func (s *side) Close() error {
	s.close()
	return nil
}

// Addr implements net.Listener.
func (s *side) Addr() net.Addr { return s.addr }

var errNoTLS = errors.New("rpc: the connection did not come through a Listener")
