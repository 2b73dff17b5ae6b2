package shepherd

import (
	"fmt"
	"os/exec"
	"strings"
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
	// Run by a program that is not of Go's, so that nothing raises the limit.
	child := exec.Command("/bin/sh", "-c", "ulimit -n; read end")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); child.Wait() }()
	var files uint64
	if _, err := fmt.Fscan(out, &files); err != nil {
		t.Fatal(err)
	}
	b := newBorn()
	for _, c := range []struct {
		files uint64
		want  string
	}{{files, "STACK NONE"}, {files - 1, "STACK NOFILE NONE"}, {files, "STACK NONE"}} {
		list[2].Value = c.files
		var got []string
		for _, l := range b.unlike(list, child.Process.Pid) {
			got = append(got, l.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("to be set: %v; want %s: STACK is another, NONE is to fail", got, c.want)
		}
	}
}
