package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"

	"muster/internal/wire"
)

// The environment of a client.
const (
	// SocketVariable names the agent's socket; DefaultSocket is used without it.
	SocketVariable = "MUSTER_SOCKET"
	// TimeoutVariable is how many seconds a call is tried for in all.
	TimeoutVariable = "MUSTER_TIMEOUT"
	// DefaultSocket is where the agent of a host listens.
	DefaultSocket = "/run/muster/agent.sock"
)

// How long a call is tried for in all if TimeoutVariable does not say: a change
// must survive the loss of all controllers for a while, whoever only looks is
// told sooner.
const (
	changeTimeout = 60 * time.Second
	readTimeout   = 20 * time.Second
)

// NoAgentError says that no agent answers on the socket.
type NoAgentError struct {
	Socket string
	Err    error
}

// Error implements error.
func (e *NoAgentError) Error() string {
	return fmt.Sprintf("no agent answers on %s (%v): start musterd noded on this host, or set %s to the socket of a running agent",
		e.Socket, e.Err, SocketVariable)
}

// Unwrap gives the cause.
func (e *NoAgentError) Unwrap() error { return e.Err }

// ErrBroken is wrapped by the error of a call whose answer broke off after a part
// of it had been handed over; the caller may begin again from the start.
var ErrBroken = errors.New("the answer broke off")

// Client talks to the agent of this host. It carries one call at a time and is
// not safe for use by several goroutines.
type Client struct {
	path    string
	timeout time.Duration // 0: by the kind of call
	conn    *socket
	in      *bufio.Reader
	out     []byte
}

// Connect returns a client of the agent that the environment names. It is
// connected, so that a host without an agent is told at once.
func Connect() (*Client, error) {
	path := os.Getenv(SocketVariable)
	if path == "" {
		path = DefaultSocket
	}
	c := New(path)
	if s := os.Getenv(TimeoutVariable); s != "" {
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%s=%q: want a number of seconds, 1 or more", TimeoutVariable, s)
		}
		c.timeout = time.Duration(n) * time.Second
	}
	err := c.dial(time.Now().Add(c.total(MethodPing)))
	// An agent that is being started again refuses for a moment: Do tries on.
	if err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
		return nil, &NoAgentError{Socket: path, Err: err}
	}
	return c, nil
}

// New returns a client of the agent at path, not yet connected.
func New(path string) *Client { return &Client{path: path} }

// SetTimeout sets how long each call is tried for in all.
func (c *Client) SetTimeout(d time.Duration) { c.timeout = d }

// Socket is the path of the agent's socket.
func (c *Client) Socket() string { return c.path }

// Close ends the connection.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn, c.in = nil, nil
	return err
}

// Do makes a call and hands each chunk of the answer to onChunk, which must not
// keep it. It sets the call's version and, if the caller did not, its request
// id and time of first try.
//
// A lost connection, a controller that is not there and a full queue are tried
// again, with the same request id, so a change is done once however often it was
// tried; onChunk sees the chunks of one try only: a call that breaks after the
// first of them fails with ErrBroken. The error is an *Error if the cluster
// refused the call, and a *NoAgentError if nobody was there to ask.
func (c *Client) Do(call *Call, onChunk func([]byte) error) (*End, error) {
	c.prepare(call)
	deadline := time.Now().Add(c.total(call.Method))
	for try := 0; ; try++ {
		begun := time.Now()
		end, handed, err := c.once(call, onChunk, deadline)
		if err == nil {
			return end, nil
		}
		if Lasts(call.Method) && time.Since(begun) > readTimeout {
			try, deadline = 0, time.Now().Add(c.total(call.Method)) // it worked until now
		}
		if handed && retry(err) && !errors.Is(err, ErrBroken) {
			err = fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if handed || !retry(err) || !pause(try, deadline) {
			return end, err
		}
	}
}

// All makes a call and returns all chunks of the answer; it begins again when an
// answer breaks off. It is for reads whose answer is wanted whole.
func (c *Client) All(call *Call) ([][]byte, *End, error) {
	deadline := time.Now().Add(c.total(call.Method))
	for try := 0; ; try++ {
		var chunks [][]byte
		end, err := c.Do(call, func(b []byte) error {
			chunks = append(chunks, append([]byte(nil), b...))
			return nil
		})
		if errors.Is(err, ErrBroken) && pause(try, deadline) {
			continue
		}
		return chunks, end, err
	}
}

// Ask makes a call with one message, or none (nil), and decodes the answer into reply. Each chunk
// is a message of its own; the lists of several are joined.
func (c *Client) Ask(method string, request, reply wire.Message) (*End, error) {
	call := &Call{Method: method}
	if request != nil {
		call.Body = wire.Encode(nil, request)
	}
	chunks, end, err := c.All(call)
	if err != nil {
		return end, err
	}
	for _, b := range chunks {
		if err := wire.Decode(b, reply); err != nil {
			return end, fmt.Errorf("answer to %s: %w", method, err)
		}
	}
	return end, nil
}

// prepare fills in what every call carries.
func (c *Client) prepare(call *Call) {
	call.Version = Version
	if call.RequestID == ([16]byte{}) {
		call.RequestID = NewRequestID()
	}
	if call.FirstTry == 0 {
		call.FirstTry = time.Now().UnixMilli()
	}
}

// NewRequestID returns an id that no other request has. It comes from the
// runtime's ChaCha8 generator, which the kernel seeds at each start of a program:
// crypto/rand's self-tests would be a tenth of a client's whole life.
func NewRequestID() (id [16]byte) {
	for i := range 2 {
		v := rand.Uint64()
		for k := range 8 {
			id[i*8+k] = byte(v >> (8 * k))
		}
	}
	return id
}

// once makes one try. handed tells whether onChunk was called.
func (c *Client) once(call *Call, onChunk func([]byte) error, deadline time.Time) (end *End, handed bool, err error) {
	if c.conn == nil {
		if err := c.dial(deadline); err != nil {
			return nil, false, &NoAgentError{Socket: c.path, Err: err}
		}
	}
	end, handed, err = c.exchange(call, onChunk, deadline)
	if err != nil {
		c.Close() // what is left of a broken answer must not meet the next call
		return nil, handed, err
	}
	if end.Err != nil {
		return end, handed, end.Err
	}
	return end, handed, nil
}

func (c *Client) exchange(call *Call, onChunk func([]byte) error, deadline time.Time) (*End, bool, error) {
	var err error
	call.AgeMS = uint64(max(0, time.Now().UnixMilli()-call.FirstTry))
	if c.out, err = AppendMessage(c.out[:0], FrameCall, call); err != nil {
		return nil, false, fmt.Errorf("%s: %w", call.Method, err)
	}
	if err := c.conn.readWithin(patience(call.Method, deadline)); err != nil {
		return nil, false, lost(err)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, false, lost(err)
	}
	handed := false
	var buf []byte
	for {
		kind, payload, err := ReadFrame(c.in, buf)
		if err != nil {
			if handed {
				err = fmt.Errorf("%w: %v", ErrBroken, err)
			}
			return nil, handed, lost(err)
		}
		buf = payload
		switch kind {
		case FrameChunk:
			handed = true
			if err := onChunk(payload); err != nil {
				return nil, handed, err
			}
		case FrameEnd:
			end := new(End)
			if err := wire.Decode(payload, end); err != nil {
				return nil, handed, fmt.Errorf("end of the answer to %s: %w", call.Method, err)
			}
			return end, handed, nil
		default:
			return nil, handed, fmt.Errorf("answer to %s: %w: kind %d", call.Method, ErrFrame, kind)
		}
	}
}

func (c *Client) dial(deadline time.Time) error {
	conn, err := dialSocket(c.path, max(time.Until(deadline), time.Second))
	if err != nil {
		return err
	}
	c.conn, c.in = conn, bufio.NewReader(conn)
	return nil
}

func (c *Client) total(method string) time.Duration {
	switch {
	case c.timeout != 0:
		return c.timeout
	case Reads(method):
		return readTimeout
	}
	return changeTimeout
}

// Reads tells whether a method only looks.
func Reads(method string) bool {
	switch method {
	case MethodPing, MethodWaitJob, MethodJobs, MethodScript, MethodNodes, MethodPartitions, MethodReservations,
		MethodLicenses, MethodConfig, MethodAccounting, MethodStats, MethodWhy, MethodReady:
		return true
	}
	return false
}

// Lasts tells whether a method answers only when a job has started or ended, which
// may take weeks.
func Lasts(method string) bool {
	switch method {
	case MethodWaitJob, MethodReady, MethodStep, MethodRun:
		return true
	}
	return false
}

// patience is how long a silent agent is waited for; 0 is for ever. The agent gives up first, so that its
// own word on what was wrong arrives.
func patience(method string, deadline time.Time) time.Duration {
	if Lasts(method) {
		return 0
	}
	left := max(time.Until(deadline), 0)
	return left + min(left, 5*time.Second) + time.Second
}

// lostError is a connection that broke: the call may be tried on another one.
type lostError struct{ err error }

func (e *lostError) Error() string { return "connection to the agent lost: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

func lost(err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("it closed the connection")
	}
	return &lostError{err}
}

func retry(err error) bool {
	var refused *Error
	var broken *lostError
	var absent *NoAgentError
	switch {
	case errors.As(err, &refused):
		return refused.Retry()
	case errors.As(err, &absent):
		return !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EACCES)
	case errors.Is(err, ErrFrame), errors.Is(err, os.ErrDeadlineExceeded):
		return false
	}
	return errors.As(err, &broken)
}

// pause waits before try number n+1, longer each time and never exactly as long
// as another client; false if there is no time left for it.
func pause(n int, deadline time.Time) bool {
	d := 10 * time.Millisecond << min(n, 6)
	d += time.Duration(rand.Int64N(int64(d)))
	if time.Until(deadline) < d {
		return false
	}
	time.Sleep(d)
	return true
}
