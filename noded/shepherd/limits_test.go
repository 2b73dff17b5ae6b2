package shepherd

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestOnlyOtherLimitsAreSet: a child is born with the limits of this process, and
// setting one costs it two calls.
func TestOnlyOtherLimitsAreSet(t *testing.T) {
	own := func(resource int) unix.Rlimit {
		var l unix.Rlimit
		if err := unix.Prlimit(0, resource, nil, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	list := []Limit{
		{"CPU", unix.RLIMIT_CPU, own(unix.RLIMIT_CPU).Cur},
		{"STACK", unix.RLIMIT_STACK, own(unix.RLIMIT_STACK).Cur - 4096},
		{"NOFILE", unix.RLIMIT_NOFILE, own(unix.RLIMIT_NOFILE).Cur},
		{"NONE", 99, 1},
	}
	if own(unix.RLIMIT_STACK).Cur == unix.RLIM_INFINITY {
		list[1].Value = 8 << 20
	}
	got := unlike(list)
	if len(got) != 3 || got[0].Name != "STACK" || got[1].Name != "NOFILE" || got[2].Name != "NONE" {
		t.Errorf("to be set: %v; want STACK, which is another, NOFILE, which Go changes, and NONE, which is to fail", got)
	}
}
