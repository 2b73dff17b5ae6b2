// Package survive holds the proof that nothing acknowledged is lost: thousands
// of jobs go through three controllers and four nodes while both are killed,
// and what the jobs wrote outside Muster is compared with its own records.
package survive

import (
	"bufio"
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/test/cluster"
)

// script writes one line when the job starts and one when it ends, each with a
// single O_APPEND write: `mark job attempt pid boot-id nanoseconds`.
const script = `#!/bin/sh
say() { echo "$1 $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $$ $MUSTER_BOOT_ID $(date +%s%N)" >> "$PROOF"; }
say start
say end
`

// jobs is how many jobs go through: 400 in `make test`, 10,000 in `make test-full`.
func jobs(t *testing.T) int {
	if s := os.Getenv("SURVIVE_JOBS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("SURVIVE_JOBS: %v", err)
		}
		return n
	}
	return 400
}

func TestNothingIsLostWhenDaemonsAreKilled(t *testing.T) {
	n := jobs(t)
	c := cluster.Up(t, "--controllers", "3", "--nodes", "4", "--cpus", "8")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(dir, "proof")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()

	acked := make(chan string, n)
	var clients sync.WaitGroup
	for k := range 8 {
		clients.Go(func() {
			for i := k; i < n; i += 8 {
				o := c.Run(ctx, dir, script, "sbatch", "--parsable", "-o", "/dev/null", "--requeue", "--mem=10",
					"--export=ALL,PROOF="+proof)
				if o.Code != 0 {
					t.Errorf("sbatch: exit code %d: %s", o.Code, o.Stderr)
					continue
				}
				acked <- strings.TrimSpace(o.Stdout)
			}
		})
	}
	quarrel(t, c, proof, n)
	clients.Wait()
	close(acked)
	var ids []string
	for id := range acked {
		ids = append(ids, id)
	}
	c.Start("") // whatever is still down
	waitDone(t, ctx, c, dir)
	compare(t, c, dir, proof, ids)
}

// quarrel kills parts of the cluster as the proof grows: each kill comes when a
// further part of the jobs has run, so the queue is never empty meanwhile.
func quarrel(t *testing.T, c *cluster.Cluster, proof string, n int) {
	kills := []struct {
		name       string
		what, back []string
	}{
		{"the leader", []string{"ctld/leader"}, []string{""}},
		{"a node daemon", []string{"noded/n2"}, []string{"noded/n2"}},
		{"a follower", []string{"ctld/2"}, []string{"ctld/2"}},
		{"a whole node", []string{"node/n3"}, []string{"node/n3"}},
		{"all controllers", []string{"ctld/1", "ctld/2", "ctld/3"}, []string{""}},
		{"the leader again", []string{"ctld/leader"}, []string{""}},
	}
	for i, k := range kills {
		waitLines(t, proof, n*2*(i+1)/(len(kills)+2))
		t.Logf("kill %s", k.name)
		for _, w := range k.what {
			c.Kill(w)
		}
		for _, b := range k.back {
			c.Start(b)
		}
	}
}

// waitLines waits until the proof has that many lines.
func waitLines(t *testing.T, path string, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; {
		if len(lines(t, path)) >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has %d lines after five minutes, want %d", path, len(lines(t, path)), n)
		}
		// A file that grows gives no event to wait for on every file system.
		time.Sleep(20*time.Millisecond + time.Duration(rand.Intn(20))*time.Millisecond)
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

// waitDone waits until squeue shows no job.
func waitDone(t *testing.T, ctx context.Context, c *cluster.Cluster, dir string) {
	t.Helper()
	for {
		o := c.Run(ctx, dir, "", "squeue", "-h", "-o", "%i %t %r")
		if o.Code == 0 && strings.TrimSpace(o.Stdout) == "" {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("jobs are left: %s%s", o.Stdout, o.Stderr)
		}
		time.Sleep(200 * time.Millisecond) // squeue has no event to wait for
	}
}

// attempt is one attempt of one job, as the job itself wrote it down.
type attempt struct{ start, end int64 }

// compare holds what the jobs wrote against what was acknowledged and against
// the accounting records.
func compare(t *testing.T, c *cluster.Cluster, dir, proof string, ids []string) {
	t.Helper()
	seen := attempts(t, proof)
	unique := map[string]bool{}
	for _, id := range ids {
		if unique[id] {
			t.Errorf("id %s was acknowledged twice", id)
		}
		unique[id] = true
		if !finished(seen[id]) {
			t.Errorf("job %s was acknowledged but never ran to its end", id)
		}
		overlaps(t, id, seen[id])
	}
	states := accounts(c, dir)
	for _, id := range ids {
		if len(states[id]) != 1 || states[id][0] != "COMPLETED" {
			t.Errorf("accounting has job %s as %q, want COMPLETED once", id, states[id])
		}
	}
	healthy(t, c, dir)
	t.Logf("%d jobs acknowledged, %d seen to run, %d lines", len(ids), len(seen), len(lines(t, proof)))
}

// healthy fails the test if a node was taken out of service.
func healthy(t *testing.T, c *cluster.Cluster, dir string) {
	t.Helper()
	if down := strings.TrimSpace(c.Good(dir, "sinfo", "-h", "-N", "-t", "down,drain,fail", "-o", "%N %T")); down != "" {
		t.Errorf("nodes were marked down: %s", down)
	}
}

// accounts reads the states in which the accounting has each job.
func accounts(c *cluster.Cluster, dir string, more ...string) map[string][]string {
	states := map[string][]string{}
	args := append([]string{"-X", "-n", "-P", "-a", "-S", "1970-01-01", "-o", "JobID,State"}, more...)
	for _, l := range strings.Split(c.Good(dir, "sacct", args...), "\n") {
		if id, state, ok := strings.Cut(l, "|"); ok {
			states[id] = append(states[id], state)
		}
	}
	return states
}

// attempts reads the proof: what each job wrote, by job and attempt.
func attempts(t *testing.T, proof string) map[string]map[string]*attempt {
	t.Helper()
	seen := map[string]map[string]*attempt{}
	for _, l := range lines(t, proof) {
		f := strings.Fields(l)
		if len(f) != 6 {
			t.Fatalf("a line of the proof is torn: %q", l)
		}
		mark, id, try := f[0], f[1], f[2]
		ns, err := strconv.ParseInt(f[5], 10, 64)
		if err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		if seen[id] == nil {
			seen[id] = map[string]*attempt{}
		}
		a := seen[id][try]
		switch {
		case mark == "start" && a != nil:
			t.Errorf("job %s attempt %s was started twice", id, try)
		case mark == "start":
			seen[id][try] = &attempt{start: ns}
		case a == nil:
			t.Errorf("job %s attempt %s ended without a start", id, try)
		default:
			a.end = ns
		}
	}
	return seen
}

func finished(attempts map[string]*attempt) bool {
	for _, a := range attempts {
		if a.end != 0 {
			return true
		}
	}
	return false
}

// overlaps reports two attempts of one job that ran at the same time.
func overlaps(t *testing.T, id string, attempts map[string]*attempt) {
	for k, a := range attempts {
		for l, b := range attempts {
			if k < l && a.end != 0 && b.end != 0 && a.start < b.end && b.start < a.end {
				t.Errorf("attempts %s and %s of job %s ran at the same time", k, l, id)
			}
		}
	}
}
