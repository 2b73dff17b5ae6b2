package main

import (
	"strings"
	"testing"

	"muster/api"
	"muster/job"
)

func TestWriteWhy(t *testing.T) {
	noon := job.Time(1_700_000_000_000)
	for _, c := range []struct {
		name string
		r    api.WhyReply
		want string
	}{
		{"runs", api.WhyReply{Job: "7", State: job.Running}, "Job 7 does not wait: it is RUNNING.\n"},
		{"planned", api.WhyReply{
			Job: "8_[0-3]", State: job.Pending, Ahead: 2, Planned: noon, Nodes: "n[1-2]", Zone: "UTC",
			Reasons: []api.WhyReason{{Reason: job.ReasonPriority, Detail: "jobs ahead of it wait"}, {Reason: job.ReasonResources, Detail: "needs 2 nodes; 1 is free"}},
			Before:  []api.WhyBefore{{Job: 5, Start: noon - 60_000, Nodes: 2}},
			Sooner:  []api.WhyChange{{What: "a limit of 20 minutes (--time)", Start: noon - 120_000}},
		}, `Job 8_[0-3] waits. Jobs ahead of it in order: 2.
  Priority: jobs ahead of it wait
  Resources: needs 2 nodes; 1 is free
It is planned to start at 2023-11-14T22:13:20 on n[1-2].
  ahead: job 5 takes 2 nodes that it could use, from 2023-11-14T22:12:20
It would start sooner with one of these:
  a limit of 20 minutes (--time): at 2023-11-14T22:11:20
`},
		{"never", api.WhyReply{Job: "9", State: job.Pending, Reasons: []api.WhyReason{{Reason: job.ReasonJobHeldUser, Detail: "held"}}},
			"Job 9 waits. Jobs ahead of it in order: 0.\n  JobHeldUser: held\nIt has no planned start.\n"},
	} {
		var out strings.Builder
		if err := writeWhy(&out, &c.r); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, out.String(), c.want)
		}
	}
}
