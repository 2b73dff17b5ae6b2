package shepherd

import (
	"fmt"
	"runtime"
	"sync"
	"time"

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

// stuckAfter is how long a launch may take before those that wait for its thread
// get another one. A launch that nothing holds up takes a fraction of it.
const stuckAfter = 2 * time.Millisecond

// threads is the pool of launching threads. While one is at work and gets on, the
// next launches wait for it: waking another costs more than the rest of a launch,
// and the forks themselves come one after the other in any case.
type threads struct {
	mu    sync.Mutex
	live  int
	idle  []*thread
	queue []func(*thread)
	taken time.Time   // when a thread last took a launch; zero: none is at work
	watch *time.Timer // finds a queue that does not get on; nil: not set
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
	if p.live-len(p.idle)+len(p.queue) >= maxThreads {
		return fmt.Errorf("%d launches are under way and none gets on; look for a file system that hangs", p.live)
	}
	if p.taken.IsZero() || time.Since(p.taken) > stuckAfter {
		p.wake(f)
		return nil
	}
	p.queue = append(p.queue, f)
	if p.watch == nil {
		p.watch = time.AfterFunc(stuckAfter, p.look)
	}
	return nil
}

// wake has an idle thread or a new one call f; the caller holds the lock.
func (p *threads) wake(f func(*thread)) {
	p.taken = time.Now()
	if n := len(p.idle); n > 0 {
		t := p.idle[n-1]
		p.idle = p.idle[:n-1]
		t.work <- f
		return
	}
	p.live++
	t := &thread{pool: p, work: make(chan func(*thread), 1), root: unix.Geteuid() == 0}
	t.work <- f
	go t.loop()
}

// look gives a queue whose threads do not get on another thread.
func (p *threads) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = nil
	if len(p.queue) == 0 {
		return
	}
	if time.Since(p.taken) >= stuckAfter {
		p.wake(p.pop())
	}
	if len(p.queue) > 0 {
		p.watch = time.AfterFunc(stuckAfter, p.look)
	}
}

// pop takes the first launch of the queue; the caller holds the lock.
func (p *threads) pop() func(*thread) {
	f := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	return f
}

// loop does the work that comes. When the pool has threads enough the goroutine
// ends while it is locked, which ends the OS thread too.
func (t *thread) loop() {
	runtime.LockOSThread()
	unshared := unix.Unshare(unix.CLONE_FS)
	// Jobs get exact timers, and not the daemon's. It always works (prctl(2)).
	_ = timerslack.Set(timerslack.Default)
	for f := range t.work {
		for f != nil {
			if unshared != nil {
				f(nil)
			} else {
				f(t)
			}
			var stay bool
			if f, stay = t.pool.next(t); !stay {
				return
			}
		}
	}
}

// next gives a thread its next launch, nil to wait for one, or sends it away if
// there are enough threads.
func (p *threads) next(t *thread) (f func(*thread), stay bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		p.taken = time.Now()
		return p.pop(), true
	}
	p.taken = time.Time{}
	if len(p.idle) >= maxIdle {
		p.live--
		return nil, false
	}
	p.idle = append(p.idle, t)
	return nil, true
}
