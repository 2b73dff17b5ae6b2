package noded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"muster/api/pb"
)

// link keeps one stream to one controller, any of them. While there is none,
// nothing is queued: what must not be lost is in the journal.
type link struct {
	n *Node

	mu    sync.Mutex
	addrs []string
	out   *outQueue           // of the stream; nil: none
	conn  pb.ControllerClient // of the stream
	up    chan struct{}       // closed when there is a stream
	end   func(error)         // ends the stream
}

func newLink(n *Node) *link {
	return &link{n: n, addrs: slices.Clone(n.cfg.Controllers), up: make(chan struct{}), end: func(error) {}}
}

// outQueue is what waits to be sent on a stream.
type outQueue struct {
	mu   sync.Mutex
	list []*pb.FromNode
	wake chan struct{}
}

func (q *outQueue) add(m ...*pb.FromNode) {
	q.mu.Lock()
	q.list = append(q.list, m...)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *outQueue) take() []*pb.FromNode {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// send queues a message, if there is a stream.
func (l *link) send(m *pb.FromNode) {
	l.mu.Lock()
	q := l.out
	l.mu.Unlock()
	if q != nil {
		q.add(m)
	}
}

// again has the node say anew what it is: it ends the stream, and a new one begins
// with a hello.
func (l *link) again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(errors.New("the node has something new to say of itself"))
}

// client waits for a controller that answers.
func (l *link) client(ctx context.Context) (pb.ControllerClient, error) {
	for {
		l.mu.Lock()
		c, up := l.conn, l.up
		l.mu.Unlock()
		if c != nil {
			return c, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return nil, fmt.Errorf("no controller answers: %w", ctx.Err())
		}
	}
}

// learn takes the addresses of the controllers that one of them named.
func (l *link) learn(addrs []string) {
	if len(addrs) == 0 {
		return
	}
	l.mu.Lock()
	changed := !slices.Equal(l.addrs, addrs)
	l.addrs = slices.Clone(addrs)
	l.mu.Unlock()
	if changed && l.n.cfg.Learned != nil {
		l.n.cfg.Learned(addrs)
	}
}

// Pauses between the rounds through all controllers.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 2 * time.Second
)

// run holds a stream until ctx ends: to one controller after the other, with a
// growing pause after each round in which none answered.
func (l *link) run(ctx context.Context) {
	pause := firstPause
	next := rand.N(1 << 16) // nodes spread over the controllers
	for tried := 1; ctx.Err() == nil; tried++ {
		l.mu.Lock()
		addr := l.addrs[next%len(l.addrs)]
		all := len(l.addrs)
		l.mu.Unlock()
		next++
		heard, err := l.stream(ctx, addr)
		if ctx.Err() != nil {
			return
		}
		l.n.log.Info("stream to a controller ended", "controller", addr, "err", err)
		if heard {
			tried, pause = 0, firstPause
		}
		if tried < all && !heard {
			continue
		}
		tried = 0
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, maxPause)
	}
}

// answerTime is how long a controller may take for its first word.
const answerTime = 5 * time.Second

// stream runs one stream until it breaks. heard tells whether the controller
// said anything.
func (l *link) stream(ctx context.Context, addr string) (heard bool, err error) {
	life := ctx // of what the controller asks for: it does not end with the stream
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.mu.Lock()
	l.end = cancel
	l.mu.Unlock()
	client, closer, err := l.n.cfg.Dial(addr)
	if err != nil {
		return false, err
	}
	defer closer.Close()
	first := time.AfterFunc(answerTime, func() { cancel(errors.New("it does not answer")) })
	defer first.Stop()
	s, err := client.Sync(ctx)
	if err != nil {
		return false, err
	}
	q := &outQueue{wake: make(chan struct{}, 1)}
	if !l.open(ctx, q, client) {
		return false, ctx.Err()
	}
	var sender sync.WaitGroup
	sender.Go(func() {
		if err := l.write(ctx, s, q); err != nil {
			cancel(err)
		}
	})
	defer sender.Wait()
	defer cancel(nil)
	defer l.close()
	for {
		m, err := s.Recv()
		if err != nil {
			return heard, errors.Join(err, context.Cause(ctx))
		}
		if !heard {
			heard = true
			first.Stop()
		}
		l.n.do(life, func() { l.n.hear(life, m) })
	}
}

// open makes q the queue of the stream, with the node's hello and all reports
// that the leader has not acknowledged in it.
func (l *link) open(ctx context.Context, q *outQueue, client pb.ControllerClient) bool {
	opened := make(chan struct{})
	l.n.do(ctx, func() {
		q.add(&pb.FromNode{Hello: l.n.hello()})
		for _, r := range l.n.unacked() {
			q.add(&pb.FromNode{Report: r})
		}
		l.mu.Lock()
		l.out, l.conn = q, client
		close(l.up)
		l.mu.Unlock()
		close(opened)
	})
	select {
	case <-opened:
		return true
	case <-ctx.Done():
		select {
		case <-opened:
			l.close()
		default:
		}
		return false
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out != nil {
		l.out, l.conn = nil, nil
		l.up = make(chan struct{})
	}
}

// write sends what is queued, and a heartbeat at its time.
func (l *link) write(ctx context.Context, s pb.Controller_SyncClient, q *outQueue) error {
	for beat := uint64(1); ; {
		timer := time.NewTimer(l.n.beat())
		select {
		case <-q.wake:
		case <-timer.C:
			number := beat
			beat++
			l.n.do(ctx, func() { q.add(&pb.FromNode{Heartbeat: l.n.heartbeatMessage(number)}) })
		case <-ctx.Done():
			timer.Stop()
			s.CloseSend()
			return nil
		}
		timer.Stop()
		for _, m := range q.take() {
			if err := s.Send(m); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
	}
}
