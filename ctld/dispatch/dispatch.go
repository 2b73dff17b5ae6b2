// Package dispatch is the reconciler between the state and the nodes: it works
// out what should run on each node and says the difference to each node.
//
// A Dispatcher lives as long as a controller leads. It is level-triggered: a
// node that connects is told everything, and each later root is compared with
// what the node was told. Nothing depends on a message that might get lost.
package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"muster/api/pb"
	"muster/internal/clock"
	"muster/job"
	"muster/state"
)

// Core is what a dispatcher needs of its controller.
type Core interface {
	// Root is the last state applied here.
	Root() *state.Root
	// Changed returns a channel that is closed once a root later than r is published.
	Changed(r *state.Root) <-chan struct{}
	// Now is the present state time.
	Now() job.Time
	// WallNow is what most of the controllers' wall clocks show.
	WallNow() job.Time
	// Submit queues one command; done is called once, and must not block.
	Submit(e state.Envelope, done func(state.Result, uint64, error)) error
	// LocalBlob reads a blob that this controller has.
	LocalBlob(h job.Hash) ([]byte, error)
}

// Config is what a dispatcher is made of.
type Config struct {
	Term        uint64
	Core        Core
	Log         *slog.Logger
	Clock       clock.Clock
	Controllers []string // addresses, for nodes to know
}

// Dispatcher speaks with all nodes for one leader.
type Dispatcher struct {
	cfg   Config
	start time.Time
	look  chan struct{} // has one element when sessions wait for the loop

	mu       sync.Mutex
	root     *state.Root         // that sessions were brought up to
	sessions map[string]*Session // by node name
	live     map[string]Live
	configs  map[string]uint64               // serial of the configuration that each node goes by
	usage    map[job.ID]map[string]job.Usage // of running attempts, by node
	signals  map[uint64]chan string
	signalID uint64
}

// Live is the last that was heard of a node.
type Live struct {
	At             time.Time // by the dispatcher's clock
	LoadHundredths uint32
	FreeMemoryMB   uint64
}

// New makes a dispatcher. Run starts it.
func New(cfg Config) *Dispatcher {
	return &Dispatcher{cfg: cfg, start: cfg.Clock.Now(), look: make(chan struct{}, 1),
		sessions: map[string]*Session{}, live: map[string]Live{}, configs: map[string]uint64{},
		usage: map[job.ID]map[string]job.Usage{}, signals: map[uint64]chan string{}}
}

// SetControllers tells all nodes where the controllers are from now on.
func (d *Dispatcher) SetControllers(addrs []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Equal(d.cfg.Controllers, addrs) {
		return
	}
	d.cfg.Controllers = addrs
	for _, s := range d.sessions {
		if s.synced {
			m := d.message(d.root)
			m.Welcome = s.welcome(d.root)
			s.out.Send(m)
		}
	}
}

// Run follows the roots until ctx ends, and then ends all sessions.
func (d *Dispatcher) Run(ctx context.Context) {
	defer d.drop()
	for {
		root := d.cfg.Core.Root()
		d.follow(root)
		again := d.retryTimer()
		select {
		case <-ctx.Done():
			return
		case <-d.cfg.Core.Changed(root):
		case <-d.look:
		case <-again:
			d.retryReports()
		}
	}
}

// follow brings all sessions up to a root.
func (d *Dispatcher) follow(root *state.Root) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != nil && d.root != root {
		d.changes(root)
	}
	d.root = root
	for _, s := range d.sessions {
		if !s.synced && s.syncAt != 0 && root.Index() >= s.syncAt {
			s.sync(root)
		}
	}
}

// changes goes through the jobs that differ from the root before.
func (d *Dispatcher) changes(root *state.Root) {
	d.reconfigure(root)
	for id := range root.DiffJobs(d.root) {
		j := root.Job(id)
		if j == nil || !j.State.Active() {
			delete(d.usage, id)
		}
		touched := map[string]bool{}
		for _, s := range d.sharing(d.root.Job(id)) {
			touched[s.name] = true
			s.reconcile(root, id, j)
		}
		for _, s := range d.sharing(j) {
			if !touched[s.name] {
				s.reconcile(root, id, j)
			}
		}
	}
	for _, s := range d.sessions {
		s.flush(root)
	}
}

// sharing lists the sessions of the nodes on which a job holds or held something.
func (d *Dispatcher) sharing(j *job.Job) []*Session {
	if j == nil || j.Alloc == nil {
		return nil
	}
	var out []*Session
	for i := range j.Alloc.Nodes {
		if s := d.sessions[j.Alloc.Nodes[i].Name]; s != nil && s.synced {
			out = append(out, s)
		}
	}
	return out
}

func (d *Dispatcher) wake() {
	select {
	case d.look <- struct{}{}:
	default:
	}
}

func (d *Dispatcher) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.sessions)
	for _, ch := range d.signals {
		ch <- "the leader changed; whether the signal was delivered is not known"
	}
	clear(d.signals)
}

// Live is what was last heard of a node, since this controller leads.
func (d *Dispatcher) Live(node string) (Live, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.live[node]
	return l, ok
}

// Heard is when a node was last heard of. A leader gives every node a full
// interval from its election: it heard of all of them then.
func (d *Dispatcher) Heard(node string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.live[node]; ok {
		return l.At
	}
	return d.start
}

// Usage is the last sample of a running attempt, summed over its nodes.
func (d *Dispatcher) Usage(id job.ID) (job.Usage, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum job.Usage
	for _, u := range d.usage[id] {
		sum.UserUS += u.UserUS
		sum.SystemUS += u.SystemUS
		sum.ReadKB += u.ReadKB
		sum.WrittenKB += u.WrittenKB
		sum.MaxPages += u.MaxPages
		sum.MaxRSSKB = max(sum.MaxRSSKB, u.MaxRSSKB)
		sum.MaxVMKB = max(sum.MaxVMKB, u.MaxVMKB)
	}
	return sum, len(d.usage[id]) > 0
}

// message makes the frame of a message made from a root.
func (d *Dispatcher) message(root *state.Root) *pb.ToNode {
	return &pb.ToNode{Term: d.cfg.Term, Index: root.Index(), LeaderTimeMs: int64(d.cfg.Core.Now())}
}
