package schedbench

import (
	"fmt"
	"math/rand/v2"

	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// World is a machine of state with a full cluster and a long queue.
type World struct {
	size    Size
	m       *state.Machine
	now     job.Time
	index   uint64
	ids     []job.NodeID // by place in the cluster file
	running []job.ID
	shapes  []job.Request
	rand    *rand.Rand
}

// New makes a world. It stops at the first command that state refuses.
func New(s Size) (w *World, err error) {
	defer func() {
		if stop, ok := recover().(refused); ok {
			w, err = nil, stop.error
		}
	}()
	w = &World{size: s, m: state.New(), now: start, rand: rand.New(rand.NewPCG(1, 2))}
	conf := cluster(s)
	w.do(&state.Configure{Cluster: conf})
	w.do(&state.Accounting{Seen: w.m.Root().Book().Serial, Changes: book()})
	for i := range conf.Nodes {
		n := &conf.Nodes[i]
		w.do(&state.NodeRegister{Name: n.Name, BootID: "boot", Journal: n.Name, Found: n.Declared, Gres: partition.Node{Gres: n.Gres}})
		w.ids = append(w.ids, w.m.Root().NodeNamed(n.Name).ID)
	}
	w.reserve(w.rand, s.Reservations)
	for i := range conf.Nodes {
		w.fill(&conf.Nodes[i], w.ids[i])
	}
	for range s.Shapes {
		w.shapes = append(w.shapes, shape(w.rand, &w.size))
	}
	w.Submit(s.Pending)
	return w, nil
}

// refused is a command that the machine did not take.
type refused struct{ error }

// Root is the state now.
func (w *World) Root() *state.Root { return w.m.Root() }

// Now is the time of the last change.
func (w *World) Now() job.Time { return w.now }

// do applies commands in one entry.
func (w *World) do(list ...state.Command) []state.Result {
	e := &state.Entry{Now: w.now}
	for _, c := range list {
		e.Commands = append(e.Commands, state.Seal(c, state.Actor{User: "root"}, state.RequestID{}))
	}
	w.index++
	res, err := w.m.Apply(w.index, e)
	if err != nil {
		panic(refused{err})
	}
	for i := range res {
		if res[i].Code != state.OK {
			panic(refused{fmt.Errorf("%T: %s", list[i], res[i].Text)})
		}
	}
	return res
}

// fill starts jobs on a node until so many per cent of its cores are held.
func (w *World) fill(n *partition.Node, id job.NodeID) {
	cores, gpus := int(n.Declared.CPUs), len(n.Gres.Devices)
	free := cores
	for gpu := 0; free*100 > cores*(100-w.size.Full) && free > 0; {
		take := min(free, 4+w.rand.IntN(max(1, cores/2)))
		if free-take < cores/16 && w.rand.IntN(3) > 0 {
			take = free
		}
		share := job.Share{Node: id, Name: n.Name, CPUs: uint32(take), Cores: bitset.Range(cores-free, cores-free+take), Tasks: uint32(take),
			MemoryMB: n.Declared.MemoryMB * uint64(take) / uint64(cores)}
		spec := gres.Spec(nil)
		if gpu < gpus {
			k := min(gpus-gpu, max(1, gpus*take/cores))
			spec = gres.Spec{{Name: "gpu", Type: n.Gres.Devices[0].Type, Count: uint64(k)}}
			share.Devices = []job.DeviceShare{{Name: "gpu", Type: n.Gres.Devices[0].Type, Count: uint64(k), Index: bitset.Range(gpu, gpu+k)}}
			gpu += k
		}
		free -= take
		w.run(share, spec)
	}
}

// run submits and starts one job on one node, with 1 minute to 2 days left.
func (w *World) run(share job.Share, spec gres.Spec) {
	r := job.Request{Name: "r", Partitions: []string{"all"}, Gres: job.GresRequest{PerNode: spec}}
	r.Size.Tasks = share.Tasks
	r.Timing.Limit = job.Minutes(1 + w.rand.IntN(2880))
	user := w.rand.IntN(users/2)*2 + 1 // of the accounts without limits
	n := w.job(r, user, "plain")
	id := w.do(&state.Submit{Jobs: []state.NewJob{n}})[0].Jobs[0]
	w.do(&state.Start{Job: id, Task: job.NoTask, Limit: r.Timing.Limit,
		Alloc: job.Allocation{Partition: "all", Nodes: []job.Share{share}, CPUs: share.CPUs, MemoryMB: share.MemoryMB, BatchNode: share.Node}})
	w.running = append(w.running, id)
}

func (w *World) job(r job.Request, user int, qos string) state.NewJob {
	return state.NewJob{
		Owner:   job.Owner{UID: uint32(1000 + user), GID: 100, User: fmt.Sprintf("u%03d", user), Group: "users"},
		Request: r, Account: fmt.Sprintf("acct%02d", user%accounts), QOS: qos, Priority: 1 + w.rand.Uint32N(1_000_000),
	}
}

// Submit puts so many jobs into the queue, in entries of a thousand. One in forty
// depends on another, one in forty is an array.
func (w *World) Submit(n int) {
	var list []state.Command
	for i := range n {
		j := w.job(w.shapes[w.rand.IntN(len(w.shapes))], w.rand.IntN(users), []string{"low", "plain", "capped", "high"}[w.rand.IntN(4)])
		switch w.rand.IntN(40) {
		case 0:
			on := w.running[w.rand.IntN(len(w.running))]
			j.Deps = []job.Dependency{{Kind: job.DependAfterOK, On: on, Task: job.NoTask}}
		case 1:
			j.Tasks, j.Range, j.Limit = bitset.Range(0, 10), "0-9", uint32(w.rand.IntN(5))
		}
		list = append(list, &state.Submit{Jobs: []state.NewJob{j}})
		if len(list) == 1000 || i == n-1 {
			w.do(list...)
			list = list[:0]
		}
	}
}

// End lets so many running jobs end, a second later.
func (w *World) End(n int) {
	w.now += 1000
	var list []state.Command
	for range min(n, len(w.running)) {
		i := w.rand.IntN(len(w.running))
		id := w.running[i]
		w.running[i] = w.running[len(w.running)-1]
		w.running = w.running[:len(w.running)-1]
		j := w.Root().Job(id)
		for k := range j.Alloc.Nodes {
			s := &j.Alloc.Nodes[k]
			rep := state.Report{Job: id, Attempt: j.Attempt, Node: s.Name, BootID: "boot", At: w.now}
			ended, released := rep, rep
			ended.Ended, released.Released = s.Node == j.Alloc.BatchNode, true
			list = append(list, &ended, &released)
		}
	}
	w.do(list...)
}

// Start commits the starts of a plan and tells how many state took. Most of a big
// plan's starts are of jobs alone; a heterogeneous job is not made here.
func (w *World) Start(id job.ID, task uint32, a job.Allocation, limit job.Minutes) error {
	e := &state.Entry{Now: w.now, Commands: []state.Envelope{
		state.Seal(&state.Start{Job: id, Task: task, Alloc: a, Limit: limit}, state.Actor{User: "root"}, state.RequestID{})}}
	w.index++
	res, err := w.m.Apply(w.index, e)
	if err != nil {
		return err
	}
	if res[0].Code != state.OK {
		return fmt.Errorf("job %d: %s", id, res[0].Text)
	}
	w.running = append(w.running, res[0].Jobs...)
	return nil
}
