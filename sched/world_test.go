package sched

import (
	"fmt"
	"slices"
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

const minute = job.Time(60000)

// world is a small cluster for tests, changed by hand.
type world struct {
	View
	now  job.Time
	grid int // Budget.GridNodes
	next job.ID
	runs []ran
}

// ran is a start with its end.
type ran struct {
	Start
	of    *job.Job
	until job.Time
}

// newWorld makes nodes n1, n2, … of so many cores and 4000 MB in a partition
// "debug".
func newWorld(nodes, cores int) *world {
	w := &world{now: 1000000, next: 1}
	w.Policy = &partition.Policy{AllocCores: true, TrackMemory: true, DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 100}}
	p := &partition.Partition{Name: "debug", Default: true, DefaultTime: 10, PriorityTier: 1}
	part := Partition{Partition: p}
	for i := range nodes {
		n := &partition.Node{
			ID: job.NodeID(i + 1), Name: fmt.Sprintf("n%d", i+1), State: partition.NodeUp,
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: uint16(cores), ThreadsPerCore: 1, CPUs: uint32(cores), MemoryMB: 4000},
		}
		for g := range 4 {
			n.Gres.Devices = append(n.Gres.Devices, gres.Device{Name: "gpu", Type: "a100", Index: g, File: "/dev/null"})
		}
		w.Nodes = append(w.Nodes, Node{Host: partition.NewHost(n), Busy: &bitset.Set{}})
		p.Nodes = append(p.Nodes, n.ID)
		part.Nodes = append(part.Nodes, i)
	}
	w.Partitions = []Partition{part}
	w.Licenses = []partition.License{{Name: "foo", Total: 4}, {Name: "bar", Total: 2}}
	return w
}

// node changes a node's record.
func (w *world) node(i int, f func(*partition.Node)) {
	n := *w.Nodes[i].Host.Node
	f(&n)
	w.Nodes[i].Host = partition.NewHost(&n)
}

// submit puts a job at the end of the queue.
func (w *world) submit(f func(*job.Job)) job.ID {
	r := &job.Request{Partitions: []string{"debug"}}
	j := &job.Job{ID: w.next, State: job.Pending, Priority: 1000, Request: r, Owner: &job.Owner{UID: 1000, User: "u1"},
		Times: job.Times{Eligible: 1},
		Array: job.Array{Task: job.NoTask}}
	w.next++
	if f != nil {
		f(j)
	}
	w.Waiting = append(w.Waiting, Waiting{Job: j, Class: w.class(j.Request)})
	return j.ID
}

// class shares classes of equal shape, as the feed does.
func (w *world) class(r *job.Request) *Class {
	for _, x := range w.Waiting {
		if Key(x.Job.Request) == Key(r) {
			return x.Class
		}
	}
	return NewClass(r)
}

// ask is a job of so many tasks with a limit in minutes.
func ask(tasks uint32, limit job.Minutes) func(*job.Job) {
	return func(j *job.Job) {
		j.Request.Size.Tasks = tasks
		j.Request.Timing.Limit = limit
	}
}

// apply starts what a plan starts.
func (w *world) apply(p *Plan) {
	for _, s := range p.Starts {
		w.run(s)
	}
}

func (w *world) run(s Start) {
	at := slices.IndexFunc(w.Waiting, func(x Waiting) bool { return x.Job.ID == s.Job })
	x := &w.Waiting[at]
	of := x.Job
	if x.Job.IsArrayRest() && x.Job.Array.Waiting.Len() > 1 {
		j := *x.Job
		j.Array.Waiting = j.Array.Waiting.Clone()
		j.Array.Waiting.Remove(int(s.Task))
		x.Job = &j
		x.Active++
	} else {
		w.Waiting = slices.Delete(slices.Clone(w.Waiting), at, at+1)
	}
	until := job.Time(0)
	if s.Limit != job.Unlimited {
		until = w.now + job.Time(s.Limit)*minute
	}
	if of.IsArrayRest() {
		task := *of
		of = &task
	}
	of.State, of.Times.Start, of.Alloc = job.Running, w.now, &s.Alloc
	w.runs = append(w.runs, ran{s, of, until})
	w.hold(&w.runs[len(w.runs)-1])
}

func (w *world) hold(s *ran) {
	for i := range s.Alloc.Nodes {
		share := &s.Alloc.Nodes[i]
		n := &w.Nodes[share.Node-1]
		n.Holds = append(slices.Clone(n.Holds), Hold{Job: s.Job, Of: s.of, Partition: s.Alloc.Partition, Until: s.until, Room: n.Host.Of(share)})
		n.hold(share)
	}
	if len(s.Alloc.Licenses) > 0 {
		w.LicenseHolds = append(w.LicenseHolds, LicenseHold{Job: s.Job, Until: s.until, Licenses: s.Alloc.Licenses})
	}
}

// cancel makes a running job one that is about to end.
func (w *world) cancel(id job.ID, until job.Time) {
	for i := range w.runs {
		if w.runs[i].Job == id {
			w.runs[i].until, w.runs[i].of.Cancel = until, &job.Cancel{}
		}
	}
	w.expire()
}

// jobOf finds a running job's record.
func (w *world) jobOf(id job.ID) *job.Job {
	for i := range w.runs {
		if w.runs[i].Job == id {
			return w.runs[i].of
		}
	}
	return nil
}

// expire ends the jobs whose limit has passed.
func (w *world) expire() {
	w.runs = slices.DeleteFunc(w.runs, func(s ran) bool { return s.until != 0 && s.until <= w.now })
	w.Nodes = slices.Clone(w.Nodes)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		n.Holds, n.Busy, n.Held = nil, &bitset.Set{}, nil
	}
	w.LicenseHolds = nil
	for i := range w.runs {
		w.hold(&w.runs[i])
	}
}

// hold counts the cores and devices of a share as held.
func (n *Node) hold(share *job.Share) {
	n.Busy = n.Busy.Clone()
	n.Busy.Union(share.Cores)
	held := make([]*bitset.Set, len(n.Host.Kinds))
	for k := range held {
		held[k] = &bitset.Set{}
		if k < len(n.Held) {
			held[k].Union(n.Held[k])
		}
		for _, d := range share.Devices {
			if d.Name == n.Host.Kinds[k].Name && d.Type == n.Host.Kinds[k].Type {
				held[k].Union(d.Index)
			}
		}
	}
	n.Held = held
}

func (w *world) plan() *Plan { return w.Plan(w.now, Budget{GridNodes: w.grid}) }

// started lists the jobs that a plan starts.
func started(p *Plan) []job.ID {
	out := []job.ID{}
	for _, s := range p.Starts {
		out = append(out, s.Job)
	}
	return out
}

func (p *Plan) verdict(id job.ID) *Verdict {
	for i := range p.Verdicts {
		if p.Verdicts[i].Job == id {
			return &p.Verdicts[i]
		}
	}
	return nil
}

// wantStarts checks which jobs start, in order.
func wantStarts(t *testing.T, p *Plan, ids ...job.ID) {
	t.Helper()
	if got := started(p); !slices.Equal(got, ids) && len(got)+len(ids) > 0 {
		t.Fatalf("started %v, want %v; verdicts %+v", got, ids, p.Verdicts)
	}
}

// wantReason checks the binding reason of a waiting job.
func wantReason(t *testing.T, p *Plan, id job.ID, want job.Reason) *Verdict {
	t.Helper()
	v := p.verdict(id)
	if v == nil {
		t.Fatalf("job %d has no verdict; started %v", id, started(p))
	}
	if v.Reasons[0].Reason != want {
		t.Fatalf("job %d waits for %v (%s), want %v", id, v.Reasons[0].Reason, v.Reasons[0].Detail, want)
	}
	return v
}

// nodesOf lists the nodes a start got.
func nodesOf(p *Plan, id job.ID) []string {
	for _, s := range p.Starts {
		if s.Job == id {
			var out []string
			for _, n := range s.Alloc.Nodes {
				out = append(out, n.Name)
			}
			return out
		}
	}
	return nil
}
