package noded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"muster/api"
	"muster/noded/shepherd"
)

// task is one task of a step on this node.
type task struct {
	step     *step
	key      shepherd.Key
	rank     uint32
	local    uint32 // number on this node
	spec     *shepherd.Spec
	events   chan taskEvent // from the loop, at most one of each kind
	told     bool           // started is among them; the loop's
	pid      int
	ready    chan struct{} // closed when the task has its ends of the pipes, or never will
	in       *os.File      // our ends of its pipes; nil if it has a file instead
	out, err *os.File
	terminal *os.File // instead of all three
	slave    string
	reader   *os.File // keeps the input pipe open until the task has it
	writing  sync.Mutex
	reading  sync.WaitGroup
}

// taskEvent is the shepherd's word on a task; one field is set.
type taskEvent struct {
	started *shepherd.Running
	failed  *shepherd.Failure
	exited  *shepherd.Exit
}

// pieceBytes is the longest piece of output in one message.
const pieceBytes = 32 << 10

// pipe is the name of a pipe of the task.
func (t *task) pipe(kind string) string {
	return filepath.Join(t.step.dir, kind+strconv.FormatUint(uint64(t.rank), 10))
}

// open makes the task's pipes, or its terminal. They belong to its user; the
// directory does not, so the names stay what they are.
func (t *task) open() error {
	if t.step.start.Terminal && t.rank == 0 {
		return t.openTerminal()
	}
	s := t.step.start
	var errs []error
	if s.Stdin == "" && t.wanted() {
		name := t.pipe("in")
		errs = append(errs, t.fifo(name))
		var err error
		// A reader first: opening for writing fails while there is none.
		if t.reader, err = os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
			t.in, err = os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
		}
		errs = append(errs, err)
	}
	for _, o := range []struct {
		kind string
		file **os.File
		to   string
	}{{"out", &t.out, s.Stdout}, {"err", &t.err, s.Stderr}} {
		if o.to != "" || o.kind == "err" && s.Stdout != "" {
			continue
		}
		name := t.pipe(o.kind)
		errs = append(errs, t.fifo(name))
		var err error
		*o.file, err = os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// fifo makes a pipe that the task's user may open.
func (t *task) fifo(name string) error {
	if err := unix.Mkfifo(name, 0o600); err != nil {
		return fmt.Errorf("make pipe %s: %w", name, err)
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(name, int(t.step.launch.Uid), int(t.step.launch.Gid))
}

// openTerminal makes a pseudo terminal for the task.
func (t *task) openTerminal() error {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	t.terminal = f
	fd := int(f.Fd())
	unix.SetNonblock(fd, true) // Fd has made it blocking
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	t.slave = "/dev/pts/" + strconv.Itoa(number)
	if r := t.step.start; r.Rows > 0 {
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: r.Rows, Col: r.Columns})
	}
	if os.Geteuid() == 0 {
		return os.Chown(t.slave, int(t.step.launch.Uid), int(t.step.launch.Gid))
	}
	return nil
}

// wanted tells whether the task gets srun's input.
func (t *task) wanted() bool {
	feed := t.step.start.Feed
	return feed == api.FeedAll || feed >= 0 && uint32(feed) == t.rank
}

// wantsInput tells whether input still reaches the task.
func (t *task) wantsInput() bool {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.in != nil || t.terminal != nil && t.wanted()
}

// write gives input to the task; nil is its end. A task that does not read any
// more gets no more.
func (t *task) write(data []byte) {
	t.writing.Lock()
	f := t.in
	if t.terminal != nil {
		f = t.terminal
		if data == nil {
			data = []byte{4} // end of file, as typed
		}
	}
	t.writing.Unlock()
	if f == nil {
		return
	}
	var err error
	if data != nil {
		_, err = f.Write(data)
	}
	if (data == nil || err != nil) && t.terminal == nil {
		t.closeInput()
	}
}

func (t *task) closeInput() {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.in != nil {
		t.in.Close()
		t.in = nil
	}
	if t.reader != nil {
		t.reader.Close()
		t.reader = nil
	}
}

// live follows the task until it has ended.
func (t *task) live(ctx context.Context) {
	begun := sync.OnceFunc(func() { close(t.ready) })
	defer begun()
	for {
		select {
		case e := <-t.events:
			switch {
			case e.started != nil:
				t.begun(e.started.PID)
				begun()
			case e.failed != nil:
				t.failed(e.failed)
				return
			case e.exited != nil:
				t.exited(e.exited)
				return
			}
		case <-ctx.Done():
			return // the daemon ends
		}
	}
}

// begun starts reading what the task writes. Until now nobody had the other end.
func (t *task) begun(pid int) {
	if t.pid != 0 {
		return
	}
	t.pid = pid
	t.step.send(&api.StepEvent{Started: &api.TaskStarted{Task: t.rank, PID: int32(pid)}})
	t.read()
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.reader != nil { // from now on the task is the only reader
		t.reader.Close()
		t.reader = nil
	}
}

func (t *task) read() {
	for _, r := range []struct {
		f     *os.File
		error bool
	}{{t.terminal, false}, {t.out, false}, {t.err, true}} {
		if r.f != nil {
			t.reading.Go(func() { t.relay(r.f, r.error) })
		}
	}
}

// relay sends what the task writes. Sending waits for srun, so a task that
// writes more than is taken has to wait in its turn.
func (t *task) relay(f *os.File, isError bool) {
	buf := make([]byte, pieceBytes)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			t.step.send(&api.StepEvent{Output: &api.Output{Task: t.rank, Error: isError, Data: buf[:n]}})
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, unix.EIO) && !errors.Is(err, os.ErrClosed) {
				t.step.node.log.Warn("output of a task", "job", t.key.Job, "task", t.key.String(), "err", err)
			}
			return
		}
	}
}

// failed reports a task that never ran. What the shepherd wrote for its user is
// in its pipe.
func (t *task) failed(f *shepherd.Failure) {
	if t.pid == 0 {
		t.read()
	}
	t.reading.Wait()
	exit := &api.TaskExit{Task: t.rank, Status: f.Errno}
	switch f.Fault {
	case shepherd.FaultExec:
	case shepherd.FaultCalledOff: // killed before it began
		exit.Status, exit.Signal = 0, uint8(unix.SIGKILL)
	case shepherd.FaultOutput:
		t.step.send(&api.StepEvent{Output: &api.Output{Task: t.rank, Error: true, Data: []byte("slurmstepd: error: " + f.Text + "\n")}})
		exit.Status = 1
	default:
		exit.Status, exit.Failure = 1, f.Text
	}
	t.step.send(&api.StepEvent{Exit: exit})
}

func (t *task) exited(e *shepherd.Exit) {
	if t.pid == 0 {
		t.begun(e.PID)
	}
	t.closeInput()
	exit := &api.TaskExit{Task: t.rank, Status: e.Status, Signal: uint8(e.Signal)}
	exit.Usage.UserUS, exit.Usage.SystemUS, exit.Usage.MaxRSSKB = e.UserUS, e.SystemUS, e.MaxRSSKB
	t.step.send(&api.StepEvent{Exit: exit})
}

// cut gives up on output that processes left behind hold open.
func (t *task) cut() {
	for _, f := range []*os.File{t.out, t.err, t.terminal} {
		if f != nil {
			f.Close()
		}
	}
}

// close closes all that is open.
func (t *task) close() {
	t.closeInput()
	t.cut()
}
