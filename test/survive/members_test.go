package survive

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/test/cluster"
)

// freePort finds a port of loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// declare writes further controllers into the cluster file and returns their addresses.
func declare(t *testing.T, c *cluster.Cluster, names ...string) (addresses []string) {
	t.Helper()
	path := filepath.Join(c.Dir, "cluster.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		port := freePort(t)
		text = fmt.Appendf(text, "\n[[controller]]\nname = %q\naddresses = [\"127.0.0.1\"]\nbind = \"127.0.0.1\"\nport = %d\n", name, port)
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return addresses
}

// controllers runs muster controllers, which must succeed.
func controllers(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	return c.Good(c.Dir, "muster", append([]string{"controllers"}, args...)...)
}

// role is what muster controllers list says of one.
func role(t *testing.T, c *cluster.Cluster, name string) string {
	t.Helper()
	for line := range strings.Lines(controllers(t, c, "list")) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == name {
			if f[2] == "no" {
				return "no vote"
			}
			return f[2]
		}
	}
	return ""
}

// submit must be acknowledged; it returns the job's id.
func submit(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	return strings.TrimSpace(c.Good(c.Dir, "sbatch", "--parsable", "-o", "/dev/null", "--mem=10", "--wrap", "true"))
}

// known tells that a job is there, by its name in squeue or sacct.
func known(c *cluster.Cluster, id string) bool {
	return strings.Contains(c.Good(c.Dir, "sacct", "-n", "-X", "-P", "-o", "JobID", "-j", id), id)
}

// From three controllers to five and back to three others, under load: each step keeps
// every job, and five survive the loss of two, the leader among them.
func TestControllersAreAddedLostAndRemoved(t *testing.T) {
	c := cluster.Up(t, "--controllers", "3", "--nodes", "2", "--cpus", "8")
	addresses := declare(t, c, "c4", "c5")
	ids := []string{submit(t, c)}
	for i, name := range []string{"c4", "c5"} {
		c.Start("ctld/" + name)
		if out := controllers(t, c, "add", name, addresses[i]); !strings.Contains(out, "has a vote") {
			t.Fatalf("muster controllers add %s said %q", name, out)
		}
		ids = append(ids, submit(t, c))
	}
	leader := c.Leader()
	other := "c1"
	if leader == other {
		other = "c2"
	}
	c.Kill("ctld/" + leader)
	c.Kill("ctld/" + other)
	ids = append(ids, submit(t, c)) // three of five
	controllers(t, c, "remove", leader)
	controllers(t, c, "remove", other)
	ids = append(ids, submit(t, c))
	for _, name := range []string{leader, other} {
		if r := role(t, c, name); r != "" {
			t.Errorf("%s was removed and is listed as %s", name, r)
		}
	}
	for _, id := range ids {
		if !known(c, id) {
			t.Errorf("job %s was acknowledged and is not known", id)
		}
	}
}

// A controller without a vote answers reads and counts in no majority; the lead is
// handed on by name.
func TestAControllerWithoutAVote(t *testing.T) {
	c := cluster.Up(t, "--controllers", "3", "--nodes", "1", "--cpus", "8")
	leader := c.Leader()
	next := "c1"
	if leader == next {
		next = "c2"
	}
	controllers(t, c, "transfer", next)
	if now := c.Leader(); now != next {
		t.Fatalf("%s leads, want %s", now, next)
	}
	controllers(t, c, "demote", "c3")
	if r := role(t, c, "c3"); r != "no vote" {
		t.Fatalf("c3 is %q, want one without a vote", r)
	}
	id := submit(t, c)
	waitFor(t, "all controllers have the job", func() bool { return level(t, c) })
	c.Kill("ctld/c1")
	// One voter of two is no majority, with c3 either.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.Bin, "sbatch"), "--wrap", "true")
	cmd.Dir, cmd.Env = c.Dir, append(c.Env(), "MUSTER_TIMEOUT=3")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("a job was acknowledged by one voter of two: %s", out)
	}
	c.Start("ctld/c1")
	if !known(c, id) {
		t.Errorf("job %s is not known", id)
	}
}

// A controller whose log is damaged does not start and says how it comes back; as it
// says, it comes back.
func TestATornLogIsRefusedAndRejoins(t *testing.T) {
	c := cluster.Up(t, "--controllers", "3", "--nodes", "1", "--cpus", "8")
	ids := []string{submit(t, c)}
	victim := "c3"
	if c.Leader() == victim {
		victim = "c2"
	}
	c.Kill("ctld/" + victim)
	data := filepath.Join(c.Dir, "ctld", victim, "data")
	for _, tail := range []string{"tail-0", "tail-1"} {
		if err := os.Truncate(filepath.Join(data, tail), 100); err != nil {
			t.Fatal(err)
		}
	}
	c.Muster("dev", "start", "--dir", c.Dir, "ctld/"+victim)
	log := filepath.Join(c.Dir, "log", victim+".log")
	waitFor(t, "the controller says what to do", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "muster controllers replace")
	})
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	c.Start("ctld/" + victim)
	controllers(t, c, "replace", victim)
	ids = append(ids, submit(t, c))
	waitFor(t, victim+" votes again", func() bool { return role(t, c, victim) == "follower" })
	for _, id := range ids {
		if !known(c, id) {
			t.Errorf("job %s is not known", id)
		}
	}
}

// Two of three controllers are gone for good. The one that is left is made the only one
// while the others do not answer, and two new ones join it.
func TestTheLossOfAMajority(t *testing.T) {
	c := cluster.Up(t, "--controllers", "3", "--nodes", "1", "--cpus", "8")
	id := submit(t, c)
	waitFor(t, "all controllers have the job", func() bool { return level(t, c) })
	data := filepath.Join(c.Dir, "ctld", "c1", "data")
	recovery := []string{"controllers", "recover", "--data", data, "--config", filepath.Join(c.Dir, "cluster.toml")}
	c.Kill("ctld/c1")
	if out, err := c.Muster(recovery...); err == nil || !strings.Contains(out, "c2") {
		t.Fatalf("recovered while others answer: %v %s", err, out)
	}
	c.Kill("ctld/c2")
	c.Kill("ctld/c3")
	for _, name := range []string{"c2", "c3"} {
		if err := os.RemoveAll(filepath.Join(c.Dir, "ctld", name, "data")); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := c.Muster(recovery...); err != nil {
		t.Fatalf("muster controllers recover: %v\n%s", err, out)
	}
	c.Muster("dev", "start", "--dir", c.Dir, "ctld/c1") // alone it is no majority in the eyes of dev
	ids := []string{id, submit(t, c)}
	for _, name := range []string{"c2", "c3"} {
		address := addressOf(t, c, name)
		c.Muster("dev", "start", "--dir", c.Dir, "ctld/"+name)
		controllers(t, c, "add", name, address)
	}
	c.Kill("ctld/c1")
	ids = append(ids, submit(t, c))
	for _, id := range ids {
		if !known(c, id) {
			t.Errorf("job %s is not known", id)
		}
	}
}

// level tells that all controllers stand at one index.
func level(t *testing.T, c *cluster.Cluster) bool {
	t.Helper()
	indices := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(controllers(t, c, "list")), "\n") {
		if f := strings.Fields(line); i > 0 {
			indices[f[len(f)-1]] = true
		}
	}
	return len(indices) == 1
}

// addressOf is a controller's address by the cluster file.
func addressOf(t *testing.T, c *cluster.Cluster, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "cluster.toml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), fmt.Sprintf("name = %q", name))
	_, rest, _ = strings.Cut(rest, "port = ")
	port, _, _ := strings.Cut(rest, "\n")
	return "127.0.0.1:" + strings.TrimSpace(port)
}

// waitFor asks until it is so; what it waits for has no event here.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute still not: %s", what)
		}
	}
}
