package survive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/test/cluster"
)

// bench is a cluster under attack and what its jobs wrote.
type bench struct {
	t          *testing.T
	c          *cluster.Cluster
	ctx        context.Context
	dir, proof string
	ids        []string
}

func attack(t *testing.T, args ...string) *bench {
	c := cluster.Up(t, append([]string{"--controllers", "3", "--nodes", "4", "--cpus", "8"}, args...)...)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return &bench{t: t, c: c, ctx: ctx, dir: dir, proof: filepath.Join(dir, "proof")}
}

// submit submits one job that writes its lines, and between them waits until
// there is a file gate in the directory of the test, if a name is given.
func (b *bench) submit(gate string, args ...string) string {
	b.t.Helper()
	text := script
	if gate != "" {
		wait := fmt.Sprintf("while [ ! -e %s ]; do sleep 0.05; done\n", filepath.Join(b.dir, gate))
		text = strings.Replace(script, "say end", wait+"say end", 1)
	}
	args = append([]string{"--parsable", "-o", "/dev/null", "--mem=10", "--export=ALL,PROOF=" + b.proof}, args...)
	o := b.c.Run(b.ctx, b.dir, text, "sbatch", args...)
	if o.Code != 0 {
		b.t.Fatalf("sbatch: exit code %d: %s", o.Code, o.Stderr)
	}
	id := strings.TrimSpace(o.Stdout)
	b.ids = append(b.ids, id)
	return id
}

func (b *bench) open(gate string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, gate), nil, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// done waits until no job is left and compares what ran with what was
// acknowledged.
func (b *bench) done() {
	b.t.Helper()
	waitDone(b.t, b.ctx, b.c, b.dir)
	compare(b.t, b.c, b.dir, b.proof, b.ids)
}

// A leader that gets no processor for a while is followed by another, and when it
// goes on it neither dispatches nor answers as if it still led.
func TestALeaderIsStoppedAndGoesOn(t *testing.T) {
	b := attack(t)
	for round := range 3 {
		for range 10 {
			b.submit("")
		}
		old := b.c.Leader()
		pid := b.c.PID(old)
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			b.submit("")
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			b.submit("")
		}
		if now := b.c.Leader(); now == old {
			t.Errorf("round %d: %s took jobs while it was stopped?", round, old)
		}
	}
	b.done()
	onlyFirst(t, b)
}

// onlyFirst fails the test if a job ran in another attempt than its first.
func onlyFirst(t *testing.T, b *bench) {
	t.Helper()
	for id, list := range attempts(t, b.proof) {
		if len(list) != 1 || list["0"] == nil {
			t.Errorf("job %s ran in %d attempts, the healthy node lost none", id, len(list))
		}
	}
}

// Jobs that end while their node's daemon is away are accounted when it is back,
// as what they were.
func TestJobsEndWhileNodeDaemonsAreAway(t *testing.T) {
	b := attack(t)
	for range 24 {
		b.submit("gate")
	}
	waitLines(t, b.proof, 24)
	for i := range 4 {
		b.c.Kill(fmt.Sprintf("noded/n%d", i+1))
	}
	b.open("gate")
	waitLines(t, b.proof, 48)
	for i := range 4 {
		b.c.Start(fmt.Sprintf("noded/n%d", i+1))
	}
	b.done()
	onlyFirst(t, b)
}

// A shepherd's death takes the exit statuses of its jobs along: they end, none as
// a success, no process of them lives on, and the node takes jobs again.
func TestAShepherdIsKilled(t *testing.T) {
	b := attack(t)
	for range 4 {
		b.submit("never", "-w", "n1", "--no-requeue")
	}
	waitLines(t, b.proof, 4)
	text, err := os.ReadFile(filepath.Join(b.c.Dir, "noded", "n1", "data", "shepherd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, b.ctx, b.c, b.dir)
	states := accounts(b.c, b.dir)
	for _, id := range b.ids {
		if s := states[id]; len(s) != 1 || s[0] != "FAILED" && s[0] != "NODE_FAIL" {
			t.Errorf("accounting has job %s as %q, want one failure", id, s)
		}
	}
	for _, l := range lines(t, b.proof) {
		// What is dead and waits for init to take it has no program any more.
		pid := strings.Fields(l)[3]
		if exe, err := os.Readlink("/proc/" + pid + "/exe"); err == nil {
			t.Errorf("process %s of job %s lives on: %s", pid, strings.Fields(l)[1], exe)
		}
	}
	b.ids = []string{b.submit("", "-w", "n1")}
	b.done()
}

// A node that comes back with another boot id has ended all its jobs: exactly
// once, and those that may be requeued run again.
func TestANodeBootsAnew(t *testing.T) {
	b := attack(t)
	once := []string{b.submit("gate", "-w", "n3", "--no-requeue"), b.submit("gate", "-w", "n3", "--no-requeue")}
	b.ids = nil
	for range 3 {
		b.submit("gate", "-w", "n3", "--requeue")
	}
	waitLines(t, b.proof, 5)
	b.c.Kill("node/n3")
	b.c.Start("node/n3")
	waitLines(t, b.proof, 8)
	b.open("gate")
	b.done()
	states := accounts(b.c, b.dir, "-D")
	for _, id := range once {
		if s := states[id]; len(s) != 1 || s[0] != "NODE_FAIL" {
			t.Errorf("accounting has job %s as %q, want NODE_FAIL once", id, s)
		}
	}
	boots := map[string]bool{}
	for _, l := range lines(t, b.proof) {
		if f := strings.Fields(l); f[0] == "start" {
			boots[f[4]+" "+f[2]] = true
		}
	}
	if len(boots) != 2 {
		t.Errorf("boot id and attempt of the starts: %v, want first attempts of one boot and second ones of another", boots)
	}
}

// A controller whose disk was lost catches up from the others, and may then be
// one of the two that are left.
func TestAControllerLosesItsDisk(t *testing.T) {
	b := attack(t, "--ctld=--snapshot-commands=200")
	for round := range 2 {
		for range 40 {
			b.submit("")
		}
		victim := "c1"
		if b.c.Leader() == victim {
			victim = "c2"
		}
		b.c.Kill("ctld/" + victim)
		data := filepath.Join(b.c.Dir, "ctld", victim, "data")
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			b.submit("")
		}
		b.c.Start("ctld/" + victim)
		waitCaughtUp(t, b, victim)
		b.c.Kill("ctld/leader")
		for range 20 {
			b.submit("")
		}
		b.c.Start("")
		t.Logf("round %d: the disk of %s", round, victim)
	}
	b.done()
}

// waitCaughtUp waits until a controller has all that was committed.
func waitCaughtUp(t *testing.T, b *bench, name string) {
	t.Helper()
	for {
		_, err := os.Stat(filepath.Join(b.c.Dir, "ctld", name, "data", "newcomer"))
		_, log := os.Stat(filepath.Join(b.c.Dir, "ctld", name, "data", "raft.db"))
		if os.IsNotExist(err) && log == nil {
			return
		}
		if b.ctx.Err() != nil {
			t.Fatalf("controller %s is not caught up", name)
		}
		time.Sleep(20 * time.Millisecond) // a file that goes gives no event
	}
}

// Snapshots are taken all the while, and the controllers are killed in turn.
func TestControllersAreKilledWhileTheyTakeSnapshots(t *testing.T) {
	b := attack(t, "--ctld=--snapshot-commands=20")
	for round := range 6 {
		for range 20 {
			b.submit("")
		}
		b.c.Kill(fmt.Sprintf("ctld/%d", round%3+1))
		for range 5 {
			b.submit("")
		}
		b.c.Start("")
	}
	found, err := filepath.Glob(filepath.Join(b.c.Dir, "ctld", "c*", "data", "snapshots", "*"))
	if err != nil || len(found) < 3 {
		t.Fatalf("%d snapshots were taken (%v): the test would prove nothing", len(found), err)
	}
	b.done()
}
