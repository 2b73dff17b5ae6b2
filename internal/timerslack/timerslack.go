// Package timerslack says how exact the timers of a process are.
//
// While a Go program is busy, one thread of its runtime sleeps for 20 µs at a
// time to look after the others. Twelve daemons on a machine that runs jobs all
// the time spent a quarter of their CPU time on that. The kernel may make such
// sleeps longer by the thread's timer slack (prctl(2), PR_SET_TIMERSLACK), which
// is 50 µs unless it is set.
package timerslack

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// Daemon is the slack of our daemons. Their timers are for seconds, not for
	// microseconds.
	Daemon = time.Millisecond
	// Default is the kernel's own, which programs of users get.
	Default = 50 * time.Microsecond
)

// Get is the slack of the calling thread.
func Get() (time.Duration, error) {
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("read the timer slack: %w", err)
	}
	return time.Duration(ns), nil
}

// Set sets the slack of the calling thread, and of the threads and processes
// that it starts.
func Set(d time.Duration) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack to %v: %w", d, err)
	}
	return nil
}

// Exec gives the whole process at least the slack d. The threads of the runtime
// have theirs from before main began, so the program begins once more, with the
// same process id, arguments and open files; Exec returns in that second life.
// It must be called before anything else is done. After an error the program
// may go on: it costs more, that is all.
func Exec(d time.Duration) error {
	have, err := Get()
	if err != nil || have >= d {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("begin again with a timer slack of %v: %w", d, err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := Set(d); err != nil {
		return err
	}
	err = syscall.Exec(self, os.Args, os.Environ())
	return fmt.Errorf("begin again with a timer slack of %v: %w", d, err)
}
