package shepherd

import (
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChildSetsItsOwnLimits has a child that stands still set its limits, as
// where root may not set those of other users, and then run as if nothing had been.
func TestChildSetsItsOwnLimits(t *testing.T) {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Hc; echo $0"}, &syscall.ProcAttr{
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []uintptr{0, w.Fd(), 2},
		Sys:   &syscall.SysProcAttr{Ptrace: true},
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := awaitStop(pid); err != nil {
		t.Fatal(err)
	}
	var before registers
	if err := getRegisters(pid, &before); err != nil {
		t.Fatal(err)
	}
	var files unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &files); err != nil {
		t.Fatal(err)
	}
	p, err := puppetOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Limit{{"NOFILE", unix.RLIMIT_NOFILE, 123}, {"NOFILE", unix.RLIMIT_NOFILE, 77}, {"CORE", unix.RLIMIT_CORE, unix.RLIM_INFINITY}} {
		if err := p.setLimit(l); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if err := p.setLimit(Limit{"NONE", 99, 1}); err != unix.EINVAL {
		t.Errorf("a limit that does not exist: %v", err)
	}
	p.release()
	var after registers
	if err := getRegisters(pid, &after); err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("registers were %+v, are %+v", before, after)
	}
	if err := unix.PtraceDetach(pid); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, 0, nil); err != nil || ws.ExitStatus() != 0 {
		t.Errorf("the child ended with %v (%v)", ws, err)
	}
	f := strings.Fields(string(out))
	if len(f) != 5 || f[0] != "77" || f[1] != limitText(files.Max) || f[2] != f[3] || f[4] != "sh" {
		t.Errorf("the child says %q, want soft files 77, hard files %s, soft core as hard, its name", f, limitText(files.Max))
	}
}

// TestNoThreadTakesAUsersIdentity looks at the shepherd's threads from a job that
// is started with limits: none may have the user's real or saved user id, by which
// the user could kill it.
func TestNoThreadTakesAUsersIdentity(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: jobs of another user")
	}
	c, dir := serve(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	stop, seen := make(chan struct{}), make(chan string, 1)
	go func() {
		found := ""
		for {
			select {
			case <-stop:
				seen <- found
				return
			default:
			}
			if who := threadOf("65534"); who != "" {
				found = who
			}
		}
	}()
	for id := uint32(1); id <= 40; id++ {
		s := spec(dir, id, "true")
		s.UID, s.GID, s.Dir, s.Stdout = 65534, 65534, "/", "/dev/null"
		for i := range 16 { // a user who wants the moment to be long
			s.Limits = append(s.Limits, Limit{"NOFILE", unix.RLIMIT_NOFILE, uint64(100 + i)})
		}
		c.Launch(s)
		exit(t, c, id)
	}
	close(stop)
	if who := <-seen; who != "" {
		t.Errorf("a thread of this process had the user's identity: %s", who)
	}
}

// threadOf finds a thread of this process that has a uid as its real, effective
// or saved one.
func threadOf(uid string) string {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, e := range threads {
		b, _ := os.ReadFile("/proc/self/task/" + e.Name() + "/status")
		_, rest, _ := strings.Cut(string(b), "\nUid:")
		line, _, _ := strings.Cut(rest, "\n")
		f := strings.Fields(line)
		for _, id := range f[:min(len(f), 3)] {
			if id == uid {
				return line
			}
		}
	}
	return ""
}
