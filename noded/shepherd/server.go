package shepherd

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Server owns the processes. Its methods are called by the connection of the
// daemon; one connection is served at a time, a new one takes over.
type Server struct {
	log      *slog.Logger
	instance string
	reap     *reaper
	threads  *threads

	mu       sync.Mutex
	procs    map[Key]*proc
	exits    map[Key]Exit
	failures map[Key]Failure
	conn     *peer // nil: nobody is connected
}

// proc is a process that was asked for and has not been reaped.
type proc struct {
	pid    int // 0 until it is started
	pidfd  int
	stderr *os.File // for notes; nil if it has none
	forked bool     // or about to be: from here on it can't be called off
}

// NewServer makes a server without processes.
func NewServer(log *slog.Logger) (*Server, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("instance id: %w", err)
	}
	s := &Server{
		log:      log,
		instance: hex.EncodeToString(id),
		procs:    map[Key]*proc{},
		exits:    map[Key]Exit{},
		failures: map[Key]Failure{},
	}
	r, err := newReaper(s.ended)
	if err != nil {
		return nil, err
	}
	s.reap = r
	s.threads = &threads{mayLimit: mayLimitOthers(), born: newBorn()}
	return s, nil
}

// Serve accepts the daemon's connections until ctx ends or the listener fails.
// The processes live on when it returns.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	go s.reap.run(ctx)
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("accept the node daemon: %w", err)
		}
		if err := checkPeer(c); err != nil {
			s.log.Warn("connection refused", "err", err)
			c.Close()
			continue
		}
		go s.talk(newPeer(c))
	}
}

// checkPeer refuses everybody but the user that the shepherd runs as.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return fmt.Errorf("who connects: %w", credErr)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("process %d of uid %d is not the node daemon", cred.Pid, cred.Uid)
	}
	return nil
}

// talk serves one connection. It takes over from the one before.
func (s *Server) talk(p *peer) {
	defer p.close()
	s.mu.Lock()
	if s.conn != nil {
		s.conn.close()
	}
	s.conn = p
	p.send(&Event{Welcome: s.welcome()})
	s.mu.Unlock()
	r := bufio.NewReaderSize(p.c, 64<<10)
	for {
		var q Request
		if err := readFrame(r, &q); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.log.Warn("connection of the node daemon lost", "err", err)
			}
			break
		}
		s.do(&q)
	}
	s.mu.Lock()
	if s.conn == p {
		s.conn = nil
	}
	s.mu.Unlock()
}

// welcome lists all that there is; the caller holds the lock.
func (s *Server) welcome() *Welcome {
	w := &Welcome{Instance: s.instance, PID: os.Getpid()}
	for k, p := range s.procs {
		w.Running = append(w.Running, Running{Key: k, PID: p.pid})
	}
	for _, e := range s.exits {
		w.Exits = append(w.Exits, e)
	}
	for _, f := range s.failures {
		w.Failures = append(w.Failures, f)
	}
	return w
}

// do carries out one request.
func (s *Server) do(q *Request) {
	switch {
	case q.Launch != nil:
		s.launch(q.Launch)
	case q.Signal != nil:
		s.signal(q.Signal)
	case q.Note != nil:
		s.note(q.Note)
	}
	s.mu.Lock()
	for _, k := range q.Taken {
		delete(s.exits, k)
		delete(s.failures, k)
	}
	s.mu.Unlock()
}

// launch starts a process on a thread of its own choice. A key that is known
// already is not started again: the daemon gets its answer a second time.
func (s *Server) launch(spec *Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.exits[spec.Key]; ok {
		s.send(&Event{Exited: &e})
		return
	}
	if f, ok := s.failures[spec.Key]; ok {
		s.send(&Event{Failed: &f})
		return
	}
	if p, ok := s.procs[spec.Key]; ok {
		if p.pid != 0 {
			s.send(&Event{Started: &Running{spec.Key, p.pid}})
		}
		return
	}
	p := &proc{pidfd: -1}
	s.procs[spec.Key] = p
	err := s.threads.run(func(t *thread) {
		c, fail := t.start(spec, func() bool { return s.wanted(spec.Key, p) })
		switch {
		case fail != nil:
			s.failed(p, fail)
		case c != nil:
			s.started(spec.Key, p, c)
		}
	})
	if err != nil {
		s.fail(&Failure{spec.Key, FaultNode, 0, err.Error()})
	}
}

// wanted tells a launching thread whether to go on with a process now that
// nothing that the user named can hold it up any more.
func (s *Server) wanted(k Key, p *proc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.forked = s.procs[k] == p
	return p.forked
}

// started records a running process and has its end watched.
func (s *Server) started(k Key, p *proc, c *child) {
	s.mu.Lock()
	p.pid, p.pidfd, p.stderr = c.pid, c.pidfd, c.stderr
	s.send(&Event{Started: &Running{k, c.pid}})
	s.mu.Unlock()
	if err := s.reap.watch(k, c.pid, c.pidfd); err != nil {
		s.log.Error("process can't be watched, it is ended", "job", k.Job, "pid", c.pid, "err", err)
		unix.Kill(c.pid, unix.SIGKILL)
		go s.reap.wait(k, c.pid)
	}
}

// failed records that a process could not be started, unless it was called off.
func (s *Server) failed(p *proc, f *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.procs[f.Key] == p {
		s.fail(f)
	}
}

// fail records a failure; the caller holds the lock.
func (s *Server) fail(f *Failure) {
	delete(s.procs, f.Key)
	s.failures[f.Key] = *f
	s.send(&Event{Failed: f})
}

// ended is called by the reaper with each exit record.
func (s *Server) ended(e Exit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.procs[e.Key]; p != nil {
		if p.stderr != nil {
			p.stderr.Close()
		}
		if p.pidfd >= 0 {
			unix.Close(p.pidfd)
		}
		delete(s.procs, e.Key)
	}
	s.exits[e.Key] = e
	s.send(&Event{Exited: &e})
}

// signal sends a signal to a process that has not been reaped, so its number
// can't belong to another one. SIGKILL calls off one that is not forked yet: its
// thread may hang in the user's directory for ever.
func (s *Server) signal(q *Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.procs[q.Key]
	if p == nil || p.forked && p.pid == 0 {
		return // it has ended or is just beginning: the daemon hears of it anyway
	}
	if p.pid == 0 {
		if unix.Signal(q.Number) == unix.SIGKILL {
			s.fail(&Failure{q.Key, FaultCalledOff, 0, "called off while a file of the job was waited for"})
		}
		return
	}
	pid := p.pid
	if q.Group {
		pid = -pid // Setsid made it the leader of its own group
	}
	if err := unix.Kill(pid, unix.Signal(q.Number)); err != nil && !errors.Is(err, unix.ESRCH) {
		s.log.Error("signal not sent", "job", q.Key.Job, "signal", q.Number, "err", err)
	}
}

// note writes to a job's standard error. The file may hang, so it is written by
// a goroutine of its own.
func (s *Server) note(q *Note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.procs[q.Key]
	if p == nil || p.stderr == nil {
		s.send(&Event{Noted: &q.Key})
		return
	}
	fd, err := unix.FcntlInt(p.stderr.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		s.log.Error("note not written", "job", q.Key.Job, "err", err)
		s.send(&Event{Noted: &q.Key})
		return
	}
	go func() {
		if _, err := unix.Write(fd, []byte(q.Text)); err != nil {
			s.log.Warn("note not written", "job", q.Key.Job, "err", err)
		}
		unix.Close(fd)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.send(&Event{Noted: &q.Key})
	}()
}

// send queues an event for the daemon, if there is one; the caller holds the
// lock. What is not sent is in the next welcome.
func (s *Server) send(e *Event) {
	if s.conn != nil {
		s.conn.send(e)
	}
}
