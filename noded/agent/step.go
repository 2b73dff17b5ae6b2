package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"muster/api"
	"muster/api/identity"
	"muster/api/pb"
	"muster/internal/wire"
	"muster/job"
)

// How long the agent tries to tell the controllers that a step or an allocation
// has ended, when its client is gone or waits for that.
const endFor = 2 * time.Minute

// lastWords is how long an agent that ends itself still tries.
const lastWords = time.Second

// stepRun is one step that a client runs through this agent.
type stepRun struct {
	c       *conn
	start   *api.StepStart
	grant   *api.Grant
	raw     []byte // start as it came
	streams []pb.Node_StepClient
	ctx     context.Context

	mu    sync.Mutex // for what follows and for writing to the client
	end   api.StepEndRequest
	ended int // tasks
}

// runStep relays a step between its client and the nodes, then tells the
// controllers how it ended: step.run. The nodes check the grant, too.
func (c *conn) runStep(ctx context.Context, payload []byte) error {
	var call api.Call
	r := &stepRun{c: c, start: new(api.StepStart), grant: new(api.Grant)}
	err := errors.Join(wire.Decode(payload, &call), wire.Decode(call.Body, r.start))
	if err == nil { // a daemon of root's connects only where a controller says
		err = c.agent.config.Identity.Verify(r.start.Grant, r.start.Signature, r.start.Certificate, identity.Controller)
	}
	if err == nil {
		err = wire.Decode(r.start.Grant, r.grant)
	}
	switch {
	case err == nil && r.grant.UID != c.caller.UID && c.caller.UID != 0:
		return c.end(&api.End{Err: api.Errorf(api.ErrDenied, "Access/permission denied")})
	case err != nil:
		return c.end(&api.End{Err: api.Errorf(api.ErrInvalid, "malformed start of a step: %v", err)})
	case len(r.grant.Nodes) == 0:
		return c.end(&api.End{Err: api.Errorf(api.ErrInvalid, "the grant of the step names no node")})
	}
	r.raw = call.Body
	c.begun = slices.DeleteFunc(c.begun, func(e api.StepEndRequest) bool {
		return e.Job == r.grant.Job && e.Attempt == r.grant.Attempt && e.Step == r.grant.Step
	})
	r.end = api.StepEndRequest{Job: r.grant.Job, Attempt: r.grant.Attempt, Step: r.grant.Step}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx = ctx
	release := r.connect()
	defer release()
	go r.input(cancel)
	var receiving sync.WaitGroup
	for i, s := range r.streams {
		receiving.Go(func() { r.receive(uint32(i), s, cancel) })
	}
	receiving.Wait()
	gone := ctx.Err() != nil
	if gone { // the nodes have killed the tasks
		r.end.ExitCode, r.end.Signal = 0, 9
	}
	r.finish()
	if gone {
		return io.ErrUnexpectedEOF
	}
	// The reader of the client's input may still wait for it, so the connection
	// carries no further call.
	if err := c.end(&api.End{}); err != nil {
		return err
	}
	return io.EOF
}

// connect opens a stream to each node and sends the start on it.
func (r *stepRun) connect() (release func()) {
	var releases []func()
	for i := range r.grant.Nodes {
		n := &r.grant.Nodes[i]
		conn, done, err := r.c.agent.nodes.get(n.Address)
		var stream pb.Node_StepClient
		if err == nil {
			releases = append(releases, done)
			stream, err = pb.NewNodeClient(conn).Step(r.ctx)
		}
		if err == nil {
			err = stream.Send(&pb.StepUp{Start: r.raw, Node: uint32(i)})
		}
		if err != nil {
			r.c.agent.config.Log.Warn("agent: node of a step", "node", n.Name, "job", r.grant.Job, "err", err)
		}
		r.streams = append(r.streams, stream)
	}
	return func() {
		for _, f := range releases {
			f()
		}
	}
}

// receive passes the events of one node to the client.
func (r *stepRun) receive(node uint32, s pb.Node_StepClient, cancel func()) {
	lost := "the connection could not be made"
	for s != nil {
		m, err := s.Recv()
		if err != nil {
			lost = "the connection broke: " + err.Error()
			break
		}
		var e api.StepEvent
		if err := wire.Decode(m.Event, &e); err != nil {
			lost = fmt.Sprintf("it sent something malformed: %v", err)
			break
		}
		e.Node = node
		r.pass(&e, cancel)
		if e.Done || e.Lost != "" {
			return
		}
	}
	r.pass(&api.StepEvent{Node: node, Lost: lost}, cancel)
}

// pass writes an event to the client. It waits while the client is slow, and
// then so does the node.
func (r *stepRun) pass(e *api.StepEvent, cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(e)
	if r.ctx.Err() == nil && r.c.chunk(wire.Encode(nil, e), true) != nil {
		cancel()
	}
}

// note adds an event to how the step ended.
func (r *stepRun) note(e *api.StepEvent) {
	switch {
	case e.Lost != "":
		r.end.ExitCode = max(r.end.ExitCode, 1)
	case e.Exit != nil:
		r.ended++
		u, sum := &e.Exit.Usage, &r.end.Usage
		sum.UserUS += u.UserUS
		sum.SystemUS += u.SystemUS
		sum.MaxRSSKB = max(sum.MaxRSSKB, u.MaxRSSKB)
		r.end.ExitCode = max(r.end.ExitCode, e.Exit.Status)
		r.end.Signal = max(r.end.Signal, e.Exit.Signal)
	}
}

// input passes what the client sends to the nodes until the client is gone.
func (r *stepRun) input(cancel func()) {
	defer cancel()
	r.c.sock.SetReadDeadline(time.Time{})
	for {
		kind, payload, err := api.ReadFrame(r.c.in, nil)
		if err != nil || kind != api.FrameInput {
			return
		}
		for _, s := range r.streams {
			if s != nil {
				s.Send(&pb.StepUp{Input: payload}) // a broken stream is seen by receive
			}
		}
	}
}

// finish tells the controllers how the step ended; a step that was broken off
// was killed.
func (r *stepRun) finish() {
	if r.grant.Hidden || r.grant.Attach {
		return
	}
	if r.ended < int(r.grant.Tasks) && r.end.ExitCode == 0 {
		r.end.Signal = 9
	}
	r.c.change(api.MethodStepEnd, &r.end)
}

// change makes a change in the name of the connection's user, whether the
// client is still there or not.
func (c *conn) change(method string, m wire.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), endFor)
	defer cancel()
	defer context.AfterFunc(c.life, func() { time.AfterFunc(lastWords, cancel) })()
	caller, told := c.name(ctx, false)
	if told != nil {
		c.agent.config.Log.Error("agent: not told to the controllers", "method", method, "uid", c.caller.UID, "err", told)
		return
	}
	call := api.Call{Method: method, Body: wire.Encode(nil, m), RequestID: api.NewRequestID(), FirstTry: time.Now().UnixMilli(), Version: api.Version}
	for ctx.Err() == nil {
		call.AgeMS = uint64(max(0, time.Now().UnixMilli()-call.FirstTry))
		end, err := c.agent.up.ask(ctx, &pb.CallRequest{Call: wire.Encode(nil, &call), Caller: caller}, method, true, func([]byte) error { return nil })
		if err == nil && (end.Err == nil || !end.Err.Retry()) {
			if end.Err == nil {
				c.who.note(end.Index, time.Now())
			}
			return
		}
	}
	c.agent.config.Log.Error("agent: not told to the controllers", "method", method, "uid", c.caller.UID)
}

// answered notes what a client has got that ends with its connection: the
// allocation, or the step that it does not run yet.
func (c *conn) answered(method string, payload, chunk []byte) {
	switch method {
	case api.MethodAllocate:
		var call api.Call
		var request api.SubmitRequest
		var reply api.SubmitReply
		if wire.Decode(payload, &call) == nil && wire.Decode(call.Body, &request) == nil && !request.Keep &&
			wire.Decode(chunk, &reply) == nil {
			c.held = append(c.held, reply.Jobs...)
		}
	case api.MethodStep:
		var reply api.StepReply
		var g api.Grant
		if wire.Decode(chunk, &reply) == nil && wire.Decode(reply.Grant, &g) == nil && !g.Hidden && !g.Attach {
			c.begun = append(c.begun, api.StepEndRequest{Job: g.Job, Attempt: g.Attempt, Step: g.Step})
		}
	}
}

// completed forgets an allocation that the client itself has ended.
func (c *conn) completed(payload []byte) {
	var call api.Call
	var req api.CompleteRequest
	if wire.Decode(payload, &call) != nil || wire.Decode(call.Body, &req) != nil {
		return
	}
	var left []job.ID
	for _, id := range c.held {
		if id != req.Job {
			left = append(left, id)
		}
	}
	c.held = left
}

// letGo ends what a client has left that is gone. When it is the agent that ends,
// allocations stay: salloc ends its own over the next agent.
func (c *conn) letGo() {
	for _, e := range c.begun {
		e.Signal = 9
		c.change(api.MethodStepEnd, &e)
	}
	for _, id := range c.held {
		if c.life.Err() == nil {
			c.change(api.MethodComplete, &api.CompleteRequest{Job: id, Signal: 9})
		}
	}
}
