package dev

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/api"
	"muster/api/identity"
	"muster/conf"
)

// Options say how large a cluster is. Zero values are filled in.
type Options struct {
	Dir         string
	Programs    string // directory of musterd and muster-shepherd
	Conf        string // cluster file; with it the nodes are what the file says
	Controllers int
	Nodes       int
	CPUs        int
	MemoryMB    uint64
	Gres        []string
	Topology    string   // file that describes the links of each node's GPUs
	Ctld        []string // further arguments of the controllers
}

// Up makes a cluster and starts it. It returns when the cluster takes jobs; on an
// error everything is taken down again, but for the logs.
func Up(ctx context.Context, o Options) (*Cluster, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
		return nil, fmt.Errorf("there is a cluster in %s: muster dev start --dir %s brings back what does not run, muster dev down ends it", dir, dir)
	}
	c := &Cluster{Dir: dir, programs: o.Programs, begun: map[*Daemon]bool{}}
	if err := c.make(o); err != nil {
		return nil, errors.Join(err, c.Down())
	}
	for _, d := range c.Daemons {
		if err := c.start(d); err != nil {
			return nil, errors.Join(err, c.Down())
		}
	}
	if err := c.save(); err != nil {
		return nil, errors.Join(err, c.Down())
	}
	if err := errors.Join(c.ready(ctx), c.link()); err != nil {
		return nil, errors.Join(err, c.Down())
	}
	return c, c.save()
}

// make writes everything that the daemons are started with.
func (c *Cluster) make(o Options) error {
	if err := c.makeSockets(); err != nil {
		return err
	}
	if err := c.save(); err != nil { // from here on Down finds what there is
		return err
	}
	file, err := c.clusterFile(o)
	if err != nil {
		return err
	}
	c.Name = file.Cluster.Name
	for _, d := range file.Controllers {
		c.Daemons = append(c.Daemons, &Daemon{Kind: kindController, Name: d.Name, Port: int(d.Port)})
	}
	for _, n := range file.Cluster.Nodes {
		c.Daemons = append(c.Daemons, &Daemon{Kind: kindNode, Name: n.Name, BootID: newBootID()})
	}
	c.Daemons = append(c.Daemons, &Daemon{Kind: kindLogin, Name: kindLogin})
	ca, err := identity.NewAuthority(c.Name, time.Now())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.path("ca"), 0o700); err != nil {
		return err
	}
	if err := ca.Save(c.path("ca")); err != nil {
		return err
	}
	for _, d := range c.Daemons {
		if err := c.equip(d, ca); err != nil {
			return fmt.Errorf("%s %s: %w", d.Kind, d.Name, err)
		}
		if d.Kind == kindController {
			d.Args = append(d.Args, o.Ctld...)
		}
	}
	return c.declare(file, o.Topology)
}

// equip makes the directories and the certificate of a daemon and works out its
// arguments.
func (c *Cluster) equip(d *Daemon, ca *identity.Authority) error {
	home := c.home(d)
	data, certs := filepath.Join(home, "data"), filepath.Join(home, "certs")
	// Jobs of other users pass through a node's directory to their scripts.
	if err := os.MkdirAll(data, 0o711); err != nil {
		return err
	}
	role, command := identity.Compute, "noded"
	switch d.Kind {
	case kindController:
		role, command = identity.Controller, "ctld"
		if err := os.MkdirAll(certs, 0o700); err != nil {
			return err
		}
		if err := ca.Save(certs); err != nil {
			return err
		}
	case kindLogin:
		role = identity.Login
	}
	if err := ca.Issue(certs, role, d.Name, time.Now()); err != nil {
		return err
	}
	d.Args = []string{command, "--name", d.Name, "--certs", certs}
	switch d.Kind {
	case kindController:
		d.Args = append(d.Args, "--data", data, "--listen", loopback(d.Port), "--config", c.File(), "--allow-root")
	case kindNode:
		d.Args = append(d.Args, "--data", data, "--controllers", c.controllers(),
			"--socket", c.Socket(d.Name), "--declare", c.declaration(d.Name))
	case kindLogin:
		d.Args = append(d.Args, "--login", "--controllers", c.controllers(), "--socket", c.LoginSocket())
	}
	return nil
}

// controllers are their addresses, separated by commas.
func (c *Cluster) controllers() string {
	var out []string
	for _, d := range c.of(kindController) {
		out = append(out, loopback(d.Port))
	}
	return strings.Join(out, ",")
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// makeSockets makes the directory of the sockets. A socket's path has 107 bytes at
// most, so it is not below Dir, which may be long.
func (c *Cluster) makeSockets() error {
	parent := os.TempDir()
	if os.Geteuid() == 0 {
		parent = filepath.Dir(api.DefaultSocket)
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	} else if len(parent) > 60 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "dev-")
	if err != nil {
		return fmt.Errorf("directory of the sockets: %w", err)
	}
	c.Sockets = dir
	return os.Chmod(dir, 0o755)
}

// link lets every command on the host find a cluster that root started.
func (c *Cluster) link() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if target, err := os.Readlink(api.DefaultSocket); err == nil {
		if _, err := os.Stat(target); err == nil {
			return nil // another throw-away cluster's
		}
		if err := os.Remove(api.DefaultSocket); err != nil { // one that is gone
			return err
		}
	}
	err := os.Symlink(c.LoginSocket(), api.DefaultSocket)
	if errors.Is(err, os.ErrExist) {
		return nil // a real agent's
	}
	if err == nil {
		c.Link = api.DefaultSocket
	}
	return err
}

// freePorts finds ports of loopback that nobody listens on, outside of those that
// the kernel gives to outgoing connections: a controller must get its port again
// after it was killed.
func freePorts(n int) ([]int, error) {
	var ports []int
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, errors.New("no free port of 127.0.0.1 between 20000 and 32000 was found")
		}
		port := 20000 + rand.IntN(12000)
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		defer l.Close() // held until all are found, so that no port comes twice
		ports = append(ports, port)
	}
	return ports, nil
}

// hostMemoryMB is the memory of this host.
func hostMemoryMB() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 4096
	}
	return uint64(info.Totalram) * uint64(info.Unit) >> 20
}

// fill sets what was not said: nodes that share the host's CPUs and memory.
func (o *Options) fill() {
	if o.Nodes == 0 {
		o.Nodes = 4
	}
	if o.CPUs == 0 {
		o.CPUs = runtime.NumCPU()
	}
	if o.MemoryMB == 0 {
		o.MemoryMB = max(hostMemoryMB()/uint64(o.Nodes), 1000)
	}
	if o.Controllers == 0 {
		o.Controllers = 3
	}
}

// clusterFile writes cluster.toml and reads it again.
func (c *Cluster) clusterFile(o Options) (*conf.File, error) {
	text, err := ownText(o)
	if o.Conf != "" {
		text, err = givenText(o)
	}
	if err != nil {
		return nil, err
	}
	path := c.File()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return nil, err
	}
	return conf.Load(path)
}
