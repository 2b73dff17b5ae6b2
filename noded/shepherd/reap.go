package shepherd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// reaper waits for processes by their pidfd. Waiting for "any child" would take
// the stops of a child that another thread is just setting up.
type reaper struct {
	epoll int      // has the pidfds
	file  *os.File // of epoll: the runtime waits for it, so no thread stands still
	ended func(Exit)

	mu    sync.Mutex
	procs map[int32]watched // by pidfd
}

type watched struct {
	key Key
	pid int
}

// newReaper makes a reaper that calls ended with each record.
func newReaper(ended func(Exit)) (*reaper, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), unix.Close(fd))
	}
	return &reaper{epoll: fd, file: os.NewFile(uintptr(fd), "epoll"), ended: ended, procs: map[int32]watched{}}, nil
}

// watch has the end of a process reported. pidfd stays open until then.
func (r *reaper) watch(k Key, pid, pidfd int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.procs[int32(pidfd)] = watched{k, pid}
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(pidfd)}
	if err := unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, pidfd, &ev); err != nil {
		delete(r.procs, int32(pidfd))
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	return nil
}

// run reaps until ctx ends.
func (r *reaper) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { r.file.Close() })
	defer stop()
	conn, err := r.file.SyscallConn()
	if err != nil {
		panic(fmt.Sprintf("wait for processes: %v", err)) // the descriptor is our own
	}
	events := make([]unix.EpollEvent, 64)
	for {
		var n int
		var failed error
		err := conn.Read(func(fd uintptr) bool {
			n, failed = unix.EpollWait(int(fd), events, 0)
			return n > 0 || failed != nil && failed != unix.EINTR
		})
		if ctx.Err() != nil {
			return
		}
		if err := errors.Join(err, failed); err != nil {
			panic(fmt.Sprintf("wait for processes: %v", err))
		}
		for _, ev := range events[:max(n, 0)] {
			r.reap(ev.Fd)
		}
	}
}

// reap takes the record of a process that has ended.
func (r *reaper) reap(pidfd int32) {
	r.mu.Lock()
	w, ok := r.procs[pidfd]
	delete(r.procs, pidfd)
	r.mu.Unlock()
	if !ok {
		return
	}
	unix.EpollCtl(r.epoll, unix.EPOLL_CTL_DEL, int(pidfd), nil)
	r.wait(w.key, w.pid)
}

// wait reaps one process that has ended, or waits until it has.
func (r *reaper) wait(k Key, pid int) {
	var ws unix.WaitStatus
	var ru unix.Rusage
	for {
		_, err := unix.Wait4(pid, &ws, 0, &ru)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			// It was our child and nobody else reaps: its status is unknown, and
			// unknown is never success.
			r.ended(Exit{Key: k, PID: pid, Signal: uint32(unix.SIGKILL), At: time.Now().UnixMilli()})
			return
		}
		break
	}
	e := Exit{
		Key: k, PID: pid, At: time.Now().UnixMilli(),
		UserUS:   uint64(ru.Utime.Nano() / 1000),
		SystemUS: uint64(ru.Stime.Nano() / 1000),
		MaxRSSKB: uint64(ru.Maxrss),
	}
	if ws.Signaled() {
		e.Signal = uint32(ws.Signal())
	} else {
		e.Status = uint32(ws.ExitStatus())
	}
	r.ended(e)
}
