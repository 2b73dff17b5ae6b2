package ctld

import (
	"net"
	"time"

	"github.com/hashicorp/raft"

	"muster/api/identity"
	"muster/api/rpc"
)

// raftPort carries raft over the controller's one TLS port.
type raftPort struct {
	net.Listener
	id *identity.Identity
}

var _ raft.StreamLayer = raftPort{}

// Dial implements raft.StreamLayer.
func (p raftPort) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return rpc.DialRaft(p.id, string(address), timeout)
}
