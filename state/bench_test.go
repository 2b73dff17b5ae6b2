package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// The size that the design asks for: a million jobs of about 25 fields, of 1,000
// users, 50 accounts and 10,000 names, with blobs of which one in ten is new.
const benchJobs = 1_000_000

const benchBatch = 64

func benchHash(kind string, n int) job.Hash {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	sum := sha256.Sum256(append([]byte(kind), b[:]...))
	return job.Hash(sum[:16])
}

// benchJob is job number i; the jobs of ten in a row have the same blobs.
func benchJob(i int) NewJob {
	user := i / 10 % 1000
	name := fmt.Sprintf("job-%d", i/10%10_000)
	return NewJob{
		Owner:    job.Owner{UID: uint32(10_000 + user), GID: 100, User: fmt.Sprintf("user%d", user), Group: "users", Groups: []uint32{100, 200}},
		Account:  fmt.Sprintf("account%d", user%50),
		QOS:      "normal",
		Priority: uint32(1_000_000 + i*7919%100_000),
		Request: job.Request{
			Name: name, Partitions: []string{"main"}, Requeue: true, SubmitLine: "sbatch " + name + ".sh",
			Size:   job.Size{MinNodes: 1, MaxNodes: 1, Tasks: 1, CPUsPerTask: 1, MinCPUs: 1},
			Memory: job.Memory{Per: job.MemoryPerCPU, MB: 2000},
			Gres:   job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Count: 1}}},
			Timing: job.Timing{Limit: job.Minutes(10 + i/10%600)},
			Batch: job.Batch{Script: benchHash("script", i/10), Environment: benchHash("environment", i/10),
				WorkDir: fmt.Sprintf("/home/user%d/run", user), Stdout: "slurm-%j.out", Command: "/home/" + name + ".sh",
				SubmitDir: fmt.Sprintf("/home/user%d/run", user), SubmitHost: "login1", Umask: 0o22},
		},
	}
}

// benchMachine is a machine with a million jobs, made once: nine in ten over, a
// tenth waiting.
var benchMachine = sync.OnceValue(func() *Machine {
	m := New()
	c := testCluster()
	for i := range 64 {
		c.Nodes = append(c.Nodes, partition.Node{Name: fmt.Sprintf("n%d", i+1),
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: 64, CPUs: 64, MemoryMB: 1 << 20}})
	}
	give(m, Seal(&Configure{Cluster: c}, Actor{}, RequestID{}))
	for i := range 64 {
		give(m, Seal(&NodeRegister{Name: fmt.Sprintf("n%d", i+1), BootID: "b", Journal: "j"}, Actor{}, RequestID{}))
	}
	for i := 0; i < benchJobs; i += 100 {
		submit, cancel := make([]Envelope, 0, 100), &End{To: job.Cancelled}
		for k := range 100 {
			submit = append(submit, Seal(&Submit{Jobs: []NewJob{benchJob(i + k)}}, Actor{}, RequestID{}))
			if k%10 != 0 {
				cancel.Targets = append(cancel.Targets, Target{Job: job.ID(i + k + 1)})
			}
		}
		give(m, submit...)
		give(m, Seal(cancel, Actor{}, RequestID{}))
		_, next := m.Root().OutboxRange()
		give(m, Seal(&OutboxDone{Through: next - 1}, Actor{}, RequestID{}))
	}
	return m
})

func give(m *Machine, list ...Envelope) []Result {
	e := &Entry{Now: m.Root().Now() + 10, Commands: list}
	e, err := DecodeEntry(e.Encode(nil))
	if err != nil {
		panic(err)
	}
	res, err := m.Apply(m.Root().Index()+1, e)
	if err != nil {
		panic(err)
	}
	return res
}

// BenchmarkApply takes jobs through submit, start and end, 64 commands an entry,
// among a million others. ns/op is for one transition; the decoding of the entry
// is in it.
func BenchmarkApply(b *testing.B) {
	m := benchMachine()
	b.ReportAllocs()
	b.ResetTimer()
	cpu(b, "transition", float64(b.N), func() {
		for done := 0; done < b.N; done += 3 * benchBatch {
			benchRound(b, m, done)
		}
	})
}

// benchRound takes a batch of jobs from submit to the end.
func benchRound(b *testing.B, m *Machine, done int) {
	node := func(i int) string { return fmt.Sprintf("n%d", i%64+1) }
	var list []Envelope
	for i := range benchBatch {
		n := benchJob(done + i)
		list = append(list, Seal(&Submit{Jobs: []NewJob{n}}, Actor{UID: n.Owner.UID}, benchRequest(m, i)))
	}
	res := give(m, list...)
	list = list[:0]
	for i := range res {
		n := m.Root().NodeNamed(node(i))
		list = append(list, Seal(&Start{Job: res[i].Jobs[0], Task: job.NoTask, Limit: 10, Alloc: job.Allocation{
			Partition: "main", CPUs: 1, BatchNode: n.ID,
			Nodes: []job.Share{{Node: n.ID, Name: n.Name, CPUs: 1, Tasks: 1, MemoryMB: 100, Cores: bitset.Of(0)}}}}, Actor{}, RequestID{}))
	}
	started := give(m, list...)
	list = list[:0]
	for i := range started {
		if started[i].Code != OK {
			b.Fatal(started[i].Text)
		}
		list = append(list, Seal(&Report{Job: started[i].Jobs[0], Node: node(i), Ended: true, Released: true}, Actor{}, RequestID{}))
	}
	give(m, list...)
	_, next := m.Root().OutboxRange()
	give(m, Seal(&OutboxDone{Through: next - 1}, Actor{}, RequestID{}))
}

// benchRequest is an id that no other command of the machine has had.
func benchRequest(m *Machine, i int) RequestID {
	var id RequestID
	binary.LittleEndian.PutUint64(id[:], m.Root().Index())
	id[15] = byte(i + 1)
	return id
}

// cpu runs f n times and reports the CPU time of each by this process, garbage
// collection included: on a shared machine the wall clock says little.
func cpu(b *testing.B, unit string, per float64, f func()) {
	b.Helper()
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	f()
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(used)/1000/per, "cpu-us/"+unit)
}

// BenchmarkSnapshotStall is what the machine loses when a snapshot is taken: the
// root is kept, and the first changes after it copy pages again.
func BenchmarkSnapshotStall(b *testing.B) {
	m := benchMachine()
	var kept *Root
	b.ResetTimer()
	for b.Loop() {
		m.publish()
		kept = m.Root()
	}
	runtime.KeepAlive(kept)
}

func BenchmarkSnapshotWrite(b *testing.B) {
	r := benchMachine().Root()
	n := &countingWriter{}
	b.ResetTimer()
	cpu(b, "snapshot", float64(b.N), func() {
		for range b.N {
			n.bytes = 0
			if err := r.WriteSnapshot(n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(n.bytes)/1e6, "MB")
}

type countingWriter struct{ bytes int }

func (c *countingWriter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

func BenchmarkRestore(b *testing.B) {
	var buf bytes.Buffer
	if err := benchMachine().Root().WriteSnapshot(&buf); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	cpu(b, "restore", float64(b.N), func() {
		for range b.N {
			if err := New().Restore(bytes.NewReader(buf.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDiff is the difference of two roots that are 64 changes apart.
func BenchmarkDiff(b *testing.B) {
	m := benchMachine()
	old := m.Root()
	var list []Envelope
	for i := range benchBatch {
		list = append(list, Seal(&Reprioritize{List: []Priority{{job.ID(1 + i*10_000), uint32(5 + i)}}}, Actor{}, RequestID{}))
	}
	give(m, list...)
	b.ResetTimer()
	for b.Loop() {
		n := 0
		for range m.Root().DiffJobs(old) {
			n++
		}
		if n == 0 {
			b.Fatal("no difference")
		}
	}
}

// BenchmarkHugeArray starts tasks of an array of a million, 64 an entry: the
// array is one record until then, and must not be copied for each task.
func BenchmarkHugeArray(b *testing.B) {
	m := New()
	c := testCluster()
	c.Nodes = []partition.Node{{Name: "n1", Declared: partition.Shape{Sockets: 1, CoresPerSocket: 64, CPUs: 64, MemoryMB: 1 << 20}}}
	give(m, Seal(&Configure{Cluster: c}, Actor{}, RequestID{}))
	give(m, Seal(&NodeRegister{Name: "n1", BootID: "b", Journal: "j"}, Actor{}, RequestID{}))
	n := benchJob(0)
	n.Tasks = bitset.Range(0, 1_000_000)
	id := give(m, Seal(&Submit{Jobs: []NewJob{n}}, Actor{}, RequestID{}))[0].Jobs[0]
	b.ReportAllocs()
	b.ResetTimer()
	for task := 0; task < b.N; {
		var starts []Envelope
		for core := range min(benchBatch, b.N-task) {
			starts = append(starts, Seal(&Start{Job: id, Task: uint32(task), Alloc: job.Allocation{Partition: "main",
				Nodes: []job.Share{{Node: 1, Name: "n1", CPUs: 1, Cores: bitset.Of(core)}}}}, Actor{}, RequestID{}))
			task++
		}
		var ends []Envelope
		for _, r := range give(m, starts...) {
			if r.Code != OK {
				b.Fatal(r.Text)
			}
			ends = append(ends, Seal(&Report{Job: r.Jobs[0], Node: "n1", Ended: true, Released: true}, Actor{}, RequestID{}))
		}
		give(m, ends...)
	}
}
