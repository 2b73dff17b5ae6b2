// Package dev runs throw-away clusters: real daemons with a directory as their
// whole world, for trying things, for tests and for benchmarks.
package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cluster is a throw-away cluster, as DIR/dev.json keeps it between commands.
type Cluster struct {
	Dir     string // absolute
	Name    string
	Sockets string // directory of the agents' sockets: a short path
	Link    string // link to the login agent at the default path; "" if there is none
	Boot    string // boot id of this host: after a reboot nothing of it runs
	Daemons []*Daemon

	programs string // directory of the daemons' programs
	lock     *os.File
	begun    map[*Daemon]bool // started by this command
}

// The kinds of daemon.
const (
	kindController = "ctld"
	kindNode       = "noded"
	kindLogin      = "login"
)

// Daemon is one daemon of the cluster and the process that it is, if it runs.
type Daemon struct {
	Kind   string
	Name   string
	Args   []string // of musterd
	Port   int      `json:",omitempty"` // controller: where it listens
	BootID string   `json:",omitempty"` // node: of the machine it plays
	PID    int      // 0 if it was never started
	Start  uint64   // when the process began, in clock ticks since boot: a pid may be used again
}

const stateFile = "dev.json"

// Open reads the cluster of a directory and locks it against other commands until
// Close.
func Open(dir, programs string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, noCluster(dir, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		lock.Close()
		return nil, noCluster(dir, err)
	}
	c := &Cluster{lock: lock, programs: programs, begun: map[*Daemon]bool{}}
	if err := json.Unmarshal(text, c); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, stateFile), err)
	}
	return c, nil
}

func noCluster(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no cluster in %s: start one with muster dev up --dir %s", dir, dir)
	}
	return err
}

// Read reads the cluster of a directory without waiting for other commands.
func Read(dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, noCluster(dir, err)
	}
	c := new(Cluster)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, stateFile), err)
	}
	return c, nil
}

// lockDir waits until no other command works on the directory.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "dev.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil {
			return f, nil
		}
		if err != unix.EINTR {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
}

// Close lets other commands work on the cluster.
func (c *Cluster) Close() error {
	if c.lock == nil {
		return nil
	}
	return c.lock.Close()
}

// save writes dev.json, whole or not at all.
func (c *Cluster) save() error {
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(c.Dir, stateFile)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Socket is the path of an agent's socket: a node's, or the login agent's.
func (c *Cluster) Socket(daemon string) string { return filepath.Join(c.Sockets, daemon+".sock") }

// LoginSocket is where the cluster's users call.
func (c *Cluster) LoginSocket() string { return c.Socket(kindLogin) }

// File is the path of the cluster file.
func (c *Cluster) File() string { return c.path("cluster.toml") }

func (c *Cluster) path(more ...string) string {
	return filepath.Join(append([]string{c.Dir}, more...)...)
}

// home is the directory of a daemon.
func (c *Cluster) home(d *Daemon) string {
	if d.Kind == kindLogin {
		return c.path(kindLogin)
	}
	return c.path(d.Kind, d.Name)
}

func (c *Cluster) of(kind string) []*Daemon {
	var out []*Daemon
	for _, d := range c.Daemons {
		if d.Kind == kind {
			out = append(out, d)
		}
	}
	return out
}

// What names a part of a cluster: ctld/leader, ctld/2 (or ctld/NAME), noded/n3,
// node/n3 or login. find returns the daemon, and whether the whole node is meant.
func (c *Cluster) find(what string) (d *Daemon, node bool, err error) {
	kind, name, _ := strings.Cut(what, "/")
	switch kind {
	case kindController:
		if name == "leader" {
			if name, err = c.leader(); err != nil {
				return nil, false, err
			}
		}
		list := c.of(kindController)
		if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(list) {
			return list[n-1], false, nil
		}
	case "node":
		kind, node = kindNode, true
	}
	i := slices.IndexFunc(c.Daemons, func(d *Daemon) bool { return d.Kind == kind && (d.Name == name || kind == kindLogin) })
	if i < 0 {
		return nil, false, fmt.Errorf("%s: no such part of the cluster; it has %s", what, c.parts())
	}
	return c.Daemons[i], node, nil
}

func (c *Cluster) parts() string {
	parts := []string{"ctld/leader"}
	for i := range c.of(kindController) {
		parts = append(parts, fmt.Sprintf("ctld/%d", i+1))
	}
	for _, d := range c.of(kindNode) {
		parts = append(parts, "noded/"+d.Name, "node/"+d.Name)
	}
	return strings.Join(parts, ", ")
}
