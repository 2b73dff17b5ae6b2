package rpc

import (
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"

	"muster/api"
	"muster/api/identity"
)

// maxMessage is the longest message between daemons: a client's longest frame
// with its caller, and room to spare.
const maxMessage = 2 * api.MaxFrame

// A peer that vanished without a word (power, network) is noticed after
// pingAfter + pingWait; one that was killed resets its connections at once.
const (
	pingAfter = 10 * time.Second
	pingWait  = 10 * time.Second
)

// NewServer makes a gRPC server for the connections of a Listener. Handlers ask
// PeerFrom who calls.
func NewServer(more ...grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append([]grpc.ServerOption{
		grpc.Creds(greeted{}),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter, Timeout: pingWait}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 2, PermitWithoutStream: true}),
	}, more...)...)
}

// Dial makes a connection to a controller at addr. It returns at once; the
// connection is made in the background and made again whenever it is lost.
func Dial(id *identity.Identity, addr string) (*grpc.ClientConn, error) {
	return dial(addr, id.Client([]string{protoGRPC}, identity.Controller))
}

func dial(addr string, config *tls.Config) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingWait, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.3, MaxDelay: time.Second},
			MinConnectTimeout: 3 * time.Second,
		}),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
	)
}

// PeerFrom is who made the call that a handler of NewServer's is in.
func PeerFrom(ctx context.Context) (identity.Peer, bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return identity.Peer{}, false
	}
	info, ok := p.AuthInfo.(authInfo)
	return info.peer, ok
}

// WithPeer returns a context in which PeerFrom says who: for tests of handlers.
func WithPeer(ctx context.Context, who identity.Peer) context.Context {
	return peer.NewContext(ctx, &peer.Peer{AuthInfo: authInfo{peer: who}})
}

type authInfo struct {
	credentials.CommonAuthInfo
	peer identity.Peer
}

// AuthType implements credentials.AuthInfo.
func (authInfo) AuthType() string { return "muster" }

// greeted are the credentials of a server whose Listener has already shaken
// hands: they only read who it was.
type greeted struct{}

// ServerHandshake implements credentials.TransportCredentials.
func (greeted) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	t, ok := conn.(*tls.Conn)
	if !ok {
		return nil, nil, errNoTLS
	}
	who, err := identity.StatePeer(t.ConnectionState())
	if err != nil {
		return nil, nil, err
	}
	common := credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}
	return conn, authInfo{CommonAuthInfo: common, peer: who}, nil
}

// ClientHandshake implements credentials.TransportCredentials; it is not for clients.
func (greeted) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errNoTLS
}

// Info implements credentials.TransportCredentials.
func (greeted) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (g greeted) Clone() credentials.TransportCredentials { return g }

// OverrideServerName implements credentials.TransportCredentials; names do not matter here.
func (greeted) OverrideServerName(string) error { return nil }
