package noded

import (
	"testing"

	"muster/noded/cgroup"
)

func TestUsageOfAnAttemptLeavesItsStepsOut(t *testing.T) {
	type cpu struct{ user, system uint64 }
	for name, x := range map[string]struct {
		all, script, steps, want cpu // all is what the control group counted
	}{
		"no control groups": {script: cpu{5, 3}, want: cpu{5, 3}},
		"no steps":          {all: cpu{50, 30}, script: cpu{5, 3}, want: cpu{50, 30}},
		"steps":             {all: cpu{50, 30}, script: cpu{5, 3}, steps: cpu{40, 20}, want: cpu{10, 10}},
		"counted otherwise": {all: cpu{50, 30}, script: cpu{5, 3}, steps: cpu{60, 28}, want: cpu{5, 3}},
	} {
		o := &outcome{}
		o.usage.UserUs, o.usage.SystemUs = x.script.user, x.script.system
		o.steps.UserUs, o.steps.SystemUs = x.steps.user, x.steps.system
		u := usageOf(&attempt{}, o, cgroup.Stats{UserUS: x.all.user, SystemUS: x.all.system})
		if got := (cpu{u.UserUs, u.SystemUs}); got != x.want {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}
