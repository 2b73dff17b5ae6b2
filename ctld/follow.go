package ctld

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"muster/api/pb"
	"muster/ctld/dispatch"
)

// follow keeps the streams to the leader, whoever it is, until ctx ends.
func (c *Controller) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		leader := c.store.Leader()
		client, ok := c.peers.client(leader)
		if !ok { // nobody leads, or this controller does
			select {
			case <-ctx.Done():
			case <-c.store.LeaderSeen():
			}
			continue
		}
		session, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- c.followLeader(session, client) }()
		var err error
		select {
		case err = <-done:
			cancel()
		case <-c.store.LeaderSeen():
			cancel()
			<-done
			continue
		case <-ctx.Done():
			cancel()
			<-done
			continue
		}
		c.log.Debug("stream to the leader ended", "leader", leader, "err", err)
		c.rest(ctx)
	}
	return nil
}

// rest waits before the leader is tried again, or until there is another one.
func (c *Controller) rest(ctx context.Context) {
	const shortest = 100 * time.Millisecond
	select {
	case <-ctx.Done():
	case <-c.store.LeaderSeen():
	case <-c.clock.After(shortest + rand.N(shortest)):
	}
}

// followLeader relays the nodes' traffic and takes the leader's verdicts, until
// one of the two streams ends.
func (c *Controller) followLeader(ctx context.Context, client pb.ControllerClient) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var streams sync.WaitGroup
	errs := make([]error, 2)
	for i, f := range []func(context.Context, pb.ControllerClient) error{c.relay, c.hearPlans} {
		streams.Go(func() {
			defer cancel()
			errs[i] = f(ctx, client)
		})
	}
	streams.Wait()
	return errors.Join(errs...)
}

// relay carries the traffic of the nodes connected here to the leader.
func (c *Controller) relay(ctx context.Context, client pb.ControllerClient) error {
	stream, err := client.Relay(ctx)
	if err != nil {
		return err
	}
	up := newFunnel[*pb.RelayUp]()
	c.gate.use(func(hello helloMessage, _ dispatch.Outbox) receiver {
		up.put(&pb.RelayUp{Node: hello.Name, Message: &pb.FromNode{Hello: hello}})
		return upstream{node: hello.Name, up: up}
	})
	defer c.gate.use(nil)
	received := make(chan *pb.RelayDown)
	ended := make(chan error, 1)
	go func() { ended <- pump(ctx, stream.Recv, received) }() // ends with ctx
	news := c.ledger.watch()
	defer c.ledger.unwatch(news)
	for {
		select {
		case m := <-received:
			c.gate.deliver(m)
		case err := <-ended:
			return err
		case <-up.ready:
			for _, m := range up.take() {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
		case <-news:
			if err := stream.Send(&pb.RelayUp{Ledger: c.ledger.last()}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// upstream is the leader's end of a node's connection, seen from a follower.
type upstream struct {
	node string
	up   *funnel[*pb.RelayUp]
}

// Receive implements receiver.
func (u upstream) Receive(m *pb.FromNode) { u.up.put(&pb.RelayUp{Node: u.node, Message: m}) }

// Close implements receiver.
func (u upstream) Close() { u.up.put(&pb.RelayUp{Node: u.node, Gone: true}) }

// deliver hands a message of the leader to its node.
func (g *gate) deliver(m *pb.RelayDown) {
	g.mu.Lock()
	l := g.links[m.Node]
	g.mu.Unlock()
	switch {
	case l == nil:
	case m.Message == nil:
		l.Close(errors.New("the leader ended the node's stream"))
	default:
		l.Send(m.Message)
	}
}
