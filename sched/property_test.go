package sched

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// anyJob draws a request of the kinds that the planner treats differently.
func anyJob(t *rapid.T) func(*job.Job) {
	tasks := rapid.Uint32Range(0, 12).Draw(t, "tasks")
	nodes := rapid.Uint32Range(0, 5).Draw(t, "nodes")
	limit := job.Minutes(rapid.Uint32Range(1, 60).Draw(t, "limit"))
	gpus := rapid.Uint64Range(0, 5).Draw(t, "gpus")
	mem := rapid.Uint64Range(0, 3000).Draw(t, "mem")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	return func(j *job.Job) {
		r := j.Request
		r.Size = job.Size{Tasks: tasks, MinNodes: nodes, MaxNodes: nodes}
		r.Timing.Limit = limit
		if mem > 0 {
			r.Memory = job.Memory{Per: job.MemoryPerNode, MB: mem}
		}
		if gpus > 0 {
			r.Gres.PerNode = gres.Spec{{Name: "gpu", Count: gpus}}
		}
		switch kind {
		case 0:
			r.Place.Sharing = job.Exclusive
		case 1:
			r.Licenses = "foo:2"
		case 2:
			j.Array = job.Array{JobID: j.ID, Task: job.NoTask, Waiting: bitset.Range(0, 5), Limit: 3}
		case 3:
			r.Gres = job.GresRequest{PerJob: gres.Spec{{Name: "gpu", Count: gpus + 1}}}
		case 4:
			r.Place.Nodes = []string{"n2"}
		case 5:
			r.Place.Contiguous = true
		case 6:
			r.Timing.MinLimit = 1
		case 7:
			r.Partitions = []string{"debug", "short"}
		}
	}
}

func anyWorld(t *rapid.T) *world {
	w := newWorld(rapid.IntRange(1, 5).Draw(t, "hosts"), 8)
	w.grid = rapid.SampledFrom([]int{0, 1}).Draw(t, "grid")
	w.Partitions = append(w.Partitions, Partition{Partition: &partition.Partition{Name: "short", MaxTime: 20, PriorityTier: 10,
		Nodes: []job.NodeID{1}}, Nodes: []int{0}})
	if rapid.Bool().Draw(t, "reserved") {
		start := w.now + job.Time(rapid.IntRange(0, 30).Draw(t, "begin"))*minute
		w.Reservations = []*partition.Reservation{{Name: "r", Start: start, End: start + 20*minute, Nodes: []job.NodeID{1}, Users: []string{"root"}}}
	}
	return w
}

// In a run of cycles nothing is promised twice, each waiting record has a start
// or a verdict with a reason, and the same view gives the same plan.
func TestPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for range rapid.IntRange(1, 4).Draw(t, "cycles") {
			for range rapid.IntRange(0, 8).Draw(t, "jobs") {
				w.submit(anyJob(t))
			}
			p := w.plan()
			if again := w.plan(); !reflect.DeepEqual(p, again) {
				t.Fatal("the same view gave two plans")
			}
			everyJobIsAnswered(t, w, p)
			w.apply(p)
			nothingTwice(t, w)
			w.now += job.Time(rapid.IntRange(1, 30).Draw(t, "minutes")) * minute
			w.expire()
		}
	})
}

func everyJobIsAnswered(t *rapid.T, w *world, p *Plan) {
	starts := map[job.ID]bool{}
	for _, s := range p.Starts {
		starts[s.Job] = true
	}
	for _, x := range w.Waiting {
		v := p.verdict(x.Job.ID)
		if v == nil && !starts[x.Job.ID] {
			t.Fatalf("job %d has neither a start nor a verdict", x.Job.ID)
		}
		if v != nil && (len(v.Reasons) == 0 || v.Reasons[0].Reason == job.ReasonNone) {
			t.Fatalf("job %d waits for no reason: %+v", x.Job.ID, v)
		}
		if v != nil && v.Planned != 0 && v.Planned <= w.now {
			t.Fatalf("job %d is planned at %d, which is not after now %d", x.Job.ID, v.Planned, w.now)
		}
	}
}

// nothingTwice checks that what jobs hold is what there is, at most.
func nothingTwice(t *rapid.T, w *world) {
	for i := range w.Nodes {
		n := &w.Nodes[i]
		var sum partition.Room
		gpus := int64(0)
		for _, h := range n.Holds {
			sum.Cores += h.Room.Cores
			sum.MemoryMB += h.Room.MemoryMB
			gpus += h.Room.Devices[0]
		}
		all := n.Host.All()
		if sum.Cores > all.Cores || sum.MemoryMB > all.MemoryMB || gpus > all.Devices[0] {
			t.Fatalf("node %s: %+v and %d GPUs are held of %+v", n.Host.Node.Name, sum, gpus, all)
		}
		if n.Busy.Len() != sum.Cores {
			t.Fatalf("node %s: %d cores are counted as held, %d are named: one was given twice", n.Host.Node.Name, sum.Cores, n.Busy.Len())
		}
		if len(n.Held) > 0 && int64(n.Held[0].Len()) != gpus {
			t.Fatalf("node %s: %d GPUs are counted as held, %d are named", n.Host.Node.Name, gpus, n.Held[0].Len())
		}
	}
	used := map[string]uint32{}
	for _, h := range w.LicenseHolds {
		for _, l := range h.Licenses {
			used[l.Name] += l.Count
		}
	}
	if used["foo"] > 4 || used["bar"] > 2 {
		t.Fatalf("licences %v are held", used)
	}
}

// A job that joins at the end of the queue moves no planned start of the jobs
// before it, and stops none of their starts.
func TestJobsBehindDelayNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			w.submit(anyJob(t))
		}
		w.apply(w.plan())
		before := w.plan()
		for range rapid.IntRange(1, 6).Draw(t, "behind") {
			w.submit(func(j *job.Job) { anyJob(t)(j); j.Request.Partitions = []string{"debug"} })
		}
		after := w.plan()
		for _, v := range before.Verdicts {
			if now := after.verdict(v.Job); now == nil || now.Planned != v.Planned {
				t.Fatalf("job %d was planned at %d, now %v", v.Job, v.Planned, now)
			}
		}
	})
}

// What waits with a planned start does start then, when all jobs run to their
// limits and nobody else comes.
func TestPlannedStartsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.IntRange(1, 4).Draw(t, "hosts"), 8)
		for range rapid.IntRange(1, 14).Draw(t, "jobs") {
			w.submit(func(j *job.Job) {
				anyJob(t)(j)
				j.Array, j.Request.Partitions = job.Array{Task: job.NoTask}, []string{"debug"}
				j.Request.Timing.MinLimit = 0
			})
		}
		w.apply(w.plan())
		promised := map[job.ID]job.Time{}
		for _, v := range w.plan().Verdicts {
			if v.Planned != 0 {
				promised[v.Job] = v.Planned
			}
		}
		for len(promised) > 0 {
			next := never
			for _, at := range promised {
				next = min(next, at)
			}
			w.now = next
			w.expire()
			p := w.plan()
			for _, s := range p.Starts {
				delete(promised, s.Job)
			}
			for id, at := range promised {
				if at <= w.now {
					t.Fatalf("job %d was promised %d and does not start at %d: %+v", id, at, w.now, p.verdict(id))
				}
			}
			w.apply(p)
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct{ nodes, cores, jobs, shapes int }{{4, 8, 2000, 1}, {4, 8, 10000, 1}, {100, 32, 10000, 50}, {100, 32, 10000, 2000}} {
		b.Run(fmt.Sprintf("nodes=%d/jobs=%d/shapes=%d", c.nodes, c.jobs, c.shapes), func(b *testing.B) {
			w := newWorld(c.nodes, c.cores)
			classes := map[string]*Class{}
			for i := range c.nodes*c.cores + c.jobs {
				r := &job.Request{Partitions: []string{"debug"}, Memory: job.Memory{Per: job.MemoryPerNode, MB: 1}}
				r.Size.Tasks = 1 + uint32(i%c.shapes%8)
				r.Timing.Limit = 10 + job.Minutes(i%c.shapes)
				k := Key(r)
				if classes[k] == nil {
					classes[k] = NewClass(r)
				}
				j := &job.Job{ID: job.ID(i + 1), State: job.Pending, Priority: 1, Times: job.Times{Eligible: 1}, Request: r, Array: job.Array{Task: job.NoTask}}
				w.Waiting = append(w.Waiting, Waiting{Job: j, Class: classes[k]})
			}
			for p := w.plan(); len(p.Starts) > 0; p = w.plan() {
				w.apply(p)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.Plan(w.now, Budget{Steps: 200000})
			}
		})
	}
}
