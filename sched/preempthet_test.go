package sched

import (
	"fmt"
	"slices"
	"testing"

	"muster/job"
	"muster/partition"
)

// components starts a heterogeneous job of QOS low with a component of so many
// tasks on each of the first nodes, and returns its records.
func (w *world) components(tasks ...uint32) []*job.Job {
	lead := w.next
	var parts []*job.Job
	for i, n := range tasks {
		w.submit(func(j *job.Job) {
			of("low", n)(j)
			j.Het = job.Het{Leader: lead, Offset: uint32(i)}
			j.Request.Place.Nodes = []string{w.Nodes[i].Host.Node.Name}
			parts = append(parts, j)
		})
		w.apply(w.plan())
	}
	return parts
}

func TestAHeterogeneousJobMakesRoomAsAWhole(t *testing.T) {
	for _, c := range []struct {
		name    string
		set     func(w *world, component *job.Job)
		want    bool
		requeue bool
		grace   uint32
	}{
		{"all may be displaced", func(*world, *job.Job) {}, true, true, 0},
		{"a component's QOS is not in the list", func(_ *world, p *job.Job) { p.QOS = "mid" }, false, false, 0},
		{"a component ends already", func(_ *world, p *job.Job) { p.Cancel = &job.Cancel{} }, false, false, 0},
		{"a component is suspended", func(_ *world, p *job.Job) { p.State = job.Suspended }, false, false, 0},
		{"a component is exempt still", func(w *world, p *job.Job) { w.Policy.Preempt.Exempt, p.Times.Start = 30, w.now }, false, false, 0},
		{"a component may not be requeued", func(_ *world, p *job.Job) { p.Request.Requeue = false }, true, false, 0},
		{"a component's QOS only cancels", func(w *world, p *job.Job) {
			w.Book.QOS[0].Preempt = []string{"low", "mid"}
			w.Book.QOS[2].PreemptMode, p.QOS = partition.PreemptCancel, "mid"
		}, true, true, 0},
		{"a component's QOS warns longer", func(w *world, p *job.Job) {
			w.Book.QOS[0].Preempt = []string{"low", "mid"}
			w.Book.QOS[1].GraceTime, w.Book.QOS[2].GraceTime, p.QOS = 20, 90, "mid"
		}, true, true, 90},
	} {
		oneComponent := func(t *testing.T, which int) {
			w := newWorld(2, 8)
			byQOS(w, partition.PreemptRequeue)
			parts := w.components(8, 8)
			w.now += minute
			c.set(w, parts[which])
			high := w.submit(of("high", 8)) // one component's node would do
			p := w.plan()
			if got := slices.Equal(victims(p), []job.ID{parts[0].ID}); got != c.want || !c.want && len(p.Preempt) > 0 {
				t.Fatalf("displaced %v: want component 0, job %d: %v", victims(p), parts[0].ID, c.want)
			}
			if !c.want {
				return
			}
			if v := p.Preempt[0]; v.Requeue != c.requeue || v.Grace != c.grace {
				t.Errorf("preemption %+v, want requeue %v and grace %d", v, c.requeue, c.grace)
			}
			if v, at := p.verdict(high), second(w.now+job.Time(c.grace)*1000+overdue); v.Planned != at {
				t.Errorf("planned at %d, want %d", v.Planned, at)
			}
			for _, part := range parts {
				w.end(part.ID)
			}
			wantStarts(t, w.plan(), high)
		}
		for which := range 2 {
			t.Run(fmt.Sprint(c.name, ", ", which), func(t *testing.T) { oneComponent(t, which) })
		}
	}
}

// The room of all components counts, and so does what all of them would lose.
func TestAHeterogeneousJobFreesAllItHolds(t *testing.T) {
	w := newWorld(2, 8)
	byQOS(w, partition.PreemptCancel)
	parts := w.components(8, 8)
	w.now += minute
	both := w.submit(func(j *job.Job) { ask(16, 60)(j); j.QOS = "high" })
	p := w.plan()
	if len(p.Preempt) != 1 || p.verdict(both).Planned != second(w.now+overdue) || len(p.verdict(both).Nodes) != 2 {
		t.Fatalf("displaced %+v, planned %+v, want job %d alone for both nodes", p.Preempt, p.verdict(both), parts[0].ID)
	}

	w = newWorld(3, 8)
	byQOS(w, partition.PreemptCancel)
	parts = w.components(5, 5)
	plain := w.submit(of("low", 8)) // more than a component loses, less than both
	w.apply(w.plan())
	w.now += minute
	w.submit(of("high", 8))
	if p = w.plan(); !slices.Equal(victims(p), []job.ID{plain}) {
		t.Fatalf("displaced %v, want job %d rather than the components of %d", victims(p), plain, parts[0].ID)
	}
}

// A job of several partitions displaces in the first where that helps, and nobody
// if one of them has room.
func TestAJobOfSeveralPartitionsDisplaces(t *testing.T) {
	for _, c := range []struct {
		name       string
		qos        [2]string // of what runs on n1 (left) and n2 (right); "": nothing
		partitions []string
		want       int // node whose job makes room; 0: nobody
		starts     bool
	}{
		{"in the first", [2]string{"low", "low"}, []string{"left", "right"}, 1, false},
		{"in the first it names", [2]string{"low", "low"}, []string{"right", "left"}, 2, false},
		{"only in the second", [2]string{"mid", "low"}, []string{"left", "right"}, 2, false},
		{"not where the second has room", [2]string{"low", ""}, []string{"left", "right"}, 0, true},
		{"nowhere", [2]string{"mid", "mid"}, []string{"left", "right"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(2, 8)
			byQOS(w, partition.PreemptRequeue)
			for i, name := range []string{"left", "right"} {
				w.Partitions = append(w.Partitions, Partition{Partition: &partition.Partition{Name: name, Nodes: []job.NodeID{job.NodeID(i + 1)}}, Nodes: []int{i}})
			}
			on := [2]job.ID{}
			for i, qos := range c.qos {
				if qos != "" {
					on[i] = w.submit(func(j *job.Job) { of(qos, 8)(j); j.Request.Place.Nodes = []string{w.Nodes[i].Host.Node.Name} })
				}
			}
			w.apply(w.plan())
			w.now += minute
			high := w.submit(func(j *job.Job) { of("high", 8)(j); j.Request.Partitions = c.partitions })
			p := w.plan()
			if got := slices.Contains(started(p), high); got != c.starts {
				t.Fatalf("started %v, want %v", got, c.starts)
			}
			if c.want == 0 {
				if len(p.Preempt) > 0 {
					t.Fatalf("displaced %v, want nobody", victims(p))
				}
				return
			}
			victim := on[c.want-1]
			if !slices.Equal(victims(p), []job.ID{victim}) {
				t.Fatalf("displaced %v, want job %d of node %d", victims(p), victim, c.want)
			}
			w.keep(p)
			if v := p.verdict(high); v.Planned != second(w.now+overdue) || !slices.Equal(v.Nodes, []job.NodeID{job.NodeID(c.want)}) {
				t.Errorf("planned %+v, want node %d as soon as job %d is gone", v, c.want, victim)
			}
			if pr := p.promise(high); pr == nil || pr.Partition != []string{"left", "right"}[c.want-1] {
				t.Errorf("promise %+v, want one in the partition of node %d", pr, c.want)
			}
			w.cancel(victim, second(w.now+overdue))
			if q := w.plan(); len(q.Preempt) > 0 {
				t.Errorf("displaces %v too, while job %d is about to end", victims(q), victim)
			}
			w.end(victim)
			wantStarts(t, w.plan(), high)
		})
	}
}
