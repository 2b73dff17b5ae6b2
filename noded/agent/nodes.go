package agent

import (
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// Connections to nodes that no step uses are kept for nodeLinger, since one srun
// often follows another in a job and to connect costs more than all the rest of a
// short step. At most nodesIdle are.
const (
	nodeLinger = 30 * time.Second
	nodesIdle  = 64
)

// nodes are the connections to the nodes whose steps this agent relays.
type nodes struct {
	dial func(addr string) (*grpc.ClientConn, error)

	mu    sync.Mutex
	conns map[string]*nodeConn
	idle  int
}

// nodeConn is shared by all steps on a node.
type nodeConn struct {
	conn  *grpc.ClientConn
	users int
	last  *time.Timer // closes it; nil while it is used
}

func newNodes(dial func(addr string) (*grpc.ClientConn, error)) *nodes {
	return &nodes{dial: dial, conns: map[string]*nodeConn{}}
}

// get returns the connection to a node and what to call when it is not needed.
func (n *nodes) get(addr string) (*grpc.ClientConn, func(), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.conns[addr]
	if c != nil && c.users == 0 && c.conn.GetState() != connectivity.Ready {
		// It was lost while nobody used it. A new one does not wait as that would,
		// which may have tried in vain for a while.
		n.drop(addr, c)
		c = nil
	}
	if c == nil {
		conn, err := n.dial(addr)
		if err != nil {
			return nil, nil, err
		}
		c = &nodeConn{conn: conn}
		n.conns[addr] = c
	}
	if c.users++; c.last != nil {
		c.last.Stop()
		c.last = nil
		n.idle--
	}
	return c.conn, func() { n.put(addr, c) }, nil
}

// put gives a connection back.
func (n *nodes) put(addr string, c *nodeConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	if n.conns[addr] != c || n.idle >= nodesIdle {
		n.drop(addr, c)
		return
	}
	n.idle++
	c.last = time.AfterFunc(nodeLinger, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if c.users == 0 && n.conns[addr] == c {
			n.drop(addr, c)
		}
	})
}

// drop closes a connection that nobody uses; the caller holds the lock.
func (n *nodes) drop(addr string, c *nodeConn) {
	if c.last != nil {
		c.last.Stop()
		c.last = nil
		n.idle--
	}
	if n.conns[addr] == c {
		delete(n.conns, addr)
	}
	c.conn.Close()
}

// close closes those that nobody uses, and has the others closed when they are
// given back.
func (n *nodes) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for addr, c := range n.conns {
		if c.users == 0 {
			n.drop(addr, c)
		}
	}
	n.conns = map[string]*nodeConn{}
}
