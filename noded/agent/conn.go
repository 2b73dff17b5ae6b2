package agent

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"muster/api"
	"muster/api/pb"
	"muster/internal/nss"
	"muster/internal/wire"
	"muster/job"
)

// How long a client may take.
const (
	idleMax  = 10 * time.Minute // between calls
	sendMax  = 30 * time.Second // for the rest of a request that has begun
	stallMax = time.Hour        // to take a part of the answer: `squeue | less` may be left open
)

// flushAt is how many bytes of an answer are gathered before they are sent.
const flushAt = 32 << 10

// conn is one connection of a client. It carries one call after the other.
type conn struct {
	agent  *Agent
	sock   *net.UnixConn
	in     *bufio.Reader
	out    []byte // of the answer, not yet sent
	who    *user
	caller api.Caller
	coded  []byte // caller, once its names are known
	life   context.Context
	held   []job.ID             // allocations that end with the connection
	begun  []api.StepEndRequest // steps that were created and do not run yet
}

// serve answers the calls of one connection.
func (a *Agent) serve(ctx context.Context, sock *net.UnixConn) {
	defer sock.Close()
	stop := context.AfterFunc(ctx, func() { sock.Close() })
	defer stop()
	k, err := askKernel(sock)
	if err != nil {
		a.config.Log.Error("agent: who is calling", "err", err)
		return
	}
	c := &conn{agent: a, sock: sock, in: bufio.NewReader(sock), life: ctx}
	c.caller = api.Caller{UID: k.uid, GID: k.gid, Groups: k.groups, Host: a.config.Host, PID: k.pid}
	if c.who = a.users.enter(k.uid); c.who == nil {
		c.end(&api.End{Err: api.Errorf(api.ErrBusy, "this user has %d connections to the agent of this host", userConnections)})
		return
	}
	defer a.users.leave(c.who)
	defer c.letGo()
	for {
		if err := c.next(ctx); err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				a.config.Log.Debug("agent: connection ends", "uid", k.uid, "pid", k.pid, "err", err)
			}
			return
		}
	}
}

// next reads a call and answers it. The error ends the connection.
func (c *conn) next(ctx context.Context) error {
	idle := time.Now().Add(idleMax)
	if len(c.held) > 0 {
		idle = time.Time{}
	}
	if err := c.sock.SetReadDeadline(idle); err != nil {
		return err
	}
	length, err := c.in.Peek(4)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(length) > largeFrame {
		if err := take(ctx, c.who.large); err != nil {
			return c.refuse(err)
		}
		defer func() { <-c.who.large }()
	}
	if err := c.sock.SetReadDeadline(time.Now().Add(sendMax)); err != nil {
		return err
	}
	kind, payload, err := api.ReadFrame(c.in, nil)
	if err != nil {
		return err
	}
	var call head
	if err := wire.Decode(payload, &call); err != nil || kind != api.FrameCall {
		return c.refuse(api.Errorf(api.ErrInvalid, "the agent can not read the call (frame kind %d): %v", kind, err))
	}
	if !api.Lasts(call.method) {
		if err := take(ctx, c.who.calls); err != nil {
			return c.refuse(err)
		}
		defer func() { <-c.who.calls }()
	}
	return c.answer(ctx, call, payload)
}

// refuse tells the client why, then ends the connection.
func (c *conn) refuse(err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		c.end(&api.End{Err: told})
	}
	return err
}

// head is what the agent must know of a call. The rest, which may be long, passes
// through unread.
type head struct {
	method   string
	minIndex uint64
}

// Code implements wire.Message with the numbers of api.Call.
func (h *head) Code(w *wire.Coder) {
	w.String(1, &h.method)
	w.Uint64(6, &h.minIndex)
}

// answer passes a call on and streams the answer back.
func (c *conn) answer(ctx context.Context, call head, payload []byte) error {
	if call.method == api.MethodRun {
		return c.runStep(ctx, payload)
	}
	read := api.Reads(call.method)
	caller, told := c.name(ctx, read)
	if told != nil {
		return c.end(&api.End{Err: told})
	}
	leader := !read
	if read {
		index, recent := c.who.own(time.Now())
		leader = recent
		if index > call.minIndex {
			payload = withMinIndex(payload, index)
		}
	}
	lasts := api.Lasts(call.method)
	if lasts {
		var release func()
		ctx, release = c.watch(ctx)
		defer release()
	}
	relay := func(b []byte) error {
		c.answered(call.method, payload, b)
		return c.chunk(b, lasts)
	}
	end, err := c.agent.up.ask(ctx, &pb.CallRequest{Call: payload, Caller: caller}, call.method, leader, relay)
	if err != nil {
		return err
	}
	if !read && end.Err == nil {
		c.who.note(end.Index, time.Now())
		if call.method == api.MethodComplete {
			c.completed(payload)
		}
	}
	end.Leader = "" // between agents and controllers only
	return c.end(end)
}

// withMinIndex writes another index into a call that was decoded before.
func withMinIndex(payload []byte, index uint64) []byte {
	var call api.Call
	if err := wire.Decode(payload, &call); err != nil {
		return payload // the controller will say what is wrong with it
	}
	call.MinIndex = index
	return wire.Encode(nil, &call)
}

// name returns the coded caller with the names of the name service. Who only looks
// is served without them; a change waits until it is known whose it is.
func (c *conn) name(ctx context.Context, read bool) ([]byte, *api.Error) {
	if c.coded != nil {
		return c.coded, nil
	}
	caller := c.caller
	u, err := c.agent.names.User(ctx, caller.UID)
	number := strconv.FormatUint(uint64(caller.UID), 10)
	switch {
	case err == nil:
		caller.User, caller.Group, caller.GroupNames = u.Name, u.Group, u.Groups
		if u.GID != caller.GID { // newgrp(1)
			caller.Group = strconv.FormatUint(uint64(caller.GID), 10)
		}
		c.coded = wire.Encode(nil, &caller)
		return c.coded, nil
	case read:
		caller.User, caller.Group = number, strconv.FormatUint(uint64(caller.GID), 10)
		return wire.Encode(nil, &caller), nil
	case errors.Is(err, nss.ErrUnknown):
		return nil, &api.Error{Kind: api.ErrDenied, Text: "Invalid user id",
			Hint: "the name service of " + caller.Host + " has no user " + number}
	}
	c.agent.config.Log.Warn("agent: name of a caller", "uid", caller.UID, "err", err)
	return nil, &api.Error{Kind: api.ErrUnavailable, Text: err.Error(), Hint: "try `getent passwd " + number + "` on " + caller.Host}
}

// watch ends the context when the client hangs up during a call that lasts. The
// client sends nothing meanwhile. release must be called before the next read.
func (c *conn) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	c.sock.SetReadDeadline(time.Time{})
	go func() {
		defer close(done)
		if _, err := c.in.Peek(1); err != nil {
			cancel()
		}
	}()
	return ctx, func() {
		c.sock.SetReadDeadline(time.Unix(1, 0))
		<-done
		cancel()
	}
}

// chunk puts a part of the answer into the buffer and sends what is there once it
// is worth a system call, or at once if the next part may be long in coming.
func (c *conn) chunk(b []byte, now bool) error {
	var err error
	if c.out, err = api.AppendFrame(c.out, api.FrameChunk, b); err != nil || len(c.out) < flushAt && !now {
		return err
	}
	return c.flush()
}

// end closes an answer and sends it.
func (c *conn) end(e *api.End) error {
	var err error
	if c.out, err = api.AppendMessage(c.out, api.FrameEnd, e); err != nil {
		return err
	}
	return c.flush()
}

func (c *conn) flush() error {
	if err := c.sock.SetWriteDeadline(time.Now().Add(stallMax)); err != nil {
		return err
	}
	_, err := c.sock.Write(c.out)
	c.out = c.out[:0]
	return err
}
