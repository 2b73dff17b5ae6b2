package shepherd

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"muster/internal/timerslack"
)

// A launch needs an OS thread of its own: its working directory, umask and
// file-system identity become the job's for a while, and a directory that hangs
// holds up this one job only.

const (
	// maxThreads bounds the launches under way, hanging ones included. The Go
	// runtime gives up at 10,000 threads.
	maxThreads = 2000
	// maxIdle is how many threads are kept for the next launches.
	maxIdle = 8
)

// threads is the pool of launching threads.
type threads struct {
	mu   sync.Mutex
	live int
	idle []*thread
	// mayLimit: this process may set the limits of any other.
	mayLimit bool
	born     *born
}

// thread is a goroutine locked to an OS thread that shares neither working
// directory nor umask with the rest of the process.
type thread struct {
	pool *threads
	work chan func(*thread)
	root bool
}

// run calls f on a thread of its own, soon. It fails when too many launches hang.
func (p *threads) run(f func(*thread)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		t := p.idle[n-1]
		p.idle = p.idle[:n-1]
		t.work <- f
		return nil
	}
	if p.live >= maxThreads {
		return fmt.Errorf("%d launches are under way and none gets on; look for a file system that hangs", p.live)
	}
	p.live++
	t := &thread{pool: p, work: make(chan func(*thread), 1), root: unix.Geteuid() == 0}
	t.work <- f
	go t.loop()
	return nil
}

// loop does the work that comes. When the pool has threads enough the goroutine
// ends while it is locked, which ends the OS thread too.
func (t *thread) loop() {
	runtime.LockOSThread()
	unshared := unix.Unshare(unix.CLONE_FS)
	// Jobs get exact timers, and not the daemon's. It always works (prctl(2)).
	_ = timerslack.Set(timerslack.Default)
	for f := range t.work {
		if unshared != nil {
			f(nil)
		} else {
			f(t)
		}
		if !t.pool.keep(t) {
			return
		}
	}
}

// keep puts a thread back; false if there are enough.
func (p *threads) keep(t *thread) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) >= maxIdle {
		p.live--
		return false
	}
	p.idle = append(p.idle, t)
	return true
}
