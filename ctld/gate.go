package ctld

import (
	"slices"
	"sync"

	"muster/api/pb"
	"muster/ctld/dispatch"
)

// helloMessage is a node's introduction.
type helloMessage = *pb.Hello

// receiver is the leader's end of a node's connection.
type receiver interface {
	Receive(m *pb.FromNode)
	Close()
}

// attacher connects a node to the leader.
type attacher func(hello helloMessage, out dispatch.Outbox) receiver

// gate holds the streams of the nodes that are connected to this controller. A
// change of leader breaks none of them: the gate introduces the nodes to the
// next leader, with what they run and the reports that are not committed yet.
type gate struct {
	mu     sync.Mutex
	attach attacher // nil: no leader is known
	links  map[string]*link
}

// link is one node's stream.
type link struct {
	gate  *gate
	box   *dispatch.Mailbox
	up    receiver // belongs to the gate's lock; nil: no leader
	mu    sync.Mutex
	hello helloMessage
	// reports not yet acknowledged, in the order in which they came
	reports []*pb.Report
}

func newGate() *gate { return &gate{links: map[string]*link{}} }

// use connects all nodes to another leader, or to none.
func (g *gate) use(a attacher) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.attach = a
	for _, l := range g.links {
		l.connect()
	}
}

// open takes a node's stream. An older one of the same node ends.
func (g *gate) open(hello helloMessage) *link {
	g.mu.Lock()
	defer g.mu.Unlock()
	if old := g.links[hello.Name]; old != nil {
		old.disconnect()
		old.box.Close(errReplaced)
	}
	l := &link{gate: g, box: dispatch.NewMailbox(), hello: hello}
	g.links[hello.Name] = l
	l.connect()
	return l
}

// shut forgets a stream that has ended.
func (l *link) shut() {
	g := l.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	l.disconnect()
	if g.links[l.hello.Name] == l {
		delete(g.links, l.hello.Name)
	}
}

// connect introduces the node to the present leader. The gate's lock is held.
func (l *link) connect() {
	l.disconnect()
	if l.gate.attach == nil {
		return
	}
	l.mu.Lock()
	hello, reports := l.hello, slices.Clone(l.reports)
	l.mu.Unlock()
	l.up = l.gate.attach(hello, l)
	for _, r := range reports {
		l.up.Receive(&pb.FromNode{Report: r})
	}
}

func (l *link) disconnect() {
	if l.up != nil {
		l.up.Close()
		l.up = nil
	}
}

// receive passes a node's message on and remembers what the next leader needs.
func (l *link) receive(m *pb.FromNode) {
	l.mu.Lock()
	if m.Report != nil && len(l.reports) < maxKept {
		l.reports = append(l.reports, m.Report)
	}
	if h := m.Heartbeat; h != nil && (h.HasRunning || h.Config != l.hello.Config) {
		running := l.hello.Running
		if h.HasRunning {
			running = h.Running
		}
		again := &pb.Hello{
			Name: l.hello.Name, BootId: l.hello.BootId, JournalId: l.hello.JournalId, BootTimeMs: l.hello.BootTimeMs,
			StartedMs: l.hello.StartedMs, Addresses: l.hello.Addresses, Port: l.hello.Port, HostName: l.hello.HostName,
			Os: l.hello.Os, Arch: l.hello.Arch, Version: l.hello.Version, Found: l.hello.Found, Running: running,
			Problem: l.hello.Problem, Config: h.Config,
		}
		l.hello = again
	}
	l.mu.Unlock()
	l.gate.mu.Lock()
	up := l.up
	l.gate.mu.Unlock()
	if up != nil {
		up.Receive(m)
	}
}

// maxKept bounds the reports kept for the next leader; the node has them all.
const maxKept = 65_536

// Send implements dispatch.Outbox.
func (l *link) Send(m *pb.ToNode) {
	if len(m.ReportAcks) > 0 {
		l.mu.Lock()
		for _, n := range m.ReportAcks {
			if i := slices.IndexFunc(l.reports, func(r *pb.Report) bool { return r.Number == n }); i >= 0 {
				l.reports = slices.Delete(l.reports, i, i+1)
			}
		}
		l.mu.Unlock()
	}
	l.box.Send(m)
}

// Close implements dispatch.Outbox.
func (l *link) Close(err error) { l.box.Close(err) }
