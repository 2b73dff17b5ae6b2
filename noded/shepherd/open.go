package shepherd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// streams are the open files of a process. out and err may be the same.
type streams struct {
	in, out, err int
}

func (f *streams) close() {
	for _, fd := range []int{f.in, f.out, f.err} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// open opens the standard streams as the user that the thread has become. With
// one name for both outputs there is one open file, so that they share their
// place in it.
func open(s *Spec) (*streams, error) {
	f := &streams{-1, -1, -1}
	var err error
	in := s.Stdin
	if in == "" {
		in = "/dev/null"
	}
	if f.in, err = unix.Open(in, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0); err != nil {
		return nil, fmt.Errorf("could not open stdin file %s: %w", in, err)
	}
	if f.out, err = openOutput(s.Stdout, s.Append); err != nil {
		f.close()
		return nil, fmt.Errorf("could not open stdout file %s: %w", s.Stdout, err)
	}
	if s.Stderr == "" || s.Stderr == s.Stdout {
		if f.err, err = unix.FcntlInt(uintptr(f.out), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			f.close()
			return nil, fmt.Errorf("could not share stdout as stderr: %w", err)
		}
		return f, nil
	}
	if f.err, err = openOutput(s.Stderr, s.Append); err != nil {
		f.close()
		return nil, fmt.Errorf("could not open stderr file %s: %w", s.Stderr, err)
	}
	return f, nil
}

// openOutput opens a file for output and makes the directories that it lacks.
func openOutput(name string, keep bool) (int, error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_CLOEXEC | unix.O_NOCTTY
	if !keep {
		flags |= unix.O_TRUNC
	}
	fd, err := unix.Open(name, flags, 0o666)
	if err != unix.ENOENT {
		return fd, err
	}
	if err := makeDirs(filepath.Dir(name)); err != nil {
		return -1, err
	}
	return unix.Open(name, flags, 0o666)
}

// makeDirs is mkdir -p with the thread's own identity and umask.
func makeDirs(dir string) error {
	err := unix.Mkdir(dir, 0o777)
	if err == nil || err == unix.EEXIST {
		return nil
	}
	if err != unix.ENOENT || dir == "/" || dir == "." {
		return err
	}
	if err := makeDirs(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := unix.Mkdir(dir, 0o777); err != nil && err != unix.EEXIST {
		return err
	}
	return nil
}

// enter changes to the working directory, or to /tmp as Slurm does; the text is
// for the job's standard error.
func enter(dir string) (string, error) {
	err := unix.Chdir(dir)
	if err == nil {
		return "", nil
	}
	text := fmt.Sprintf("slurmstepd: error: couldn't chdir to `%s': %s: going to /tmp instead\n", dir, describe(err))
	if err := unix.Chdir("/tmp"); err != nil {
		return text, fmt.Errorf("couldn't chdir to /tmp either: %w", err)
	}
	return text, nil
}

// touchInterpreter opens what the script's #! line names. The fork stops the
// whole process until the exec is through, so a file system that hangs must be
// met here, where only this thread waits. What it finds doesn't matter: exec
// says what is wrong.
func touchInterpreter(script string) {
	name, ok := interpreter(script)
	if !ok {
		return
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	unix.Pread(fd, make([]byte, 64), 0)
}

// interpreter is the program that a script's first line names.
func interpreter(script string) (string, bool) {
	fd, err := unix.Open(script, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	head := make([]byte, 256)
	n, err := unix.Pread(fd, head, 0)
	if err != nil || n < 3 || head[0] != '#' || head[1] != '!' {
		return "", false
	}
	line, _, _ := bytes.Cut(head[2:n], []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return "", false
	}
	return words[0], true
}

// describe is the C library's text for an error number, as Slurm prints it.
func describe(err error) string {
	var no unix.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	text := no.Error()
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// say writes a line to a job's standard error; a full disk there is the job's
// own affair.
func say(fd int, text string) {
	if text != "" {
		unix.Write(fd, []byte(text))
	}
}

// fileFor wraps a descriptor for later notes; nil if it can't be kept.
func fileFor(fd int, name string) *os.File { return os.NewFile(uintptr(fd), name) }
