// Package cluster brings up throw-away clusters of the real programs for tests:
// real controllers over real raft on loopback, real node daemons, real jobs.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Cluster is one running throw-away cluster.
type Cluster struct {
	Dir string // of `muster dev`
	Bin string // directory of the programs
	t   testing.TB
}

// Bin is the directory of the programs under test: $MUSTER_BIN, which `make
// test` sets, or a fresh build in a temporary directory.
func Bin(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("MUSTER_BIN"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	cmd := exec.Command("make", "-s", "-C", root(t), "build", "BIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	return dir
}

// root is the top of the checkout.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = filepath.Dir(dir)
	}
}

// Up starts a cluster with the given further arguments of `muster dev up` and
// takes it down when the test ends.
func Up(t testing.TB, args ...string) *Cluster {
	t.Helper()
	return UpOn(t, func(string) {}, args...)
}

// UpOn is Up with a function that may prepare the cluster's directory, such as mount
// something there, before the cluster starts.
func UpOn(t testing.TB, prepare func(dir string), args ...string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "muster-test-")
	if err != nil {
		t.Fatal(err)
	}
	// Jobs of other users must be able to pass through it.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: filepath.Join(dir, "c"), Bin: Bin(t), t: t}
	t.Cleanup(func() {
		c.Muster("dev", "down", "--dir", c.Dir)
		if t.Failed() {
			t.Logf("the cluster's files and logs are kept in %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	prepare(c.Dir)
	if out, err := c.Muster(append([]string{"dev", "up", "--dir", c.Dir}, args...)...); err != nil {
		t.Fatalf("muster dev up: %v\n%s", err, out)
	}
	return c
}

// Muster runs the admin tool and returns what it printed on both streams.
func (c *Cluster) Muster(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(c.Bin, "muster"), args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Kill sends SIGKILL to a part of the cluster, as `muster dev kill` names it.
func (c *Cluster) Kill(what string) {
	c.t.Helper()
	if out, err := c.Muster("dev", "kill", "--dir", c.Dir, what); err != nil {
		c.t.Fatalf("muster dev kill %s: %v\n%s", what, err, out)
	}
}

// Start brings back what was killed; what may be empty for everything.
func (c *Cluster) Start(what string) {
	c.t.Helper()
	args := []string{"dev", "start", "--dir", c.Dir}
	if what != "" {
		args = append(args, what)
	}
	if out, err := c.Muster(args...); err != nil {
		c.t.Fatalf("muster dev start %s: %v\n%s", what, err, out)
	}
}

// Env is the environment in which the cluster's commands run.
func (c *Cluster) Env() []string {
	return append(os.Environ(), "PATH="+c.Bin+":"+os.Getenv("PATH"), "MUSTER_SOCKET="+c.Socket())
}

// Socket is the path of the login agent's socket.
func (c *Cluster) Socket() string {
	c.t.Helper()
	out, err := c.Muster("dev", "env", "--dir", c.Dir)
	if err != nil {
		c.t.Fatalf("muster dev env: %v\n%s", err, out)
	}
	for _, word := range strings.Fields(strings.NewReplacer(";", " ", "\n", " ").Replace(out)) {
		if v, ok := strings.CutPrefix(word, "MUSTER_SOCKET="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	c.t.Fatalf("muster dev env names no MUSTER_SOCKET:\n%s", out)
	return ""
}

// Output is what a command printed and how it ended.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a command of the cluster in dir, with input on its standard input.
func (c *Cluster) Run(ctx context.Context, dir, input string, name string, args ...string) Output {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, name), args...)
	cmd.Dir, cmd.Env = dir, c.Env()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	o := Output{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if err != nil && o.Code == 0 {
		o.Code, o.Stderr = -1, fmt.Sprint(o.Stderr, err)
	}
	return o
}

// Good runs a command that must succeed and returns its standard output.
func (c *Cluster) Good(dir, name string, args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	o := c.Run(ctx, dir, "", name, args...)
	if o.Code != 0 {
		c.t.Fatalf("%s %s: exit code %d\n%s%s", name, strings.Join(args, " "), o.Code, o.Stdout, o.Stderr)
	}
	return o.Stdout
}

// PID is the process id of a daemon: a controller ("c1") or a node's ("n1").
func (c *Cluster) PID(name string) int {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "dev.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	var state struct {
		Daemons []struct {
			Name string
			PID  int
		}
	}
	if err := json.Unmarshal(text, &state); err != nil {
		c.t.Fatalf("dev.json: %v", err)
	}
	for _, d := range state.Daemons {
		if d.Name == name {
			return d.PID
		}
	}
	c.t.Fatalf("dev.json has no daemon %s", name)
	return 0
}

// Leader is the name of the controller that leads.
func (c *Cluster) Leader() string {
	c.t.Helper()
	out := c.Good(c.Dir, "scontrol", "ping")
	_, rest, ok := strings.Cut(out, "(primary) at ")
	name, _, _ := strings.Cut(rest, " ")
	if !ok || name == "" {
		c.t.Fatalf("scontrol ping names no leader:\n%s", out)
	}
	return name
}
