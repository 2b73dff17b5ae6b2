package query

import (
	"muster/gres"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// mixJobs is of how many jobs, waiting ones first, the mix of requests is made.
const mixJobs = 10_000

// fragments judges what is free of the GPUs of nodes by what jobs ask for.
type fragments struct {
	root *state.Root
	mix  *gres.Mix
	at   map[string]int // numbers of types
}

// newFragments takes the requests of the jobs that wait and run as what will be
// asked for.
func newFragments(root *state.Root) *fragments {
	f := &fragments{root: root, at: map[string]int{}}
	var rooms []gres.Room
	for n := range root.Nodes() {
		if r, ok := f.room(n, true); ok {
			rooms = append(rooms, r)
		}
	}
	if len(rooms) == 0 {
		return f
	}
	kinds := map[gres.Ask]int{}
	var asks []gres.Ask
	jobs := 0
	count := func(j *job.Job) {
		a := f.ask(j.Request)
		k, known := kinds[a]
		if !known {
			k = len(asks)
			kinds[a] = k
			asks = append(asks, a)
		}
		asks[k].Weight++
		jobs++
	}
	for j := range root.Waiting() {
		if jobs < mixJobs {
			count(j)
		}
	}
	for j := range root.Holding() {
		if jobs < mixJobs {
			count(j)
		}
	}
	f.mix = gres.NewMix(asks, rooms)
	return f
}

// typ is the number of a type of GPU; types beyond 63 share one.
func (f *fragments) typ(name string) int {
	n, known := f.at[name]
	if !known {
		n = min(len(f.at), 63)
		f.at[name] = n
	}
	return n
}

// ask is what a job asks of one node, as far as it can be told before it is placed.
func (f *fragments) ask(q *job.Request) gres.Ask {
	tasks := int64(max(1, q.Size.TasksPerNode))
	if q.Size.Tasks > 0 && q.Size.MinNodes <= 1 {
		tasks = int64(q.Size.Tasks)
	}
	a := gres.Ask{CPUs: tasks * int64(max(1, q.Size.CPUsPerTask)), Share: gres.Whole}
	add := func(list gres.Spec, times int64) {
		for _, it := range list {
			if it.Name != "gpu" || it.Count > 1<<16 {
				continue
			}
			a.Count += int(int64(it.Count) * times)
			if it.Type != "" {
				a.Types |= 1 << f.typ(it.Type)
			}
		}
	}
	add(q.Gres.PerNode, 1)
	add(q.Gres.PerTask, tasks)
	add(q.Gres.PerJob, 1)
	switch q.Memory.Per {
	case job.MemoryPerNode:
		a.Memory = int64(q.Memory.MB)
	case job.MemoryPerCPU:
		a.Memory = int64(q.Memory.MB) * a.CPUs
	case job.MemoryPerGPU:
		a.Memory = int64(q.Memory.MB) * int64(a.Count)
	}
	return a
}

// room is what is free of a node with GPUs, or all of it if it is to be empty.
func (f *fragments) room(n *partition.Node, empty bool) (gres.Room, bool) {
	size := n.Size()
	r := gres.Room{CPUs: int64(size.CPUs), Memory: int64(size.MemoryMB)}
	use := f.root.NodeUse(n.ID)
	if use != nil && !empty {
		r.CPUs -= int64(use.CPUs)
		r.Memory -= int64(use.MemoryMB)
	}
	for i := range n.Gres.Devices {
		d := &n.Gres.Devices[i]
		if d.Name != "gpu" {
			continue
		}
		r.Type = f.typ(d.Type)
		free := int32(gres.Whole)
		if use != nil && !empty {
			for _, u := range use.Devices {
				if u.Name == "gpu" && u.Index.Has(d.Index) {
					free = 0
				}
			}
		}
		r.Free = append(r.Free, free)
	}
	return r, len(r.Free) > 0
}

// of is how much of the GPUs that are free on a node the next job is expected not
// to be able to use, and what is free, in thousandths of a GPU.
func (f *fragments) of(n *partition.Node) (frag, free int64) {
	r, ok := f.room(n, false)
	if !ok || f.mix == nil {
		return 0, 0
	}
	for _, x := range r.Free {
		free += int64(x)
	}
	return f.mix.Frag(&r), free
}

// Fragmentation is, over all nodes, how much of the free GPUs the next job is
// expected not to be able to use, and what is free, in GPUs.
func Fragmentation(root *state.Root) (frag, free float64) {
	f := newFragments(root)
	var a, b int64
	for n := range root.Nodes() {
		x, y := f.of(n)
		a, b = a+x, b+y
	}
	return float64(a) / gres.Whole, float64(b) / gres.Whole
}
