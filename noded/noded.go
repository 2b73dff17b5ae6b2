// Package noded is a node's daemon: it says what the node has, starts what the
// controllers want to run there, ends what they don't, and reports every end
// until the leader has it.
package noded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/api/pb"
	"muster/internal/nss"
	"muster/noded/cgroup"
	"muster/noded/shepherd"
)

// Config is what a node daemon needs.
type Config struct {
	Name        string   // of the node, as in its certificate
	DataDir     string   // belongs to this daemon alone
	SpoolDir    string   // for the jobs' scripts; "" for one in memory, or below DataDir
	Controllers []string // host:port; the controllers name others when they answer
	// Dial connects to a controller.
	Dial func(addr string) (pb.ControllerClient, io.Closer, error)
	// Learned, if set, is told the addresses of the controllers.
	Learned   func([]string)
	Socket    string // the agent's socket, for jobs' MUSTER_SOCKET
	Declare   string // file that says what the node has, instead of the machine; "" to look
	HostName  string // for jobs, in a name space of their own when root; "" for the host's
	BootID    string // "" for the kernel's
	Shepherd  string // program; "" for muster-shepherd beside this program
	Addresses []string
	Port      uint32
	Version   string // as scontrol show node has it; "" for that of the commands
	MaxPIDs   uint64 // processes of one job, 0: 32768
	// Steps accepts the connections of agents that bring steps; nil: none are served.
	Steps net.Listener
	// Verify checks that a controller has signed a message.
	Verify func(message, signature, certificate []byte) error
	Log    *slog.Logger
}

// Node is a running daemon. Its loop owns the attempts; all else sends it
// functions to run.
type Node struct {
	cfg     Config
	log     *slog.Logger
	boot    string
	started time.Time
	journal *journal
	records *records
	left    []record     // that the daemon before left
	tree    *cgroup.Tree // nil: no control groups
	pool    *cgroup.Pool // of its groups; nil too
	procs   *procs       // instead of them
	names   *nss.Resolver
	blobs   *blobs
	found   atomic.Pointer[inventory]
	link    *link

	todo    chan func()   // for the loop
	workers chan struct{} // bounds the work under way beside the loop
	busy    sync.WaitGroup
	// disk is held for work on the node's own directories: the kernel lets threads
	// that meet in one directory spin, which cost twice the work itself.
	disk sync.Mutex

	// Owned by the loop.
	attempts map[shepherd.Key]*attempt
	tasks    map[shepherd.Key]*task    // of steps
	awaited  map[shepherd.Key][]func() // steps that came before their job
	shows    *shows                    // steps that run, for sattach
	reports  map[uint64]*pb.Report     // on disk, not acknowledged
	done     *recent                   // attempts that ended lately: never started again
	client   *shepherd.Client
	instance string
	term     uint64
	index    uint64
	goes     settings        // what the node goes by
	ahead    time.Duration   // the leader's time minus ours
	samples  []*pb.StepUsage // for the next heartbeat
	problem  string          // why the node must not get work; "" if all is well
	changed  bool            // the list of attempts, since the last heartbeat

	heartbeatNS atomic.Int64 // time between heartbeats
	aheadNS     atomic.Int64 // the leader's time minus ours
}

// settings are what the cluster's configuration says for nodes.
type settings struct {
	config   uint64 // serial of that configuration; 0: none yet
	killWait time.Duration
	sampling time.Duration
}

// maxWorkers is how many launches and ends are worked on beside the loop.
const maxWorkers = 16

// Run runs a node's daemon until ctx ends. The jobs live on.
func Run(ctx context.Context, cfg Config) error {
	n, err := open(cfg)
	if err != nil {
		return fmt.Errorf("node %s: %w", cfg.Name, err)
	}
	return n.run(ctx)
}

// run is Run of a node that is open; it closes it.
func (n *Node) run(ctx context.Context) error {
	defer n.names.Close()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var journalDone sync.WaitGroup
	writing, stopWriting := context.WithCancel(context.Background())
	n.journal.trouble = func(err error) { n.journalTrouble(inner, err) }
	journalDone.Go(func() { n.journal.run(writing) })
	err := n.serve(inner)
	cancel()
	n.drain()
	stopWriting()
	journalDone.Wait()
	n.records.close()
	os.Remove(n.cfg.SpoolDir) // goes if no job is in it
	if n.tree != nil {
		n.pool.Close()
		n.tree.Close()
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s: %w", n.cfg.Name, err)
	}
	return nil
}

// open prepares everything that needs no other program.
func open(cfg Config) (*Node, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxPIDs == 0 {
		cfg.MaxPIDs = 32_768
	}
	n := &Node{
		cfg: cfg, log: cfg.Log, boot: cfg.BootID, started: time.Now(), blobs: newBlobs(), names: nss.New(),
		procs: &procs{socket: cfg.Socket}, todo: make(chan func(), 256), workers: make(chan struct{}, maxWorkers),
		attempts: map[shepherd.Key]*attempt{}, tasks: map[shepherd.Key]*task{}, awaited: map[shepherd.Key][]func(){}, shows: newShows(), reports: map[uint64]*pb.Report{}, done: newRecent(),
		goes: settings{killWait: 30 * time.Second, sampling: 30 * time.Second},
	}
	n.setBeat(5 * time.Second)
	var err error
	if n.boot == "" {
		if n.boot, err = bootID(); err != nil {
			return nil, err
		}
	}
	found, err := takeInventory(cfg.Declare, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	n.found.Store(found)
	if n.cfg.HostName == "" {
		n.cfg.HostName = n.inventory().HostName
	}
	// Users pass through it to their scripts.
	if err := errors.Join(os.MkdirAll(cfg.DataDir, 0o711), os.Chmod(cfg.DataDir, 0o711)); err != nil {
		return nil, err
	}
	if n.journal, err = openJournal(cfg.DataDir); err != nil {
		return nil, err
	}
	if n.cfg.SpoolDir == "" {
		if n.cfg.SpoolDir, err = chooseSpool(cfg.DataDir, n.journal.id); err != nil {
			n.journal.log.close()
			return nil, err
		}
	}
	if n.records, n.left, err = openRecords(cfg.DataDir); err != nil {
		n.journal.log.close()
		return nil, err
	}
	n.openTree()
	return n, nil
}

// openTree makes the control groups' directories and notes where they are, for
// the next daemon and for whoever ends all jobs of the node.
func (n *Node) openTree() {
	file := filepath.Join(n.cfg.DataDir, "cgroups")
	saved, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.log.Warn("saved control groups", "err", err)
	}
	name := "muster_" + n.cfg.Name + "_" + n.journal.id[:8]
	n.tree, err = cgroup.Open(name, strings.Split(strings.TrimSpace(string(saved)), "\n"))
	if err != nil {
		n.tree = nil
		n.log.Warn("jobs run in process groups, their memory is looked at now and then", "err", err)
		return
	}
	n.pool = cgroup.NewPool(n.tree)
	if err := n.tree.DeviceRules(); err != nil && n.inventory().hasDeviceFiles() {
		n.log.Error("the devices of this node are not kept from jobs that were not given them", "err", err)
	}
	if err := os.WriteFile(file, []byte(strings.Join(n.tree.Bases(), "\n")+"\n"), 0o600); err != nil {
		n.log.Warn("saved control groups", "err", err)
	}
}

// serve finds the jobs of the daemon before, then runs the loop.
func (n *Node) serve(ctx context.Context) error {
	unsent, err := n.journal.unsent()
	if err != nil {
		return err
	}
	for _, r := range unsent {
		n.reports[r.Number] = r
		if r.Released {
			n.done.add(keyOf(r.Attempt))
		}
	}
	welcome, err := n.findShepherd()
	if err != nil {
		return err
	}
	n.adopt(ctx, welcome)
	n.link = newLink(n)
	var loops sync.WaitGroup
	loops.Go(func() { n.listen(ctx, n.client) })
	loops.Go(func() { n.link.run(ctx) })
	loops.Go(func() { n.watchUse(ctx) })
	if n.cfg.Steps != nil {
		loops.Go(func() { n.serveSteps(ctx) })
	}
	defer loops.Wait()
	for {
		select {
		case f := <-n.todo:
			f()
		case <-ctx.Done():
			n.client.Close()
			return nil
		}
	}
}

// drain lets work under way end after the loop: what it has to say is dropped,
// the next daemon finds it out again.
func (n *Node) drain() {
	gone := make(chan struct{})
	go func() { n.busy.Wait(); close(gone) }()
	for {
		select {
		case <-n.todo:
		case <-gone:
			for _, a := range n.attempts {
				a.stopTimers()
			}
			return
		}
	}
}

// do runs f in the loop, soon.
func (n *Node) do(ctx context.Context, f func()) {
	select {
	case n.todo <- f:
	case <-ctx.Done():
	}
}

// work runs f beside the loop, as soon as there is room.
func (n *Node) work(ctx context.Context, f func()) {
	n.busy.Go(func() {
		select {
		case n.workers <- struct{}{}:
			defer func() { <-n.workers }()
			f()
		case <-ctx.Done():
		}
	})
}

// leaderNow is the leader's time.
func (n *Node) leaderNow() time.Time { return time.Now().Add(time.Duration(n.aheadNS.Load())) }

// recent remembers a bounded number of attempts.
type recent struct {
	in   map[shepherd.Key]bool
	ring []shepherd.Key
	next int
}

const recentSize = 8192

func newRecent() *recent { return &recent{in: map[shepherd.Key]bool{}} }

func (r *recent) add(k shepherd.Key) {
	if r.in[k] {
		return
	}
	r.in[k] = true
	if len(r.ring) < recentSize {
		r.ring = append(r.ring, k)
		return
	}
	delete(r.in, r.ring[r.next])
	r.ring[r.next] = k
	r.next = (r.next + 1) % recentSize
}

func (r *recent) has(k shepherd.Key) bool { return r.in[k] }
