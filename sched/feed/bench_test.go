package feed

import (
	"testing"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
	"muster/sched"
	"muster/state"
)

// BenchmarkFollow is one change, the view and the plan after it, with 10,000 jobs
// of ten shapes and an array of 1,000,000 tasks waiting on four full nodes.
func BenchmarkFollow(b *testing.B) {
	m, index, now := state.New(), uint64(0), job.Time(1_700_000_000_000)
	do := func(cmd state.Command) state.Result {
		index++
		now += 10
		e := &state.Entry{Now: now, Commands: []state.Envelope{state.Seal(cmd, state.Actor{User: "root"}, state.RequestID{})}}
		res, err := m.Apply(index, e)
		if err != nil || res[0].Code != state.OK {
			b.Fatalf("%T: %+v, %v", cmd, res, err)
		}
		return res[0]
	}
	conf := partition.Cluster{Name: "test", Partitions: []partition.Partition{{Name: "main", NodeList: "ALL"}},
		Limits: partition.Limits{MaxJobs: 20000, MaxArraySize: 1000001},
		Policy: partition.Policy{TrackMemory: true, DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 1}}}
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		conf.Nodes = append(conf.Nodes, partition.Node{Name: n,
			Declared: partition.Shape{Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 4000}})
	}
	do(&state.Configure{Cluster: conf})
	for _, n := range conf.Nodes {
		do(&state.NodeRegister{Name: n.Name, BootID: "boot", Journal: n.Name, Found: n.Declared})
	}
	var last job.ID
	for i := range 10001 {
		n := state.NewJob{Owner: job.Owner{UID: 1000, User: "alice"}, Account: "phys", Priority: 1000}
		n.Request = job.Request{Name: "j", Partitions: []string{"main"}, Timing: job.Timing{Limit: job.Minutes(10 + i%10)}}
		if i == 0 {
			n.Tasks, n.Range = bitset.Range(0, 1000000), "0-999999"
		}
		last = do(&state.Submit{Jobs: []state.NewJob{n}}).Jobs[0]
	}
	f := New()
	for _, s := range f.Update(m.Root()).Plan(now, sched.Budget{}).Starts {
		do(&state.Start{Job: s.Job, Task: s.Task, Alloc: s.Alloc, Limit: s.Limit})
	}
	prio := uint32(1)
	b.ReportAllocs()
	for b.Loop() {
		prio++
		do(&state.Reprioritize{List: []state.Priority{{Job: last, Priority: prio}}})
		f.Update(m.Root()).Plan(now, sched.Budget{})
	}
}
