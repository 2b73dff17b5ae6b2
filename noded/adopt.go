package noded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"muster/noded/shepherd"
)

// findShepherd connects to the node's shepherd, or starts one.
func (n *Node) findShepherd() (*shepherd.Welcome, error) {
	c, w, err := shepherd.Connect(n.cfg.DataDir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		if err := n.startShepherd(); err != nil {
			return nil, err
		}
		c, w, err = shepherd.Connect(n.cfg.DataDir)
	}
	if err != nil {
		return nil, err
	}
	n.client, n.instance = c, w.Instance
	return w, nil
}

// startShepherd starts one and leaves its process id in shepherd.pid.
func (n *Node) startShepherd() error {
	program := n.cfg.Shepherd
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("where the shepherd program is: %w", err)
		}
		program = filepath.Join(filepath.Dir(self), "muster-shepherd")
	}
	log, err := os.OpenFile(filepath.Join(n.cfg.DataDir, "shepherd.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("log of the shepherd: %w", err)
	}
	defer log.Close()
	host := ""
	if os.Geteuid() == 0 {
		host = n.cfg.HostName
	}
	cmd, err := shepherd.Start(shepherd.Command{Program: program, DataDir: n.cfg.DataDir, HostName: host, Log: log})
	if err != nil {
		return err
	}
	go cmd.Wait() // takes its exit status whenever that comes
	pid := strconv.Itoa(cmd.Process.Pid) + "\n"
	if err := os.WriteFile(filepath.Join(n.cfg.DataDir, "shepherd.pid"), []byte(pid), 0o600); err != nil {
		return fmt.Errorf("process id of the shepherd: %w", err)
	}
	return nil
}

// adopt takes over what the daemon before left: jobs that the shepherd has,
// records of jobs that it never got, and jobs whose shepherd has died.
func (n *Node) adopt(ctx context.Context, w *shepherd.Welcome) {
	held := map[shepherd.Key]int{}
	for _, r := range w.Running {
		held[r.Key] = r.PID
	}
	known := map[shepherd.Key]bool{}
	for _, r := range n.left {
		k := keyOf(r.Launch.Attempt)
		known[k] = true
		if r.Launch.BootId != n.boot || r.Launch.JournalId != n.journal.id {
			n.bury(ctx, k, r)
			continue
		}
		if n.done.has(k) {
			n.removeFiles(k, r.Launch.Batch)
			n.client.Taken(k)
			continue
		}
		n.adoptOne(ctx, r, w, held)
	}
	for _, e := range w.Exits {
		if !known[e.Key] { // the record goes when the report is on disk
			n.client.Taken(e.Key)
		}
	}
	for _, f := range w.Failures {
		if !known[f.Key] {
			n.client.Taken(f.Key)
		}
	}
	for _, r := range w.Running {
		if !known[r.Key] {
			n.log.Error("the shepherd has a job without a launch record; it is ended", "job", r.Key.Job, "attempt", r.Key.Attempt)
			n.client.Signal(&shepherd.Signal{Key: r.Key, Number: uint32(unix.SIGKILL), Group: true})
		}
	}
	n.sweepBoxes()
	n.left = nil
}

// sweepBoxes removes the control groups that the daemon before had for jobs to
// come.
func (n *Node) sweepBoxes() {
	if n.pool == nil {
		return
	}
	var used []string
	for _, r := range n.left {
		used = append(used, r.Box)
	}
	for _, name := range n.pool.Sweep(used) {
		n.log.Error("a control group has processes of no known job", "group", name)
	}
}

// adoptOne takes over one attempt of this boot.
func (n *Node) adoptOne(ctx context.Context, r record, w *shepherd.Welcome, held map[shepherd.Key]int) {
	k := keyOf(r.Launch.Attempt)
	a := &attempt{key: k, launch: r.Launch, index: r.Index, box: n.findBox(r)}
	a.begun.Store(true)
	for _, e := range w.Exits {
		if e.Key == k {
			n.attempts[k] = a
			n.exited(ctx, e)
			return
		}
	}
	for _, f := range w.Failures {
		if f.Key == k {
			n.attempts[k] = a
			n.launchFailed(ctx, f)
			return
		}
	}
	pid, has := held[k]
	switch {
	case !r.Launch.Batch:
		a.state = holding
		n.attempts[k] = a
	case has:
		n.attempts[k] = a
		a.state = starting
		n.armLimit(ctx, a, a.launch.EndMs)
		if pid != 0 {
			n.running(ctx, shepherd.Running{Key: k, PID: pid})
		}
	case r.Instance == w.Instance:
		// The shepherd lives and never got it: nothing of it has run. The leader
		// sends it again.
		if a.box != nil {
			a.box.Remove()
		}
		n.removeFiles(k, true)
	default:
		n.attempts[k] = a
		n.orphaned(ctx, a)
	}
}

// orphaned ends an attempt whose shepherd is gone: its exit status is lost, so
// it is never reported as a success.
func (n *Node) orphaned(ctx context.Context, a *attempt) {
	n.log.Error("the shepherd of a job has died, the job is ended", "job", a.key.Job, "attempt", a.key.Attempt)
	n.finish(ctx, a, &outcome{signal: uint32(unix.SIGKILL), detail: "the shepherd died; how the job ended was not seen"})
}

// bury removes what is left of an attempt of another boot. If the machine really
// was started anew there is nothing left of it but files.
func (n *Node) bury(ctx context.Context, k shepherd.Key, r record) {
	n.log.Info("job of an earlier boot removed", "job", k.Job, "attempt", k.Attempt, "boot", r.Launch.BootId)
	if b := n.findBox(r); b != nil {
		wait, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := errors.Join(b.Kill(wait), b.Remove()); err != nil {
			n.log.Error("job of an earlier boot can't be removed", "job", k.Job, "err", err)
		}
	}
	n.client.Taken(k)
	n.removeFiles(k, r.Launch.Batch)
}

// listen passes the shepherd's events to the loop. When the connection breaks,
// the shepherd is connected again, or a new one is started.
func (n *Node) listen(ctx context.Context, c *shepherd.Client) {
	for {
		e, err := c.Next()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if err != io.EOF {
				n.log.Error("shepherd", "err", err)
			}
			c.Close()
			if c = n.rejoin(ctx); c == nil {
				return
			}
			continue
		}
		n.do(ctx, func() { n.event(ctx, e) })
	}
}

func (n *Node) event(ctx context.Context, e *shepherd.Event) {
	switch {
	case n.taskEvent(e):
	case e.Started != nil:
		n.running(ctx, *e.Started)
	case e.Failed != nil:
		n.launchFailed(ctx, *e.Failed)
	case e.Exited != nil:
		n.exited(ctx, *e.Exited)
	case e.Noted != nil:
		if a := n.attempts[*e.Noted]; a != nil && a.next != nil {
			a.next()
		}
	}
}

// rejoin finds or starts a shepherd again; nil when ctx ends.
func (n *Node) rejoin(ctx context.Context) *shepherd.Client {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause/2 + rand.N(pause)):
		}
		joined := make(chan *shepherd.Client, 1)
		n.do(ctx, func() {
			before := n.instance
			w, err := n.findShepherd()
			if err != nil {
				n.log.Error("shepherd not found again", "err", err)
				joined <- nil
				return
			}
			n.rejoined(ctx, before, w)
			joined <- n.client
		})
		select {
		case c := <-joined:
			if c != nil {
				return c
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// rejoined goes through the attempts after the connection was lost.
func (n *Node) rejoined(ctx context.Context, before string, w *shepherd.Welcome) {
	if w.Instance != before {
		n.loseTasks()
		for _, a := range n.attempts {
			if a.state == starting || a.state == running {
				n.orphaned(ctx, a)
			}
		}
		return
	}
	for _, r := range w.Running {
		n.event(ctx, &shepherd.Event{Started: &r})
	}
	for _, e := range w.Exits {
		n.event(ctx, &shepherd.Event{Exited: &e})
	}
	for _, f := range w.Failures {
		n.event(ctx, &shepherd.Event{Failed: &f})
	}
}
