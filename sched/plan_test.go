package sched

import (
	"slices"
	"testing"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

func TestStartsInOrderAndPacks(t *testing.T) {
	w := newWorld(4, 8)
	a, b, c := w.submit(ask(8, 10)), w.submit(ask(3, 10)), w.submit(ask(5, 10))
	p := w.plan()
	wantStarts(t, p, a, b, c)
	for id, want := range map[job.ID]string{a: "n1", b: "n2", c: "n2"} {
		if got := nodesOf(p, id); !slices.Equal(got, []string{want}) {
			t.Errorf("job %d is on %v, want %s", id, got, want)
		}
	}
	if got := p.Starts[2].Alloc.Nodes[0].Cores.Slice(); !slices.Equal(got, []int{3, 4, 5, 6, 7}) {
		t.Errorf("job %d got cores %v", c, got)
	}
}

func TestBlockDistribution(t *testing.T) {
	w := newWorld(4, 8)
	id := w.submit(func(j *job.Job) { j.Request.Size = job.Size{MinNodes: 2, MaxNodes: 2, Tasks: 4} })
	p := w.plan()
	wantStarts(t, p, id)
	n := p.Starts[0].Alloc.Nodes
	if len(n) != 2 || n[0].Tasks != 3 || n[1].Tasks != 1 {
		t.Fatalf("nodes %+v, want 3 and 1 tasks", n)
	}
}

// The first job in line keeps its planned start: a long job behind it waits, a
// short one fills the hole.
func TestBackfill(t *testing.T) {
	w := newWorld(4, 8)
	a := w.submit(func(j *job.Job) { ask(8, 5)(j); j.Request.Place.Nodes = []string{"n1"} })
	w.apply(w.plan())
	b := w.submit(func(j *job.Job) {
		j.Request.Size = job.Size{MinNodes: 4, MaxNodes: 4}
		j.Request.Place.Sharing = job.Exclusive
		j.Request.Timing.Limit = 5
	})
	short, long := w.submit(ask(1, 1)), w.submit(ask(1, 60))
	p := w.plan()
	wantStarts(t, p, short)
	v := wantReason(t, p, b, job.ReasonResources)
	if want := second(w.now + 5*minute); v.Planned != want {
		t.Errorf("job %d is planned at %d, want %d, when job %d ends", b, v.Planned, want, a)
	}
	wantReason(t, p, long, job.ReasonPriority)
}

func TestReasons(t *testing.T) {
	cases := []struct {
		name string
		set  func(*world, *job.Job)
		want job.Reason
	}{
		{"held by user", func(_ *world, j *job.Job) { j.Priority, j.Held = 0, job.HeldByUser }, job.ReasonJobHeldUser},
		{"held by admin", func(_ *world, j *job.Job) { j.Priority, j.Held = 0, job.HeldByAdmin }, job.ReasonJobHeldAdmin},
		{"begin", func(w *world, j *job.Job) { j.Request.Timing.Begin = w.now + 1 }, job.ReasonBeginTime},
		{"dependency", func(_ *world, j *job.Job) { j.Deps = []job.Dependency{{On: 9}} }, job.ReasonDependency},
		{"failed dependency", func(_ *world, j *job.Job) { j.Deps = []job.Dependency{{On: 9, State: job.FailedDep}} }, job.ReasonDependencyNeverSatisfied},
		{"any dependency still open", func(_ *world, j *job.Job) {
			j.AnyDep, j.Deps = true, []job.Dependency{{On: 9, State: job.FailedDep}, {On: 8}}
		}, job.ReasonDependency},
		{"partition down", func(w *world, j *job.Job) { w.Partitions[0].State = partition.PartitionDown }, job.ReasonPartitionDown},
		{"partition inactive", func(w *world, j *job.Job) { w.Partitions[0].State = partition.PartitionInactive }, job.ReasonPartitionInactive},
		{"partition down and not yet time", func(w *world, j *job.Job) {
			w.Partitions[0].State, j.Request.Timing.Begin = partition.PartitionDown, w.now+1
		}, job.ReasonPartitionDown},
		{"held, and the partition down", func(w *world, j *job.Job) {
			w.Partitions[0].State, j.Priority, j.Held = partition.PartitionDown, 0, job.HeldByUser
		}, job.ReasonJobHeldUser},
		{"too long", func(w *world, j *job.Job) { w.Partitions[0].MaxTime, j.Request.Timing.Limit = 5, 6 }, job.ReasonPartitionTimeLimit},
		{"too many nodes", func(w *world, j *job.Job) { j.Request.Size.MinNodes = 5 }, job.ReasonPartitionNodeLimit},
		{"more nodes than allowed", func(w *world, j *job.Job) { w.Partitions[0].MaxNodes, j.Request.Size.MinNodes = 2, 3 }, job.ReasonPartitionNodeLimit},
		{"drained node asked for", func(w *world, j *job.Job) {
			w.node(3, func(n *partition.Node) { n.Admin = partition.NodeDrain })
			j.Request.Place.Nodes = []string{"n4"}
		}, job.ReasonReqNodeNotAvail},
		{"enough only with a node that is down", func(w *world, j *job.Job) {
			w.node(3, func(n *partition.Node) { n.State = partition.NodeDown })
			j.Request.Size.MinNodes = 4
		}, job.ReasonReqNodeNotAvail},
		{"more than a node has", func(w *world, j *job.Job) { j.Request.Size.CPUsPerTask = 9 }, job.ReasonBadConstraints},
		{"licences", func(w *world, j *job.Job) {
			j.Request.Licenses = "bar:2"
			w.LicenseHolds = []LicenseHold{{Job: 77, Licenses: []job.License{{Name: "bar", Count: 1}}}}
		}, job.ReasonLicenses},
		{"node reserved for others", func(w *world, j *job.Job) {
			j.Request.Place.Nodes = []string{"n3"}
			w.Reservations = []*partition.Reservation{{Name: "r", Start: 1, End: w.now + 30*minute, Nodes: []job.NodeID{3}, Users: []string{"u2"}}}
		}, job.ReasonReqNodeNotAvail},
		{"would run into maintenance", func(w *world, j *job.Job) {
			j.Request.Timing.Limit = 15
			w.Reservations = []*partition.Reservation{{Name: "r", Start: w.now + 10*minute, End: w.now + 40*minute,
				Nodes: []job.NodeID{1, 2, 3, 4}, Users: []string{"root"}, Flags: []string{"MAINT"}}}
		}, job.ReasonReqNodeNotAvail},
		{"reservation not begun", func(w *world, j *job.Job) {
			j.Request.Reservation = "r"
			w.Reservations = []*partition.Reservation{{Name: "r", Start: w.now + minute, Nodes: []job.NodeID{1}, Users: []string{"u1"}}}
		}, job.ReasonReservation},
		{"past its deadline", func(w *world, j *job.Job) {
			j.Request.Timing.Limit, j.Request.Timing.Deadline = 2, w.now+minute
		}, job.ReasonDeadLine},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(4, 8)
			id := w.submit(func(j *job.Job) { c.set(w, j) })
			p := w.plan()
			wantStarts(t, p)
			v := wantReason(t, p, id, c.want)
			for _, why := range v.Reasons {
				if why.Detail == "" {
					t.Errorf("reason %v says nothing to people", why.Reason)
				}
			}
		})
	}
}

func TestExpiredIsListed(t *testing.T) {
	w := newWorld(1, 8)
	id := w.submit(func(j *job.Job) { j.Request.Timing.Limit, j.Request.Timing.Deadline = 2, w.now+minute })
	if p := w.plan(); !slices.Equal(p.Expired, []job.ID{id}) {
		t.Fatalf("expired %v, want job %d", p.Expired, id)
	}
}

func TestReservationIsForItsUsers(t *testing.T) {
	w := newWorld(4, 8)
	w.Reservations = []*partition.Reservation{{Name: "r", Start: 1, End: w.now + 5*minute, Nodes: []job.NodeID{3}, Users: []string{"u1"}}}
	id := w.submit(func(j *job.Job) { j.Request.Reservation = "r" })
	p := w.plan()
	wantStarts(t, p, id)
	s := p.Starts[0]
	if s.Alloc.Nodes[0].Name != "n3" || s.Alloc.Reservation != "r" || s.Limit != 5 {
		t.Fatalf("got %+v, want n3 in r for the 5 minutes that are left of it", s)
	}
}

// A job starts nothing that would run into a later occurrence of a recurring
// reservation.
func TestReservationRecurs(t *testing.T) {
	w := newWorld(1, 8)
	const hour = 60 * minute
	w.Reservations = []*partition.Reservation{{Name: "r", Start: w.now + hour, End: w.now + hour + 10*minute, Every: 2 * hour, Nodes: []job.NodeID{1}, Users: []string{"nobody"}}}
	short := w.submit(func(j *job.Job) { j.Request.Timing.Limit = 60 })
	long := w.submit(func(j *job.Job) { j.Request.Timing.Limit = 120 })
	p := w.plan()
	wantStarts(t, p, short)
	v := wantReason(t, p, long, job.ReasonReqNodeNotAvail)
	if v.Planned != 0 {
		t.Errorf("two hours are planned at %d between occurrences that are 110 minutes apart", v.Planned)
	}
}

// Jobs of a FLEX reservation may start before it and outside of its nodes; others
// may not use them.
func TestReservationFlex(t *testing.T) {
	w := newWorld(2, 8)
	w.Reservations = []*partition.Reservation{{Name: "r", Start: w.now + minute, End: w.now + 2*minute, Nodes: []job.NodeID{1}, Users: []string{"u1"}, Flags: []string{partition.Flex}}}
	inside := func(j *job.Job) {
		j.Request.Reservation, j.Request.Timing.Limit, j.Request.Size.MinNodes = "r", 60, 2
		j.Request.Size.Tasks, j.Request.Size.MinCPUs = 2, 2
	}
	id := w.submit(inside)
	p := w.plan()
	wantStarts(t, p, id)
	if a := p.Starts[0].Alloc; len(a.Nodes) != 2 || a.Reservation != "r" || p.Starts[0].Limit != 60 {
		t.Errorf("got %+v for %d minutes, want both nodes for 60", a, p.Starts[0].Limit)
	}
}

// A magnetic reservation takes jobs that may use it first, and leaves the others
// outside of it.
func TestReservationMagnetic(t *testing.T) {
	w := newWorld(2, 8)
	w.Reservations = []*partition.Reservation{{Name: "r", Start: 1, End: w.now + 60*minute, Nodes: []job.NodeID{2}, Users: []string{"u1"}, Flags: []string{partition.Magnetic}}}
	whole := func(j *job.Job) { j.Request.Size.Tasks, j.Request.Size.MinCPUs, j.Request.Timing.Limit = 8, 8, 10 }
	drawn := w.submit(whole)
	second := w.submit(whole)
	other := w.submit(func(j *job.Job) { whole(j); j.Owner = &job.Owner{UID: 7, User: "u7"} })
	p := w.plan()
	wantStarts(t, p, drawn, second)
	if a := p.Starts[0].Alloc; a.Nodes[0].Name != "n2" || a.Reservation != "r" {
		t.Errorf("the first is at %+v, want n2 in r", a)
	}
	if a := p.Starts[1].Alloc; a.Nodes[0].Name != "n1" || a.Reservation != "" {
		t.Errorf("the second is at %+v, want n1 outside", a)
	}
	wantReason(t, p, other, job.ReasonResources)
}

func TestExclusiveTakesAllButMemory(t *testing.T) {
	w := newWorld(2, 8)
	id := w.submit(func(j *job.Job) {
		j.Request.Place.Sharing = job.Exclusive
		j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: 120}
	})
	p := w.plan()
	wantStarts(t, p, id)
	n := p.Starts[0].Alloc.Nodes[0]
	if n.CPUs != 8 || n.MemoryMB != 120 || !n.Whole || n.Devices[0].Count != 4 || n.Cores.Len() != 8 {
		t.Fatalf("share %+v", n)
	}
}

func TestMemoryKeepsJobsApart(t *testing.T) {
	w := newWorld(1, 8)
	mem := func(mb uint64, limit job.Minutes) func(*job.Job) {
		return func(j *job.Job) {
			j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: mb}
			j.Request.Timing.Limit = limit
		}
	}
	a, b, c := w.submit(mem(2500, 10)), w.submit(mem(2500, 10)), w.submit(mem(1500, 1))
	p := w.plan()
	wantStarts(t, p, a, c)
	wantReason(t, p, b, job.ReasonResources)
}

func TestArrayThrottle(t *testing.T) {
	w := newWorld(1, 8)
	id := w.submit(func(j *job.Job) {
		j.Array = job.Array{JobID: j.ID, Task: job.NoTask, Waiting: bitset.Range(1, 6), Limit: 2}
	})
	p := w.plan()
	wantStarts(t, p, id, id)
	if p.Starts[0].Task != 1 || p.Starts[1].Task != 2 {
		t.Fatalf("tasks %d and %d start, want 1 and 2", p.Starts[0].Task, p.Starts[1].Task)
	}
	wantReason(t, p, id, job.ReasonJobArrayTaskLimit)
}

// A task that was requeued, or set apart for its dependency, has a record of its
// own and starts under its own number.
func TestTaskByItself(t *testing.T) {
	w := newWorld(1, 8)
	id := w.submit(func(j *job.Job) { j.Array = job.Array{JobID: 77, Task: 3} })
	p := w.plan()
	wantStarts(t, p, id)
	if p.Starts[0].Task != 3 {
		t.Errorf("started as task %d, want 3", p.Starts[0].Task)
	}
}

func TestArrayFillsTheNode(t *testing.T) {
	w := newWorld(1, 8)
	id := w.submit(func(j *job.Job) {
		j.Array = job.Array{JobID: j.ID, Task: job.NoTask, Waiting: bitset.Range(0, 1000000)}
	})
	p := w.plan()
	if len(p.Starts) != 8 {
		t.Fatalf("%d tasks start on 8 cores", len(p.Starts))
	}
	wantReason(t, p, id, job.ReasonResources)
}

func TestSeveralPartitions(t *testing.T) {
	w := newWorld(4, 8)
	w.Partitions = append(w.Partitions, Partition{
		Partition: &partition.Partition{Name: "short", MaxTime: 5, PriorityTier: 10, Nodes: []job.NodeID{1, 2}}, Nodes: []int{0, 1}})
	both := func(j *job.Job) { j.Request.Partitions = []string{"debug", "short"}; j.Request.Timing.Limit = 2 }
	id := w.submit(both)
	p := w.plan()
	wantStarts(t, p, id)
	if got := p.Starts[0].Alloc.Partition; got != "short" {
		t.Fatalf("started in %s, want the higher tier", got)
	}
	w.apply(p)
	long := w.submit(func(j *job.Job) { both(j); j.Request.Timing.Limit = 60 })
	p = w.plan()
	wantStarts(t, p, long)
	if got := p.Starts[0].Alloc.Partition; got != "debug" {
		t.Fatalf("started in %s, want debug", got)
	}
}

func TestFeatures(t *testing.T) {
	w := newWorld(4, 8)
	for i := range w.Nodes {
		w.node(i, func(n *partition.Node) {
			n.Features = []string{"fast", "rack1"}
			if i >= 2 {
				n.Features = []string{"slow", "rack2"}
			}
		})
	}
	cases := []struct {
		constraint string
		nodes      uint32
		want       []string
	}{
		{"slow", 1, []string{"n3"}},
		{"fast&rack1", 1, []string{"n1"}},
		{"fast|slow", 4, []string{"n1", "n2", "n3", "n4"}},
		{"[fast|slow]", 2, []string{"n1", "n2"}},
		{"[fast|slow]", 3, nil},
		{"[fast*1&slow*2]", 3, []string{"n1", "n3", "n4"}},
		{"slow*1", 2, []string{"n1", "n3"}},
		{"fast&slow", 1, nil},
	}
	for _, c := range cases {
		t.Run(c.constraint, func(t *testing.T) {
			w.Waiting = nil
			id := w.submit(func(j *job.Job) {
				j.Request.Size.MinNodes, j.Request.Size.MaxNodes = c.nodes, c.nodes
				j.Request.Place.Constraint = c.constraint
			})
			if got := nodesOf(w.plan(), id); !slices.Equal(got, c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPreferenceOrdersNodes(t *testing.T) {
	w := newWorld(3, 8)
	w.node(1, func(n *partition.Node) { n.Features = []string{"fast"} })
	id := w.submit(func(j *job.Job) {
		j.Request.Size.MinNodes, j.Request.Size.MaxNodes, j.Request.Place.Prefer = 1, 1, "fast"
	})
	wide := w.submit(func(j *job.Job) {
		j.Request.Size.MinNodes, j.Request.Size.MaxNodes, j.Request.Place.Prefer = 3, 3, "fast"
	})
	p := w.plan()
	wantStarts(t, p, id, wide)
	if got := nodesOf(p, id); !slices.Equal(got, []string{"n2"}) {
		t.Errorf("got %v, want the preferred node", got)
	}
}

func TestUnsupportedSharingIsNotIgnored(t *testing.T) {
	w := newWorld(1, 8)
	id := w.submit(func(j *job.Job) { j.Request.Place.Sharing = job.ExclusiveUser })
	p := w.plan()
	wantStarts(t, p)
	wantReason(t, p, id, job.ReasonBadConstraints)
}

func TestDevices(t *testing.T) {
	cases := []struct {
		name string
		set  func(*job.Request)
		want []uint64 // GPUs on each node
	}{
		{"by node", func(r *job.Request) {
			r.Size.MinNodes, r.Size.MaxNodes = 2, 2
			r.Gres.PerNode = gres.Spec{{Name: "gpu", Count: 3}}
		}, []uint64{3, 3}},
		{"by job over two nodes", func(r *job.Request) {
			r.Size.MinNodes, r.Size.MaxNodes = 2, 2
			r.Gres.PerJob = gres.Spec{{Name: "gpu", Count: 6}}
		}, []uint64{4, 2}},
		{"by job, as many nodes as it takes", func(r *job.Request) { r.Gres.PerJob = gres.Spec{{Name: "gpu", Count: 5}} }, []uint64{4, 1}},
		{"by task", func(r *job.Request) {
			r.Size.Tasks = 2
			r.Gres.PerTask = gres.Spec{{Name: "gpu", Type: "a100", Count: 2}}
		}, []uint64{4}},
		{"more than a node has", func(r *job.Request) { r.Gres.PerNode = gres.Spec{{Name: "gpu", Count: 5}} }, nil},
		{"of a type there is not", func(r *job.Request) { r.Gres.PerNode = gres.Spec{{Name: "gpu", Type: "x", Count: 1}} }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(4, 8)
			w.submit(func(j *job.Job) { c.set(j.Request) })
			p := w.plan()
			var got []uint64
			for _, s := range p.Starts {
				for _, n := range s.Alloc.Nodes {
					got = append(got, n.Devices[0].Count)
					if uint64(n.Devices[0].Index.Len()) != n.Devices[0].Count {
						t.Errorf("%d devices have %d numbers", n.Devices[0].Count, n.Devices[0].Index.Len())
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("GPUs %v, want %v; %+v", got, c.want, p.Verdicts)
			}
		})
	}
}

func TestMaxCPUsOfAPartitionOnANode(t *testing.T) {
	w := newWorld(1, 8)
	w.Partitions[0].MaxCPUsNode = 4
	a, b, c := w.submit(ask(3, 10)), w.submit(ask(2, 10)), w.submit(ask(1, 10))
	p := w.plan()
	wantStarts(t, p, a, c)
	wantReason(t, p, b, job.ReasonResources)
}

func TestTimeMin(t *testing.T) {
	w := newWorld(1, 8)
	w.Reservations = []*partition.Reservation{{Name: "r", Start: w.now + 10*minute, End: w.now + 40*minute, Nodes: []job.NodeID{1}, Users: []string{"root"}}}
	id := w.submit(func(j *job.Job) { j.Request.Timing = job.Timing{Limit: 60, MinLimit: 5} })
	p := w.plan()
	wantStarts(t, p, id)
	if p.Starts[0].Limit < 9 || p.Starts[0].Limit > 10 {
		t.Fatalf("limit %d, want the 10 minutes until the reservation", p.Starts[0].Limit)
	}
}

func TestContiguous(t *testing.T) {
	w := newWorld(4, 8)
	w.node(1, func(n *partition.Node) { n.Admin = partition.NodeDrain })
	id := w.submit(func(j *job.Job) {
		j.Request.Size.MinNodes, j.Request.Size.MaxNodes = 2, 2
		j.Request.Place.Contiguous = true
	})
	if got := nodesOf(w.plan(), id); !slices.Equal(got, []string{"n3", "n4"}) {
		t.Fatalf("got %v, want neighbours", got)
	}
}

func TestNodeCountsTakeTheLargest(t *testing.T) {
	for free, want := range map[int]int{4: 4, 3: 1} {
		w := newWorld(4, 8)
		for i := free; i < 4; i++ {
			w.Nodes[i].Holds = []Hold{{Job: 99, Room: partition.Room{Cores: 8, Devices: []int64{0}}}}
			w.Nodes[i].Busy = bitset.Range(0, 8)
		}
		id := w.submit(func(j *job.Job) {
			j.Request.Size.MinNodes, j.Request.Size.MaxNodes, j.Request.Size.NodeCounts = 1, 4, []uint32{1, 4}
		})
		if got := nodesOf(w.plan(), id); len(got) != want {
			t.Errorf("with %d nodes free it got %v, want %d", free, got, want)
		}
	}
}

func TestLicenceAlternatives(t *testing.T) {
	w := newWorld(4, 8)
	w.LicenseHolds = []LicenseHold{{Job: 77, Licenses: []job.License{{Name: "foo", Count: 4}}}}
	id := w.submit(func(j *job.Job) { j.Request.Licenses = "foo:2|bar:1" })
	p := w.plan()
	wantStarts(t, p, id)
	if got := p.Starts[0].Alloc.Licenses; !slices.Equal(got, []job.License{{Name: "bar", Count: 1}}) {
		t.Fatalf("got %v, want bar", got)
	}
}

func TestHeterogeneousJobStartsTogether(t *testing.T) {
	w := newWorld(2, 8)
	busy := w.submit(func(j *job.Job) { ask(8, 10)(j); j.Request.Place.Nodes = []string{"n2"} })
	w.apply(w.plan())
	part := func(node string) Part {
		j := &job.Job{ID: w.next, State: job.Pending, Priority: 1, Times: job.Times{Eligible: 1}, Array: job.Array{Task: job.NoTask},
			Request: &job.Request{Partitions: []string{"debug"}, Place: job.Placement{Nodes: []string{node}}}}
		w.next++
		return Part{j, NewClass(j.Request)}
	}
	parts := []Part{part("n1"), part("n2")}
	w.Waiting = []Waiting{{Job: parts[0].Job, Class: parts[0].Class, Parts: parts}}
	p := w.plan()
	wantStarts(t, p)
	if v := wantReason(t, p, parts[0].Job.ID, job.ReasonResources); v.Planned != second(w.now+10*minute) {
		t.Fatalf("planned at %d, want when job %d ends", v.Planned, busy)
	}
	w.Nodes[1].Holds, w.Nodes[1].Busy = nil, &bitset.Set{}
	wantStarts(t, w.plan(), parts[0].Job.ID, parts[1].Job.ID)
}
