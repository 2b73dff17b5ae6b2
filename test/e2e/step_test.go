package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSteps: srun and salloc on a real cluster.
func TestSteps(t *testing.T) {
	s := newSite(t)
	for _, x := range []struct {
		name string
		run  func(*site)
	}{
		{"labelled output of all tasks of all nodes", manyTasks},
		{"input to every task, byte for byte", inputToAll},
		{"a killed srun frees its allocation", srunKilled},
		{"a step that is cancelled, and the job that goes on", stepCancelled},
	} {
		if !t.Run(x.name, func(t *testing.T) { one := *s; one.t = t; one.dir = t.TempDir(); x.run(&one) }) {
			return
		}
	}
}

// manyTasks runs 16 tasks, each of which writes 50 lines.
func manyTasks(s *site) {
	out := s.Good(s.dir, "srun", "-N4", "-n16", "-l", "sh", "-c", "for i in $(seq 50); do echo line $i of $SLURM_PROCID; done")
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.Trim(out, "\n"), "\n") {
		seen[line] = true
	}
	for task := range 16 {
		for i := range 50 {
			if want := fmt.Sprintf("%2d: line %d of %d", task, i+1, task); !seen[want] {
				s.t.Fatalf("%q is missing", want)
			}
		}
	}
	if len(seen) != 16*50 {
		s.t.Errorf("%d different lines, want %d", len(seen), 16*50)
	}
}

// inputToAll sends more than all windows and pipes hold.
func inputToAll(s *site) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := s.Run(ctx, s.dir, strings.Repeat("x", 5_000_000), "srun", "-N2", "-n4", "wc", "-c")
	if o.Code != 0 || o.Stdout != strings.Repeat("5000000\n", 4) {
		s.t.Errorf("code %d, output %q, want 4 tasks that read 5000000 bytes\n%s", o.Code, o.Stdout, o.Stderr)
	}
}

func srunKilled(s *site) {
	up := filepath.Join(s.dir, "up")
	cmd := exec.Command(filepath.Join(s.Bin, "srun"), "-J", "doomed", "sh", "-c", "echo $$ >"+up+".new; mv "+up+".new "+up+"; exec sleep 1000")
	cmd.Env, cmd.Dir = s.Env(), s.dir
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.await("the task runs", func() bool { return s.exists("up") })
	cmd.Process.Kill()
	cmd.Wait()
	s.await("the allocation is gone", func() bool { return s.Good(s.dir, "squeue", "-h", "-n", "doomed") == "" })
	task, err := strconv.Atoi(strings.TrimSpace(s.read("up")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.await("the task is gone", func() bool { return syscall.Kill(task, 0) == syscall.ESRCH })
	got := strings.Fields(s.Good(s.dir, "sacct", "-n", "-P", "--name", "doomed", "-o", "State"))
	if len(got) != 2 || got[1] != "CANCELLED" {
		s.t.Errorf("accounting has %q, want the job and its cancelled step", got)
	}
}

func stepCancelled(s *site) {
	up := filepath.Join(s.dir, "up")
	id := s.submit("-o", filepath.Join(s.dir, "out"), s.script("job.sh", "#!/bin/sh\nsrun sh -c 'touch "+up+"; exec sleep 1000'\necho rc $?\n"))
	s.await("the step runs", func() bool { return s.exists("up") })
	s.Good(s.dir, "scancel", id+".0")
	s.awaitRecord(id, "COMPLETED|0:0")
	if got := s.read("out"); !strings.Contains(got, "rc 137") {
		s.t.Errorf("output %q, want that srun ended with 137", got)
	}
	if got := strings.TrimSpace(s.Good(s.dir, "sacct", "-n", "-P", "-j", id+".0", "-o", "State,ExitCode")); got != "CANCELLED|0:9" {
		s.t.Errorf("the step is recorded as %q, want CANCELLED|0:9", got)
	}
}
