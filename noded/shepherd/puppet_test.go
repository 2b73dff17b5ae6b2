package shepherd

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
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

// attackVariable makes the test program try to reach a process with signals.
const attackVariable = "SHEPHERD_TEST_ATTACK"

func TestMain(m *testing.M) {
	if pid, err := strconv.Atoi(os.Getenv(attackVariable)); err == nil {
		attack(pid)
		return
	}
	os.Exit(m.Run())
}

// attack says ready, then tries all threads of a process with signal 0 until its
// standard input ends, and says how often it could have killed it.
func attack(pid int) {
	done := make(chan bool)
	go func() { io.Copy(io.Discard, os.Stdin); close(done) }()
	fmt.Println("ready")
	reached := 0
	for {
		select {
		case <-done:
			fmt.Println(reached)
			return
		default:
		}
		list, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		for range 200 {
			for _, e := range list {
				tid, _ := strconv.Atoi(e.Name())
				if unix.Tgkill(pid, tid, 0) == nil {
					reached++
				}
			}
		}
	}
}

// TestUserCannotReachTheShepherd has a user try to signal the shepherd's threads
// all the while that jobs of his are started with limits.
func TestUserCannotReachTheShepherd(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: jobs of another user")
	}
	c, _ := serve(t)
	self, err := os.Open("/proc/self/exe") // another user may not reach its path
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.ExtraFiles, cmd.Dir = []*os.File{self}, "/"
	cmd.Env = []string{attackVariable + "=" + strconv.Itoa(os.Getpid())}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the attacker said %q (%v)", line, err)
	}
	for id := uint32(1); id <= 50; id++ {
		s := spec("/", id, "true")
		s.UID, s.GID, s.Stdout = 65534, 65534, "/dev/null"
		for i := range 50 { // a user who wants the moment to be long
			s.Limits = append(s.Limits, Limit{"NOFILE", unix.RLIMIT_NOFILE, uint64(100 + i)})
		}
		c.Launch(s)
		exit(t, c, id)
	}
	in.Close()
	if line, err := out.ReadString('\n'); err != nil || line != "0\n" {
		t.Errorf("the user could have killed the shepherd; times: %q (%v)", line, err)
	}
}
