package partition

import (
	"fmt"
	"testing"

	"muster/gres"
	"muster/job"
)

// hosts makes nodes of 2 sockets with 4 cores of 2 threads each, 4000 MB and 4
// GPUs.
func hosts(count int) []Candidate {
	var out []Candidate
	for i := range count {
		n := &Node{ID: job.NodeID(i + 1), Name: fmt.Sprintf("n%d", i+1), State: NodeUp,
			Declared: Shape{Sockets: 2, CoresPerSocket: 4, ThreadsPerCore: 2, CPUs: 16, MemoryMB: 4000, TmpDiskMB: 100}}
		for g := range 4 {
			n.Gres.Devices = append(n.Gres.Devices, gres.Device{Name: "gpu", Type: "a100", Index: g})
		}
		h := NewHost(n)
		out = append(out, Candidate{Host: h, Free: h.All(), Index: i})
	}
	return out
}

// TestArithmetic checks what requests take of nodes of 8 cores with 2 threads.
func TestArithmetic(t *testing.T) {
	gpu := func(n uint64) gres.Spec { return gres.Spec{{Name: "gpu", Count: n}} }
	perCPU := job.Memory{Per: job.MemoryPerCPU, MB: 100}
	cases := []struct {
		name string
		r    job.Request
		want string // tasks/cores/CPUs/MB/GPUs of each node; "" if it cannot run
	}{
		{"nothing said", job.Request{}, "1/1/2/200/0"},
		{"whole cores", job.Request{Size: job.Size{Tasks: 3}}, "3/2/4/400/0"},
		{"CPUs of a task", job.Request{Size: job.Size{Tasks: 2, CPUsPerTask: 3}}, "2/3/6/600/0"},
		{"two nodes", job.Request{Size: job.Size{Tasks: 4, MinNodes: 2, MaxNodes: 2}}, "3/2/4/400/0 1/1/2/200/0"},
		{"more than a node", job.Request{Size: job.Size{Tasks: 20}}, "16/8/16/1600/0 4/2/4/400/0"},
		{"tasks of a node", job.Request{Size: job.Size{MinNodes: 2, MaxNodes: 2, TasksPerNode: 3}}, "3/2/4/400/0 3/2/4/400/0"},
		{"tasks of a node bound the nodes", job.Request{Size: job.Size{Tasks: 4, TasksPerNode: 2}}, "2/1/2/200/0 2/1/2/200/0"},
		{"a range takes as many as it may", job.Request{Size: job.Size{MinNodes: 1, MaxNodes: 3}}, "1/1/2/200/0 1/1/2/200/0 1/1/2/200/0"},
		{"fewest nodes of a range", job.Request{Size: job.Size{MinNodes: 1, MaxNodes: 3}, Place: job.Placement{MinimalN: true}}, "1/1/2/200/0"},
		{"spread", job.Request{Size: job.Size{Tasks: 6}, Place: job.Placement{Spread: true}}, "2/1/2/200/0 2/1/2/200/0 2/1/2/200/0"},
		{"one thread of a core", job.Request{Size: job.Size{Tasks: 3, ThreadsPerCore: 1}}, "3/3/6/600/0"},
		{"no multithreading", job.Request{Size: job.Size{Tasks: 3}, Place: job.Placement{Hint: "nomultithread"}}, "3/3/6/600/0"},
		{"one task to a core", job.Request{Size: job.Size{Tasks: 3, TasksPerCore: 1}}, "3/3/6/600/0"},
		{"one task to a socket", job.Request{Size: job.Size{Tasks: 3, TasksPerSocket: 1}}, "2/1/2/200/0 1/1/2/200/0"},
		{"overcommit", job.Request{Size: job.Size{Tasks: 40, MinNodes: 1, MaxNodes: 1, Overcommit: true}}, "40/1/2/200/0"},
		{"mincpus takes CPUs", job.Request{Size: job.Size{MinCPUsPerNode: 6}}, "1/3/6/600/0"},
		{"mincpus of a job that names its tasks", job.Request{Size: job.Size{Tasks: 1, MinCPUsPerNode: 6}}, "1/1/2/200/0"},
		{"room for all tasks of a node", job.Request{Size: job.Size{Tasks: 5, TasksPerNode: 4}}, "3/2/4/400/0 2/2/4/400/0"},
		{"mincpus beyond a node", job.Request{Size: job.Size{MinCPUsPerNode: 17}}, ""},
		{"memory of a node", job.Request{Memory: job.Memory{Per: job.MemoryPerNode, MB: 120}}, "1/1/2/120/0"},
		{"all memory", job.Request{Memory: job.Memory{Per: job.MemoryPerNode}}, "1/1/2/4000/0"},
		{"too much memory", job.Request{Memory: job.Memory{Per: job.MemoryPerNode, MB: 4001}}, ""},
		{"memory of a GPU", job.Request{Memory: job.Memory{Per: job.MemoryPerGPU, MB: 64}, Gres: job.GresRequest{PerNode: gpu(2)}}, "1/1/2/128/2"},
		{"CPUs of a GPU", job.Request{Gres: job.GresRequest{PerNode: gpu(2), CPUsPerGPU: 3}}, "1/3/6/600/2"},
		{"GPUs of a task", job.Request{Size: job.Size{Tasks: 6}, Gres: job.GresRequest{PerTask: gpu(1)}}, "4/2/4/400/4 2/1/2/200/2"},
		{"GPUs of the job", job.Request{Gres: job.GresRequest{PerJob: gpu(6)}}, "1/1/2/200/4 1/1/2/200/2"},
		{"tasks of a GPU", job.Request{Size: job.Size{TasksPerGPU: 2}, Gres: job.GresRequest{PerJob: gpu(2)}}, "4/2/4/400/2"},
		{"GPUs of a socket", job.Request{Size: job.Size{SocketsPerNode: 2}, Gres: job.GresRequest{PerSocket: gpu(1)}}, "1/1/2/200/2"},
		{"exclusive", job.Request{Place: job.Placement{Sharing: job.Exclusive}}, "1/8/16/1600/4"},
		{"exclusive with memory", job.Request{Place: job.Placement{Sharing: job.Exclusive}, Memory: job.Memory{Per: job.MemoryPerNode, MB: 120}}, "1/8/16/120/4"},
		{"cores set aside", job.Request{Size: job.Size{CoreSpec: 2}}, "1/8/12/1200/4"},
		{"all cores set aside", job.Request{Size: job.Size{CoreSpec: 8}}, ""},
		{"more GPUs than there are", job.Request{Gres: job.GresRequest{PerJob: gpu(13)}}, ""},
		{"more nodes than there are", job.Request{Size: job.Size{MinNodes: 4}}, ""},
		{"a list of sizes", job.Request{Size: job.Size{MinNodes: 1, MaxNodes: 4, NodeCounts: []uint32{1, 2, 4}}}, "1/1/2/200/0 1/1/2/200/0"},
	}
	pol := &Policy{AllocCores: true, TrackMemory: true, DefMemory: perCPU}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var pl Placer
			placed, _, _ := pl.Place(NewNeed(&c.r, &Partition{Name: "p"}, pol), hosts(3))
			got := ""
			for i, p := range placed {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprintf("%d/%d/%d/%d/%d", p.Tasks, p.Cores, p.CPUs, p.MemoryMB, p.Devices[0])
			}
			if got != c.want {
				t.Errorf("takes %q, want %q", got, c.want)
			}
		})
	}
}

func TestMemoryDefaultsAndLimits(t *testing.T) {
	cases := []struct {
		name string
		ask  job.Memory
		part Partition
		pol  Policy
		want string // cores/MB
	}{
		{"no default is all", job.Memory{}, Partition{}, Policy{TrackMemory: true}, "1/4000"},
		{"the partition's default", job.Memory{}, Partition{DefMemory: job.Memory{Per: job.MemoryPerNode, MB: 7}}, Policy{TrackMemory: true, DefMemory: job.Memory{Per: job.MemoryPerNode, MB: 8}}, "1/7"},
		{"all that is allowed", job.Memory{}, Partition{}, Policy{TrackMemory: true, MaxMemory: job.Memory{Per: job.MemoryPerNode, MB: 900}}, "1/900"},
		{"more than is allowed", job.Memory{Per: job.MemoryPerNode, MB: 901}, Partition{}, Policy{TrackMemory: true, MaxMemory: job.Memory{Per: job.MemoryPerNode, MB: 900}}, ""},
		{"not counted", job.Memory{}, Partition{}, Policy{}, "1/0"},
		{"more than a CPU may have takes more CPUs", job.Memory{Per: job.MemoryPerCPU, MB: 250}, Partition{MaxMemory: job.Memory{Per: job.MemoryPerCPU, MB: 100}}, Policy{TrackMemory: true}, "2/252"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var pl Placer
			r := job.Request{Memory: c.ask}
			placed, _, ok := pl.Place(NewNeed(&r, &c.part, &c.pol), hosts(1))
			got := ""
			if ok {
				got = fmt.Sprintf("%d/%d", placed[0].Cores, placed[0].MemoryMB)
			}
			if got != c.want {
				t.Errorf("takes %q, want %q", got, c.want)
			}
		})
	}
}
