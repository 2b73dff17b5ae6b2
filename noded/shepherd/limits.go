package shepherd

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// setLimits sets the soft limits of a child that stands still and returns what
// the job is to be told. A value above the hard limit becomes the hard limit,
// as in Slurm.
func (t *thread) setLimits(s *Spec, pid int) string {
	list := unlike(s.Limits)
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

// unlike picks the limits that a child was not born with. It has those of this
// process, but for the number of open files, which the Go runtime raises for
// itself and not for its children.
func unlike(list []Limit) []Limit {
	var out []Limit
	for _, l := range list {
		var own unix.Rlimit
		err := unix.Prlimit(0, l.Resource, nil, &own)
		if err != nil || l.Resource == unix.RLIMIT_NOFILE || min(l.Value, own.Max) != own.Cur {
			out = append(out, l)
		}
	}
	return out
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
