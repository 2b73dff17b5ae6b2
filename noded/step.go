package noded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/peer"

	"muster/api"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/internal/wire"
	"muster/job"
	"muster/noded/pmi"
	"muster/noded/shepherd"
)

// stepServer serves the steps of this node's jobs to their srun.
type stepServer struct {
	pb.UnimplementedNodeServer
	node *Node
	ctx  context.Context
}

// serveSteps serves until ctx ends. The tasks of srun's steps end with it: their
// pipes do.
func (n *Node) serveSteps(ctx context.Context) {
	server := rpc.NewServer()
	pb.RegisterNodeServer(server, &stepServer{node: n, ctx: ctx})
	defer context.AfterFunc(ctx, server.Stop)()
	if err := server.Serve(n.cfg.Steps); err != nil && ctx.Err() == nil {
		n.log.Error("steps are not served any more", "err", err)
	}
}

// How long a step waits for its job to come to this node, and for output that
// processes left behind hold open when all tasks have ended.
const (
	jobWait  = 20 * time.Second
	tailWait = 2 * time.Second
)

// step is the part of one step on this node.
type step struct {
	node     *Node
	grant    *api.Grant
	number   uint32 // of this node in the grant
	part     *api.GrantNode
	start    *api.StepStart
	launch   *pb.Launch
	box      box
	leave    func() // when nothing is started in the box any more
	dir      string
	tasks    []*task
	bindings []binding   // by task
	pmi      *pmi.Server // nil: no MPI program
	pmiPort  string
	peer     string // address of srun's host
	killed   bool   // the loop's: tasks that are still being started are killed, too
	viewers
	send func(*api.StepEvent)
}

// Step implements pb.NodeServer.
func (s *stepServer) Step(stream pb.Node_StepServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	st, err := s.node.admitStep(first)
	if err != nil {
		return refused(stream, err)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	if st.grant.Attach {
		return s.attach(stream, st.grant)
	}
	var sending sync.Mutex
	if p, ok := peer.FromContext(ctx); ok {
		st.peer, _, _ = net.SplitHostPort(p.Addr.String())
	}
	st.send = func(e *api.StepEvent) {
		sending.Lock()
		defer sending.Unlock()
		e.Node = st.number
		st.show(e)
		if ctx.Err() == nil && stream.Send(&pb.StepDown{Event: wire.Encode(nil, e)}) != nil {
			cancel()
		}
	}
	if err := s.node.stepJob(ctx, st); err != nil {
		return refused(stream, err)
	}
	st.run(ctx, s.ctx, stream)
	if s.ctx.Err() == nil { // else its tasks may not have ended
		st.leave()
	}
	st.send(&api.StepEvent{Done: true})
	return nil
}

// refused tells srun why the node does not run its part.
func refused(stream pb.Node_StepServer, err error) error {
	return stream.Send(&pb.StepDown{Event: wire.Encode(nil, &api.StepEvent{Lost: err.Error()})})
}

// admitStep checks what a step may do here. Nothing in it is believed but what a
// controller has signed.
func (n *Node) admitStep(m *pb.StepUp) (*step, error) {
	st := &step{node: n, number: m.Node, start: new(api.StepStart), grant: new(api.Grant)}
	if err := wire.Decode(m.Start, st.start); err != nil {
		return nil, fmt.Errorf("malformed start of a step: %w", err)
	}
	g := st.grant
	if err := n.cfg.Verify(st.start.Grant, st.start.Signature, st.start.Certificate); err != nil {
		return nil, fmt.Errorf("grant of the step: %w", err)
	}
	if err := wire.Decode(st.start.Grant, g); err != nil {
		return nil, fmt.Errorf("grant of the step: %w", err)
	}
	switch {
	case int(m.Node) >= len(g.Nodes) || g.Nodes[m.Node].Name != n.cfg.Name:
		return nil, fmt.Errorf("part %d of step %d.%d is not for node %s", m.Node, g.Job, g.Step, n.cfg.Name)
	case job.TimeOf(n.leaderNow()) > g.Expires:
		return nil, fmt.Errorf("the grant of step %d.%d is too old", g.Job, g.Step)
	case len(st.start.Programs) == 0:
		return nil, errors.New("the step names no program")
	}
	st.part = &g.Nodes[m.Node]
	return st, nil
}

// stepJob waits until the attempt that a step belongs to is here.
func (n *Node) stepJob(ctx context.Context, st *step) error {
	k := shepherd.Key{Job: uint32(st.grant.Job), Attempt: st.grant.Attempt}
	here := make(chan error, 1)
	n.do(ctx, func() { n.whenHere(k, st, here) })
	wait, cancel := context.WithTimeout(ctx, jobWait)
	defer cancel()
	select {
	case err := <-here:
		return err
	case <-wait.Done():
		return fmt.Errorf("job %d has not come to node %s", st.grant.Job, n.cfg.Name)
	}
}

// whenHere answers when an attempt runs here; it is called in the loop.
func (n *Node) whenHere(k shepherd.Key, st *step, here chan error) {
	a := n.attempts[k]
	switch {
	case n.done.has(k), a != nil && (a.ending != nil || a.state == finishing):
		here <- fmt.Errorf("job %d is ending on node %s", k.Job, n.cfg.Name)
	case a == nil || a.state != running && a.state != holding:
		n.awaited[k] = append(n.awaited[k], func() { n.whenHere(k, st, here) })
	case a.box == nil || a.launch.User == "" || a.launch.Uid != st.grant.UID:
		here <- fmt.Errorf("job %d on node %s takes no steps", k.Job, n.cfg.Name)
	default:
		st.launch, st.box = a.launch, a.box
		st.leave = shareBox(a.box)
		here <- nil
	}
}

// arrived lets the steps go on that wait for an attempt.
func (n *Node) arrived(k shepherd.Key) {
	waiting := n.awaited[k]
	delete(n.awaited, k)
	for _, f := range waiting {
		f()
	}
}

// run runs the tasks until all have ended and all that they wrote is sent. When
// ctx ends, srun is gone: the tasks are killed.
func (st *step) run(ctx, daemon context.Context, stream pb.Node_StepServer) {
	n := st.node
	if !n.shows.add(st) {
		st.send(&api.StepEvent{Lost: "this step was launched before"})
		return
	}
	defer n.shows.remove(st)
	serving, served := context.WithCancel(ctx)
	defer served()
	if err := errors.Join(st.servePMI(serving), st.prepare()); err != nil {
		for _, t := range st.tasks {
			t.close()
		}
		os.RemoveAll(st.dir)
		st.send(&api.StepEvent{Lost: err.Error()})
		return
	}
	defer os.RemoveAll(st.dir)
	n.do(daemon, func() {
		for _, t := range st.tasks {
			n.tasks[t.key] = t
			n.client.Launch(t.spec)
		}
	})
	input, stopInput := context.WithCancel(ctx)
	var inputs sync.WaitGroup
	inputs.Go(func() { st.hear(input, stream) })
	stopKill := context.AfterFunc(ctx, func() { st.signal(daemon, unix.SIGKILL) })
	var running sync.WaitGroup
	for _, t := range st.tasks {
		running.Go(func() { t.live(daemon) })
	}
	running.Wait()
	stopKill()
	st.sweep()
	st.drain()
	stopInput()
	for _, t := range st.tasks {
		t.close()
	}
	n.do(daemon, func() { n.stepGone(daemon, st) })
}

// prepare makes the pipes of the tasks and says how each is launched.
func (st *step) prepare() error {
	k := shepherd.Key{Job: uint32(st.grant.Job), Attempt: st.grant.Attempt, Step: uint64(st.grant.Step) + 1}
	st.dir = filepath.Join(st.node.cfg.SpoolDir, "step"+k.String())
	if err := os.Mkdir(st.dir, 0o711); err != nil {
		return fmt.Errorf("directory of step %s: %w", k, err)
	}
	if err := st.bindTasks(); err != nil {
		return err
	}
	for local, rank := range st.part.Tasks {
		k.Task = rank
		t := &task{step: st, key: k, rank: rank, local: uint32(local), events: make(chan taskEvent, 4), ready: make(chan struct{})}
		st.tasks = append(st.tasks, t)
		if err := t.open(); err != nil {
			return fmt.Errorf("pipes of task %d: %w", rank, err)
		}
		if err := t.describe(); err != nil {
			return err
		}
	}
	return nil
}

// signal sends a signal to all tasks and what they started.
func (st *step) signal(ctx context.Context, sig unix.Signal) {
	n := st.node
	n.do(ctx, func() {
		st.killed = st.killed || sig == unix.SIGKILL
		for _, t := range st.tasks {
			if n.tasks[t.key] == t {
				n.client.Signal(&shepherd.Signal{Key: t.key, Number: uint32(sig), Group: true})
			}
		}
	})
}

// sweep kills what the tasks left behind. A process that made a session of its
// own is found at the end of the job.
func (st *step) sweep() {
	pids, err := st.box.PIDs()
	if err != nil {
		return
	}
	var sessions []int
	for _, t := range st.tasks {
		if t.pid != 0 {
			sessions = append(sessions, t.pid)
		}
	}
	for _, pid := range pids {
		if sid, err := unix.Getsid(pid); err == nil && slices.Contains(sessions, sid) {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// drain waits for the rest of the output.
func (st *step) drain() {
	late := time.AfterFunc(tailWait, func() {
		for _, t := range st.tasks {
			t.cut()
		}
	})
	defer late.Stop()
	for _, t := range st.tasks {
		t.reading.Wait()
	}
}

// hear takes what srun sends until the stream ends.
func (st *step) hear(ctx context.Context, stream pb.Node_StepServer) {
	feed := make(chan []byte, 16) // srun waits for Taken long before it is full
	go st.feed(ctx, feed)
	for {
		m, err := stream.Recv()
		if err != nil || ctx.Err() != nil {
			return
		}
		var in api.StepInput
		if err := wire.Decode(m.Input, &in); err != nil {
			return
		}
		if in.Signal > 0 && in.Signal <= 64 {
			st.sayEnds(in.Ends)
			st.signal(ctx, unix.Signal(in.Signal))
		}
		if in.Barrier != nil {
			st.released(in.Barrier)
		}
		if in.Rows > 0 {
			st.resize(in.Rows, in.Columns)
		}
		for _, data := range [][]byte{in.Data, nil} {
			if len(data) > 0 || data == nil && in.EOF {
				select {
				case feed <- data:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// feed gives input to the tasks that want it; nil is its end.
func (st *step) feed(ctx context.Context, feed <-chan []byte) {
	for _, t := range st.tasks { // a pipe without a writer would not open for it
		select {
		case <-t.ready:
		case <-ctx.Done():
			return
		}
	}
	taken := uint64(0)
	for {
		select {
		case data := <-feed:
			for _, t := range st.tasks {
				if t.wantsInput() {
					t.write(data)
				}
			}
			taken += uint64(len(data))
			st.send(&api.StepEvent{Taken: taken})
		case <-ctx.Done():
			return
		}
	}
}

// resize tells the terminal of task 0 its size.
func (st *step) resize(rows, columns uint16) {
	for _, t := range st.tasks {
		if t.terminal != nil {
			unix.IoctlSetWinsize(int(t.terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
		}
	}
}

// taskEvent passes the shepherd's word on a task to its goroutine; false if it
// is none of a task's.
func (n *Node) taskEvent(e *shepherd.Event) bool {
	var k shepherd.Key
	switch {
	case e.Started != nil:
		k = e.Started.Key
	case e.Failed != nil:
		k = e.Failed.Key
	case e.Exited != nil:
		k = e.Exited.Key
	case e.Noted != nil:
		k = *e.Noted
	}
	if k.Step == 0 {
		return false
	}
	if e.Failed != nil || e.Exited != nil {
		n.client.Taken(k)
	}
	if a := n.attempts[k.Attempted()]; a != nil && e.Exited != nil {
		a.stepsUsed.UserUs += e.Exited.UserUS
		a.stepsUsed.SystemUs += e.Exited.SystemUS
	}
	if t := n.tasks[k]; t != nil && e.Noted == nil && !(e.Started != nil && t.told) {
		t.told = t.told || e.Started != nil
		if e.Started != nil && t.step.killed {
			n.client.Signal(&shepherd.Signal{Key: k, Number: uint32(unix.SIGKILL), Group: true})
		}
		if e.Failed != nil || e.Exited != nil {
			delete(n.tasks, k)
		}
		t.events <- taskEvent{e.Started, e.Failed, e.Exited}
	}
	return true
}

// hasTasks tells whether tasks of an attempt run here.
func (n *Node) hasTasks(attempt shepherd.Key) bool {
	for k := range n.tasks {
		if k.Attempted() == attempt {
			return true
		}
	}
	return false
}

// stepGone goes on with the end of an attempt that waited for its last step.
func (n *Node) stepGone(ctx context.Context, st *step) {
	k := shepherd.Key{Job: uint32(st.grant.Job), Attempt: st.grant.Attempt}
	if a := n.attempts[k]; a != nil && a.state == holding && a.ending != nil && !n.hasTasks(k) {
		n.finish(ctx, a, a.held())
	}
}

// loseTasks ends the tasks whose shepherd has died: nobody saw how they ended.
func (n *Node) loseTasks() {
	for k, t := range n.tasks {
		delete(n.tasks, k)
		t.events <- taskEvent{failed: &shepherd.Failure{Key: k, Fault: shepherd.FaultNode, Text: "the shepherd of node " + n.cfg.Name + " died"}}
	}
}

// stepName is the number of a step in file names.
func stepName(id job.StepID) string { return strconv.FormatUint(uint64(id), 10) }
