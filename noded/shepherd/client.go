package shepherd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// socketName is the shepherd's socket in the daemon's data directory.
const socketName = "shepherd.sock"

// Client is the daemon's end of the connection to its shepherd.
type Client struct {
	peer *peer
	r    *bufio.Reader
}

// Connect connects to the shepherd that serves a data directory and returns all
// that it has. The error is os.ErrNotExist or syscall.ECONNREFUSED when there is
// none.
func Connect(dataDir string) (*Client, *Welcome, error) {
	var conn net.Conn
	err := shortPath(dataDir, func(dir string) (err error) {
		conn, err = net.Dial("unix", filepath.Join(dir, socketName))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the shepherd: %w", err)
	}
	c := conn.(*net.UnixConn)
	if err := checkPeer(c); err != nil {
		c.Close()
		return nil, nil, fmt.Errorf("connect to the shepherd: %w", err)
	}
	cl := &Client{peer: newPeer(c), r: bufio.NewReaderSize(c, 64<<10)}
	var e Event
	if err := readFrame(cl.r, &e); err != nil || e.Welcome == nil {
		cl.Close()
		return nil, nil, fmt.Errorf("the shepherd did not greet: %v", err)
	}
	return cl, e.Welcome, nil
}

// Launch has a process started; a Started or Failed event answers.
func (c *Client) Launch(s *Spec) { c.peer.send(&Request{Launch: s}) }

// Signal has a signal sent.
func (c *Client) Signal(s *Signal) { c.peer.send(&Request{Signal: s}) }

// Note has a text written to a job's standard error.
func (c *Client) Note(n *Note) { c.peer.send(&Request{Note: n}) }

// Taken lets the shepherd forget records that are safe elsewhere.
func (c *Client) Taken(keys ...Key) { c.peer.send(&Request{Taken: keys}) }

// Next waits for the next event. It returns io.EOF when the connection ends.
func (c *Client) Next() (*Event, error) {
	e := new(Event)
	err := readFrame(c.r, e)
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close ends the connection; the shepherd and its processes live on.
func (c *Client) Close() { c.peer.close() }

// Command says how a shepherd is started.
type Command struct {
	Program  string
	DataDir  string
	HostName string // given to the shepherd and its jobs in a name space of their own; "" for the host's
	Log      *os.File
}

// Start starts a shepherd in a session of its own and returns its process id. It
// can be connected to at once. The caller reaps it, or leaves that to init.
func Start(cmd Command) (*exec.Cmd, error) {
	l, err := listen(cmd.DataDir)
	if err != nil {
		return nil, fmt.Errorf("socket of the shepherd: %w", err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		return nil, fmt.Errorf("socket of the shepherd: %w", err)
	}
	defer f.Close()
	c := exec.Command(cmd.Program)
	c.Dir = "/"
	c.Stderr = cmd.Log
	c.ExtraFiles = []*os.File{f}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.HostName != "" {
		c.Args = append(c.Args, "--hostname", cmd.HostName)
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUTS
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start the shepherd %s: %w", cmd.Program, err)
	}
	return c, nil
}

// listen makes the socket, in place of one that nobody serves any more.
func listen(dataDir string) (*net.UnixListener, error) {
	var l *net.UnixListener
	err := shortPath(dataDir, func(dir string) error {
		name := filepath.Join(dir, socketName)
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		var err error
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		return os.Chmod(name, 0o600)
	})
	return l, err
}

// shortPath calls f with a name of dir that is short enough for a socket
// address, which has 108 bytes.
func shortPath(dir string, f func(string) error) error {
	if len(dir)+len(socketName) < 100 {
		return f(dir)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d", d.Fd()))
}
