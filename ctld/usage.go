package ctld

import (
	"context"
	"time"

	"muster/job"
	"muster/partition"
	"muster/state"
)

// gatherUse brings past use up to date when priority.calc_period has passed since the
// last time, by any leader, and returns the root to go on with.
func (l *lead) gatherUse(ctx context.Context, root *state.Root) *state.Root {
	if l.usageDue(root) > 0 {
		return root
	}
	if !l.propose(ctx, "use", &state.Decay{Reset: lastReset(root.Cluster(), l.c.store.Now())}) {
		return root
	}
	return l.c.store.Root()
}

// usageDue is how long it is until past use is to be brought up to date.
func (l *lead) usageDue(root *state.Root) time.Duration {
	period := time.Duration(max(1, root.Cluster().Policy.Priority.CalcPeriod)) * time.Second
	if root.UsageAt() == 0 {
		return 0
	}
	return max(0, root.UsageAt().Add(period).Sub(l.c.store.Now()))
}

// lastReset is the last moment at or before now at which past use is to be forgotten
// (slurm.conf(5), PriorityUsageResetPeriod): a midnight in the cluster's zone; 0 if
// never, or if the zone is not known here.
func lastReset(c *partition.Cluster, now job.Time) job.Time {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return 0
	}
	t := now.Std().In(zone)
	year, month, day := t.Date()
	switch c.Policy.Priority.Reset {
	case partition.ResetDaily:
	case partition.ResetWeekly:
		day -= int(t.Weekday())
	case partition.ResetMonthly:
		day = 1
	case partition.ResetQuarterly:
		month, day = month-(month-1)%3, 1
	case partition.ResetYearly:
		month, day = time.January, 1
	default:
		return 0
	}
	return job.TimeOf(time.Date(year, month, day, 0, 0, 0, 0, zone))
}
