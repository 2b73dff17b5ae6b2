package dev

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// deathWait is how long a killed process may take to be gone.
const deathWait = 10 * time.Second

// nodeVariable marks the daemons of a node, so that they are found.
const nodeVariable = "MUSTER_DEV_NODE"

// start starts a daemon in a session of its own; it lives on when this command ends.
func (c *Cluster) start(d *Daemon, more ...string) error {
	if _, runs := c.process(d); runs {
		return nil
	}
	log, err := os.OpenFile(c.log(d), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := append(d.Args[:len(d.Args):len(d.Args)], more...)
	if d.Kind == kindNode {
		args = append(args, "--boot-id", d.BootID)
	}
	cmd := exec.Command(filepath.Join(c.programs, "musterd"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.home(d), log, log
	cmd.Env = append(daemonEnvironment(), c.marker(d))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s %s: %w", d.Kind, d.Name, err)
	}
	p, err := readProcess(cmd.Process.Pid)
	if err != nil {
		return fmt.Errorf("%s %s: %w", d.Kind, d.Name, err)
	}
	d.PID, d.Start, c.Boot = p.pid, p.start, hostBoot()
	c.begun[d] = true
	go cmd.Wait() // so that one that fails at once is no zombie; it ends with this command
	return nil
}

// daemonEnvironment is this environment without what belongs to a job or a user's
// session with a cluster.
func daemonEnvironment() []string {
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "SLURM") && !strings.HasPrefix(name, "SBATCH") && !strings.HasPrefix(name, "MUSTER_") {
			out = append(out, v)
		}
	}
	return out
}

func (c *Cluster) marker(d *Daemon) string { return nodeVariable + "=" + c.Dir + ":" + d.Name }

// Start brings back what was killed: one part, or everything if what is "". What
// the cluster file has and the cluster lacks is made first. A controller without data
// waits to be filled or added: only Up begins a cluster. Start
// returns when the cluster takes jobs again, or at once if too many controllers are
// still down for that.
func (c *Cluster) Start(ctx context.Context, what string) error {
	if err := c.grow(); err != nil {
		return err
	}
	parts := c.Daemons
	if what != "" {
		d, _, err := c.find(what)
		if err != nil {
			return err
		}
		parts = []*Daemon{d}
	}
	for _, d := range parts {
		var more []string
		if d.Kind == kindController {
			more = []string{"--join"}
		}
		if err := c.start(d, more...); err != nil {
			return errors.Join(err, c.save())
		}
	}
	if err := c.save(); err != nil {
		return err
	}
	alive := 0
	for _, d := range c.of(kindController) {
		if _, runs := c.process(d); runs {
			alive++
		}
	}
	if 2*alive <= len(c.of(kindController)) {
		return nil
	}
	return c.ready(ctx)
}

// Kill ends a part of the cluster without warning: SIGKILL, and for node/NAME all
// that runs on the node, as when its power is cut.
func (c *Cluster) Kill(what string) error {
	d, node, err := c.find(what)
	if err != nil {
		return err
	}
	if node {
		return c.cutPower(d)
	}
	p, runs := c.process(d)
	if !runs {
		return fmt.Errorf("%s does not run", what)
	}
	if err := p.signal(unix.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", what, err)
	}
	return waitGone(func() ([]process, error) {
		if p, runs := c.process(d); runs {
			return []process{p}, nil
		}
		return nil, nil
	})
}

// cutPower kills the daemon, the shepherd and every process of a node's jobs, and
// gives the node another boot id for when it comes back.
func (c *Cluster) cutPower(d *Daemon) error {
	all, err := c.residents(d)
	if err != nil {
		return err
	}
	for _, p := range all { // nothing may react to the death of another
		if err := p.signal(unix.SIGSTOP); err != nil {
			return fmt.Errorf("stop process %d of node %s: %w", p.pid, d.Name, err)
		}
	}
	d.BootID = newBootID()
	err = waitGone(func() ([]process, error) {
		more, err := c.residents(d)
		for _, p := range more {
			if !slices.ContainsFunc(all, p.same) {
				all = append(all, p)
			}
		}
		var left []process
		for _, p := range all { // also what its parent, dead by now, no longer leads to
			if now, gone := readProcess(p.pid); gone == nil && p.same(now) && now.alive() {
				left = append(left, p)
				err = errors.Join(err, p.signal(unix.SIGKILL))
			}
		}
		return left, err
	})
	return errors.Join(err, c.save())
}

// residents are the processes of a node: its daemons by a mark in their environment,
// its jobs by the socket in theirs, and whatever descends from those.
func (c *Cluster) residents(d *Daemon) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	mine := map[int]bool{}
	for _, p := range all {
		if p.environ(c.marker(d), "MUSTER_SOCKET="+c.Socket(d.Name)) || p.pid == d.PID && p.start == d.Start {
			mine[p.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if mine[p.parent] && !mine[p.pid] {
				mine[p.pid], grown = true, true
			}
		}
	}
	var out []process
	for _, p := range all {
		if mine[p.pid] {
			out = append(out, p)
		}
	}
	return out, nil
}

// waitGone asks until nothing is left. The kernel tells of the end of a process only
// its parent.
func waitGone(left func() ([]process, error)) error {
	for deadline := time.Now().Add(deathWait); ; time.Sleep(2 * time.Millisecond) {
		list, err := left()
		if err != nil || len(list) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes do not end, the first is %d", len(list), list[0].pid)
		}
	}
}

// newBootID makes a boot id as the kernel writes them.
func newBootID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Down ends all of the cluster, its jobs too, and removes all it made but the logs.
func (c *Cluster) Down() error {
	var errs []error
	for _, d := range c.of(kindNode) {
		errs = append(errs, c.cutPower(d))
	}
	errs = append(errs, c.stop(append(c.of(kindController), c.of(kindLogin)...)))
	if target, err := os.Readlink(c.Link); err == nil && target == c.LoginSocket() {
		errs = append(errs, os.Remove(c.Link))
	}
	if err := errors.Join(errs...); err != nil {
		return err // what still runs is still in dev.json
	}
	for _, d := range c.of(kindNode) {
		errs = append(errs, c.removeGroups(d))
	}
	for _, name := range []string{kindController, kindNode, kindLogin, "ca", "dev", "cluster.toml"} {
		errs = append(errs, os.RemoveAll(c.path(name)))
	}
	errs = append(errs, os.RemoveAll(c.Sockets))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return errors.Join(os.Remove(c.path(stateFile)), os.Remove(c.path("dev.lock")))
}

// stop asks daemons to end, and kills those that take longer than a few seconds.
func (c *Cluster) stop(list []*Daemon) error {
	running := func() (out []process, err error) {
		for _, d := range list {
			if p, runs := c.process(d); runs {
				out = append(out, p)
			}
		}
		return out, nil
	}
	send := func(s unix.Signal) error {
		var errs []error
		left, _ := running()
		for _, p := range left {
			errs = append(errs, p.signal(s))
		}
		return errors.Join(errs...)
	}
	if err := send(unix.SIGTERM); err != nil {
		return err
	}
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if left, _ := running(); len(left) == 0 {
			return nil
		}
	}
	if err := send(unix.SIGKILL); err != nil {
		return err
	}
	return waitGone(running)
}
