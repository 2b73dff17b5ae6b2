package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"

	"muster/api/identity"
	"muster/api/pb"
	"muster/api/rpc"
	"muster/noded"
	"muster/noded/agent"
)

// version of this build; the linker sets it.
var version = "dev"

// nodeFlags are the flags of musterd noded.
type nodeFlags struct {
	node        noded.Config
	certs       string
	controllers string
	login       bool
	steps       string
	level       slog.Level
}

func (n *nodeFlags) parse(args []string) error {
	f := flag.NewFlagSet("musterd noded", flag.ContinueOnError)
	host, _ := os.Hostname() // the default only: the name must be that of the certificate
	f.StringVar(&n.node.Name, "name", host, "name of this host in the cluster")
	f.StringVar(&n.node.DataDir, "data", "/var/lib/muster/noded", "data directory; belongs to this node alone")
	f.StringVar(&n.certs, "certs", "", "directory of ca.pem, cert.pem and key.pem")
	f.StringVar(&n.controllers, "controllers", "", "addresses of the controllers, host:port, separated by commas")
	f.StringVar(&n.node.Socket, "socket", "/run/muster/agent.sock", "socket for the commands of this host's users")
	f.StringVar(&n.node.Declare, "declare", "", "file that says what the node has, instead of looking at the machine")
	f.StringVar(&n.node.HostName, "hostname", "", "host name that jobs see (as root; default: the host's own, or the declared one)")
	f.StringVar(&n.node.BootID, "boot-id", "", "boot that jobs are bound to (default: the kernel's)")
	f.StringVar(&n.steps, "steps", ":0", "host:port on which srun's steps are served (port 0: any free one)")
	f.BoolVar(&n.login, "login", false, "pass on calls only; run no jobs")
	f.TextVar(&n.level, "log", slog.LevelInfo, "least level of log lines: debug, info, warn or error")
	if err := parse(f, args, "certs", "controllers"); err != nil {
		return err
	}
	n.node.Controllers = strings.Split(n.controllers, ",")
	n.node.Log = logger(n.level).With("node", n.node.Name)
	return nil
}

// runNoded runs a node's daemon with its agent, or with --login the agent alone.
func runNoded(ctx context.Context, args []string) error {
	var n nodeFlags
	if err := n.parse(args); err != nil {
		return err
	}
	id, err := identity.Load(n.certs)
	if err != nil {
		return err
	}
	want := identity.Compute
	if n.login {
		want = identity.Login
	}
	if id.Role != want || id.Name != n.node.Name {
		return fmt.Errorf("the certificate in %s is that of %s, want that of %s %q", n.certs, id, want, n.node.Name)
	}
	a, err := agent.Listen(agent.Config{Socket: n.node.Socket, Host: n.node.Name, Identity: id,
		Controllers: n.node.Controllers, Log: n.node.Log})
	if err != nil {
		return err
	}
	if n.login {
		return a.Serve(ctx)
	}
	return runBoth(ctx, a, &n, id)
}

// runBoth runs agent and node; when one of them ends, so does the other.
func runBoth(ctx context.Context, a *agent.Agent, n *nodeFlags, id *identity.Identity) error {
	cfg := n.node
	port, err := serveSteps(&cfg, n.steps, id)
	if err != nil {
		return err
	}
	defer port.Close()
	cfg.Dial = func(addr string) (pb.ControllerClient, io.Closer, error) {
		conn, err := rpc.Dial(id, addr)
		if err != nil {
			return nil, nil, err
		}
		return pb.NewControllerClient(conn), conn, nil
	}
	cfg.Learned = func(addrs []string) {
		if err := a.SetControllers(addrs); err != nil {
			cfg.Log.Warn("the controllers' addresses could not be taken over", "err", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var errs [2]error
	var both sync.WaitGroup
	for i, f := range []func() error{func() error { return a.Serve(ctx) }, func() error { return noded.Run(ctx, cfg) }} {
		both.Go(func() {
			defer cancel()
			errs[i] = f()
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

// serveSteps opens the port of a node and says where it is reached: by the way
// on which the node itself reaches its controllers.
func serveSteps(cfg *noded.Config, addr string, id *identity.Identity) (*rpc.Listener, error) {
	port, err := rpc.ListenNode(addr, id, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("port for steps: %w", err)
	}
	cfg.Steps = port.GRPC()
	cfg.Verify = func(message, signature, certificate []byte) error {
		return id.Verify(message, signature, certificate, identity.Controller)
	}
	cfg.Port = uint32(port.Addr().(*net.TCPAddr).Port)
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		if host, err = outward(cfg.Controllers); err != nil {
			return nil, errors.Join(fmt.Errorf("own address: %w; give --steps with one", err), port.Close())
		}
	}
	// The first is shown as NodeAddr, the last is where agents connect.
	cfg.Addresses = []string{cfg.Name, host}
	return port, nil
}

// outward is the address that this host has towards a controller. Nothing is sent.
func outward(controllers []string) (string, error) {
	var all error
	for _, c := range controllers {
		conn, err := net.Dial("udp", c)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		defer conn.Close()
		return conn.LocalAddr().(*net.UDPAddr).IP.String(), nil
	}
	return "", all
}
