package shepherd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a process that has been started.
type child struct {
	pid    int
	pidfd  int
	stderr *os.File
}

// start starts the process of a spec. Everything that the user names is opened
// with the user's identity, and before the fork: nothing may hang between fork
// and exec. Before the fork it asks wanted; without its consent nothing is
// started and both results are nil.
func (t *thread) start(s *Spec, wanted func() bool) (*child, *Failure) {
	if t == nil {
		return nil, &Failure{s.Key, FaultNode, 0, "the launching thread could not get a working directory of its own (unshare CLONE_FS)"}
	}
	files, fail := t.prepare(s)
	if fail != nil {
		t.unbecome()
		return nil, fail
	}
	defer unix.Close(files.in)
	defer unix.Close(files.out)
	if !wanted() {
		t.unbecome()
		unix.Close(files.err)
		return nil, nil
	}
	c, fail := t.fork(s, files)
	t.unbecome()
	if fail != nil {
		unix.Close(files.err)
		return nil, fail
	}
	c.stderr = fileFor(files.err, s.Stderr)
	return c, nil
}

// prepare does what is done as the user: working directory, output files, a
// look at the interpreter.
func (t *thread) prepare(s *Spec) (*streams, *Failure) {
	if err := t.become(s); err != nil {
		return nil, &Failure{s.Key, FaultNode, 0, err.Error()}
	}
	text, err := enter(s.Dir)
	if err != nil {
		return nil, &Failure{s.Key, FaultOutput, 0, err.Error()}
	}
	files, err := open(s)
	if err != nil {
		return nil, &Failure{s.Key, FaultOutput, 0, err.Error()}
	}
	say(files.err, text)
	if s.Search {
		path, ok := search(s.Path, s.Env)
		if !ok {
			say(files.err, fmt.Sprintf("slurmstepd: error: execve(): %s: %s\n", s.Path, describe(unix.ENOENT)))
			files.close()
			return nil, &Failure{s.Key, FaultExec, uint32(unix.ENOENT), s.Path + " is not in PATH"}
		}
		s.Path = path
	}
	touchInterpreter(s.Path)
	return files, nil
}

// fork starts the process as the user, in the thread's working directory and
// with its umask.
func (t *thread) fork(s *Spec, files *streams) (*child, *Failure) {
	if t.root {
		setFS(0, 0) // the child changes itself, and it needs root for that
	}
	c := &child{pidfd: -1}
	sys := &syscall.SysProcAttr{Setsid: true, PidFD: &c.pidfd, Ptrace: true, Setctty: s.Terminal}
	if t.root {
		sys.Credential = &syscall.Credential{Uid: s.UID, Gid: s.GID, Groups: s.Groups}
	}
	if s.Group2 != "" {
		fd, err := unix.Open(s.Group2, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, &Failure{s.Key, FaultNode, 0, fmt.Sprintf("open control group %s: %v", s.Group2, err)}
		}
		defer unix.Close(fd)
		sys.UseCgroupFD, sys.CgroupFD = true, fd
	}
	var err error
	c.pid, err = syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Env:   environment(s.Env),
		Files: []uintptr{uintptr(files.in), uintptr(files.out), uintptr(files.err)},
		Sys:   sys,
	})
	if err != nil {
		return nil, forkFailure(s, files, err)
	}
	if err := t.finish(s, c.pid, files); err != nil {
		unix.Kill(c.pid, unix.SIGKILL)
		unix.Wait4(c.pid, nil, 0, nil)
		unix.Close(c.pidfd)
		return nil, &Failure{s.Key, FaultNode, 0, err.Error()}
	}
	return c, nil
}

// forkFailure sorts the error of a fork: the node's fault, or a script that
// can't be run, which Slurm turns into an exit code.
func forkFailure(s *Spec, files *streams, err error) *Failure {
	no, _ := err.(syscall.Errno)
	switch no {
	case 0, syscall.EAGAIN, syscall.ENOMEM, syscall.EBUSY, syscall.ENODEV, syscall.EOPNOTSUPP, syscall.EINVAL:
		return &Failure{s.Key, FaultNode, uint32(no), fmt.Sprintf("start %s: %v", s.Path, err)}
	}
	what := s.Path
	if name, ok := interpreter(s.Path); ok && no == syscall.ENOENT {
		what = "bad interpreter(" + name + ")"
	}
	say(files.err, fmt.Sprintf("slurmstepd: error: execve(): %s: %s\n", what, describe(err)))
	return &Failure{s.Key, FaultExec, uint32(no), fmt.Sprintf("run %s: %v", s.Path, err)}
}

// finish sets up a child that stands still at the first instruction of its
// program: it enters its control groups, gets its limits and learns its own
// number there, so that nothing of the job ever runs without them.
func (t *thread) finish(s *Spec, pid int, files *streams) error {
	if err := awaitStop(pid); err != nil {
		return err
	}
	id := []byte(strconv.Itoa(pid))
	for _, dir := range s.Groups1 {
		if err := writeFile(filepath.Join(dir, "cgroup.procs"), id); err != nil {
			return fmt.Errorf("put process %d into its control group: %w", pid, err)
		}
	}
	say(files.err, t.setLimits(s, pid))
	say(files.err, bindTo(s.CPUs, pid))
	say(files.err, strings.ReplaceAll(s.Report, PIDMark, string(id)))
	if err := tellNumber(pid, id); err != nil {
		return err
	}
	if err := unix.PtraceDetach(pid); err != nil {
		return fmt.Errorf("let process %d go: %w", pid, err)
	}
	return nil
}

// bindTo binds a process to CPUs; the text says why that was not possible.
func bindTo(cpus []uint32, pid int) string {
	if len(cpus) == 0 {
		return ""
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(int(c))
	}
	if err := unix.SchedSetaffinity(pid, &set); err != nil {
		return fmt.Sprintf("slurmstepd: error: binding to CPUs %v: %s\n", cpus, describe(err))
	}
	return ""
}

// pidEntry is the last entry of the environment as the child is born with it:
// there is room for the longest number (PID_MAX_LIMIT is 4194304).
const pidEntry = PIDVariable + "=0000000"

// tellNumber writes the child's own number over the zeros at the end of its
// environment. The number is not known before the fork, and asking another
// program to set it would cost one more exec for each job.
func tellNumber(pid int, id []byte) error {
	stat, err := readFile("/proc/"+string(id)+"/stat", make([]byte, 1024))
	if err != nil {
		return fmt.Errorf("environment of process %d: %w", pid, err)
	}
	// proc(5): env_end is field 51; the name, field 2, may hold anything.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 49 {
		return fmt.Errorf("environment of process %d: its stat has only %d fields", pid, len(f)+2)
	}
	end, err := strconv.ParseUint(string(f[48]), 10, 64)
	if err != nil {
		return fmt.Errorf("environment of process %d: %w", pid, err)
	}
	value := append(bytes.Clone(id), make([]byte, len(pidEntry)-len(PIDVariable)-len(id))...)
	if err := pokeMemory(pid, uintptr(end)-uintptr(len(value)), value); err != nil {
		return fmt.Errorf("environment of process %d: %w", pid, err)
	}
	return nil
}

// pokeMemory writes into the memory of a traced child: in one call, or word by
// word where the child may not be read (a program without the right to read it).
func pokeMemory(pid int, at uintptr, b []byte) error {
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	if n, err := unix.ProcessVMWritev(pid, local, []unix.RemoteIovec{{Base: at, Len: len(b)}}, 0); err == nil && n == len(b) {
		return nil
	}
	_, err := syscall.PtracePokeData(pid, at, b)
	return err
}

// readFile reads a short kernel file in one call: what fits into room, and no more.
func readFile(name string, room []byte) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return room[:n], nil
}

// writeFile writes to a kernel file in one call.
func writeFile(name string, b []byte) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// environment splits the NUL separated environment and leaves room for the
// number of the process.
func environment(b []byte) []string {
	text := strings.TrimSuffix(string(b), "\x00")
	if text == "" {
		return []string{pidEntry}
	}
	return append(strings.Split(text, "\x00"), pidEntry)
}
