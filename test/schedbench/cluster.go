// Package schedbench makes the cluster and the queue that the planner is measured
// with: always the same for the same size.
package schedbench

import (
	"fmt"
	"math/rand/v2"

	"muster/accounting"
	"muster/gres"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// Size says how much of everything there is. The zero value of a field is none.
type Size struct {
	Nodes        int // a multiple of 100
	Pending      int
	Shapes       int // distinct requests among the pending jobs
	Reservations int
	Full         int // per cent of the cores that running jobs hold
}

// Full is the size of the published figures.
func Full() Size {
	return Size{Nodes: 10_000, Pending: 100_000, Shapes: 20_000, Reservations: 40, Full: 97}
}

const (
	blockNodes = 20 // nodes of a block, neighbours in the cluster file
	accounts   = 40
	users      = 400
	start      = job.Time(1_700_000_000_000)
)

// model is a kind of node.
type model struct {
	name     string
	share    int // nodes of each hundred
	cores    uint16
	memoryMB uint64
	gpu      string
	gpus     int
	features []string
}

// models are in the order of the cluster file.
func models() []model {
	return []model{
		{name: "cpu", share: 60, cores: 64, memoryMB: 256_000, features: []string{"genoa", "ib"}},
		{name: "big", share: 10, cores: 64, memoryMB: 2_000_000, features: []string{"genoa", "ib", "fat"}},
		{name: "old", share: 10, cores: 32, memoryMB: 128_000, features: []string{"rome"}},
		{name: "h100", share: 12, cores: 96, memoryMB: 1_000_000, gpu: "h100", gpus: 8, features: []string{"sapphire", "ib", "nvlink"}},
		{name: "a100", share: 8, cores: 64, memoryMB: 512_000, gpu: "a100", gpus: 4, features: []string{"milan", "ib"}},
	}
}

// cluster is the configuration: nodes in blocks, and twelve partitions of which
// each node is in several.
func cluster(s Size) partition.Cluster {
	c := partition.Cluster{
		Name:     "bench",
		Licenses: []partition.License{{Name: "matlab", Total: 200}, {Name: "ansys", Total: 50}, {Name: "vcs", Total: 1000}},
		Limits:   partition.Limits{MaxJobs: uint32(4*s.Pending + 40*s.Nodes), MaxArraySize: 10_001},
		Policy: partition.Policy{AllocCores: true, TrackMemory: true, Enforce: []string{"associations", "limits", "qos"},
			DefMemory: job.Memory{Per: job.MemoryPerCPU, MB: 2000}},
	}
	bounds := map[string][2]int{"all": {1, s.Nodes}}
	for _, m := range models() {
		first := len(c.Nodes) + 1
		for range s.Nodes * m.share / 100 {
			c.Nodes = append(c.Nodes, m.node(len(c.Nodes)+1))
		}
		bounds[m.name] = [2]int{first, len(c.Nodes)}
	}
	bounds["gpu"] = [2]int{bounds["h100"][0], bounds["a100"][1]}
	bounds["batch"] = [2]int{1, bounds["old"][1]}
	bounds["short"] = [2]int{1, s.Nodes / 3}
	bounds["debug"] = [2]int{1, s.Nodes / 100}
	bounds["long"] = [2]int{s.Nodes / 5, s.Nodes * 3 / 5}
	bounds["urgent"] = [2]int{s.Nodes / 2, s.Nodes * 9 / 10}
	for _, p := range partitions() {
		b := bounds[p.Name]
		p.NodeList = fmt.Sprintf("n[%05d-%05d]", b[0], b[1])
		c.Partitions = append(c.Partitions, p)
	}
	return c
}

func partitions() []partition.Partition {
	return []partition.Partition{
		{Name: "all", PriorityTier: 1}, {Name: "cpu", PriorityTier: 1}, {Name: "big", PriorityTier: 1}, {Name: "old", PriorityTier: 1},
		{Name: "h100", PriorityTier: 1}, {Name: "a100", PriorityTier: 1}, {Name: "gpu", PriorityTier: 1},
		{Name: "batch", PriorityTier: 1, Default: true}, {Name: "short", PriorityTier: 1, MaxTime: 240},
		{Name: "debug", PriorityTier: 2, MaxTime: 30}, {Name: "long", PriorityTier: 1}, {Name: "urgent", PriorityTier: 3},
	}
}

func (m *model) node(number int) partition.Node {
	block := (number - 1) / blockNodes
	n := partition.Node{
		Name:     fmt.Sprintf("n%05d", number),
		Declared: partition.Shape{Sockets: 2, CoresPerSocket: m.cores / 2, ThreadsPerCore: 1, CPUs: uint32(m.cores), MemoryMB: m.memoryMB, TmpDiskMB: 1000},
		Features: append([]string{fmt.Sprintf("row%d", block/50)}, m.features...),
	}
	for i := range m.gpus {
		n.Gres.Devices = append(n.Gres.Devices, gres.Device{Name: "gpu", Type: m.gpu, Index: i, File: fmt.Sprintf("/dev/nvidia%d", i)})
	}
	return n
}

// book has limits on half of the accounts and on two of four QOS.
func book() []accounting.Change {
	var out []accounting.Change
	for i, name := range []string{"low", "plain", "capped", "high"} {
		q := &accounting.QOS{Name: name, Priority: uint32(i)}
		if i%2 == 0 {
			q.PerUser.TRES = accounting.Amounts{{Name: "cpu", Count: 2048}}
			q.Limits.GrpTRES = accounting.Amounts{{Name: "cpu", Count: 100_000}, {Name: "gres/gpu", Count: 2000}}
		}
		out = append(out, accounting.Change{QOS: q})
	}
	all := []string{"low", "plain", "capped", "high"}
	for i := range accounts {
		name := fmt.Sprintf("acct%02d", i)
		own := &accounting.Association{Account: name, Parent: accounting.RootAccount, Shares: 1, QOS: all}
		if i%2 == 0 {
			own.Limits.GrpTRES = accounting.Amounts{{Name: "cpu", Count: 40_000}, {Name: "gres/gpu", Count: 600}}
			own.Limits.MaxJobs = accounting.AtMost(500)
		}
		out = append(out, accounting.Change{Account: &accounting.Account{Name: name}}, accounting.Change{Assoc: own})
	}
	for i := range users {
		name, acct := fmt.Sprintf("u%03d", i), fmt.Sprintf("acct%02d", i%accounts)
		out = append(out, accounting.Change{User: &accounting.User{Name: name, Default: acct}},
			accounting.Change{Assoc: &accounting.Association{Account: acct, User: name, Shares: 1}})
	}
	return out
}

// reservations are of 10 to 100 neighbours, for some hours within the next week.
func (w *World) reserve(r *rand.Rand, n int) {
	for i := range n {
		first, size := r.IntN(w.size.Nodes*9/10), 10+r.IntN(max(1, min(90, w.size.Nodes/20)))
		begin := w.now + job.Time(1+r.IntN(7*24))*3_600_000
		v := partition.Reservation{Name: fmt.Sprintf("resv%02d", i), Start: begin, End: begin + job.Time(1+r.IntN(24))*3_600_000,
			Users: []string{fmt.Sprintf("u%03d", i)}}
		for k := first; k < min(first+size, w.size.Nodes); k++ {
			v.Nodes = append(v.Nodes, w.ids[k])
		}
		w.do(&state.Reservation{Create: true, Value: v})
	}
}
