package sched

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/job"
	"muster/partition"
)

// An explanation names who is ahead and the smallest change of each kind, and what
// it says comes true.
func TestExplain(t *testing.T) {
	w := newWorld(4, 8)
	w.Partitions = append(w.Partitions, Partition{Partition: &partition.Partition{Name: "spare", Nodes: []job.NodeID{4}, DefaultTime: 10}, Nodes: []int{3}})
	w.Partitions[0].Nodes, w.Partitions[0].Partition.Nodes = []int{0, 1, 2}, []job.NodeID{1, 2, 3}
	a := w.submit(func(j *job.Job) { ask(8, 20)(j); j.Request.Place.Nodes = []string{"n1"} })
	w.apply(w.plan())
	ahead := w.submit(func(j *job.Job) {
		j.Request.Size = job.Size{MinNodes: 3, MaxNodes: 3}
		j.Request.Place.Sharing = job.Exclusive
		j.Request.Timing.Limit = 30
	})
	id := w.submit(ask(1, 60))
	x, ok := w.Explain(w.now, Budget{}, id)
	if !ok {
		t.Fatal("no explanation")
	}
	if want := second(w.now + 50*minute); x.Planned != want || x.Reasons[0].Reason != job.ReasonPriority {
		t.Errorf("planned at %d for %v, want %d, after jobs %d and %d", x.Planned, x.Reasons, want, a, ahead)
	}
	if len(x.Before) != 1 || x.Before[0].Job != ahead || x.Before[0].Nodes != 3 {
		t.Errorf("ahead are %+v, want job %d on 3 nodes", x.Before, ahead)
	}
	var got []string
	for _, s := range x.Sooner {
		got = append(got, s.What)
		if s.Start != w.now {
			t.Errorf("%s: starts at %d, want now", s.What, s.Start)
		}
	}
	if want := []string{"a limit of 20 minutes (--time)", "partition spare (--partition)"}; !slices.Equal(got, want) {
		t.Errorf("would help: %q, want %q", got, want)
	}
}

func TestExplainNamesMemoryAndNodes(t *testing.T) {
	w := newWorld(3, 8)
	w.submit(func(j *job.Job) { ask(1, 20)(j); j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: 3000} })
	w.apply(w.plan())
	id := w.submit(func(j *job.Job) {
		j.Request.Size = job.Size{MinNodes: 3, MaxNodes: 3}
		j.Request.Memory = job.Memory{Per: job.MemoryPerNode} // all of it
	})
	x, _ := w.Explain(w.now, Budget{}, id)
	var got []string
	for _, s := range x.Sooner {
		got = append(got, s.What)
	}
	if want := []string{"2 nodes in place of 3 (--nodes)", "1000 MB of memory on each node in place of 4000 (--mem)"}; !slices.Equal(got, want) {
		t.Errorf("would help: %q, want %q", got, want)
	}
	if _, ok := w.Explain(w.now, Budget{}, 99); ok {
		t.Error("a job that is not there is explained")
	}
}

// The constraints of a job, each found by itself: what a person would look at.
var constraints = []struct {
	reason job.Reason
	holds  func(*world, *job.Job) bool
}{
	{job.ReasonJobHeldUser, func(_ *world, j *job.Job) bool { return j.Held == job.HeldByUser }},
	{job.ReasonDependency, func(_ *world, j *job.Job) bool { return len(j.Deps) > 0 }},
	{job.ReasonBeginTime, func(w *world, j *job.Job) bool { return j.Request.Timing.Begin > w.now }},
	{job.ReasonPartitionTimeLimit, func(w *world, j *job.Job) bool {
		return w.Partitions[0].MaxTime > 0 && j.Request.Timing.Limit > w.Partitions[0].MaxTime
	}},
	{job.ReasonPartitionDown, func(w *world, _ *job.Job) bool { return w.Partitions[0].State == partition.PartitionDown }},
	{job.ReasonLicenses, func(w *world, j *job.Job) bool {
		return strings.HasPrefix(j.Request.Licenses, "bar") && len(w.LicenseHolds) > 0
	}},
	{job.ReasonResources, func(w *world, j *job.Job) bool { // no node has so many cores and so much memory free
		for i := range w.Nodes {
			n := &w.Nodes[i]
			memory := n.Host.All().MemoryMB
			for _, h := range n.Holds {
				memory -= h.Room.MemoryMB
			}
			want := int64(j.Request.Memory.MB)
			if n.Host.Cores-n.Busy.Len() >= int(max(1, j.Request.Size.Tasks)) && memory >= want {
				return false
			}
		}
		return true
	}},
}

// Every constraint that holds a job is in its verdict, and no other, found by
// looking at each by itself.
func TestReasonsAreComplete(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rapid.IntRange(1, 3).Draw(rt, "hosts"), 8)
		for range rapid.IntRange(0, 5).Draw(rt, "running") {
			tasks := rapid.Uint32Range(1, 8).Draw(rt, "held")
			w.submit(func(j *job.Job) {
				ask(tasks, 30)(j)
				j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: 100 * uint64(tasks)}
			})
		}
		w.apply(w.plan())
		w.Waiting = nil
		draw := func(what string) bool { return rapid.IntRange(0, 3).Draw(rt, what) == 0 }
		if draw("licences held") {
			w.LicenseHolds = []LicenseHold{{Job: 77, Licenses: []job.License{{Name: "bar", Count: 2}}}}
		}
		if draw("down") {
			w.Partitions[0].State = partition.PartitionDown
		}
		if draw("short") {
			w.Partitions[0].MaxTime = 20
		}
		id := w.submit(func(j *job.Job) {
			ask(rapid.Uint32Range(1, 8).Draw(rt, "tasks"), job.Minutes(rapid.Uint32Range(1, 60).Draw(rt, "limit")))(j)
			j.Request.Size.MinNodes, j.Request.Size.MaxNodes = 1, 1
			j.Request.Memory = job.Memory{Per: job.MemoryPerNode, MB: rapid.Uint64Range(1, 3900).Draw(rt, "mem")}
			if draw("held") {
				j.Priority, j.Held = 0, job.HeldByUser
			}
			if draw("dependency") {
				j.Deps = []job.Dependency{{On: 9}}
			}
			if draw("begin") {
				j.Request.Timing.Begin = w.now + 5*minute
			}
			if draw("licences") {
				j.Request.Licenses = "bar:1"
			}
		})
		j := w.Waiting[0].Job
		var want, got []job.Reason
		for _, c := range constraints {
			if c.holds(w, j) {
				want = append(want, c.reason)
			}
		}
		v := w.plan().verdict(id)
		if v != nil {
			for _, why := range v.Reasons {
				got = append(got, why.Reason)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("it waits for %v, the plan says %v (%+v)", want, got, v)
		}
	})
}
