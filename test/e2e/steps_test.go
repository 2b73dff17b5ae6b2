package e2e

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"muster/test/cluster"
)

// stamp is what differs from run to run in srun's messages.
var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]{8}|\[\d+\]|StepId=\d+\.\d+|STEP \d+\.\d+`)

// srun runs srun, or a shell with it, and returns both streams and the exit code.
func (s *site) srun(words ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	if words[0] == "srun" {
		words[0] = filepath.Join(s.Bin, words[0])
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.Env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	text := stamp.ReplaceAllStringFunc(errs.String(), func(m string) string {
		switch {
		case strings.HasPrefix(m, "StepId"):
			return "StepId=J.S"
		case strings.HasPrefix(m, "STEP"):
			return "STEP J.S"
		case m[0] == '[':
			return "[PID]"
		}
		return "TIME"
	})
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		code = status.ExitStatus()
	}
	return out.String(), text, code
}

// TestMessages: what srun says of tasks that end badly, as srun 26.05 does.
func TestMessages(t *testing.T) {
	s := &site{Cluster: cluster.Up(t, "--controllers", "1", "--nodes", "2", "--cpus", "8", "--mem", "4000"), t: t, dir: t.TempDir()}
	const aborted = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
	const killed = "slurmstepd: error: *** STEP J.S ON n1 CANCELLED AT TIME DUE to SIGNAL Killed ***\n"
	for _, c := range []struct {
		name, command, want string
		code                int
	}{
		{"an exit code", "srun -n2 sh -c 'exit $SLURM_PROCID'",
			"srun: error: n1: task 1: Exited with exit code 1\n", 1},
		{"a signal", "srun -n1 sh -c 'kill -SEGV $$'", "srun: error: n1: task 0: Segmentation fault\n", 139},
		{"SIGTERM", "srun -n1 sh -c 'kill -TERM $$'", "srun: error: n1: task 0: Terminated\nsrun: Force Terminated StepId=J.S\n", 143},
		{"-K", "srun -K -n2 sh -c 'if [ $SLURM_PROCID = 1 ]; then exit 3; fi; exec sleep 100'",
			"srun: error: n1: task 1: Exited with exit code 3\nsrun: Terminating StepId=J.S\n" +
				"slurmstepd: error: *** STEP J.S ON n1 CANCELLED AT TIME DUE TO TASK FAILURE ***\n" +
				"srun: error: n1: task 0: Terminated\nsrun: Force Terminated StepId=J.S\n", 143},
		{"-W", "srun -W 1 -n2 sh -c 'if [ $SLURM_PROCID = 1 ]; then exit 0; fi; exec sleep 100'",
			"srun: First task exited 1s ago\nsrun: StepId=J.S task 0: running\nsrun: StepId=J.S task 1: exited\n" +
				"srun: Terminating StepId=J.S\n" + aborted + killed + "srun: error: n1: task 0: Killed\n", 137},
		{"-v", "srun -v -n1 sh -c 'exit 1'",
			"srun: jobid 6: nodes(1):`n1', cpu counts: 1(x1)\nsrun: CpuBindType=(null type)\n" +
				"srun: launching StepId=J.S on host n1, 1 tasks: 0\nsrun: Node n1, 1 tasks started\n" +
				"srun: Received task exit notification for 1 task of StepId=J.S (status=0x0100).\n" +
				"srun: error: n1: task 0: Exited with exit code 1\n", 1},
		{"scancel of the step", "srun -n1 sh -c 'scancel $SLURM_JOB_ID.$SLURM_STEP_ID; exec sleep 100'",
			aborted + killed + "srun: error: n1: task 0: Killed\n", 137},
	} {
		_, stderr, code := s.srun("sh", "-c", c.command)
		if stderr != c.want || code != c.code {
			t.Errorf("%s: exit code %d, want %d; it said\n%swant\n%s", c.name, code, c.code, stderr, c.want)
		}
	}
}

// TestProgramsAroundSteps: srun's own prolog and epilog run on its host, before and
// after the tasks, with the command line of the step.
func TestProgramsAroundSteps(t *testing.T) {
	s := &site{Cluster: cluster.Up(t, "--controllers", "1", "--nodes", "1", "--cpus", "4", "--mem", "4000"), t: t, dir: t.TempDir()}
	say := s.script("say.sh", "#!/bin/sh\necho $SLURM_SCRIPT_CONTEXT $SLURM_JOB_ID.$SLURM_STEP_ID \"$@\"\n")
	bad := s.script("bad.sh", "#!/bin/sh\nexit 3\n")
	none := filepath.Join(s.dir, "none.sh")
	for _, c := range []struct {
		name, options, stdout, stderr string
		code                          int
	}{
		{"both", "--prolog=" + say + " --epilog=" + say, "prolog_srun 1.0 echo hello\nhello\nepilog_srun 1.0 echo hello\n", "", 0},
		{"a prolog that fails", "--prolog=" + bad + " --epilog=" + say, "epilog_srun 2.0 echo hello\n", "srun: error: srun prolog failed rc = 3. Aborting step.\n", 1},
		{"an epilog that fails", "--epilog=" + bad, "hello\n", "srun: error: srun epilog failed status=3\n", 0},
		{"no such file", "--prolog=" + none, "hello\n", "srun: Access denied for " + none + ": No such file or directory\n", 0},
		{"none", "--prolog=none --epilog=none", "hello\n", "", 0},
	} {
		stdout, stderr, code := s.srun("sh", "-c", "srun -n1 "+c.options+" echo hello")
		if stdout != c.stdout || stderr != c.stderr || code != c.code {
			t.Errorf("%s: exit code %d, want %d; output\n%swant\n%sit said\n%swant\n%s", c.name, code, c.code, stdout, c.stdout, stderr, c.stderr)
		}
	}
}

// TestComponents: commands separated by colons are one application.
func TestComponents(t *testing.T) {
	s := &site{Cluster: cluster.Up(t, "--controllers", "1", "--nodes", "3", "--cpus", "4", "--mem", "4000"), t: t, dir: t.TempDir()}
	const show = `sh -c 'echo $0 $SLURM_JOB_ID.$SLURM_STEP_ID rank $SLURM_PROCID of $SLURM_NTASKS, node $SLURM_NODEID' `
	for _, c := range []struct{ name, command, want string }{
		{"without an allocation", "srun -n1 " + show + "a : -n2 " + show + "b",
			"a 1.0 rank 0 of 3, node 0\nb 1.0 rank 1 of 3, node 1\nb 1.0 rank 2 of 3, node 1\n"},
		{"in a heterogeneous job", `salloc -Q -n1 : -n1 sh -c "srun true; srun ` + strings.ReplaceAll(strings.ReplaceAll(show, "$", `\$`), `"`, `\"`) + `a : ` +
			strings.ReplaceAll(show, "$", `\$`) + `b"`, "a 3.1 rank 0 of 2, node 0\nb 3.1 rank 1 of 2, node 1\n"},
		{"in an ordinary job: nodes of their own", `salloc -Q -N3 sh -c 'srun -n1 printenv SLURMD_NODENAME : -n1 printenv SLURMD_NODENAME'`, "n1\nn2\n"},
	} {
		stdout, stderr, _ := s.srun("sh", "-c", c.command+" | sort")
		if stdout != c.want {
			t.Errorf("%s: got\n%s%swant\n%s", c.name, stdout, stderr, c.want)
		}
	}
	_, stderr, code := s.srun("sh", "-c", "salloc -Q -N1 srun true : true")
	if want := "srun: error: Allocation failure of 1 nodes: job size of 1, already allocated 1 nodes to previous components.\n"; code != 1 || stderr != want {
		t.Errorf("more components than nodes: exit code %d, %q, want %q", code, stderr, want)
	}
}

// TestBinding: each task has the CPU that it was given, on a node that is the
// machine.
func TestBinding(t *testing.T) {
	c := realCluster(t, t.TempDir())
	s := &site{Cluster: c, t: t, dir: t.TempDir()}
	for _, b := range []struct{ bind, want string }{
		{"", "0 1"}, {"cores", "0 1"}, {"none", "0-1 0-1"}, {"map_cpu:1,0", "1 0"}, {"mask_cpu:3,2", "0-1 1"}, {"sockets", "0-1 0-1"},
	} {
		args := []string{"srun", "-l", "-n2"}
		if b.bind != "" {
			args = append(args, "--cpu-bind="+b.bind)
		}
		stdout, stderr, _ := s.srun(append(args, "grep", "Cpus_allowed_list", "/proc/self/status")...)
		var got [2]string
		for line := range strings.Lines(stdout) {
			rank, rest, _ := strings.Cut(line, ":")
			if n, err := strconv.Atoi(rank); err == nil && n < 2 {
				_, got[n], _ = strings.Cut(strings.TrimSpace(rest), "\t")
			}
		}
		if text := got[0] + " " + got[1]; text != b.want {
			t.Errorf("--cpu-bind=%s: CPUs %s, want %s\n%s", b.bind, text, b.want, stderr)
		}
	}
	_, stderr, _ := s.srun("srun", "-n1", "--cpu-bind=verbose,map_cpu:1", "-c2", "true")
	if want := "cpu-bind=MAP - n1, task  0  0 [PID]: mask 0x2 set\n"; stderr != want {
		t.Errorf("--cpu-bind=verbose: %q, want %q", stderr, want)
	}
}

// TestMPI: a program of MPICH passes a token round and gathers, on one node and
// over four, under srun.
func TestMPI(t *testing.T) {
	compiler, err := exec.LookPath("mpicc.mpich")
	if err != nil {
		t.Skip("needs MPICH: apt-get install mpich libmpich-dev")
	}
	headers := exec.Command(compiler, "-E", "-x", "c", "-")
	headers.Stdin = strings.NewReader("#include <mpi.h>\n")
	if err := headers.Run(); err != nil {
		t.Skip("needs the headers of MPICH: apt-get install libmpich-dev")
	}
	s := &site{Cluster: cluster.Up(t, "--controllers", "1", "--nodes", "4", "--cpus", "4", "--mem", "4000"), t: t, dir: t.TempDir()}
	ring := filepath.Join(s.dir, "ring")
	if out, err := exec.Command(compiler, "-o", ring, filepath.Join("testdata", "ring.c")).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	for _, c := range []struct{ shape, want string }{
		{"-N1 -n2", "rank 0 of 2 ring 3 sum 1\nrank 1 of 2 ring 3 sum 1\n"},
		{"-N4 -n4", "rank 0 of 4 ring 10 sum 6\nrank 1 of 4 ring 3 sum 6\nrank 2 of 4 ring 6 sum 6\nrank 3 of 4 ring 10 sum 6\n"},
	} {
		stdout, stderr, _ := s.srun("sh", "-c", "srun --mpi=pmi2 "+c.shape+" "+ring+" | sort")
		if stdout != c.want {
			t.Errorf("%s:\n%s%swant\n%s", c.shape, stdout, stderr, c.want)
		}
	}
}
