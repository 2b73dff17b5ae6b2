package schedbench

import (
	"fmt"
	"math/rand/v2"

	"muster/gres"
	"muster/job"
)

// shape draws one request: seven in ten want one node, few want hundreds.
func shape(r *rand.Rand, s *Size) job.Request {
	q := job.Request{Name: "j", Requeue: true}
	names := []string{"all", "cpu", "big", "old", "h100", "a100", "gpu", "batch", "short", "debug", "long", "urgent"}
	part := names[r.IntN(len(names))]
	q.Partitions = []string{part}
	q.Timing.Limit = job.Minutes(10 + r.IntN(2870))
	switch part {
	case "short":
		q.Timing.Limit = min(q.Timing.Limit, 240)
	case "debug":
		q.Timing.Limit = min(q.Timing.Limit, 30)
	case "cpu", "old":
		if r.IntN(4) == 0 {
			q.Partitions = append(q.Partitions, "batch")
		}
	}
	nodes := 1
	switch x := r.IntN(100); {
	case x < 70:
		q.Size.Tasks = 1 + r.Uint32N(32)
	case x < 88:
		nodes = 2 + r.IntN(3)
	case x < 98:
		nodes = 4 + r.IntN(28)
	default:
		nodes = 64 + r.IntN(192)
	}
	q.Size.MinNodes = uint32(min(nodes, s.Nodes/100))
	q.Size.MaxNodes = q.Size.MinNodes
	if nodes > 1 {
		q.Size.TasksPerNode = uint16(1 + r.IntN(32))
	}
	if r.IntN(3) == 0 {
		q.Memory = job.Memory{Per: job.MemoryPerNode, MB: uint64(1000 * (1 + r.IntN(120)))}
	}
	gpu := part == "h100" || part == "a100" || part == "gpu"
	if gpu {
		it := gres.Item{Name: "gpu", Count: uint64(1 + r.IntN(4))}
		if r.IntN(2) == 0 && part != "gpu" {
			it.Type = part
		}
		q.Gres.PerNode = gres.Spec{it}
	}
	switch x := r.IntN(20); {
	case x == 0:
		q.Licenses = fmt.Sprintf("%s:%d", []string{"matlab", "ansys", "vcs"}[r.IntN(3)], 1+r.IntN(8))
	case x == 1 && !gpu && part != "old":
		q.Place.Constraint = "genoa&ib"
	case x == 2:
		q.Place.Constraint = "ib|rome"
	case x == 3:
		q.Place.Sharing = job.Exclusive
	}
	return q
}
