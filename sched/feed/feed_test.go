package feed

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
)

// cluster is a real machine of state that is driven by plans.
type cluster struct {
	t     *rapid.T
	m     *state.Machine
	feed  *Feed
	now   job.Time
	index uint64
	kept  []kept // views given out, with a copy of what they said
}

type kept struct{ view, copy sched.View }

func newCluster(t *rapid.T) *cluster {
	c := &cluster{t: t, m: state.New(), feed: New(), now: 1_700_000_000_000}
	conf := partition.Cluster{
		Name:     "test",
		Licenses: []partition.License{{Name: "lic", Total: 3}},
		Policy:   partition.Policy{TrackMemory: true, AllocCores: true, DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 100}},
		Partitions: []partition.Partition{
			{Name: "main", NodeList: "ALL", Default: true, DefaultTime: 10},
			{Name: "high", NodeList: "ALL", PriorityTier: 5, DefaultTime: 5},
		},
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		conf.Nodes = append(conf.Nodes, partition.Node{Name: name,
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 1, CPUs: 4, MemoryMB: 8000},
			Gres: gres.Inventory{Counts: []gres.Item{{Name: "scratch", Count: 10}},
				Devices: []gres.Device{{Name: "gpu", Type: "a100", Index: 0}, {Name: "gpu", Type: "a100", Index: 1}}}})
	}
	c.must(&state.Configure{Cluster: conf})
	for _, n := range conf.Nodes {
		c.must(&state.NodeRegister{Name: n.Name, BootID: "boot", Journal: n.Name, Found: n.Declared})
	}
	return c
}

func (c *cluster) do(cmd state.Command) state.Result {
	c.now += 1000
	c.index++
	e := state.Envelope(state.Seal(cmd, state.Actor{User: "root"}, state.RequestID{}))
	res, err := c.m.Apply(c.index, &state.Entry{Now: c.now, Commands: []state.Envelope{e}})
	if err != nil {
		c.t.Fatalf("%T: %v", cmd, err)
	}
	return res[0]
}

func (c *cluster) must(cmd state.Command) {
	if res := c.do(cmd); res.Code != state.OK {
		c.t.Fatalf("%T: %d %s", cmd, res.Code, res.Text)
	}
}

// submit puts one job of a random kind in.
func (c *cluster) submit() {
	r := job.Request{Name: "j", Partitions: []string{"main"}, Requeue: true}
	n := state.NewJob{Owner: job.Owner{UID: 1000, User: "alice"}, Account: "phys", Priority: rapid.Uint32Range(1, 9).Draw(c.t, "priority")}
	r.Size.Tasks = rapid.Uint32Range(1, 5).Draw(c.t, "tasks")
	switch rapid.IntRange(0, 6).Draw(c.t, "kind") {
	case 0:
		r.Place.Sharing = job.Exclusive
	case 1:
		r.Gres.PerNode = gres.Spec{{Name: "gpu", Count: 1}, {Name: "scratch", Count: 4}}
	case 2:
		r.Licenses = "lic:2"
	case 3:
		n.Tasks, n.Range, n.Limit = bitset.Range(0, 6), "0-5", 2
	case 4:
		r.Partitions = []string{"main", "high"}
	case 5:
		n.Held = job.HeldByUser
	}
	n.Request = r
	c.must(&state.Submit{Jobs: []state.NewJob{n}})
}

// finish lets one running job end: its script, or its last share.
func (c *cluster) finish() {
	var running []*job.Job
	for j := range c.m.Root().Holding() {
		running = append(running, j)
	}
	if len(running) == 0 {
		return
	}
	j := rapid.SampledFrom(running).Draw(c.t, "ending")
	ended := j.State.Ended()
	for i := range j.Alloc.Nodes {
		s := &j.Alloc.Nodes[i]
		if s.Released {
			continue
		}
		c.do(&state.Report{Job: j.ID, Attempt: j.Attempt, Node: s.Name, BootID: "boot", Ended: !ended && s.Node == j.Alloc.BatchNode,
			Released: ended, At: c.now})
	}
}

// cycle plans, checks the view against one made from nothing, and commits: state
// must take every start.
func (c *cluster) cycle() {
	root := c.m.Root()
	view := c.feed.Update(root)
	fresh := New().Update(root)
	c.compare(view, fresh)
	c.kept = append(c.kept, kept{*view, *fresh})
	plan := view.Plan(c.now, sched.Budget{})
	if other := fresh.Plan(c.now, sched.Budget{}); !reflect.DeepEqual(plan, other) {
		c.t.Fatalf("the followed view plans %+v\na fresh one %+v", plan, other)
	}
	for _, s := range plan.Starts {
		if res := c.do(&state.Start{Job: s.Job, Task: s.Task, Alloc: s.Alloc, Limit: s.Limit}); res.Code != state.OK {
			c.t.Fatalf("state refuses the start of job %d: %s", s.Job, res.Text)
		}
	}
}

// plain is a node as values that can be compared.
func plain(n *sched.Node) any {
	type node struct {
		Record *partition.Node
		Busy   []int
		Held   [][]int
		Holds  []sched.Hold
	}
	out := node{Record: n.Host.Node, Busy: n.Busy.Slice(), Holds: append([]sched.Hold{}, n.Holds...)}
	for k := range n.Host.Kinds {
		out.Held = append(out.Held, n.Held[k].Slice())
	}
	return out
}

// compare checks two views; classes are compared by what they ask for.
func (c *cluster) compare(got, want *sched.View) {
	for i := range want.Nodes {
		if a, b := plain(&got.Nodes[i]), plain(&want.Nodes[i]); !reflect.DeepEqual(a, b) {
			c.t.Fatalf("node %+v\nwant %+v", a, b)
		}
	}
	if len(got.Waiting) != len(want.Waiting) || len(got.LicenseHolds) != len(want.LicenseHolds) || !reflect.DeepEqual(got.Partitions, want.Partitions) {
		c.t.Fatalf("view %+v\nwant %+v", got, want)
	}
	for i := range got.Waiting {
		a, b := got.Waiting[i], want.Waiting[i]
		if a.Job != b.Job || a.Active != b.Active || sched.Key(a.Class.Request) != sched.Key(a.Job.Request) {
			c.t.Fatalf("waiting %+v, want %+v", a, b)
		}
	}
}

func TestFollowedViewIsTheFreshOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1, 2:
				c.submit()
			case 3, 4:
				c.finish()
			case 5:
				c.do(&state.NodeAdmin{Names: []string{"n2"}, State: rapid.SampledFrom([]string{"DRAIN", "RESUME"}).Draw(t, "to"), Reason: new(string)})
			case 6:
				c.now += 60_000 * job.Time(rapid.IntRange(0, 5).Draw(t, "minutes"))
				c.do(&state.Tick{})
			case 7:
				c.cycle()
			}
		}
		c.cycle()
		for _, k := range c.kept { // views that were given out have not changed
			c.compare(&k.view, &k.copy)
		}
	})
}
