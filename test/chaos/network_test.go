package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"muster/test/cluster"
)

// network is a cluster whose network is attacked, and what its clients did.
type network struct {
	t       *testing.T
	c       *cluster.Cluster
	links   *links
	names   []string
	chance  *rand.Rand
	begun   time.Time
	stopped map[string]int // pids under SIGSTOP
	socket  string         // of the login agent; those of the nodes lie beside it
	proof   string         // where jobs write that they ran
	acked   []string       // jobs that were acknowledged, but for the held ones

	count   map[string]int // of faults, by name
	calls   int            // that clients made
	unknown int            // of them, writes without an answer

	mu      sync.Mutex
	history []porcupine.Operation
}

// step is what a client asked: to write a job's comment, or to read it ("").
type step struct{ job, write string }

// register is the model: a job's comment is what was written to it last.
func register() porcupine.Model {
	return porcupine.Model{
		Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
			byJob := map[string]int{}
			var out [][]porcupine.Operation
			for _, o := range h {
				k := o.Input.(step).job
				if _, ok := byJob[k]; !ok {
					byJob[k] = len(out)
					out = append(out, nil)
				}
				out[byJob[k]] = append(out[byJob[k]], o)
			}
			return out
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			if w := input.(step).write; w != "" {
				return true, w
			}
			return output.(string) == state.(string), state
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %v", input, output) },
	}
}

// never is long after the history: the end of a write whose answer never came.
const never = int64(1) << 60

// call runs a command with little patience through one of the agents.
func (n *network) call(socket, name string, args ...string) (string, bool) {
	cmd := exec.Command(filepath.Join(n.c.Bin, name), args...)
	cmd.Dir, cmd.Env = n.c.Dir, append(os.Environ(), "MUSTER_SOCKET="+socket, "MUSTER_TIMEOUT=5")
	out, err := cmd.Output()
	return string(out), err == nil
}

var comment = regexp.MustCompile(`(?m)^\s*Comment=(\S*)`)

// client writes and reads comments of jobs until ctx ends, and notes when.
func (n *network) client(ctx context.Context, id int, socket string, jobs []string) {
	chance := rand.New(rand.NewPCG(uint64(id), 7))
	for i := 0; ctx.Err() == nil; i++ {
		s := step{job: jobs[chance.IntN(len(jobs))]}
		if chance.IntN(2) == 0 {
			s.write = fmt.Sprintf("v%d.%d", id, i)
		}
		o := porcupine.Operation{ClientId: id, Input: s, Call: int64(time.Since(n.begun)), Output: ""}
		if s.write != "" {
			if _, ok := n.call(socket, "scontrol", "update", "JobId="+s.job, "Comment="+s.write); ok {
				o.Return = int64(time.Since(n.begun))
			} else {
				o.Return = never // perhaps it was done, perhaps it will be
			}
		} else {
			out, ok := n.call(socket, "scontrol", "show", "job", s.job)
			if !ok {
				continue // nothing was learned
			}
			if m := comment.FindStringSubmatch(out); m != nil {
				o.Output = m[1]
			}
			o.Return = int64(time.Since(n.begun))
		}
		n.mu.Lock()
		n.history = append(n.history, o)
		n.mu.Unlock()
		if o.Return == never {
			id += 1000 // a client of porcupine has one call at a time
		}
	}
}

// between are the ways between one controller and all others.
func (n *network) between(one string, out, in bool) (ways []way) {
	for _, other := range n.names {
		if other == one {
			continue
		}
		if out {
			ways = append(ways, way{one, other})
		}
		if in {
			ways = append(ways, way{other, one})
		}
	}
	return ways
}

// attack chooses a fault: what it cuts, how it delays, and what it is called.
func (n *network) attack(leader string) (what string, delay time.Duration, cut []way) {
	follower := n.names[n.chance.IntN(len(n.names))]
	switch n.chance.IntN(8) {
	case 0:
		return "leader alone", 0, n.between(leader, true, true)
	case 1:
		return "leader is not heard", 0, n.between(leader, true, false)
	case 2:
		return "leader does not hear", 0, n.between(leader, false, true)
	case 3:
		return "one alone", 0, n.between(follower, true, true)
	case 4:
		for _, name := range n.names {
			cut = append(cut, n.between(name, true, false)...)
		}
		return "all alone", 0, cut
	case 5:
		return "one way between two", 0, n.between(follower, true, false)[:1]
	case 6:
		return "delay", time.Duration(10+n.chance.IntN(60)) * time.Millisecond, nil
	}
	pid := n.c.PID(leader)
	must(n.t, syscall.Kill(pid, syscall.SIGSTOP))
	n.stopped[leader] = pid
	return "leader stopped", 0, nil
}

// silence is a little more than what an agent waits for before it asks another controller.
const silence = 5 * time.Second

// round injects one fault or two at once for about two seconds, then heals all.
func (n *network) round() string {
	leader := n.c.Leader()
	what, delay, cut := n.attack(leader)
	if n.chance.IntN(2) == 0 {
		also, d, more := n.attack(leader)
		what, delay, cut = what+" + "+also, max(delay, d), append(cut, more...)
	}
	n.links.set(delay, cut...)
	lasts := time.Duration(1000+n.chance.IntN(1500)) * time.Millisecond
	if len(n.stopped) > 0 && n.chance.IntN(2) == 0 {
		lasts += silence
	}
	time.Sleep(lasts)
	n.links.set(0)
	for name, pid := range n.stopped {
		must(n.t, syscall.Kill(pid, syscall.SIGCONT))
		delete(n.stopped, name)
	}
	return what
}

// TestNetwork cuts and delays what controllers say to each other, and stops leaders for
// longer than their lease, while clients write and read. What they saw must have one order
// in which each read gives the write before it, also across a change of leader; what was
// submitted must run once, and no node may be down. CHAOS_ROUNDS and CHAOS_SEED set
// how many rounds and which.
func TestNetwork(t *testing.T) {
	n := newNetwork(t, uint64(number(t, "CHAOS_SEED", 1)))
	if i, err := n.campaign(number(t, "CHAOS_ROUNDS", 4)); err != nil {
		t.Errorf("by round %d: %v", i, err)
	}
	t.Logf("faults %v, %d jobs, %d calls, of %d the end is not known", n.count, len(n.acked), n.calls, n.unknown)
}

// The attack finds what is wrong with programs that do wrong.
func TestNetworkFindsPlantedFaults(t *testing.T) {
	if os.Getenv("MUSTER_FULL") == "" {
		t.Skip("minutes long: set MUSTER_FULL=1")
	}
	bin := faulty(t)
	for _, fault := range []string{"early-reply", "no-requests", "stale-read"} {
		t.Run(fault, func(t *testing.T) {
			t.Setenv("MUSTER_BIN", bin)
			t.Setenv("FAULTS", fault)
			i, err := newNetwork(t, uint64(number(t, "CHAOS_SEED", 1))).campaign(100)
			if err == nil {
				t.Fatalf("%s: nothing was noticed in 100 rounds", fault)
			}
			t.Logf("found by round %d: %v", i, err)
		})
	}
}

func newNetwork(t *testing.T, seed uint64) *network {
	t.Helper()
	n := &network{t: t, begun: time.Now(), stopped: map[string]int{}, count: map[string]int{}, chance: rand.New(rand.NewPCG(seed, 2))}
	n.c, n.links, n.names = linked(t, 3)
	n.socket = n.c.Socket()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	n.proof = filepath.Join(dir, "proof")
	return n
}

// batch is how many rounds go by between two looks at what the clients saw.
const batch = 10

// campaign attacks for so many rounds, or until something is wrong; it returns how many
// it did.
func (n *network) campaign(rounds int) (int, error) {
	n.t.Helper()
	for done := 0; done < rounds; {
		some := min(batch, rounds-done)
		if err := n.some(some); err != nil {
			return done + some, err
		}
		done += some
	}
	return rounds, nil
}

// some attacks for some rounds while clients work, and then judges.
func (n *network) some(rounds int) error {
	n.t.Helper()
	var jobs []string
	for range heldJobs {
		jobs = append(jobs, strings.TrimSpace(n.c.Good(n.c.Dir, "sbatch", "--parsable", "-H", "--mem=10", "--wrap", "true")))
	}
	n.history = nil
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	// Each through an agent of its own: agents believe in different leaders for a while.
	for id, agent := range []string{"login", "n1", "n2"} {
		socket := filepath.Join(filepath.Dir(n.socket), agent+".sock")
		clients.Go(func() { n.client(ctx, id, socket, jobs) })
	}
	clients.Go(func() { n.submit(ctx) })
	for range rounds {
		for what := range strings.SplitSeq(n.round(), " + ") {
			n.count[what]++
		}
	}
	cancel()
	clients.Wait()
	err := errors.Join(n.ranOnce(), n.judge())
	n.c.Good(n.c.Dir, "scancel", jobs...)
	return err
}

// heldJobs are those whose comments clients write and read.
const heldJobs = 4

// submit adds jobs that write what they do, until ctx ends.
func (n *network) submit(ctx context.Context) {
	for ctx.Err() == nil {
		o := n.c.Run(context.Background(), n.c.Dir, script, "sbatch", "--parsable", "-o", "/dev/null", "--mem=10", "--export=ALL,PROOF="+n.proof)
		if o.Code != 0 {
			n.t.Errorf("sbatch: exit code %d: %s", o.Code, o.Stderr) // it tries for a minute
			return
		}
		n.acked = append(n.acked, strings.TrimSpace(o.Stdout))
		select {
		case <-ctx.Done():
		case <-time.After(submitEvery):
		}
	}
}

// submitEvery is the pause between two jobs, so that the queue stays short.
const submitEvery = 50 * time.Millisecond

// ranOnce waits until no job is left but the held ones, and compares what jobs wrote with
// what was acknowledged.
func (n *network) ranOnce() error {
	n.t.Helper()
	for deadline := time.Now().Add(time.Minute); strings.Count(n.c.Good(n.c.Dir, "squeue", "-h", "-o", "%i"), "\n") > heldJobs; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("after a minute jobs are left that take a moment")
		}
	}
	text, err := os.ReadFile(n.proof)
	must(n.t, err)
	seen := map[string]int{}
	for line := range strings.Lines(string(text)) {
		seen[strings.TrimSpace(line)]++
	}
	var errs []error
	for _, id := range n.acked {
		if begun, ended := seen["start "+id+" 0"], seen["end "+id+" 0"]; begun != 1 || ended != 1 {
			errs = append(errs, fmt.Errorf("job %s began %d times and ended %d times, want once", id, begun, ended))
		}
	}
	if len(seen) != 2*len(n.acked) {
		errs = append(errs, fmt.Errorf("%d lines of jobs, want %d: a job was made twice, or nobody knows it", len(seen), 2*len(n.acked)))
	}
	return errors.Join(errs...)
}

// judge looks for an order that explains what the clients saw, and for nodes that are down.
func (n *network) judge() error {
	n.t.Helper()
	for _, o := range n.history {
		n.calls++
		if o.Return == never {
			n.unknown++
		}
	}
	if len(n.history) == 0 {
		return errors.New("no call was answered: nothing was tried")
	}
	if r := porcupine.CheckOperationsTimeout(register(), n.history, time.Minute); r != porcupine.Ok {
		return fmt.Errorf("what the clients saw has no order (%s)", r)
	}
	if out := n.c.Good(n.c.Dir, "sinfo", "-h", "-N", "-o", "%N %t"); strings.Contains(out, "down") {
		return fmt.Errorf("nodes are down:\n%s", out)
	}
	return nil
}

// A read of what was written before, and one of the past, which the model must refuse.
func TestTheModelRefusesAStaleRead(t *testing.T) {
	write := func(v string, call, end int64) porcupine.Operation {
		return porcupine.Operation{Input: step{"1", v}, Call: call, Return: end, Output: ""}
	}
	read := func(v string, call, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 1, Input: step{job: "1"}, Call: call, Return: end, Output: v}
	}
	good := []porcupine.Operation{write("a", 0, 1), write("b", 2, 3), read("b", 4, 5)}
	stale := []porcupine.Operation{write("a", 0, 1), write("b", 2, 3), read("a", 4, 5)}
	unknown := []porcupine.Operation{write("a", 0, 1), write("b", 2, never), read("a", 4, 5)}
	if !porcupine.CheckOperations(register(), good) || !porcupine.CheckOperations(register(), unknown) {
		t.Error("a right history was refused")
	}
	if porcupine.CheckOperations(register(), stale) {
		t.Error("a stale read was accepted")
	}
}
