package survive

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/test/cluster"
)

// A cluster is backed up with jobs in all states, goes on, and is lost. What is made of the
// backup knows all that was there, and says what became of what ran.
func TestAClusterIsRestoredFromABackup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a backup holds the scripts of all users")
	}
	c := cluster.Up(t, "--controllers", "3", "--nodes", "1", "--cpus", "8")
	dir := t.TempDir()
	sbatch := func(args ...string) string {
		return strings.TrimSpace(c.Good(c.Dir, "sbatch", append([]string{"--parsable", "-o", "/dev/null", "--mem=10"}, args...)...))
	}
	c.Good(c.Dir, "sacctmgr", "-i", "add", "account", "physics")
	done := sbatch("--wrap", "true")
	again, never := sbatch("--requeue", "--wrap", "sleep 600"), sbatch("--no-requeue", "--wrap", "sleep 600")
	held := sbatch("-H", "--wrap", "echo of the backup")
	waitFor(t, "the jobs run", func() bool {
		return strings.Count(c.Good(c.Dir, "squeue", "-h", "-t", "R", "-o", "%i"), "\n") == 2 && states(c)[done] == "COMPLETED"
	})
	file, certs := filepath.Join(dir, "backup"), filepath.Join(c.Dir, "ctld", "c1", "certs")
	c.Good(c.Dir, "muster", "backup", "--certs", certs, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup may be read by others: %v, %v", info.Mode(), err)
	}
	later := submit(t, c)
	for _, name := range []string{"node/n1", "ctld/c1", "ctld/c2", "ctld/c3"} {
		c.Kill(name)
	}
	restored := filepath.Join(dir, "restored")
	if out, err := c.Muster("restore", "--dir", restored, "--name", "c1", file); err != nil {
		t.Fatalf("muster restore: %v\n%s", err, out)
	}
	begin(t, c, "c1", "ctld", "--name", "c1", "--data", filepath.Join(restored, "data"), "--certs", filepath.Join(restored, "certs"),
		"--config", filepath.Join(restored, "cluster.toml"), "--allow-root")
	// The login agent is the old one; it believes the controller by the old authority.
	got := states(c)
	for id, want := range map[string]string{done: "COMPLETED", never: "NODE_FAIL", held: "PENDING", again: "PENDING"} {
		if got[id] != want {
			t.Errorf("job %s is %q, want %s", id, got[id], want)
		}
	}
	if got[later] != "" {
		t.Errorf("job %s was submitted after the backup and is %s", later, got[later])
	}
	if out := c.Good(c.Dir, "sacctmgr", "-n", "show", "account"); !strings.Contains(out, "physics") {
		t.Errorf("the account is lost: %s", out)
	}
	if out := c.Good(c.Dir, "scontrol", "write", "batch_script", held, "-"); !strings.Contains(out, "of the backup") {
		t.Errorf("the script is lost: %s", out)
	}
	if out := controllers(t, c, "list"); strings.Count(out, "\n") != 2 {
		t.Errorf("the controllers are not c1 alone:\n%s", out)
	}
	c.Muster("dev", "start", "--dir", c.Dir, "node/n1")
	waitFor(t, "the requeued job runs", func() bool { return states(c)[again] == "RUNNING" })
}

// states are the states of all jobs by sacct.
func states(c *cluster.Cluster) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(c.Good(c.Dir, "sacct", "-n", "-X", "-P", "-S", "now-1day", "-o", "JobID,State")) {
		id, state, _ := strings.Cut(strings.TrimSpace(line), "|")
		out[id] = state
	}
	return out
}

// begin starts a daemon until the test ends.
func begin(t *testing.T, c *cluster.Cluster, what string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(c.Dir, "log", what+"-restored.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.Bin, "musterd"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		log.Close()
	})
}
