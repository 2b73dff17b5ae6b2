package sim

import (
	"cmp"
	"fmt"
	"slices"

	"muster/job"
	"muster/partition"
	"muster/sched/sim/trace"
	"muster/state"
)

// epoch is the time at which a workload begins, in milliseconds: times of traces
// count from their own zero.
const epoch = job.Time(1_000_000_000_000)

// Machine is a cluster of so many processors that are all alike: the machine of
// a trace that says no more.
func Machine(procs int) partition.Cluster {
	const most = 4096 // CPUs of a node
	c := partition.Cluster{Name: "machine", Policy: partition.Policy{AllocCores: true}}
	for left := procs; left > 0; left -= most {
		n := min(left, most)
		c.Nodes = append(c.Nodes, partition.Node{Name: fmt.Sprintf("n%d", len(c.Nodes)+1),
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: uint16(n), ThreadsPerCore: 1, CPUs: uint32(n), MemoryMB: 1}})
	}
	c.Partitions = []partition.Partition{{Name: "main", NodeList: "ALL", Default: true}}
	return c
}

// Options say how a trace becomes tasks.
type Options struct {
	Clairvoyant bool // limits are the run times
	From, Count int  // only jobs from this place on, and so many; 0 is all
}

// Tasks makes tasks of the jobs of a trace that ran. A job without a limit gets
// its run time as one; limits are rounded up to minutes. Jobs larger than the
// cluster are left out and counted; a dependency on one, or on a job before the
// part that is played, counts as fulfilled.
func Tasks(w *trace.Workload, c *partition.Cluster, o Options) (list []Task, left int) {
	cpus := 0
	for i := range c.Nodes {
		cpus += int(c.Nodes[i].Size().CPUs)
	}
	list = make([]Task, 0, len(w.Jobs))
	uids := map[string]uint32{}
	first := true
	var zero int64
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.Run <= 0 || j.Request == nil && (j.Procs <= 0 || j.Procs > cpus) {
			left++
			continue
		}
		if first || j.Submit < zero {
			first, zero = false, j.Submit
		}
		t := task(j, c, o.Clairvoyant)
		t.New.Owner.UID = uidOf(uids, j.User)
		list = append(list, t)
	}
	for i := range list {
		list[i].At += epoch - job.Time(zero)*1000
	}
	byTime := func(a, b Task) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(list, byTime) { // most traces are, and tasks are large
		slices.SortStableFunc(list, byTime)
	}
	if o.From > 0 {
		list = list[min(o.From, len(list)):]
	}
	if o.Count > 0 {
		list = list[:min(o.Count, len(list))]
	}
	depend(list)
	return list, left
}

// uidOf numbers the users, since a uid is what tells them apart.
func uidOf(uids map[string]uint32, user string) uint32 {
	uid, ok := uids[user]
	if !ok {
		uid = 1000 + uint32(len(uids))
		uids[user] = uid
	}
	return uid
}

// depend takes dependencies on what is not in the list as fulfilled.
func depend(list []Task) {
	played := map[job.ID]bool{}
	for i := range list {
		n := &list[i].New
		open := slices.DeleteFunc(slices.Clone(n.Deps), func(d job.Dependency) bool { return d.On != 0 && !played[d.On] })
		if n.AnyDep && len(open) < len(n.Deps) {
			open = nil // one is enough
		}
		n.Deps = open
		played[list[i].ID] = true
	}
}

func task(j *trace.Job, c *partition.Cluster, clairvoyant bool) Task {
	run := j.Run
	limit := j.Estimate()
	if j.Limit > 0 {
		run = min(run, limit)
	}
	if clairvoyant {
		limit = run
	}
	var r job.Request
	if j.Request != nil {
		r = *j.Request
	} else {
		r.Size = job.Size{Tasks: uint32(j.Procs), CPUsPerTask: 1, MinCPUs: uint32(j.Procs)}
	}
	if len(r.Partitions) == 0 {
		r.Partitions = []string{defaultPartition(c)}
	}
	if r.Timing.Limit == 0 || clairvoyant {
		r.Timing.Limit = job.Minutes((limit + 59) / 60)
	}
	r.Requeue = true
	t := Task{At: job.Time(j.Submit) * 1000, Run: job.Time(run) * 1000, ID: job.ID(j.ID),
		New: state.NewJob{Owner: job.Owner{User: j.User}, Request: r, Account: j.Account, QOS: j.QOS, Deps: j.Deps, AnyDep: j.AnyDep}}
	if a := j.Array; a != nil {
		t.New.Tasks, t.New.Limit, t.New.Bounds = a.Tasks, a.Limit, a.Bounds
		t.Runs = runs(a, j)
	}
	return t
}

// runs are the run times of an array's tasks, ended by the limit; nil: all as long.
func runs(a *trace.Array, j *trace.Job) map[uint32]job.Time {
	if a.Runs == nil {
		return nil
	}
	out := make(map[uint32]job.Time, len(a.Runs))
	for index, run := range a.Runs {
		if j.Limit > 0 {
			run = min(run, j.Limit)
		}
		out[index] = job.Time(run) * 1000
	}
	return out
}

// defaultPartition is the partition of jobs that name none.
func defaultPartition(c *partition.Cluster) string {
	for i := range c.Partitions {
		if c.Partitions[i].Default {
			return c.Partitions[i].Name
		}
	}
	if len(c.Partitions) > 0 {
		return c.Partitions[0].Name
	}
	return ""
}
