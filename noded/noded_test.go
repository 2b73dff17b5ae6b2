package noded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/api/pb"
	"muster/job"
	"muster/noded/shepherd"
)

func TestScriptRunsAndReports(t *testing.T) {
	s := newSite(t)
	s.launch(7, `echo "$MYVAR|$SLURM_JOB_ID|$SLURM_TASK_PID|$$|$MUSTER_SOCKET|$(umask)|$(id -u)|$(pwd)"; exit 3`)
	r := s.released(7)
	if !r.Ended || r.Failed || r.ExitCode != 3 || r.ExitSignal != 0 || r.Oom {
		t.Errorf("reported %v", r)
	}
	f := strings.Split(strings.TrimSpace(s.output("slurm-7.out")), "|")
	if len(f) != 8 {
		t.Fatalf("output %q", f)
	}
	if f[2] != f[3] {
		t.Errorf("SLURM_TASK_PID is %s, the shell's number %s", f[2], f[3])
	}
	want := []string{"x y", "7", f[2], f[3], s.cfg.Socket, "0022", strconv.Itoa(int(s.uid)), s.work}
	for i := range want {
		if f[i] != want[i] {
			t.Errorf("field %d is %q, want %q", i, f[i], want[i])
		}
	}
	spool, err := chooseSpool(s.cfg.DataDir, s.hello.JournalId)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(spool); err != nil || len(left) != 0 {
		t.Errorf("left in the spool: %v", left)
	}
}

func TestEnds(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		id           uint32
		script       string
		code, signal uint32
		out          string // found in the output; "" not looked at
		change       option
	}{
		"killed by a signal":        {id: 11, script: "kill -9 $$", signal: 9},
		"user signal":               {id: 12, script: "kill -USR1 $$", signal: 10},
		"no such interpreter":       {id: 13, script: "#!/no/such/interpreter", code: 2, out: "slurmstepd: error: execve()"},
		"interpreter not allowed":   {id: 14, script: "#!/etc/passwd", code: 13, out: "Permission denied"},
		"other working directory":   {id: 15, script: "pwd", out: "couldn't chdir to `/no/such/dir': No such file or directory: going to /tmp instead\n/tmp", change: workDir("/no/such/dir")},
		"output can't be opened":    {id: 16, script: "true", signal: outputSignal, change: stdout("/proc/no/such")},
		"directories are made":      {id: 17, script: "echo y", change: stdout("a%j/b/o")},
		"arguments with odd bytes":  {id: 18, script: `printf '<%s>' "$@"`, out: "<a b><><*>", change: arguments("a b", "", "*")},
		"interpreter with argument": {id: 19, script: "#!/usr/bin/env sh\necho $0", out: "job00019/slurm_script"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(s.work, "o"+strconv.Itoa(int(c.id)))
			options := []option{stdout(file)}
			if c.change != nil {
				options = append(options, c.change)
			}
			s.launch(c.id, c.script, options...)
			r := s.released(c.id)
			if !r.Ended || r.ExitCode != c.code || r.ExitSignal != c.signal {
				t.Errorf("reported %v, want code %d signal %d", r, c.code, c.signal)
			}
			if c.out != "" {
				if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), c.out) {
					t.Errorf("output %q (%v), want %q in it", b, err, c.out)
				}
			}
		})
	}
	if s.output("a17/b/o") != "y\n" {
		t.Error("output in new directories is wrong")
	}
}

func workDir(dir string) option { return func(_ *pb.Launch, r *job.Request) { r.Batch.WorkDir = dir } }

func arguments(a ...string) option { return func(_ *pb.Launch, r *job.Request) { r.Batch.Args = a } }

func TestOutputFiles(t *testing.T) {
	s := newSite(t)
	if err := os.WriteFile(filepath.Join(s.work, "keep"), []byte("old\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(s.work, "keep"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.launch(1, "echo new", stdout("keep"), func(_ *pb.Launch, r *job.Request) { r.Batch.Append = job.Yes })
	s.released(1)
	if got := s.output("keep"); got != "old\nnew\n" {
		t.Errorf("appended file has %q", got)
	}
	s.launch(2, "echo new", stdout("keep"))
	s.released(2)
	if got := s.output("keep"); got != "new\n" {
		t.Errorf("truncated file has %q", got)
	}
	s.launch(3, "echo out; echo err >&2", stdout("so"), func(_ *pb.Launch, r *job.Request) {
		r.Batch.Stderr, r.Batch.Umask = "se", 0o027
	})
	s.released(3)
	if s.output("so") != "out\n" || s.output("se") != "err\n" {
		t.Errorf("stdout %q, stderr %q", s.output("so"), s.output("se"))
	}
	st, err := os.Stat(filepath.Join(s.work, "so"))
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o640 || st.Sys().(*syscall.Stat_t).Uid != s.uid {
		t.Errorf("output file is %v of uid %d", st.Mode(), st.Sys().(*syscall.Stat_t).Uid)
	}
}

// A launch goes on when the stream that it came by breaks.
func TestALaunchOutlivesItsStream(t *testing.T) {
	conns := make(chan io.Closer, 16)
	s := newSite(t, func(c *Config) {
		c.Dial = func(addr string) (pb.ControllerClient, io.Closer, error) {
			client, conn, err := dialPlain(addr)
			conns <- conn
			return client, conn, err
		}
	})
	l := s.launchOf(1, "echo ran", stdout("o"))
	script := l.Script.ScriptData
	l.Script.ScriptData = nil // it must be fetched, and is not there yet
	s.tell(&pb.ToNode{Desired: &pb.Desired{Launch: []*pb.Launch{l}}})
	s.wait("question for the script", func() bool { return s.asked > 0 })
	s.mu.Lock()
	s.full = &pb.Desired{Full: true, Keep: []*pb.Attempt{{Job: 1}}}
	before := s.hellos
	s.mu.Unlock()
	(<-conns).Close()
	s.wait("new stream", func() bool { return s.hellos > before })
	s.mu.Lock()
	s.blobs[[16]byte(l.Script.Script)] = script
	s.mu.Unlock()
	if r := s.released(1); !r.Ended || r.ExitCode != 0 {
		t.Errorf("reported %v", r)
	}
	if got := s.output("o"); got != "ran\n" {
		t.Errorf("the script wrote %q", got)
	}
}

func TestDaemonRestartLosesNoExit(t *testing.T) {
	s := newSite(t)
	s.launch(1, "echo up; while [ ! -e go ]; do sleep 0.02; done; exit 5", stdout("o1"))
	s.launch(2, "echo up; while [ ! -e go2 ]; do sleep 0.02; done; exit 6", stdout("o2"))
	s.appears("o1", "up")
	s.appears("o2", "up")
	s.stop()
	if err := os.WriteFile(filepath.Join(s.work, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.full = &pb.Desired{Full: true, Keep: []*pb.Attempt{{Job: 1}, {Job: 2}}}
	s.mu.Unlock()
	s.start()
	if r := s.released(1); r.ExitCode != 5 {
		t.Errorf("job 1, which ended meanwhile: %v", r)
	}
	if err := os.WriteFile(filepath.Join(s.work, "go2"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := s.released(2); r.ExitCode != 6 {
		t.Errorf("job 2, which ended later: %v", r)
	}
}

func TestReportsStayUntilAcknowledged(t *testing.T) {
	s := newSite(t)
	s.mu.Lock()
	s.ack = false
	s.mu.Unlock()
	s.launch(1, "exit 4")
	s.released(1)
	s.stop()
	s.mu.Lock()
	s.reports, s.ack = nil, true
	// A leader that has not heard of the end asks for the job once more.
	s.full = &pb.Desired{Full: true, Launch: []*pb.Launch{s.launchOf(1, "echo again >> "+s.work+"/again")}}
	s.mu.Unlock()
	s.start()
	if r := s.released(1); r.ExitCode != 4 {
		t.Errorf("sent again: %v", r)
	}
	s.launch(2, "true")
	s.released(2)
	if _, err := os.Stat(filepath.Join(s.work, "again")); err == nil {
		t.Error("an attempt that had ended was started a second time")
	}
}

func TestDeadShepherdIsNoSuccess(t *testing.T) {
	s := newSite(t)
	s.launch(1, "echo $$; exec sleep 300", stdout("o"))
	s.appears("o", "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(s.output("o")))
	if err != nil {
		t.Fatal(err)
	}
	s.killShepherd()
	r := s.released(1)
	if !r.Ended || r.ExitSignal != 9 || r.Detail == "" {
		t.Errorf("reported %v", r)
	}
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d of the job lives on", pid)
	}
	s.launch(2, "true") // by a new shepherd
	if r := s.released(2); r.ExitCode != 0 || r.ExitSignal != 0 {
		t.Errorf("job after it: %v", r)
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}

func TestOrphansDoNotOutliveTheJob(t *testing.T) {
	s := newSite(t)
	s.launch(1, "setsid sh -c 'sleep 300 & echo $! > orphan; echo > ready' & while [ ! -e ready ]; do sleep 0.02; done", stdout("o"))
	s.released(1)
	pid, err := strconv.Atoi(strings.TrimSpace(s.output("orphan")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d outlives its job", pid)
	}
}

// TestOrphanWithoutATraceIsFound has a process leave its session, clear its
// environment and lose its parent, but only after it was seen.
func TestOrphanWithoutATraceIsFound(t *testing.T) {
	cmd := exec.Command("sh", "-c", `env -i setsid sh -c 'echo $$; read go; sleep 300 & echo $!; read more'; read end`)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "MUSTER_SOCKET=/test/" + t.Name(), "SLURM_JOB_ID=7"}
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
	p := &procs{socket: "/test/" + t.Name()}
	b := p.box(shepherd.Key{Job: 7}, 0)
	out := bufio.NewReader(pipe)
	number := func() int {
		line, _ := out.ReadString('\n')
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("the process said %q", line)
		}
		return pid
	}
	has := func(pid int) bool {
		pids, err := b.PIDs()
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(pids, pid)
	}
	if shell := number(); !has(shell) {
		t.Fatal("the process is not found while its parent lives")
	}
	fmt.Fprintln(in, "go")
	orphan := number()
	if !has(orphan) {
		t.Fatal("the child of a process that was found is not found")
	}
	in.Close()
	cmd.Wait()
	if !has(orphan) {
		t.Error("the orphan is lost")
	}
	if err := b.Kill(context.Background()); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(orphan, 0); err == nil && !zombie(orphan) {
		t.Errorf("process %d outlives its job", orphan)
	}
}

func TestCancelAndTimeLimit(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		name, script, line string
		id, signal, code   uint32
		timedOut           bool
		limit              bool
	}{
		{name: "cancelled", id: 1, script: "echo up; sleep 300", line: "DUE to SIGNAL Terminated ***", signal: 15},
		{name: "trap", id: 2, script: "trap 'echo bye; exit 7' TERM; echo up; sleep 300 & wait", line: "bye", code: 7},
		{name: "deaf", id: 3, script: "trap '' TERM; echo up; while :; do sleep 0.1; done", line: "CANCELLED AT", signal: 9},
		{name: "limit", id: 4, script: "echo up; sleep 300", line: "DUE TO TIME LIMIT ***", signal: 15, limit: true, timedOut: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := "o" + c.name
			s.launch(c.id, c.script, stdout(out))
			s.appears(out, "up")
			if c.limit {
				s.tell(&pb.ToNode{Desired: &pb.Desired{Limits: []*pb.Limit{{Attempt: &pb.Attempt{Job: c.id}, EndMs: time.Now().UnixMilli()}}}})
			} else {
				s.tell(&pb.ToNode{Desired: &pb.Desired{Ending: []*pb.Ending{{Attempt: &pb.Attempt{Job: c.id}, Why: "CANCELLED"}}}})
			}
			r := s.released(c.id)
			if r.ExitCode != c.code || r.ExitSignal != c.signal || r.TimedOut != c.timedOut {
				t.Errorf("reported %v", r)
			}
			if !strings.Contains(s.output(out), c.line) {
				t.Errorf("output %q, want %q in it", s.output(out), c.line)
			}
		})
	}
}

func TestOutOfMemory(t *testing.T) {
	s := newSite(t)
	s.launch(1, "{ head -c 400M /dev/zero; sleep 5; } | tail -n 1 >/dev/null; true", stdout("o"),
		func(l *pb.Launch, _ *job.Request) { l.Part.MemoryMb = 60 })
	if r := s.released(1); !r.Oom {
		t.Errorf("reported %v; output %q", r, s.output("o"))
	}
}

func TestHangingFileHoldsUpItsOwnJobOnly(t *testing.T) {
	s := newSite(t)
	fifo := filepath.Join(s.work, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for id := uint32(1); id <= 40; id++ {
		s.launch(id, "true", stdout(fifo))
	}
	s.launch(100, "true")
	if r := s.released(100); r.ExitCode != 0 {
		t.Errorf("reported %v", r)
	}
	f, err := os.OpenFile(fifo, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for id := uint32(1); id <= 40; id++ {
		s.released(id)
	}
}

func TestOtherBootIsRefusedAndBuried(t *testing.T) {
	s := newSite(t)
	s.launch(1, "echo $$; sleep 300", stdout("o"))
	s.appears("o", "\n")
	s.launch(2, "true", func(l *pb.Launch, _ *job.Request) { l.BootId = "another" })
	if r := s.released(2); !r.Failed {
		t.Errorf("launch for another boot: %v", r)
	}
	s.stop()
	s.cfg.BootID = "boot-2"
	s.start()
	for _, a := range s.hello.Running {
		if a.Job == 1 {
			t.Error("job 1 runs on after a boot")
		}
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(s.output("o")))
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d outlives the boot", pid)
	}
}

func TestBlobIsFetchedAndSignalsAnswered(t *testing.T) {
	s := newSite(t)
	l := s.launchOf(1, "trap 'echo got' USR1; echo up; while :; do sleep 0.05; done", stdout("o"))
	s.mu.Lock()
	s.blobs[[16]byte(l.Script.Script)] = l.Script.ScriptData
	s.mu.Unlock()
	l.Script.ScriptData = nil
	s.tell(&pb.ToNode{Desired: &pb.Desired{Launch: []*pb.Launch{l}}})
	s.appears("o", "up")
	s.tell(&pb.ToNode{Signal: &pb.Signal{Id: 5, Attempt: &pb.Attempt{Job: 1}, Number: uint32(syscall.SIGUSR1), BatchOnly: true}})
	s.appears("o", "got")
	s.tell(&pb.ToNode{Signal: &pb.Signal{Id: 6, Attempt: &pb.Attempt{Job: 99}, Number: 10}})
	s.wait("answers", func() bool { return len(s.signals) == 2 })
	if s.signals[5] != "" || s.signals[6] == "" {
		t.Errorf("answers %v", s.signals)
	}
	s.tell(&pb.ToNode{Desired: &pb.Desired{Full: true}}) // no longer wanted
	s.released(1)
}

func TestEndingOfWhatNeverCame(t *testing.T) {
	s := newSite(t)
	s.tell(&pb.ToNode{Desired: &pb.Desired{Ending: []*pb.Ending{{Attempt: &pb.Attempt{Job: 8}, Why: "CANCELLED"}}}})
	if r := s.released(8); !r.Released || r.ExitSignal == 0 {
		t.Errorf("reported %v", r)
	}
	s.launch(9, "echo must not run", stdout("o9"), func(l *pb.Launch, _ *job.Request) { l.Batch = false })
	s.tell(&pb.ToNode{Desired: &pb.Desired{Ending: []*pb.Ending{{Attempt: &pb.Attempt{Job: 9}}}}})
	if r := s.released(9); r.Ended || !r.Released {
		t.Errorf("node without the script reported %v", r)
	}
}

func TestSpoolThatWasCleanedAwayIsMadeAgain(t *testing.T) {
	s := newSite(t)
	spool, err := chooseSpool(s.cfg.DataDir, s.hello.JournalId)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(spool); err != nil {
		t.Fatal(err)
	}
	s.launch(1, "exit 6")
	if r := s.released(1); r.Failed || r.ExitCode != 6 {
		t.Errorf("reported %v", r)
	}
}

// TestDirectoryOfTheScriptGoesWithTheJob has jobs do what they may to it.
func TestDirectoryOfTheScriptGoesWithTheJob(t *testing.T) {
	s := newSite(t)
	for i, script := range []string{
		"true",
		`mkdir "$(dirname "$0")/sub" && echo x >"$(dirname "$0")/sub/file"`,
		`rm "$0"`,
		`rm "$0" && ln -s / "$0"`,
		`chmod 0 "$(dirname "$0")"`,
	} {
		id := uint32(i + 1)
		s.launch(id, script, stdout("o"))
		if r := s.released(id); r.ExitCode != 0 {
			t.Errorf("%s: exit code %d: %s", script, r.ExitCode, s.output("o"))
		}
		dir := s.node.jobDir(shepherd.Key{Job: id})
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: %s is still there (%v)", script, dir, err)
		}
	}
}

// A signal that comes before the job runs is not lost.
func TestSignalBeforeTheJobRuns(t *testing.T) {
	s := newSite(t)
	pipe := filepath.Join(s.work, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Chmod(pipe, 0o666)); err != nil {
		t.Fatal(err)
	}
	s.launch(1, "sleep 300", stdout("pipe")) // waits for a reader
	s.tell(&pb.ToNode{Signal: &pb.Signal{Id: 5, Attempt: &pb.Attempt{Job: 1}, Number: uint32(syscall.SIGUSR1), BatchOnly: true}})
	s.wait("an answer", func() bool { _, ok := s.signals[5]; return ok })
	if s.signals[5] != "" {
		t.Errorf("answered %q", s.signals[5])
	}
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if r := s.released(1); r.ExitSignal != uint32(syscall.SIGUSR1) {
		t.Errorf("reported %v, want its end by signal %d", r, syscall.SIGUSR1)
	}
}
