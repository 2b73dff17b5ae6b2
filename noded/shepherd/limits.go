package shepherd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// bornLimits remembers what limits a child is born with, so that a child whose
// limits are to be the same need not be stopped for them.
type bornLimits struct {
	mu     sync.Mutex
	nofile uint64 // soft RLIMIT_NOFILE of a child, 0 while unknown
}

// differ tells whether any limit is not what a child has anyway.
func (b *bornLimits) differ(limits []Limit) bool {
	for _, l := range limits {
		soft, ok := b.soft(l.Resource)
		if !ok || soft != l.Value {
			return true
		}
	}
	return false
}

// soft is the value that a child is born with. The Go runtime raises this
// process's own RLIMIT_NOFILE and gives a child the value from before, which
// only a child can tell.
func (b *bornLimits) soft(resource int) (uint64, bool) {
	if resource == unix.RLIMIT_NOFILE {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.nofile, b.nofile != 0
	}
	var r unix.Rlimit
	if err := unix.Prlimit(0, resource, nil, &r); err != nil {
		return 0, false
	}
	return r.Cur, true
}

// learn notes the value that a child was born with.
func (b *bornLimits) learn(nofile uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nofile = nofile
}

// setLimits sets the soft limits of a child that stands still and returns what
// the job is to be told. A value above the hard limit becomes the hard limit,
// as in Slurm.
func (t *thread) setLimits(s *Spec, pid int) string {
	if len(s.Limits) == 0 {
		return ""
	}
	if t.root && !t.pool.mayLimit {
		// Without CAP_SYS_RESOURCE the kernel lets a process set the limits of
		// another only under the same real ids. They are the thread's for these
		// few calls.
		asReal(s.UID, s.GID)
		defer asReal(0, 0)
	}
	var text strings.Builder
	for _, l := range s.Limits {
		if err := t.setLimit(pid, l); err != nil {
			fmt.Fprintf(&text, "slurmstepd: error: Can't propagate RLIMIT_%s of %s from submit host: %s\n", l.Name, limitText(l.Value), describe(err))
		}
	}
	return text.String()
}

func (t *thread) setLimit(pid int, l Limit) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, l.Resource, nil, &old); err != nil {
		return err
	}
	if l.Resource == unix.RLIMIT_NOFILE {
		t.pool.born.learn(old.Cur)
	}
	want := min(l.Value, old.Max)
	if want == old.Cur {
		return nil
	}
	return unix.Prlimit(pid, l.Resource, &unix.Rlimit{Cur: want, Max: old.Max}, nil)
}

func limitText(v uint64) string {
	if v == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(v, 10)
}

// asReal sets the real ids of the calling thread only.
func asReal(uid, gid uint32) {
	const keep = ^uintptr(0)
	unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), keep, keep)
	unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep)
}

// mayLimitOthers tells whether this process has CAP_SYS_RESOURCE.
func mayLimitOthers() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(status), "\nCapEff:\t")
	if !found {
		return false
	}
	word, _, _ := strings.Cut(rest, "\n")
	caps, err := strconv.ParseUint(word, 16, 64)
	return err == nil && caps&(1<<unix.CAP_SYS_RESOURCE) != 0
}
