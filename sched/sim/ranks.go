package sim

import (
	"slices"

	"muster/job"
	"muster/sched"
	"muster/state"
)

// ranks keeps the multifactor priorities as a controller does: of new jobs at
// once, of all in each period of calculation.
type ranks struct {
	ranker *sched.Ranker
	due    job.Time
}

// rank applies the priorities that are no longer right.
func (p *play) rank() error {
	root := p.machine.Root()
	weights := &root.Cluster().Policy.Priority
	if !weights.Multifactor {
		return nil
	}
	r := &p.ranks
	if r.ranker == nil {
		cpus := uint64(0)
		for n := range root.Nodes() {
			cpus += uint64(n.Size().CPUs)
		}
		r.ranker = sched.NewRanker(weights, slices.Collect(root.Partitions()), cpus, root.Book(), root)
	}
	all := p.now >= r.due
	if all {
		r.due = p.now + job.Time(max(1, weights.CalcPeriod))*1000
		if weights.FairShare > 0 {
			if _, err := p.apply([]state.Command{&state.Decay{}}); err != nil {
				return err
			}
			root = p.machine.Root()
		}
		r.ranker.Fair = root
	}
	c := &state.Reprioritize{}
	for j := range root.Waiting() {
		if j.Held.Is() || j.FixedPriority || !all && j.Times.Submit != p.now && j.Priority != sched.MinPriority {
			continue
		}
		if n := r.ranker.Rank(j, p.now).Priority; n != j.Priority {
			c.List = append(c.List, state.Priority{Job: j.ID, Priority: n})
		}
	}
	if len(c.List) == 0 {
		return nil
	}
	_, err := p.apply([]state.Command{c})
	return err
}
