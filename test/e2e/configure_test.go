package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// conf runs muster conf on the cluster and returns what it printed, and its exit code.
func (s *site) conf(args ...string) (string, int) {
	s.t.Helper()
	o := s.Run(s.t.Context(), s.dir, "", "muster", append([]string{"conf"}, args...)...)
	return o.Stdout + o.Stderr, o.Code
}

// file writes the cluster's file with some words replaced.
func (s *site) file(replace ...string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, "cluster.toml"))
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.dir, "new.toml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) says(what, got string, words ...string) {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			s.t.Errorf("%s says\n%s\nand not %q", what, got, w)
		}
	}
}

// A live cluster gets a node, keeps the one that a job runs on, loses it by force,
// and gets it back; a node that hangs meanwhile is behind, gets no job, and catches up.
func TestConfigureALiveCluster(t *testing.T) {
	s := newSite(t)
	s.running("a", "--no-requeue", "-w", "n4")
	out, code := s.conf("apply", s.file("n[1-4]", "n[1-3,5]"))
	if code == 0 {
		t.Errorf("a node with a running job was removed:\n%s", out)
	}
	s.says("the refusal", out, "+ node n5", "- node n4", "on n4: the node is removed", "--force")
	if o := s.Run(t.Context(), s.dir, "", "squeue", "-h", "-t", "R"); !strings.Contains(o.Stdout, "n4") {
		t.Fatalf("after the refusal: %q", o.Stdout)
	}
	next := s.file("n[1-4]", "n[1-5]")
	if out, code := s.conf("apply", next); code != 0 {
		t.Fatalf("apply: %s", out)
	}
	text, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "cluster.toml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	s.Start("")
	if got := strings.TrimSpace(s.Good(s.dir, "srun", "-w", "n5", "sh", "-c", "echo $SLURMD_NODENAME")); got != "n5" {
		t.Errorf("a job on the new node ran on %q", got)
	}
	forced, code := s.conf("apply", "--force", s.file("n[1-5]", "n[1-3,5]"))
	if code != 0 {
		t.Fatalf("forced: %s", forced)
	}
	s.awaitRecord("1", "NODE_FAIL|0:0")
	if out, code := s.conf("undo"); code != 0 || !strings.Contains(out, "+ node n4") {
		t.Fatalf("undo: %s", out)
	}
	s.await("n4 is back", func() bool {
		return strings.Contains(s.Good(s.dir, "sinfo", "-h", "-N", "-n", "n4", "-o", "%T"), "idle")
	})
	s.Good(s.dir, "srun", "-w", "n4", "true")
	history, _ := s.conf("history")
	s.says("the history", history, "forced", "number 2 again, in force")
	s.hanging()
}

// hanging stops a node's daemon while the configuration changes.
func (s *site) hanging() {
	pid := s.PID("n2")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	text := s.file()
	f, err := os.OpenFile(text, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n[timers]\nkill_wait = \"7s\"\n"); err != nil {
		s.t.Fatal(err)
	}
	if out, code := s.conf("apply", text); code != 0 || !strings.Contains(out, "~ timers: kill_wait: 30 -> 7") {
		s.t.Fatalf("apply: %s", out)
	}
	s.await("n2 is listed as behind", func() bool {
		out, _ := s.conf("history")
		return strings.Contains(out, "until they have it: n2")
	})
	id := s.submit("-w", "n2", "-o", "/dev/null", "--wrap", "true")
	s.await("the job waits for n2", func() bool {
		return strings.Contains(s.Good(s.dir, "squeue", "-h", "-j", id, "-o", "%r"), "ReqNodeNotAvail")
	})
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
	s.awaitRecord(id, "COMPLETED|0:0")
	out, _ := s.conf("history")
	if strings.Contains(out, "Behind") {
		s.t.Errorf("it ran a job and is still behind:\n%s", out)
	}
	if got := s.Good(s.dir, "scontrol", "show", "config"); !strings.Contains(strings.Join(strings.Fields(got), " "), "KillWait = 7 sec") {
		s.t.Errorf("scontrol show config has another KillWait")
	}
}
