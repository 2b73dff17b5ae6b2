// Package e2e runs the main job on a real cluster: from sbatch to the output, the
// exit code and the accounting line, while parts of the cluster are killed.
package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/test/cluster"
)

// site is a cluster with a directory that jobs write to.
type site struct {
	*cluster.Cluster
	t   *testing.T
	dir string
}

// script writes a batch script and returns its path.
func (s *site) script(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// submit submits and returns the job id.
func (s *site) submit(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.Good(s.dir, "sbatch", append([]string{"--parsable"}, args...)...))
}

// await asks until ok says so. Commands have no event to wait for.
func (s *site) await(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within a minute: %s\n%s", what, s.Good(s.dir, "squeue"))
		}
	}
}

// awaitRecord waits until accounting has a job's state and exit code.
func (s *site) awaitRecord(id, want string) {
	s.t.Helper()
	var got string
	s.await(fmt.Sprintf("sacct has job %s as %s", id, want), func() bool {
		got = strings.TrimSpace(s.Good(s.dir, "sacct", "-X", "-n", "-P", "-j", id, "-o", "State,ExitCode"))
		return got == want
	})
}

func (s *site) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *site) exists(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// gated is a job that says where it runs and ends when its gate is opened.
const gated = `#!/bin/sh
echo "$SLURMD_NODENAME" > "$1.up.new" && mv "$1.up.new" "$1.up"
while [ ! -e "$1.gate" ]; do sleep 0.05; done
echo done
exit 7
`

// running submits a gated job and returns its id once it runs.
func (s *site) running(name string, args ...string) string {
	s.t.Helper()
	path := s.script(name+".sh", gated)
	id := s.submit(append(args, path, filepath.Join(s.dir, name))...)
	s.await("job "+id+" runs", func() bool { return s.exists(name + ".up") })
	return id
}

func (s *site) open(name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name+".gate"), nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func newSite(t *testing.T) *site {
	dir := t.TempDir()
	return &site{Cluster: cluster.Up(t, "--controllers", "3", "--nodes", "4", "--cpus", "4", "--mem", "4000"), t: t, dir: dir}
}

func TestMainJob(t *testing.T) {
	s := newSite(t)
	steps := []struct {
		name string
		run  func(*site)
	}{
		{"script, output, exit code, record", mainJob},
		{"the leader is killed", leaderKilled},
		{"a node daemon is killed under a running job", nodedKilled},
		{"a node loses power", powerCut},
		{"all controllers are killed at once", allControllersKilled},
		{"nothing is left", down},
	}
	for _, step := range steps {
		ok := t.Run(step.name, func(t *testing.T) {
			step.run(&site{Cluster: s.Cluster, t: t, dir: s.dir})
		})
		if !ok {
			return // what follows would only say the same
		}
	}
}

func mainJob(s *site) {
	path := s.script("main.sh", `#!/bin/bash
#SBATCH --job-name=main
#SBATCH --ntasks=2
#SBATCH --output=%x-%j.out
#SBATCH --error=%x-%j.err
echo "$SLURM_JOB_NAME $SLURM_NTASKS $1"
echo "to stderr" >&2
exit 3
`)
	out := s.Good(s.dir, "sbatch", path, "argument")
	var id int
	if _, err := fmt.Sscanf(out, "Submitted batch job %d\n", &id); err != nil {
		s.t.Fatalf("sbatch said %q", out)
	}
	s.awaitRecord(fmt.Sprint(id), "FAILED|3:0")
	if got := s.read(fmt.Sprintf("main-%d.out", id)); got != "main 2 argument\n" {
		s.t.Errorf("output: %q", got)
	}
	if got := s.read(fmt.Sprintf("main-%d.err", id)); got != "to stderr\n" {
		s.t.Errorf("error output: %q", got)
	}
}

func leaderKilled(s *site) {
	before := s.running("leader")
	s.Kill("ctld/leader")
	after := s.submit("-o", "after.out", "--wrap", "echo after")
	s.awaitRecord(after, "COMPLETED|0:0")
	s.open("leader")
	s.awaitRecord(before, "FAILED|7:0")
	s.Start("")
	if down := s.Good(s.dir, "sinfo", "-h", "-N", "-t", "down,drain,no_respond"); down != "" {
		s.t.Errorf("nodes suffered:\n%s", down)
	}
}

func nodedKilled(s *site) {
	id := s.running("noded", "-w", "n2")
	s.Kill("noded/n2")
	s.open("noded") // it ends while nobody watches
	s.Start("noded/n2")
	s.awaitRecord(id, "FAILED|7:0")
}

func powerCut(s *site) {
	id := s.running("power", "-w", "n3", "--no-requeue")
	again := s.running("again", "-w", "n3", "--requeue")
	s.Kill("node/n3")
	s.Start("node/n3")
	s.awaitRecord(id, "NODE_FAIL|0:0")
	s.open("again")
	s.awaitRecord(again, "FAILED|7:0")
	if restarts := s.Good(s.dir, "sacct", "-X", "-n", "-P", "-D", "-j", again, "-o", "State"); strings.Count(restarts, "\n") != 2 {
		s.t.Errorf("want two attempts of job %s, the first lost with its node:\n%s", again, restarts)
	}
}

func allControllersKilled(s *site) {
	id := s.running("all")
	for _, c := range []string{"ctld/1", "ctld/2", "ctld/3"} {
		s.Kill(c)
	}
	s.open("all")
	s.Start("")
	s.awaitRecord(id, "FAILED|7:0")
	s.awaitRecord(s.submit("--wrap", "true", "-o", "/dev/null"), "COMPLETED|0:0")
}

func down(s *site) {
	s.running("last")
	if out, err := s.Muster("dev", "down", "--dir", s.Dir); err != nil {
		s.t.Fatalf("muster dev down: %v\n%s", err, out)
	}
	if left := processesOf(s.t, s.Dir, s.dir); len(left) > 0 {
		s.t.Errorf("processes are left:\n%s", strings.Join(left, "\n"))
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "dev.json")); !os.IsNotExist(err) {
		s.t.Errorf("dev.json is left: %v", err)
	}
}

// processesOf lists the command lines that name one of the directories.
func processesOf(t *testing.T, dirs ...string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		line := strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")
		for _, dir := range dirs {
			if strings.Contains(line, dir) {
				out = append(out, line)
			}
		}
	}
	return out
}
