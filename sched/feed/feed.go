// Package feed keeps the planner's view of the cluster up to date from the roots
// of state, by what differs between them.
package feed

import (
	"cmp"
	"slices"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
)

// Feed makes views of successive roots. One goroutine owns it; the views that it
// returns are immutable and may be kept.
type Feed struct {
	root    *state.Root
	view    sched.View
	places  map[job.NodeID]int   // of each node in view.Nodes
	holding map[job.ID]*job.Job  // records whose holds are in the view
	waiting map[job.ID]shape     // pending records with their class
	classes map[string]*classUse // by sched.Key
	dirty   map[int]*sched.Node  // nodes under change, by place
}

type shape struct {
	request *job.Request
	use     *classUse
}

// classUse counts the pending records of a class.
type classUse struct {
	key   string
	class *sched.Class
	refs  int
}

// New makes a feed that has seen nothing.
func New() *Feed { return &Feed{} }

// Update brings the view up to a root. The roots must be successive ones of one
// machine; after a restored snapshot use a new feed.
func (f *Feed) Update(root *state.Root) *sched.View {
	if f.root == nil || f.reshaped(root) {
		f.rebuild(root)
	} else {
		f.follow(root)
	}
	if f.root == nil || !root.SamePromises(f.root) {
		f.view.Promises = promises(root)
	}
	f.root = root
	f.view.Policy = &root.Cluster().Policy
	f.view.Licenses, f.view.Topologies = root.Cluster().Licenses, root.Cluster().Topologies
	f.view.Reservations = slices.Collect(root.Reservations())
	f.queue(root)
	f.view.Limits, f.view.Book = nil, root.Book()
	if rules := root.Rules(); rules.Associations {
		f.view.Limits = &sched.Accounts{Rules: rules, Uses: root}
	}
	v := f.view
	return &v
}

// promises lists the promised starts as the planner takes them.
func promises(root *state.Root) []sched.Promise {
	list := root.Promises()
	out := make([]sched.Promise, len(list))
	for i, p := range list {
		out[i] = sched.Promise{Job: p.Job, Task: p.Task, Start: p.Start, Partition: p.Partition, Licenses: p.Licenses, Shape: p.Shape}
		for k := range p.Nodes {
			out[i].Nodes = append(out[i].Nodes, promisedOn(&p.Nodes[k]))
		}
	}
	return out
}

func promisedOn(s *state.PlannedShare) sched.PromisedNode {
	n := sched.PromisedNode{Node: s.Node}
	n.Tasks, n.CPUs, n.Cores, n.MemoryMB = int(s.Tasks), int(s.CPUs), int(s.Cores), int64(s.MemoryMB)
	for _, d := range s.Devices {
		n.Devices = append(n.Devices, int64(d))
	}
	return n
}

// reshaped tells whether the nodes or partitions are others than before.
func (f *Feed) reshaped(root *state.Root) bool {
	if root.Cluster() != f.root.Cluster() {
		return true
	}
	i := 0
	for p := range root.Partitions() {
		if i == len(f.view.Partitions) || f.view.Partitions[i].Partition != p {
			return true
		}
		i++
	}
	return i != len(f.view.Partitions)
}

// rebuild makes everything anew.
func (f *Feed) rebuild(root *state.Root) {
	*f = Feed{
		places: map[job.NodeID]int{}, holding: map[job.ID]*job.Job{}, waiting: map[job.ID]shape{},
		classes: map[string]*classUse{}, dirty: map[int]*sched.Node{},
	}
	for n := range root.Nodes() {
		f.places[n.ID] = len(f.view.Nodes)
		f.view.Nodes = append(f.view.Nodes, newNode(n))
	}
	for p := range root.Partitions() {
		f.view.Partitions = append(f.view.Partitions, f.partition(p))
	}
	for j := range root.Holding() {
		f.hold(j)
	}
	f.settle()
}

func newNode(n *partition.Node) sched.Node {
	h := partition.NewHost(n)
	return sched.Node{Host: h, Busy: &bitset.Set{}, Held: make([]*bitset.Set, len(h.Kinds))}
}

// partition orders a partition's nodes by weight, then by the cluster file.
func (f *Feed) partition(p *partition.Partition) sched.Partition {
	out := sched.Partition{Partition: p}
	for _, id := range p.Nodes {
		if i, ok := f.places[id]; ok {
			out.Nodes = append(out.Nodes, i)
		}
	}
	slices.SortFunc(out.Nodes, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.view.Nodes[a].Host.Node.Weight, f.view.Nodes[b].Host.Node.Weight), cmp.Compare(a, b))
	})
	return out
}

// follow applies what differs from the root before.
func (f *Feed) follow(root *state.Root) {
	for id := range root.DiffNodes(f.root) {
		n := root.Node(id)
		at, known := f.places[id]
		if n == nil || !known || n.Weight != f.view.Nodes[at].Host.Node.Weight {
			f.rebuild(root)
			return
		}
		f.renew(at, n)
	}
	for id := range root.DiffJobs(f.root) {
		if old := f.holding[id]; old != nil {
			f.release(old)
		}
		j := root.Job(id)
		if j != nil && holds(j) {
			f.hold(j)
		}
		if s, ok := f.waiting[id]; ok && (j == nil || j.State != job.Pending || j.Request != s.request) {
			f.drop(id, s)
		}
	}
	f.settle()
}

// holds tells whether a record holds resources anywhere.
func holds(j *job.Job) bool {
	if j.Alloc == nil || !j.State.Active() && j.Flags&job.Completing == 0 {
		return false
	}
	return slices.ContainsFunc(j.Alloc.Nodes, func(s job.Share) bool { return !s.Released })
}

// renew replaces a node's record; what jobs hold of it is counted again, since
// its devices may be others.
func (f *Feed) renew(at int, n *partition.Node) {
	d := f.change(at)
	old := *d
	*d = newNode(n)
	for _, h := range old.Holds {
		j := f.holding[h.Job]
		for i := range j.Alloc.Nodes {
			if s := &j.Alloc.Nodes[i]; s.Node == n.ID && !s.Released {
				d.Holds = append(d.Holds, holdOf(d.Host, j, s))
			}
		}
	}
}

// change makes a node's entry one that may be changed.
func (f *Feed) change(at int) *sched.Node {
	if d := f.dirty[at]; d != nil {
		return d
	}
	d := f.view.Nodes[at]
	d.Holds = slices.Clone(d.Holds)
	f.dirty[at] = &d
	return &d
}

func holdOf(h *partition.Host, j *job.Job, s *job.Share) sched.Hold {
	until := j.Times.LimitEnd
	if j.State.Ended() || j.Cancel != nil {
		until = 1 // it is about to end
		if j.Cancel != nil && j.Cancel.Grace > 0 {
			until = j.Cancel.At + job.Time(j.Cancel.Grace)*1000
		}
	}
	if j.State == job.Suspended {
		until = 0
	}
	return sched.Hold{Job: j.ID, Of: j, Partition: j.Alloc.Partition, Until: until, Room: h.Of(s)}
}

func (f *Feed) hold(j *job.Job) {
	f.holding[j.ID] = j
	for i := range j.Alloc.Nodes {
		s := &j.Alloc.Nodes[i]
		if at, ok := f.places[s.Node]; ok && !s.Released {
			d := f.change(at)
			d.Holds = append(d.Holds, holdOf(d.Host, j, s))
		}
	}
	if len(j.Alloc.Licenses) > 0 {
		h := sched.LicenseHold{Job: j.ID, Until: j.Times.LimitEnd, Licenses: j.Alloc.Licenses}
		f.view.LicenseHolds = append(slices.Clip(f.view.LicenseHolds), h)
	}
}

func (f *Feed) release(j *job.Job) {
	delete(f.holding, j.ID)
	for i := range j.Alloc.Nodes {
		if at, ok := f.places[j.Alloc.Nodes[i].Node]; ok {
			d := f.change(at)
			d.Holds = slices.DeleteFunc(d.Holds, func(h sched.Hold) bool { return h.Job == j.ID })
		}
	}
	if len(j.Alloc.Licenses) > 0 {
		f.view.LicenseHolds = slices.DeleteFunc(slices.Clone(f.view.LicenseHolds), func(h sched.LicenseHold) bool { return h.Job == j.ID })
	}
}

// settle puts the changed nodes into a new list, so that views that were given
// out stay as they were.
func (f *Feed) settle() {
	if len(f.dirty) == 0 {
		return
	}
	f.view.Nodes = slices.Clone(f.view.Nodes)
	for at, d := range f.dirty { // order does not matter: each node is settled by itself
		slices.SortFunc(d.Holds, func(a, b sched.Hold) int {
			return cmp.Or(cmp.Compare(a.Until-1, b.Until-1), cmp.Compare(a.Job, b.Job))
		})
		f.busy(d)
		f.view.Nodes[at] = *d
	}
	clear(f.dirty)
}

// busy gathers the cores and devices that jobs hold of a node.
func (f *Feed) busy(d *sched.Node) {
	d.Busy = &bitset.Set{}
	d.Held = make([]*bitset.Set, len(d.Host.Kinds))
	for k := range d.Held {
		d.Held[k] = &bitset.Set{}
	}
	for _, h := range d.Holds {
		j := f.holding[h.Job]
		for i := range j.Alloc.Nodes {
			s := &j.Alloc.Nodes[i]
			if s.Node != d.Host.Node.ID || s.Released {
				continue
			}
			d.Busy.Union(s.Cores)
			for _, x := range s.Devices {
				for k := range d.Host.Kinds {
					if d.Host.Kinds[k].Name == x.Name && d.Host.Kinds[k].Type == x.Type {
						d.Held[k].Union(x.Index)
					}
				}
			}
		}
	}
}
