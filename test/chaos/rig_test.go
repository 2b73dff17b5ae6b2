// Package chaos attacks whole clusters of the real programs and compares what they
// acknowledged with what they did.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/test/cluster"
	"muster/test/faultfs"
)

// script writes one line when the job starts and one when it ends, each with a
// single write, to a file outside Muster.
const script = `#!/bin/sh
say() { echo "$1 $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}" >> "$PROOF"; }
say start
say end
`

// rig is a cluster whose daemons have their data on disks that lose their power.
type rig struct {
	t          *testing.T
	c          *cluster.Cluster
	ctx        context.Context
	disks      map[string]*faultfs.Disk // by name of the controller or node
	chance     *rand.Rand
	dir, proof string

	mu    sync.Mutex
	acked []string
}

// number is a setting from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// where is the data directory of a daemon below the cluster's.
func where(name string) string {
	kind := "ctld"
	if name[0] == 'n' {
		kind = "noded"
	}
	return filepath.Join(kind, name, "data")
}

// newRig starts three controllers, which take a snapshot each 40 commands, and two
// nodes, all with disks of ours.
func newRig(t *testing.T, seed uint64) *rig {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Getuid() != 0 {
		t.Skip("needs /dev/fuse and root")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx, disks: map[string]*faultfs.Disk{}, chance: rand.New(rand.NewPCG(seed, 1)),
		dir: dir, proof: filepath.Join(dir, "proof")}
	r.c = cluster.UpOn(t, r.mount, "--controllers", "3", "--nodes", "2", "--cpus", "8", "--ctld=--snapshot-commands=40")
	t.Cleanup(r.unmount)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) mount(dir string) {
	for _, name := range []string{"c1", "c2", "c3", "n1", "n2"} {
		path := filepath.Join(dir, where(name))
		must(r.t, os.MkdirAll(path, 0o755))
		d, err := faultfs.Mount(path)
		must(r.t, err)
		r.disks[name] = d
	}
}

// unmount ends those who use the disks first.
func (r *rig) unmount() {
	for name, d := range r.disks {
		r.kill(name) // it may be dead already
		if err := d.Close(); err != nil {
			r.t.Error(err)
		}
	}
}

func (r *rig) kill(name string) error {
	what := "ctld/" + name
	if name[0] == 'n' {
		what = "node/" + name
	}
	out, err := r.c.Muster("dev", "kill", "--dir", r.c.Dir, what)
	if err != nil {
		return fmt.Errorf("kill %s: %w: %s", what, err, out)
	}
	return nil
}

// cut takes the power from some at once and gives it back. Half of the disks keep
// some of what was not synced.
func (r *rig) cut(names []string) error {
	for _, name := range names {
		r.disks[name].Stop()
	}
	for _, name := range names {
		if err := r.kill(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		chance := r.chance
		if r.chance.IntN(2) == 0 {
			chance = nil
		}
		if err := r.disks[name].PowerLoss(chance); err != nil {
			return err
		}
	}
	if out, err := r.c.Muster("dev", "start", "--dir", r.c.Dir); err != nil {
		return fmt.Errorf("after the power loss of %v: %w: %s", names, err, out)
	}
	return nil
}

// run runs a command, which must succeed.
func (r *rig) run(ctx context.Context, input, name string, args ...string) (string, error) {
	o := r.c.Run(ctx, r.dir, input, name, args...)
	if o.Code != 0 {
		return "", fmt.Errorf("%s: exit code %d: %s", name, o.Code, o.Stderr)
	}
	return strings.TrimSpace(o.Stdout), nil
}

func (r *rig) submit(ctx context.Context) error {
	id, err := r.run(ctx, script, "sbatch", "--parsable", "-o", "/dev/null", "--requeue", "--mem=10", "--export=ALL,PROOF="+r.proof)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked = append(r.acked, id)
	return nil
}

// service is how long a cluster that has its power back may take to answer. One that
// takes longer has lost its service, which is a finding, too.
const service = 2 * time.Minute

// load submits jobs from two clients until the function it returns is called.
// A submit that is refused is no loss. If the cluster is lost, nobody waits for its
// answers.
func (r *rig) load() (end func(lost bool)) {
	stop := make(chan struct{})
	ctx, cancel := context.WithCancel(r.ctx)
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := r.submit(ctx); err != nil {
					r.t.Logf("not acknowledged: %v", err)
				}
			}
		})
	}
	return func(lost bool) {
		close(stop)
		if lost {
			cancel()
		}
		limit := time.AfterFunc(service, cancel)
		clients.Wait()
		limit.Stop()
		cancel()
	}
}

// present says which acknowledged jobs the accounting does not know, or knows twice.
func (r *rig) present() error {
	ctx, cancel := context.WithTimeout(r.ctx, service)
	defer cancel()
	out, err := r.run(ctx, "", "sacct", "-X", "-n", "-P", "-a", "-S", "1970-01-01", "-o", "JobID,State")
	if err != nil {
		return err
	}
	count, given := map[string]int{}, map[string]bool{}
	for _, l := range strings.Split(out, "\n") {
		id, _, _ := strings.Cut(l, "|")
		count[id]++
	}
	var errs []error
	for _, id := range r.acked {
		if given[id] {
			errs = append(errs, fmt.Errorf("id %s was given twice", id))
		}
		given[id] = true
		if count[id] != 1 {
			errs = append(errs, fmt.Errorf("job %s was acknowledged, accounting has it %d times", id, count[id]))
		}
	}
	return errors.Join(errs...)
}

// drained waits until no job is left.
func (r *rig) drained() error {
	ctx, cancel := context.WithTimeout(r.ctx, 5*service)
	defer cancel()
	for {
		out, err := r.run(ctx, "", "squeue", "-h", "-o", "%i %t %r")
		if err == nil && out == "" {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("jobs are left: %s: %w", out, errors.Join(ctx.Err(), err))
		}
		time.Sleep(200 * time.Millisecond) // squeue has no event to wait for
	}
}

// ran compares what the jobs wrote with what was acknowledged.
func (r *rig) ran() error {
	text, err := os.ReadFile(r.proof)
	if err != nil {
		return err
	}
	starts, ended := map[string]int{}, map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		mark, attempt, _ := strings.Cut(l, " ")
		id, _, _ := strings.Cut(attempt, " ")
		if mark == "end" {
			ended[id] = true
			continue
		}
		starts[attempt]++
	}
	var errs []error
	for attempt, n := range starts {
		if n > 1 {
			errs = append(errs, fmt.Errorf("attempt (job and count) %s ran %d times", attempt, n))
		}
	}
	for _, id := range r.acked {
		if !ended[id] {
			errs = append(errs, fmt.Errorf("job %s was acknowledged and never ran to its end", id))
		}
	}
	down, err := r.run(r.ctx, "", "sinfo", "-h", "-N", "-t", "down,drain,fail", "-o", "%N %T")
	if down != "" {
		errs = append(errs, fmt.Errorf("nodes were marked down: %s", down))
	}
	return errors.Join(append(errs, err)...)
}
