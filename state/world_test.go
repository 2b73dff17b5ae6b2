package state

import (
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// world is a machine with a clock, and the log of what it was given.
type world struct {
	t     tester
	m     *Machine
	now   job.Time
	index uint64
	log   [][]byte
	by    Actor
}

const testStart = job.Time(1_700_000_000_000)

// newWorld makes a machine with nodes n1 to n4 of 4 cores, 8000 MB and two GPUs,
// all up, in the partitions main (default) and fenced.
func newWorld(t tester) *world {
	w := &world{t: t, m: New(), now: testStart, by: Actor{UID: 1000, User: "user", Host: "login"}}
	w.must(&Configure{Cluster: testCluster("n1", "n2", "n3", "n4")})
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		w.register(n, "boot1")
	}
	return w
}

func testCluster(names ...string) partition.Cluster {
	c := partition.Cluster{
		Name:     "test",
		Licenses: []partition.License{{Name: "lic", Total: 3}},
		Policy:   partition.Policy{TrackMemory: true, AllocCores: true, MailProg: "/bin/mail"},
		Partitions: []partition.Partition{
			{Name: "main", NodeList: "ALL", Default: true},
			{Name: "fenced", NodeList: "ALL", Fence: partition.FenceProof},
		},
	}
	for _, n := range names {
		c.Nodes = append(c.Nodes, partition.Node{
			Name:     n,
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 1, CPUs: 4, MemoryMB: 8000},
			Gres: gres.Inventory{
				Devices: []gres.Device{{Name: "gpu", Type: "a100", Index: 0}, {Name: "gpu", Type: "a100", Index: 1}},
				Counts:  []gres.Item{{Name: "scratch", Count: 10}},
			},
		})
	}
	return c
}

// do applies one command in an entry of its own, a second later.
func (w *world) do(c Command) Result {
	w.t.Helper()
	return w.apply(Seal(c, w.by, RequestID{}))[0]
}

func (w *world) apply(commands ...Envelope) []Result {
	w.t.Helper()
	w.now += 1000
	w.index++
	e := &Entry{Now: w.now, Commands: commands}
	w.log = append(w.log, e.Encode(nil))
	res, err := w.m.Apply(w.index, e)
	if err != nil {
		w.t.Fatalf("entry %d: %v", w.index, err)
	}
	return res
}

// must is do for what has to work.
func (w *world) must(c Command) Result {
	w.t.Helper()
	res := w.do(c)
	if res.Code != OK || len(res.Skipped) > 0 {
		w.t.Fatalf("%T: code %d %s %v", c, res.Code, res.Text, res.Skipped)
	}
	return res
}

// refuse is do for what must not work.
func (w *world) refuse(code Code, c Command) {
	w.t.Helper()
	if res := w.do(c); res.Code != code {
		w.t.Fatalf("%T: code %d %q, want %d", c, res.Code, res.Text, code)
	}
}

func (w *world) register(node, boot string, running ...AttemptID) {
	w.t.Helper()
	w.must(&NodeRegister{Name: node, BootID: boot, Journal: "j" + node, Running: running})
}

// newJob is a plain batch job named "job" that may be requeued.
func newJob() NewJob {
	return NewJob{
		Owner: job.Owner{UID: 1000, GID: 100, User: "user"}, Account: "acct",
		Request: job.Request{Name: "job", Partitions: []string{"main"}, Requeue: true,
			Batch: job.Batch{Script: job.Hash{1}, WorkDir: "/home/user"}},
	}
}

// submit puts one job in, changed by f.
func (w *world) submit(f func(*NewJob)) job.ID {
	w.t.Helper()
	n := newJob()
	if f != nil {
		f(&n)
	}
	return w.must(&Submit{Jobs: []NewJob{n}}).Jobs[0]
}

// startCmd starts a job, or a task, on the named nodes, one core on each.
func (w *world) startCmd(id job.ID, task uint32, core int, nodes ...string) *Start {
	w.t.Helper()
	a := job.Allocation{Partition: "main"}
	for _, name := range nodes {
		n := w.m.Root().NodeNamed(name)
		a.Nodes = append(a.Nodes, job.Share{Node: n.ID, Name: name, CPUs: 1, Tasks: 1, MemoryMB: 100, Cores: bitset.Of(core)})
		a.CPUs++
		a.MemoryMB += 100
	}
	a.BatchNode = a.Nodes[0].Node
	return &Start{Job: id, Task: task, Alloc: a, Limit: 10}
}

// start starts a plain job on core 0 of nodes.
func (w *world) start(id job.ID, nodes ...string) {
	w.t.Helper()
	w.must(w.startCmd(id, job.NoTask, 0, nodes...))
}

// exit reports the end of a job's script with a code, and that all is released.
func (w *world) exit(id job.ID, code uint32) {
	w.t.Helper()
	j := w.job(id)
	for _, s := range j.Alloc.Nodes {
		r := &Report{Job: id, Attempt: j.Attempt, Node: s.Name, Released: true, At: w.now}
		if s.Node == j.Alloc.BatchNode {
			r.Ended, r.Result.ExitCode = true, code
		}
		w.must(r)
	}
}

func (w *world) job(id job.ID) *job.Job {
	w.t.Helper()
	j := w.m.Root().Job(id)
	if j == nil {
		w.t.Fatalf("job %d is not in memory", id)
	}
	return j
}

// is checks state and reason of a job.
func (w *world) is(id job.ID, s job.State, r job.Reason) {
	w.t.Helper()
	if j := w.job(id); j.State != s || j.Reason != r {
		w.t.Fatalf("job %d is %s with reason %s, want %s with %s", id, job.Word(j.State, j.Flags, false), j.Reason, s, r)
	}
}

// ends lists what the outbox has of a job: one word an attempt.
func (w *world) ends(id job.ID) []string {
	var out []string
	for _, j := range w.m.Root().OutboxJobs(0) {
		if j.ID == id {
			out = append(out, j.State.String())
		}
	}
	return out
}

func (w *world) cancel(targets ...Target) Result {
	return w.do(&End{Targets: targets, To: job.Cancelled})
}

// tb makes a *testing.T a tester.
var _ tester = (*testing.T)(nil)
