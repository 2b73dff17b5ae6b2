package query

import (
	"context"
	"strings"
	"testing"

	"muster/api"
	"muster/internal/bitset"
	"muster/job"
	"muster/sched"
	"muster/state"
)

// Explain answers from the verdicts of the test.
func (c *core) Explain(_ context.Context, id job.ID) (*sched.Explanation, bool, error) {
	v, ok := c.verdicts[id]
	return &sched.Explanation{Verdict: v, Before: []sched.Before{{Job: 1, Start: 5, Nodes: 2}}, Sooner: []sched.Change{{What: "fewer", Start: 4}}}, ok, nil
}

func TestWhy(t *testing.T) {
	c := newCore(t)
	run := c.submit(t, nil)
	c.start(t, run, job.NoTask, "n1")
	array := c.submit(t, func(n *state.NewJob) { n.Tasks, n.Range = bitset.Range(0, 3), "0-2" })
	c.verdicts[array] = sched.Verdict{Reasons: []sched.Why{{Reason: job.ReasonPriority, Detail: "behind"}, {Reason: job.ReasonResources, Detail: "full"}},
		Planned: 9, Nodes: []job.NodeID{2, 1}, Ahead: 1}
	var reply api.WhyReply
	if err := c.call(t, 1001, api.MethodWhy, &api.WhyRequest{Job: api.JobRef{ID: array}}, &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Job != "2_[0-2]" || len(reply.Reasons) != 2 || reply.Reasons[1].Detail != "full" || reply.Nodes != "n[1-2]" || reply.Ahead != 1 ||
		reply.Before[0].Nodes != 2 || reply.Sooner[0].What != "fewer" {
		t.Errorf("reply %+v", reply)
	}
	reply = api.WhyReply{}
	if err := c.call(t, 1001, api.MethodWhy, &api.WhyRequest{Job: api.JobRef{ID: run}}, &reply); err != nil || reply.State != job.Running || len(reply.Reasons) > 0 {
		t.Errorf("of a running job: %+v, %v", reply, err)
	}
	if err := c.call(t, 1001, api.MethodWhy, &api.WhyRequest{Job: api.JobRef{ID: 99}}, &reply); err == nil || !strings.Contains(err.Error(), "Invalid job id") {
		t.Errorf("of an unknown job: %v", err)
	}
}

// Where jobs are private, others' are not explained.
func TestWhyKeepsPrivateJobs(t *testing.T) {
	c := newCore(t)
	conf := *c.m.Root().Cluster()
	conf.Policy.PrivateData = []string{"jobs"}
	c.do(t, &state.Configure{Cluster: conf})
	id := c.submit(t, nil)
	c.verdicts[id] = sched.Verdict{Reasons: []sched.Why{{Reason: job.ReasonPriority}}}
	q := &api.WhyRequest{Job: api.JobRef{ID: id}}
	if err := c.call(t, 1002, api.MethodWhy, q, &api.WhyReply{}); err == nil {
		t.Error("a stranger is told")
	}
	if err := c.call(t, 1001, api.MethodWhy, q, &api.WhyReply{}); err != nil {
		t.Errorf("the owner: %v", err)
	}
}
