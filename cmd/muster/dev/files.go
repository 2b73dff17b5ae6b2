package dev

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"muster/api/identity"
	"muster/conf"
	"muster/internal/hostlist"
	"muster/partition"
)

// ownText is the cluster file for nodes of one shape.
func ownText(o Options) ([]byte, error) {
	o.fill()
	controllers, err := newControllers(o.Controllers, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range o.Nodes {
		names = append(names, "n"+strconv.Itoa(i+1))
	}
	var b bytes.Buffer
	err = conf.Init(&b, conf.Starter{
		Name: "dev", TimeZone: conf.HostZone(), Controllers: controllers, Administrators: owner(),
		Nodes: []conf.StarterNodes{{Names: hostlist.Compress(names), Cores: uint32(o.CPUs), MemoryMB: o.MemoryMB, Gres: o.Gres}},
	})
	return b.Bytes(), err
}

// owner is the user who starts the cluster, who is its administrator if root is not
// there.
func owner() []string {
	me, err := user.Current()
	if err != nil || me.Uid == "0" {
		return nil
	}
	return []string{me.Username}
}

// givenText is a cluster file of the user's with controllers that this host can run:
// as many, and of the same names, at addresses of loopback.
func givenText(o Options) ([]byte, error) {
	if o.Nodes != 0 || o.CPUs != 0 || o.MemoryMB != 0 || len(o.Gres) != 0 {
		return nil, errors.New("with --conf the file says what nodes there are: leave out --nodes, --cpus, --mem and --gres")
	}
	given, err := conf.Load(o.Conf)
	if err != nil {
		return nil, err
	}
	for _, line := range given.WarningLines(o.Conf) {
		fmt.Fprintln(os.Stderr, line)
	}
	text := given.Cluster.Source
	var names []string
	if strings.Contains(text, controllerHeader) {
		for _, d := range given.Controllers {
			names = append(names, d.Name)
		}
	}
	n := o.Controllers
	switch {
	case len(names) > 0 && n == 0:
		n = len(names)
	case len(names) > 0 && n != len(names):
		return nil, fmt.Errorf("--controllers %d, but %s has %d of them", n, o.Conf, len(names))
	case n == 0:
		n = 3
	}
	controllers, err := newControllers(n, names)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(withoutControllers(text))
	for _, d := range controllers {
		fmt.Fprintf(&b, "\n%s\nname = %q\naddresses = [%q]\nbind = %q\nport = %d\n", controllerHeader, d.Name, d.Addresses[0], d.Bind, d.Port)
	}
	return []byte(b.String()), nil
}

const controllerHeader = "[[controller]]"

// withoutControllers leaves out the controller tables of a cluster file.
func withoutControllers(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if at := strings.TrimSpace(line); strings.HasPrefix(at, "[") {
			inside = strings.HasPrefix(at, controllerHeader)
		}
		if !inside {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// newControllers gives n controllers a port of loopback each; names may be nil.
func newControllers(n int, names []string) ([]conf.Daemon, error) {
	ports, err := freePorts(n)
	if err != nil {
		return nil, err
	}
	var out []conf.Daemon
	for i, port := range ports {
		name := "c" + strconv.Itoa(i+1)
		if names != nil {
			name = names[i]
		}
		out = append(out, conf.Daemon{Name: name, Addresses: []string{"127.0.0.1"}, Bind: "127.0.0.1", Port: uint16(port)})
	}
	return out, nil
}

// grow makes the nodes and controllers that the cluster file has and the cluster lacks.
func (c *Cluster) grow() error {
	file, err := conf.Load(c.File())
	if err != nil {
		return err
	}
	var made []*Daemon
	for _, d := range file.Controllers {
		if !slices.ContainsFunc(c.Daemons, func(o *Daemon) bool { return o.Kind == kindController && o.Name == d.Name }) {
			made = append(made, &Daemon{Kind: kindController, Name: d.Name, Port: int(d.Port)})
		}
	}
	for _, n := range file.Cluster.Nodes {
		if !slices.ContainsFunc(c.Daemons, func(d *Daemon) bool { return d.Kind == kindNode && d.Name == n.Name }) {
			made = append(made, &Daemon{Kind: kindNode, Name: n.Name, BootID: newBootID()})
		}
	}
	if len(made) == 0 {
		return nil
	}
	ca, err := identity.LoadAuthority(c.path("ca"))
	if err != nil {
		return err
	}
	for _, d := range made {
		if err := c.equip(d, ca); err != nil {
			return fmt.Errorf("%s %s: %w", d.Kind, d.Name, err)
		}
	}
	if err := c.declare(file, ""); err != nil {
		return err
	}
	c.Daemons = append(c.Daemons, made...)
	return c.save()
}

// declaration is the file that says what a node has.
func (c *Cluster) declaration(node string) string { return c.path(kindNode, node, "declare.json") }

// declare writes what each node says it has, and makes its devices; topology is a
// description of them or "". What a node that is there already has, stays.
func (c *Cluster) declare(file *conf.File, topology string) error {
	if topology != "" {
		var err error
		if topology, err = filepath.Abs(topology); err != nil {
			return err
		}
	}
	for i, n := range file.Cluster.Nodes {
		if _, err := os.Stat(c.declaration(n.Name)); err == nil {
			continue
		}
		devices, err := c.makeDevices(n)
		if err != nil {
			return fmt.Errorf("devices of node %s: %w", n.Name, err)
		}
		d := conf.Declaration{
			Sockets: uint32(n.Declared.Sockets), CoresPerSocket: uint32(n.Declared.CoresPerSocket),
			Threads: uint32(n.Declared.ThreadsPerCore), MemoryMB: n.Declared.MemoryMB, TmpDiskMB: n.Declared.TmpDiskMB,
			Gres: devices, Topology: topology, Real: file.Nodes[i].Real,
		}
		if os.Geteuid() == 0 {
			d.HostName = n.Name
		}
		text, err := json.MarshalIndent(&d, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.declaration(n.Name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// makeDevices makes a file below Dir for each device of a node: as root a device
// that is like /dev/null, so that device rules hold for it, else an empty file.
func (c *Cluster) makeDevices(n partition.Node) ([]conf.DeclaredGres, error) {
	var out []conf.DeclaredGres
	dir := c.path("dev", n.Name)
	for _, d := range n.Gres.Devices {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, d.Name+strconv.Itoa(d.Index))
		if err := makeDevice(path, uint32(len(out))); err != nil {
			return nil, err
		}
		out = append(out, conf.DeclaredGres{Name: d.Name, Type: d.Type, Files: []string{path}})
	}
	return out, nil
}

// absentMajor is the major number of the devices. The kernel gives drivers numbers
// below 512 only (CHRDEV_MAJOR_MAX), so none ever answers behind a file that
// everybody may open; access rules hold all the same.
const absentMajor = 4000

func makeDevice(path string, minor uint32) error {
	if os.Geteuid() == 0 {
		err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(absentMajor, minor)))
		if err == nil {
			return os.Chmod(path, 0o666)
		}
		if !errors.Is(err, unix.EPERM) {
			return &os.PathError{Op: "mknod", Path: path, Err: err}
		}
	}
	return os.WriteFile(path, nil, 0o666)
}
