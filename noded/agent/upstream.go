package agent

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/wire"
)

// How long the agent tries for before it tells the client, which tries on for as
// long as its user wants; and how long a controller may keep silent before another
// is asked. Asking twice is safe: a change carries its request id.
const (
	tryFor     = 10 * time.Second
	silenceMax = 5 * time.Second
)

// upstream holds a connection to each controller and picks the one to ask.
type upstream struct {
	id  *identity.Identity
	log *slog.Logger

	mu     sync.Mutex
	conns  []*controller
	leader string // as far as is known
	next   int    // where to look for one that answers
}

// controller is the connection to one of them.
type controller struct {
	addr   string
	conn   *grpc.ClientConn
	client pb.ControllerClient
}

func newUpstream(id *identity.Identity, addrs []string, log *slog.Logger) (*upstream, error) {
	u := &upstream{id: id, log: log}
	// Agents start at different controllers, each always at the same one.
	h := fnv.New32a()
	h.Write([]byte(id.Name))
	u.next = int(h.Sum32() % 1021)
	return u, u.set(addrs)
}

// set replaces the controllers, keeping the connections that stay.
func (u *upstream) set(addrs []string) error {
	if len(addrs) == 0 {
		return errors.New("agent: no controller is named")
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	var conns []*controller
	for _, addr := range addrs {
		if i := slices.IndexFunc(u.conns, func(c *controller) bool { return c.addr == addr }); i >= 0 {
			conns = append(conns, u.conns[i])
			continue
		}
		conn, err := rpc.Dial(u.id, addr)
		if err != nil {
			return fmt.Errorf("controller %s: %w", addr, err)
		}
		conn.Connect()
		conns = append(conns, &controller{addr, conn, pb.NewControllerClient(conn)})
	}
	for _, c := range u.conns {
		if !slices.Contains(conns, c) {
			c.conn.Close()
		}
	}
	u.conns = conns
	return nil
}

func (u *upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.conns {
		c.conn.Close()
	}
}

// pick chooses whom to ask: the leader if it is wanted and known, else the one that
// answered last, else any that is connected. It is nil while there is none.
func (u *upstream) pick(leader bool, not *controller) *controller {
	u.mu.Lock()
	defer u.mu.Unlock()
	var spare *controller
	for i := range u.conns {
		at := (u.next + i) % len(u.conns)
		c := u.conns[at]
		if c.conn.GetState() != connectivity.Ready {
			c.conn.Connect()
			continue
		}
		switch {
		case c == not:
			spare = c
		case leader && u.leader != "" && c.addr != u.leader && not == nil && u.isReady(u.leader):
			// The leader comes later in the list.
		default:
			if !leader {
				u.next = at
			}
			return c
		}
	}
	return spare
}

func (u *upstream) isReady(addr string) bool {
	return slices.ContainsFunc(u.conns, func(c *controller) bool {
		return c.addr == addr && c.conn.GetState() == connectivity.Ready
	})
}

// maxControllers bounds the controllers that an agent knows.
const maxControllers = 32

// learn remembers who leads. A login host hears of new controllers in this way only.
func (u *upstream) learn(addr string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := slices.ContainsFunc(u.conns, func(c *controller) bool { return c.addr == addr })
	if !known && len(u.conns) < maxControllers {
		if conn, err := rpc.Dial(u.id, addr); err == nil {
			conn.Connect()
			u.conns = append(slices.Clip(u.conns), &controller{addr, conn, pb.NewControllerClient(conn)})
		}
	}
	if slices.ContainsFunc(u.conns, func(c *controller) bool { return c.addr == addr }) {
		u.leader = addr
	}
}

// turn makes the next pick begin behind a controller that failed.
func (u *upstream) turn(c *controller) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.leader == c.addr {
		u.leader = ""
	}
	if i := slices.Index(u.conns, c); i >= 0 && u.next%len(u.conns) == i {
		u.next = i + 1
	}
}

// wait returns when a controller that was not connected may be now.
func (u *upstream) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	u.mu.Lock()
	conns := u.conns
	u.mu.Unlock()
	changed := make(chan struct{}, len(conns))
	var watching sync.WaitGroup
	for _, c := range conns {
		watching.Go(func() {
			if c.conn.WaitForStateChange(ctx, c.conn.GetState()) {
				changed <- struct{}{}
			}
		})
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
	cancel()
	watching.Wait()
}

// ask passes a call on and hands each chunk of the answer to relay. It tries one
// controller after the other until one answers or the time is up. The End is never
// nil; what could not be done stands in it.
func (u *upstream) ask(ctx context.Context, r *pb.CallRequest, method string, leader bool, relay func([]byte) error) (*api.End, error) {
	deadline := time.Now().Add(tryFor)
	end := unavailable("no controller answers (%s)", u.addresses())
	var failed *controller
	for try := 0; ; try++ {
		if c := u.pick(leader, failed); c == nil {
			u.wait(ctx)
		} else {
			got, handed, err := askOne(ctx, c, r, method, relay)
			if err != nil {
				return nil, err
			}
			if got.Err == nil || got.Err.Kind != api.ErrUnavailable || handed {
				if got.Leader != "" {
					u.learn(got.Leader)
				}
				return got, nil
			}
			u.log.Debug("agent: a controller could not answer", "controller", c.addr, "method", method, "err", got.Err.Text)
			end, failed = got, c
			u.turn(c)
		}
		if !pause(ctx, try, deadline) {
			return end, ctx.Err()
		}
	}
}

func (u *upstream) addresses() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for _, c := range u.conns {
		out = append(out, c.addr)
	}
	return out
}

// askOne makes one try at one controller. handed tells whether a chunk was relayed;
// the error is only relay's or that of ctx.
func askOne(ctx context.Context, c *controller, r *pb.CallRequest, method string, relay func([]byte) error) (end *api.End, handed bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if !api.Lasts(method) {
		silence := time.AfterFunc(silenceMax, cancel)
		defer silence.Stop()
		relay = stopping(silence, relay)
	}
	stream, err := c.client.Call(within, r)
	for err == nil {
		var reply *pb.CallReply
		if reply, err = stream.Recv(); err != nil {
			break
		}
		if reply.End == nil {
			handed = true
			if err := relay(reply.Chunk); err != nil {
				return nil, handed, err
			}
			continue
		}
		end = new(api.End)
		if err := wire.Decode(reply.End, end); err != nil {
			return nil, handed, fmt.Errorf("controller %s: %w", c.addr, err)
		}
	}
	switch {
	case end != nil:
		return end, handed, nil
	case ctx.Err() != nil:
		return nil, handed, ctx.Err()
	case errors.Is(err, io.EOF): // an End of zeros is no bytes
		return &api.End{}, handed, nil
	}
	return failure(c.addr, err), handed, nil
}

// stopping stops the timer at the first chunk.
func stopping(t *time.Timer, relay func([]byte) error) func([]byte) error {
	return func(b []byte) error {
		t.Stop()
		return relay(b)
	}
}

// failure turns an error of the transport into the end of an answer.
func failure(addr string, err error) *api.End {
	switch s := status.Convert(err); s.Code() {
	case codes.PermissionDenied, codes.Unauthenticated:
		return &api.End{Err: api.Errorf(api.ErrDenied, "%s", s.Message())}
	case codes.ResourceExhausted, codes.InvalidArgument, codes.OutOfRange:
		return &api.End{Err: api.Errorf(api.ErrInvalid, "controller %s: %s", addr, s.Message())}
	default:
		return unavailable("controller %s: %s", addr, s.Message())
	}
}

func unavailable(format string, args ...any) *api.End {
	e := api.Errorf(api.ErrUnavailable, format, args...)
	e.Hint = "are the controllers running? see their logs, or scontrol ping"
	return &api.End{Err: e}
}

// pause waits a moment between tries; false if the time is up.
func pause(ctx context.Context, try int, deadline time.Time) bool {
	d := 5 * time.Millisecond << min(try, 6)
	d += time.Duration(rand.Int64N(int64(d)))
	if time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
