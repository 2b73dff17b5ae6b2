package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// workVariable makes the test program do a piece of work in a job's groups,
// so that these tests need no other program.
const workVariable = "CGROUP_TEST_WORK"

func TestMain(m *testing.M) {
	if what := os.Getenv(workVariable); what != "" {
		bufio.NewReader(os.Stdin).ReadString('\n') // until it is in its groups
		fmt.Println(work(strings.Fields(what)))
		return
	}
	os.Exit(m.Run())
}

// absent is a major number of devices that the kernel gives to no driver.
const absent = 4000

// work does what a test asks for and says how it went.
func work(what []string) string {
	switch what[0] {
	case "memory": // touches so many MB
		mb, _ := strconv.Atoi(what[1])
		b := make([]byte, mb<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return fmt.Sprint("touched ", len(b)>>20)
	case "open":
		f, err := os.OpenFile(what[1], os.O_RDWR, 0)
		if err != nil {
			return errors.Unwrap(err).Error()
		}
		f.Close()
		return "opened"
	case "cpus":
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return err.Error()
		}
		var list []string
		for i := range 1024 {
			if set.IsSet(i) {
				list = append(list, strconv.Itoa(i))
			}
		}
		return strings.Join(list, ",")
	case "spin":
		fmt.Println("spinning")
		var ru syscall.Rusage
		for ru.Utime.Nano()+ru.Stime.Nano() < 200e6 { // of its own time, however busy the machine is
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
				return err.Error()
			}
		}
		return "spun"
	}
	fmt.Println("asleep")
	time.Sleep(time.Hour)
	return ""
}

// open makes a tree of its own for a test.
func open(t *testing.T) *Tree {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: control groups")
	}
	tree, err := Open("muster_test_"+strconv.Itoa(os.Getpid())+"_"+t.Name(), nil)
	if err != nil {
		t.Skipf("needs control groups that can be made: %v", err)
	}
	t.Cleanup(func() {
		tree.Close()
		for _, line := range tree.Bases() {
			kind, dir, _ := strings.Cut(line, " ")
			if kind == "daemon" {
				optional(filepath.Join(filepath.Dir(dir), "cgroup.procs"), "0")
				unix.Rmdir(dir)
			} else if exists(dir) {
				t.Errorf("%s is still there", dir)
			}
		}
	})
	return tree
}

// create makes a job's groups, which go when the test ends.
func create(t *testing.T, tree *Tree, name string, l Limits) *Group {
	t.Helper()
	g, err := tree.Create(name, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(g.Kill(ctx), g.Remove()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// member is a process in a job's groups.
type member struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// join starts a piece of work in a group. With a path for what, that program.
func join(t *testing.T, g *Group, what string, program ...string) *member {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	if len(program) > 0 {
		cmd = exec.Command(program[0], program[1:]...)
	}
	cmd.Env = append(os.Environ(), workVariable+"="+what)
	if g.Join2() != "" {
		fd, err := unix.Open(g.Join2(), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range g.Join1() {
		if err := write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(cmd.Process.Pid)); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(in, "go")
	return &member{cmd, bufio.NewReader(out)}
}

// line is the next that the process says; "" when it has ended.
func (m *member) line() string {
	s, _ := m.out.ReadString('\n')
	return strings.TrimSpace(s)
}

// signal is what killed the process, 0 if it ended by itself.
func (m *member) signal() syscall.Signal {
	m.cmd.Wait()
	if ws := m.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return ws.Signal()
	}
	return 0
}

func TestMemoryLimitKills(t *testing.T) {
	g := create(t, open(t), "job", Limits{MemoryMB: 64})
	m := join(t, g, "memory 30")
	if got := m.line(); got != "touched 30" || m.signal() != 0 {
		t.Errorf("below the limit: %q", got)
	}
	if n := g.Final().OOMKills; n != 0 {
		t.Errorf("%d processes killed for memory before any was", n)
	}
	m = join(t, g, "memory 200")
	if got, sig := m.line(), m.signal(); got != "" || sig != syscall.SIGKILL {
		t.Errorf("above the limit: %q, %v", got, sig)
	}
	if n := g.Final().OOMKills; n == 0 {
		t.Error("the kill for memory is not counted")
	}
}

func TestForkBombStopsAtTheLimit(t *testing.T) {
	g := create(t, open(t), "job", Limits{PIDs: 12})
	m := join(t, g, "-", "/bin/sh", "-c", `read go; i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done; echo all`)
	for line := m.line(); line != ""; line = m.line() {
		if line == "all" {
			t.Fatal("100 processes were made")
		}
		if strings.Contains(line, "fork") {
			break
		}
	}
	pids, err := g.PIDs()
	if err != nil || len(pids) > 12 || len(pids) < 10 {
		t.Errorf("%d processes (%v), want the 11 or 12 that may be", len(pids), err)
	}
	end(t, g)
	m.signal()
}

// end kills a group.
func end(t *testing.T, g *Group) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := g.Kill(ctx); err != nil {
		t.Error(err)
	}
}

func TestCPUsAreBound(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	g := create(t, open(t), "job", Limits{CPUs: "1"})
	m := join(t, g, "cpus")
	if got := m.line(); got != "1" {
		t.Errorf("may run on %q, want CPU 1", got)
	}
	m.signal()
}

// TestDevicesAreKept makes device files that no driver answers: one that may be
// opened gives ENXIO, one that may not EPERM.
func TestDevicesAreKept(t *testing.T) {
	tree := open(t)
	if err := tree.DeviceRules(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files []string
	for i := range 3 {
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := unix.Mknod(name, unix.S_IFCHR|0o600, int(unix.Mkdev(absent, uint32(i)))); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	g := create(t, tree, "job", Limits{Deny: []string{files[0], files[2], "/no/such/file", dir}})
	for i, want := range []unix.Errno{unix.EPERM, unix.ENXIO, unix.EPERM} {
		m := join(t, g, "open "+files[i])
		if got := m.line(); got != want.Error() {
			t.Errorf("device %d: %q, want %q", i, got, want)
		}
		m.signal()
	}
	m := join(t, g, "open /dev/null")
	if got := m.line(); got != "opened" {
		t.Errorf("/dev/null: %q", got)
	}
	m.signal()
}

// TestDeviceRulesOfV2 tries the rules of v2 on every kernel with a v2 hierarchy,
// whichever controllers that has.
func TestDeviceRulesOfV2(t *testing.T) {
	tree := open(t)
	if tree.v2 == "" {
		t.Skip("needs a cgroup v2 hierarchy")
	}
	g := create(t, tree, "job", Limits{})
	dir := t.TempDir()
	name := filepath.Join(dir, "d")
	if err := unix.Mknod(name, unix.S_IFCHR|0o600, int(unix.Mkdev(absent, 7))); err != nil {
		t.Fatal(err)
	}
	if err := denyDevices(g.v2, []device{{block: true, major: absent, minor: 7}, {major: absent + 1, minor: 7}, {major: absent, minor: 6}}); err != nil {
		t.Fatal(err)
	}
	m := join(t, g, "open "+name)
	if got := m.line(); got != unix.ENXIO.Error() {
		t.Errorf("with rules for others: %q", got)
	}
	m.signal()
	if err := denyDevices(g.v2, devices([]string{name})); err != nil {
		t.Fatal(err)
	}
	m = join(t, g, "open "+name)
	if got := m.line(); got != unix.EPERM.Error() {
		t.Errorf("with a rule for it: %q", got)
	}
	m.signal()
}

func TestFreezeAndKill(t *testing.T) {
	g := create(t, open(t), "job", Limits{MemoryMB: 100, PIDs: 100})
	m := join(t, g, "sleep")
	if m.line() != "asleep" {
		t.Fatal("it does not sleep")
	}
	if pids, err := g.PIDs(); err != nil || !slices.Equal(pids, []int{m.cmd.Process.Pid}) {
		t.Errorf("processes %v (%v), want %d", pids, err, m.cmd.Process.Pid)
	}
	if err := g.Remove(); !errors.Is(err, ErrBusy) {
		t.Errorf("removed with a process in it: %v", err)
	}
	if err := g.Freeze(true); err != nil {
		t.Fatal(err)
	}
	end(t, g) // a frozen one dies too
	if sig := m.signal(); sig != syscall.SIGKILL {
		t.Errorf("ended by %v", sig)
	}
	if pids, err := g.PIDs(); err != nil || len(pids) != 0 {
		t.Errorf("processes after the end: %v (%v)", pids, err)
	}
}

func TestUseIsMeasured(t *testing.T) {
	g := create(t, open(t), "job", Limits{MemoryMB: 500})
	m := join(t, g, "spin")
	if m.line() != "spinning" || m.line() != "spun" {
		t.Fatal("it does not spin")
	}
	m.signal()
	if s := g.Final(); s.UserUS+s.SystemUS < 50_000 {
		t.Errorf("used %d us of user and %d of system time", s.UserUS, s.SystemUS)
	}
}

func TestGroupsAreFoundAgain(t *testing.T) {
	tree := open(t)
	g := create(t, tree, "job_1.0", Limits{MemoryMB: 100})
	again, err := Open("another name", tree.Bases())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.List(); !slices.Equal(got, []string{"job_1.0"}) {
		t.Errorf("jobs found: %q", got)
	}
	if f := again.Find("job_1.0"); f == nil || !slices.Equal(f.all(), g.all()) {
		t.Errorf("found %+v, want %+v", f, g)
	}
	if f := again.Find("job_2.0"); f != nil {
		t.Errorf("found what is not there: %+v", f)
	}
	if _, err := Open("", nil); !errors.Is(err, ErrNone) {
		t.Errorf("a tree without a name, which would be the whole hierarchy: %v", err)
	}
	if gone := reopen(append(tree.Bases(), "memory /no/such/directory")); gone != nil {
		t.Error("taken over though a part is gone")
	}
}

func TestJobsOwnGroupsBelowGoToo(t *testing.T) {
	tree := open(t)
	g, err := tree.Create("job", Limits{MemoryMB: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range g.all() {
		if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if tree.Find("job") != nil {
		t.Error("groups are left")
	}
}
