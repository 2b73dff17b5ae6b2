// Package ctld is a controller: the loops around the replicated state that plan
// jobs, speak to nodes, answer calls and keep the record of finished jobs.
package ctld

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"muster/api/identity"
	"muster/api/rpc"
	"muster/conf"
	"muster/ctld/service"
	"muster/ctld/store"
	"muster/internal/clock"
	"muster/job"
)

// Config is what a controller is started with.
type Config struct {
	Name   string // in the cluster file
	Data   string // directory of raft log, snapshots, blobs and ledger
	Listen string // host:port; "" is what the cluster file says
	Certs  string // directory of ca.pem, cert.pem and key.pem
	File   string // cluster.toml: the controllers, and the configuration of a new cluster
	Join   bool   // with an empty data directory, wait to be added to a cluster rather than begin one
	Web    string // host:port of /livez, /readyz and /metrics; "": none
	// Cycles is the directory that the last KeepCycles cycles of the planner are
	// recorded in while this controller leads; "": none.
	Cycles     string
	KeepCycles int
	// RootFromAnywhere believes login and compute hosts when they say that root
	// calls. It is for throw-away clusters, where all daemons are one user's.
	RootFromAnywhere bool
	Timing           store.Timing
	Log              *slog.Logger
}

// Controller is one running controller.
type Controller struct {
	cfg     Config
	log     *slog.Logger
	clock   clock.Clock
	id      *identity.Identity
	file    *conf.File
	store   *store.Store
	peers   *peers
	gate    *gate
	ledger  *ledgerWriter
	methods map[string]service.Method
	stats   *stats
	fresh   freshness
	words   verdicts
	explain sync.Mutex // held while a job is explained: one at a time
	reads   leaderIndex
	leading atomic.Pointer[lead] // nil: another one leads, or nobody
	started job.Time
}

var _ service.Core = (*Controller)(nil)

// Run runs a controller until ctx ends, and then stops it in good order.
func Run(ctx context.Context, cfg Config) error {
	c, port, err := open(cfg)
	if err != nil {
		return err
	}
	return c.run(ctx, port)
}

func (c *Controller) run(ctx context.Context, port *rpc.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tasks sync.WaitGroup
	start := func(what string, f func(context.Context) error) {
		tasks.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("%s: %w", what, err))
			}
		})
	}
	start("follow the members", c.followMembers)
	start("follow the leader", c.follow)
	start("write the ledger", c.ledger.run)
	start("sum up the ledger", c.ledger.roll)
	start("write lines of ended jobs", newCompletions(c).run)
	start("compare states", c.compare)
	start("serve", func(ctx context.Context) error { return c.serve(ctx, port) })
	if c.cfg.Web != "" {
		start("serve "+c.cfg.Web, c.serveWeb)
	}
	c.log.Info("controller started", "cluster", c.file.Cluster.Name, "listen", port.Addr().String(), "members", len(c.members()))
	select {
	case <-ctx.Done():
	case <-c.store.Failed():
		cancel(c.store.Err())
	}
	c.log.Info("controller stops", "why", context.Cause(ctx))
	// The store first: it gives the lead away while calls can still be answered.
	err := c.store.Close()
	cancel(nil)
	tasks.Wait()
	err = errors.Join(err, port.Close(), c.ledger.close(), c.peers.close())
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	return err
}

// open makes all parts of a controller.
func open(cfg Config) (*Controller, *rpc.Listener, error) {
	file, err := conf.Load(cfg.File)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range file.Warnings {
		cfg.Log.Warn("cluster file: "+w.Text, "file", cfg.File, "line", w.Line)
	}
	self, ok := file.Controller(cfg.Name)
	if !ok {
		return nil, nil, fmt.Errorf("%s names no controller %q: give --name one of its [[controller]] names", cfg.File, cfg.Name)
	}
	id, err := identity.Load(cfg.Certs)
	if err != nil {
		return nil, nil, err
	}
	if id.Role != identity.Controller || id.Name != cfg.Name {
		return nil, nil, fmt.Errorf("the certificate in %s is that of %s, want that of controller %q", cfg.Certs, id, cfg.Name)
	}
	if cfg.Listen == "" {
		cfg.Listen = net.JoinHostPort(self.Bind, strconv.Itoa(int(self.Port)))
	}
	log := cfg.Log.With("controller", cfg.Name)
	port, err := rpc.Listen(cfg.Listen, id, log)
	if err != nil {
		return nil, nil, fmt.Errorf("controller %s: %w", cfg.Name, err)
	}
	c := &Controller{cfg: cfg, log: log, clock: clock.System{}, id: id, file: file, gate: newGate(), stats: newStats()}
	if err := c.openParts(port); err != nil {
		return nil, nil, errors.Join(err, port.Close())
	}
	return c, port, nil
}

func (c *Controller) openParts(port *rpc.Listener) (err error) {
	c.methods = map[string]service.Method{}
	for _, m := range methods() {
		c.methods[m.Name] = m
	}
	c.peers = newPeers(c.id, c.cfg.Name)
	if err := c.peers.set(c.fileMembers()); err != nil {
		return err
	}
	c.started = job.TimeOf(c.clock.Now())
	ledger, err := openLedger(filepath.Join(c.cfg.Data, "ledger"), c)
	if err != nil {
		return err
	}
	c.ledger = ledger
	c.store, err = store.Open(store.Config{
		Cluster: c.id.Cluster, Name: c.cfg.Name, Dir: c.cfg.Data, Members: c.fileMembers(), Join: c.cfg.Join,
		Stream: raftPort{Listener: port.Raft(), id: c.id}, Timing: c.cfg.Timing, Log: c.log,
		Lead: c.lead, FetchBlob: c.peers.fetchBlob,
	})
	if err != nil {
		return errors.Join(err, c.ledger.close())
	}
	return nil
}

// address is where other daemons reach a controller.
func address(d conf.Daemon) string {
	host := d.Name
	if len(d.Addresses) > 0 {
		host = d.Addresses[0]
	}
	return net.JoinHostPort(host, strconv.Itoa(int(d.Port)))
}
