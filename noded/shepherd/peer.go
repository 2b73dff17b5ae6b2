package shepherd

import (
	"net"
	"sync"

	"muster/internal/wire"
)

// peer is one end of a connection. Messages are queued and written by one
// goroutine, many at a time, so nothing that reaps processes waits for a reader.
type peer struct {
	c    *net.UnixConn
	wake chan struct{}
	done chan struct{}

	mu     sync.Mutex
	out    []byte
	closed bool
}

func newPeer(c *net.UnixConn) *peer {
	p := &peer{c: c, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go p.write()
	return p
}

// send queues a message. The queue holds at most what the processes of the node
// can make: a few messages each.
func (p *peer) send(m wire.Message) {
	p.mu.Lock()
	p.out = appendFrame(p.out, m)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write sends what is queued until the connection is closed.
func (p *peer) write() {
	var spare []byte
	for {
		select {
		case <-p.wake:
		case <-p.done:
			return
		}
		p.mu.Lock()
		b := p.out
		p.out = spare[:0]
		p.mu.Unlock()
		if _, err := p.c.Write(b); err != nil {
			p.close()
			return
		}
		spare = b
	}
}

// close ends the connection; it may be called more than once.
func (p *peer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		close(p.done)
		p.c.Close()
	}
}
