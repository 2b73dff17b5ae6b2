// Package agent is the local socket of a host: it learns from the kernel who
// calls, from the name service what they are called, and passes the call on to a
// controller.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"muster/api/identity"
	"muster/api/rpc"
	"muster/internal/nss"
)

// Config is what an agent needs.
type Config struct {
	Socket      string             // path of the unix socket
	Host        string             // name of this node or login host
	Identity    *identity.Identity // to the controllers
	Controllers []string           // host:port, at least one
	Log         *slog.Logger
}

// connectionsMax is how many connections are open at once, of all users together.
const connectionsMax = 4096

// pathMax is the longest path of a unix socket (unix(7)).
const pathMax = 107

// Agent serves the socket.
type Agent struct {
	config   Config
	listener *net.UnixListener
	names    *nss.Resolver
	up       *upstream
	users    *users
	nodes    *nodes
}

// Listen opens the socket, in place of one that a dead agent left behind. Anybody
// on the host may connect.
func Listen(c Config) (*Agent, error) {
	if len(c.Controllers) == 0 {
		return nil, errors.New("agent: no controller is named")
	}
	listener, err := listen(c.Socket)
	if err != nil {
		return nil, fmt.Errorf("agent socket: %w", err)
	}
	up, err := newUpstream(c.Identity, c.Controllers, c.Log)
	if err != nil {
		listener.Close()
		return nil, err
	}
	a := &Agent{config: c, listener: listener, names: nss.New(), up: up, users: newUsers()}
	a.nodes = newNodes(func(addr string) (*grpc.ClientConn, error) { return rpc.DialNode(c.Identity, addr) })
	return a, nil
}

// SetControllers replaces the addresses of the controllers.
func (a *Agent) SetControllers(addrs []string) error { return a.up.set(addrs) }

// Serve answers until ctx ends, then waits for the connections to end with it.
func (a *Agent) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { a.listener.Close() })
	defer stop()
	var open sync.WaitGroup
	slots := make(chan struct{}, connectionsMax)
	var failed error
	for {
		conn, err := a.listener.AcceptUnix()
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, net.ErrClosed) && temporary(ctx, a.config.Log, err) {
				continue
			}
			if ctx.Err() == nil {
				failed = fmt.Errorf("agent socket: %w", err)
			}
			break
		}
		slots <- struct{}{}
		open.Go(func() {
			defer func() { <-slots }()
			a.serve(ctx, conn)
		})
	}
	cancel()
	open.Wait()
	a.close()
	return failed
}

// Close gives up an agent that was never served.
func (a *Agent) Close() error {
	err := a.listener.Close()
	a.close()
	return err
}

func (a *Agent) close() {
	a.names.Close()
	a.nodes.close()
	a.up.close()
}

// temporary waits a moment after a failed accept that may go better next time.
func temporary(ctx context.Context, log *slog.Logger, err error) bool {
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ENOMEM) &&
		!errors.Is(err, syscall.ECONNABORTED) {
		return false
	}
	log.Warn("agent: accept a connection", "err", err)
	select {
	case <-time.After(50 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// listen binds beside the path and moves the socket there, so that the path is
// never without one while an agent is started again.
func listen(path string) (*net.UnixListener, error) {
	if len(path)+len(".new") > pathMax {
		return nil, fmt.Errorf("%s: longer than %d bytes: choose a shorter path", path, pathMax-len(".new"))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return nil, fmt.Errorf("%s: another agent answers there: stop it, or choose another path", path)
	}
	beside := path + ".new"
	if err := os.Remove(beside); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: beside, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the path may belong to the next agent by then
	if err := errors.Join(os.Chmod(beside, 0o666), os.Rename(beside, path)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
