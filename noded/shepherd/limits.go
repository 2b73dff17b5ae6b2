package shepherd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// setLimits sets the soft limits of a child that stands still and returns what
// the job is to be told. A value above the hard limit becomes the hard limit,
// as in Slurm.
func (t *thread) setLimits(s *Spec, pid int) string {
	list := t.pool.born.unlike(s.Limits, pid)
	if len(list) == 0 {
		return ""
	}
	set := func(l Limit) error { return setLimit(pid, l) }
	if t.root && !t.pool.mayLimit {
		// Without CAP_SYS_RESOURCE the kernel lets a process set the limits of
		// another only under the same real user id. A thread of ours that took it
		// could be killed by that user, and the shepherd with it. So the child
		// does it itself.
		p, err := puppetOf(pid)
		if err != nil {
			return cannotPropagate(list, err)
		}
		defer p.release()
		set = p.setLimit
	}
	var text strings.Builder
	for _, l := range list {
		if err := set(l); err != nil {
			text.WriteString(cannotPropagate([]Limit{l}, err))
		}
	}
	return text.String()
}

// born is what limits children are born with: those that this process had when it
// began, but for the number of open files, which the Go runtime raises for itself
// and not for its children. That one is learned from the first child.
type born struct {
	mu     sync.Mutex
	limits map[int]unix.Rlimit
}

// newBorn reads this process's limits, 16 of them (getrlimit(2)).
func newBorn() *born {
	b := &born{limits: map[int]unix.Rlimit{}}
	for resource := range 16 {
		var own unix.Rlimit
		if err := unix.Prlimit(0, resource, nil, &own); err == nil && resource != unix.RLIMIT_NOFILE {
			b.limits[resource] = own
		}
	}
	return b
}

// unlike picks the limits that a child, which stands still, was not born with.
func (b *born) unlike(list []Limit, pid int) []Limit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Limit
	for _, l := range list {
		has, known := b.limits[l.Resource]
		if !known && l.Resource == unix.RLIMIT_NOFILE {
			if has, known = openFiles(pid); known {
				b.limits[l.Resource] = has
			}
		}
		if !known || min(l.Value, has.Max) != has.Cur {
			out = append(out, l)
		}
	}
	return out
}

// openFiles is a process's limit of open files, as proc(5) shows it: "Max open
// files", soft and hard limit, unit.
func openFiles(pid int) (unix.Rlimit, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return unix.Rlimit{}, false
	}
	_, rest, _ := strings.Cut(string(text), "Max open files")
	f := strings.Fields(rest)
	if len(f) < 2 {
		return unix.Rlimit{}, false
	}
	soft, err1 := strconv.ParseUint(f[0], 10, 64) // it is never unlimited
	hard, err2 := strconv.ParseUint(f[1], 10, 64)
	return unix.Rlimit{Cur: soft, Max: hard}, err1 == nil && err2 == nil
}

// cannotPropagate is what Slurm writes for limits that can't be set.
func cannotPropagate(list []Limit, err error) string {
	var text strings.Builder
	for _, l := range list {
		fmt.Fprintf(&text, "slurmstepd: error: Can't propagate RLIMIT_%s of %s from submit host: %s\n", l.Name, limitText(l.Value), describe(err))
	}
	return text.String()
}

func setLimit(pid int, l Limit) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, l.Resource, nil, &old); err != nil {
		return err
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
