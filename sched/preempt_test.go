package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/accounting"
	"muster/job"
	"muster/partition"
)

// byQOS makes jobs of QOS high displace those of low.
func byQOS(w *world, mode partition.PreemptMode) {
	w.Policy.Preempt = partition.Preemption{Type: partition.PreemptByQOS, Mode: mode}
	w.Book = &accounting.Book{QOS: []*accounting.QOS{{Name: "high", Priority: 10, Preempt: []string{"low"}}, {Name: "low"}, {Name: "mid", Priority: 5}}}
}

// of is a job of a QOS with so many tasks on one node.
func of(qos string, tasks uint32) func(*job.Job) {
	return func(j *job.Job) {
		ask(tasks, 60)(j)
		j.QOS = qos
		j.Request.Size.MinNodes, j.Request.Size.MaxNodes = 1, 1
		j.Request.Requeue = true
	}
}

func victims(p *Plan) []job.ID {
	var out []job.ID
	for _, v := range p.Preempt {
		out = append(out, v.Victim)
	}
	slices.Sort(out)
	return out
}

// The cheapest set of victims is taken, none that is not needed, and the job starts
// when they are gone.
func TestDisplacesTheCheapest(t *testing.T) {
	w := newWorld(2, 8)
	byQOS(w, partition.PreemptRequeue)
	old := w.submit(of("low", 8))
	w.apply(w.plan())
	w.now += 10 * minute // it has more to lose
	small, young := w.submit(of("low", 2)), w.submit(of("low", 4))
	mid := w.submit(of("mid", 2))
	w.apply(w.plan())
	w.now += minute
	high := w.submit(of("high", 4))
	p := w.plan()
	if got := victims(p); !slices.Equal(got, []job.ID{young}) {
		t.Fatalf("victims %v, want job %d; not %d, %d and %d", got, young, old, small, mid)
	}
	if v := p.Preempt[0]; v.For != high || !v.Requeue || v.Grace != 0 {
		t.Errorf("preemption %+v", v)
	}
	if v := p.verdict(high); v.Planned != second(w.now+overdue) || !slices.Equal(v.Nodes, []job.NodeID{2}) {
		t.Errorf("planned %+v, want on n2 as soon as job %d is gone", v, young)
	}
	w.end(young)
	wantStarts(t, w.plan(), high)
}

func TestWhoIsDisplaced(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*world, *job.Job) // of the victim
		want bool
	}{
		{"a lower QOS", func(*world, *job.Job) {}, true},
		{"one that is not in the list", func(_ *world, j *job.Job) { j.QOS = "mid" }, false},
		{"of a QOS that is never displaced", func(w *world, _ *job.Job) { w.Book.QOS[1].PreemptMode = partition.PreemptOff }, false},
		{"where the cluster displaces nobody", func(w *world, _ *job.Job) { w.Policy.Preempt.Type = "" }, false},
		{"within its exempt time", func(w *world, _ *job.Job) { w.Policy.Preempt.Exempt = 120 }, false},
		{"after its exempt time", func(w *world, _ *job.Job) { w.Policy.Preempt.Exempt = 60 }, true},
		{"within that of its QOS", func(w *world, _ *job.Job) { w.Book.QOS[1].Exempt = accounting.AtMost(120) }, false},
		{"that ends already", func(_ *world, j *job.Job) { j.Cancel = &job.Cancel{} }, false},
		{"a component whose first one has ended", func(_ *world, j *job.Job) { j.Het.Leader = 77 }, false},
		{"a lower tier", func(w *world, j *job.Job) {
			w.Policy.Preempt.Type = partition.PreemptByTier
			w.Partitions[0].PriorityTier = 0
			j.Request.Partitions = []string{"debug"}
		}, true},
		{"the same tier", func(w *world, j *job.Job) {
			w.Policy.Preempt.Type = partition.PreemptByTier
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(1, 8)
			w.Partitions = append(w.Partitions, Partition{Partition: &partition.Partition{Name: "top", PriorityTier: 1, Nodes: []job.NodeID{1}}, Nodes: []int{0}})
			byQOS(w, partition.PreemptCancel)
			id := w.submit(func(j *job.Job) { of("low", 8)(j) })
			victim := w.Waiting[0].Job
			w.apply(w.plan())
			w.now += minute
			c.set(w, victim)
			w.expire() // holds the victim anew
			w.submit(func(j *job.Job) { of("high", 8)(j); j.Request.Partitions = []string{"top"} })
			p := w.plan()
			if got := slices.Equal(victims(p), []job.ID{id}); got != c.want {
				t.Errorf("displaced %v: %v, want %v", victims(p), got, c.want)
			}
		})
	}
}

// Grace time puts off the start; while a job waits for it, nobody else is
// displaced for it.
func TestGraceTime(t *testing.T) {
	w := newWorld(2, 8)
	byQOS(w, partition.PreemptRequeue)
	w.Book.QOS[1].GraceTime = 90
	a, b := w.submit(of("low", 8)), w.submit(of("low", 8))
	w.apply(w.plan())
	w.now += minute
	high := w.submit(of("high", 8))
	p := w.plan()
	ends := second(w.now + 90_000 + overdue)
	if len(p.Preempt) != 1 || p.Preempt[0].Grace != 90 || p.verdict(high).Planned != ends {
		t.Fatalf("preempted %+v of %d and %d, planned %d, want %d", p.Preempt, a, b, p.verdict(high).Planned, ends)
	}
	w.cancel(p.Preempt[0].Victim, w.now+90_000)
	w.now += 30_000
	if p = w.plan(); len(p.Preempt) > 0 {
		t.Fatalf("displaces %+v too, while job %d is about to end", p.Preempt, a)
	}
}

// In random worlds: whoever is displaced is of a lower QOS, no set of victims is
// larger than it must be, and with the victims gone the other starts.
func TestDisplacingIsProven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rapid.IntRange(1, 3).Draw(rt, "hosts"), 8)
		byQOS(w, partition.PreemptRequeue)
		for range rapid.IntRange(1, 8).Draw(rt, "running") {
			w.submit(of(rapid.SampledFrom([]string{"low", "mid"}).Draw(rt, "qos"), rapid.Uint32Range(1, 8).Draw(rt, "tasks")))
		}
		w.apply(w.plan())
		w.Waiting = nil
		w.now += minute
		high := w.submit(of("high", rapid.Uint32Range(1, 8).Draw(rt, "want")))
		p := w.plan()
		gone := victims(p)
		for _, id := range gone {
			if w.jobOf(id).QOS != "low" {
				rt.Fatalf("job %d of QOS %s is displaced", id, w.jobOf(id).QOS)
			}
		}
		if len(gone) == 0 {
			return
		}
		for skip := range gone {
			spared := *w
			spared.runs = slices.Clone(w.runs)
			for k, id := range gone {
				if k != skip {
					spared.end(id)
				}
			}
			if q := spared.plan(); slices.Contains(started(q), high) {
				rt.Fatalf("job %d is displaced for nothing", gone[skip])
			}
		}
		for _, id := range gone {
			w.end(id)
		}
		if q := w.plan(); !slices.Contains(started(q), high) {
			rt.Fatalf("jobs %v are gone and job %d does not start: %+v", gone, high, q.verdict(high))
		}
	})
}
