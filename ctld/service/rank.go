package service

import (
	"slices"

	"muster/sched"
	"muster/state"
)

// Ranker works out priorities by what a root says; nil if the cluster orders jobs
// by time of submission.
func Ranker(root *state.Root) *sched.Ranker {
	weights := &root.Cluster().Policy.Priority
	if !weights.Multifactor {
		return nil
	}
	cpus := uint64(0)
	for n := range root.Nodes() {
		cpus += uint64(n.Size().CPUs)
	}
	return sched.NewRanker(weights, slices.Collect(root.Partitions()), cpus, root.Book(), root)
}
