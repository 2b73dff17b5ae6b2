package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"muster/job"
	"muster/partition"
)

// balancedWorld is a small cluster whose queue is in the balanced order.
func balancedWorld(nodes, cores int) *world {
	w := newWorld(nodes, cores)
	w.Policy.Order = partition.OrderBalanced
	return w
}

// sized is a job of so many tasks with a limit in minutes.
func sized(tasks uint32, limit job.Minutes) func(*job.Job) {
	return func(j *job.Job) {
		ask(tasks, limit)(j)
		j.Request.Size.MinCPUs = tasks
	}
}

func (w *world) queueOrder() []job.ID {
	var out []job.ID
	for _, e := range newCycle(&w.View, w.now, Budget{}).order() {
		out = append(out, w.Waiting[e.at].Job.ID)
	}
	return out
}

func TestLengthClasses(t *testing.T) {
	w := balancedWorld(4, 4)
	c := newCycle(&w.View, w.now, Budget{})
	for _, q := range []struct {
		cpus  uint32
		limit job.Minutes
		want  int
	}{
		{16, 2, 0}, // all CPUs: the bounds as they are
		{16, 3, 1},
		{16, 42, 1},
		{16, 43, 2},
		{4, 3, 0}, // a quarter of them: longer by the root of two
		{4, 4, 1},
		{1, 4, 0}, // a sixteenth: twice as long
		{1, 5, 1},
		{1, 85, 1},
		{1, 86, 2},
		{0, 86, 2},
		{16, job.Unlimited, 2},
		{1, 1 << 30, 2},
	} {
		j := &job.Job{Request: &job.Request{Size: job.Size{MinCPUs: q.cpus}, Timing: job.Timing{Limit: q.limit}}}
		if got := c.lengthClass(j, &w.Partitions[0]); got != q.want {
			t.Errorf("%d CPUs, %d minutes: class %d, want %d", q.cpus, q.limit, got, q.want)
		}
	}
}

// A cluster file may set other bounds.
func TestOwnLengthClasses(t *testing.T) {
	w := balancedWorld(4, 4)
	w.Policy.OrderClasses = []uint32{60, 600, 6000}
	c := newCycle(&w.View, w.now, Budget{})
	for limit, want := range map[job.Minutes]int{1: 0, 2: 1, 10: 1, 11: 2, 100: 2, 101: 3} {
		j := &job.Job{Request: &job.Request{Size: job.Size{MinCPUs: 16}, Timing: job.Timing{Limit: limit}}}
		if got := c.lengthClass(j, &w.Partitions[0]); got != want {
			t.Errorf("%d minutes: class %d, want %d", limit, got, want)
		}
	}
}

func TestSquareRoot(t *testing.T) {
	for _, c := range []struct{ n, want uint64 }{{0, 0}, {1, 1}, {3, 1}, {4, 2}, {1<<62 - 1, 1<<31 - 1}, {1 << 62, 1 << 31}} {
		if got := squareRoot(c.n); got != c.want {
			t.Errorf("root of %d: %d, want %d", c.n, got, c.want)
		}
	}
}

func TestBalancedOrder(t *testing.T) {
	w := balancedWorld(4, 4)
	long, short, long2, middle := w.submit(sized(4, 500)), w.submit(sized(4, 1)), w.submit(sized(4, 400)), w.submit(sized(4, 25))
	if got, want := w.queueOrder(), []job.ID{short, middle, long, long2}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	w.Policy.Order = partition.OrderSlurm
	if got, want := w.queueOrder(), []job.ID{long, short, long2, middle}; !slices.Equal(got, want) {
		t.Errorf("Slurm's order %v, want %v", got, want)
	}
}

// Priorities that factors or people gave decide before length does.
func TestBalancedOrderKeepsPriorities(t *testing.T) {
	w := balancedWorld(4, 4)
	w.Policy.Priority.Multifactor = true
	prio := func(n uint32, limit job.Minutes) job.ID {
		return w.submit(func(j *job.Job) { sized(4, limit)(j); j.Priority = n })
	}
	high, low, short := prio(2000, 500), prio(900, 1), prio(2000, 1)
	if got, want := w.queueOrder(), []job.ID{short, high, low}; !slices.Equal(got, want) {
		t.Errorf("with factors: order %v, want %v", got, want)
	}
	w = balancedWorld(4, 4) // without factors, priorities only number the jobs
	first, second := prio(TopPriority, 500), prio(TopPriority-1, 1)
	top := w.submit(func(j *job.Job) { sized(4, 500)(j); j.Priority, j.FixedPriority = TopPriority+1, true })
	last := w.submit(func(j *job.Job) { sized(4, 1)(j); j.Priority, j.FixedPriority = 5, true })
	if got, want := w.queueOrder(), []job.ID{top, second, first, last}; !slices.Equal(got, want) {
		t.Errorf("without factors: order %v, want %v", got, want)
	}
}

// One overdue job at a time, the oldest, goes ahead of all.
func TestOverdueJobsGoAhead(t *testing.T) {
	w := balancedWorld(4, 4)
	w.now = 1_000_000_000
	old := func(age job.Time, limit job.Minutes) job.ID {
		return w.submit(func(j *job.Job) { sized(4, limit)(j); j.Times.Eligible = w.now - age*1000 })
	}
	short, young, older, oldest := old(0, 1), old(1000, 500), old(dueTurnaround-499*60, 500), old(dueTurnaround-490*60, 500)
	if got, want := w.queueOrder(), []job.ID{oldest, short, young, older}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// Only the first job of each class has a planned start that is kept; the others
// are told what may be expected.
func TestPlannedStartsOfClasses(t *testing.T) {
	w := balancedWorld(1, 4)
	w.run(Start{Job: w.submit(sized(4, 60)), Task: job.NoTask, Limit: 60, Alloc: w.plan().Starts[0].Alloc})
	long, long2, short, short2 := w.submit(sized(4, 500)), w.submit(sized(4, 500)), w.submit(sized(4, 1)), w.submit(sized(4, 1))
	p := w.plan()
	at := func(id job.ID) job.Time { return (p.verdict(id).Planned - w.now) / minute }
	if at(short) != 60 || at(long) != 61 || at(short2) != 561 || at(long2) != 562 {
		t.Errorf("planned for minutes %d, %d, %d, %d; want 60, 61, 561, 562", at(short), at(long), at(short2), at(long2))
	}
	var kept []job.ID
	for _, promise := range p.Promises {
		kept = append(kept, promise.Job)
	}
	if slices.Sort(kept); !slices.Equal(kept, []job.ID{long, short}) {
		t.Errorf("promises for %v, want %v", kept, []job.ID{long, short})
	}
	if a, b := p.verdict(short), p.verdict(long2); a.Ahead != 0 || b.Ahead != 3 {
		t.Errorf("%d and %d jobs ahead, want 0 and 3", a.Ahead, b.Ahead)
	}
}

// However many short jobs come, a job starts within a bound that its limit and
// what runs give: once it is overdue it is the first, and nothing delays it.
func TestNoJobStarvesInTheBalancedOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := balancedWorld(4, 1)
		w.now = 1_000_000_000
		big := w.submit(func(j *job.Job) { sized(4, 60)(j); j.Times.Eligible = w.now - (dueTurnaround-3*3600)*1000 })
		due := w.now + 2*3_600_000
		step := rapid.SampledFrom([]job.Time{900, 1700, 3600}).Draw(t, "step") * 1000
		for w.now <= due+3*3_600_000 {
			for range rapid.IntRange(3, 6).Draw(t, "short") {
				w.submit(func(j *job.Job) { sized(1, 50)(j); j.Times.Eligible = w.now })
			}
			p := w.plan()
			if slices.Contains(started(p), big) {
				return
			}
			w.apply(p)
			w.now += step
			w.expire()
		}
		t.Fatalf("a job of 4 nodes has not started %d s after it was overdue", (w.now-due)/1000)
	})
}

// A key orders by tier, then priority, then overdue jobs, then class, whatever
// the values.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (int, uint32, bool, int) {
			return rapid.IntRange(0, 65535).Draw(t, name), rapid.Uint32().Draw(t, name), rapid.Bool().Draw(t, name), rapid.IntRange(0, 255).Draw(t, name)
		}
		key := func(tier int, priority uint32, due bool, class int) uint64 {
			k := keyOf(tier, priority, class)
			if due {
				k &^= notDue
			}
			return k
		}
		t1, p1, d1, c1 := draw("a")
		t2, p2, d2, c2 := draw("b")
		var want bool
		switch {
		case t1 != t2:
			want = t1 > t2
		case p1 != p2:
			want = p1 > p2
		case d1 != d2:
			want = d1
		default:
			want = c1 < c2
		}
		if got := key(t1, p1, d1, c1) < key(t2, p2, d2, c2); got != want {
			t.Fatalf("%d %d %v %d before %d %d %v %d: %v", t1, p1, d1, c1, t2, p2, d2, c2, got)
		}
	})
}

func BenchmarkBalance(b *testing.B) {
	w := balancedWorld(4, 16)
	var classes []*Class
	for i := range 20_000 {
		j := &job.Job{Request: &job.Request{Partitions: []string{"debug"}}}
		sized(uint32(i%64), job.Minutes(i%3000+1))(j)
		classes = append(classes, &Class{Request: j.Request})
	}
	for i := range 100_000 {
		j := &job.Job{ID: job.ID(i + 1), State: job.Pending, Priority: 1, Request: classes[i%20_000].Request, Times: job.Times{Eligible: w.now}}
		w.Waiting = append(w.Waiting, Waiting{Job: j, Class: classes[i%20_000]})
	}
	for b.Loop() {
		newCycle(&w.View, w.now, Budget{}).order()
	}
}
