package admit

import (
	"fmt"
	"strings"
	"testing"

	"muster/api"
	"muster/job"
	"muster/state"
)

// TestSubmitFits: what is judged at submission and what is left to the queue.
func TestSubmitFits(t *testing.T) {
	nowhere := func(j *api.SubmitJob) { j.Request.Place.Exclude = []string{"n1", "n2"} }
	tests := []struct {
		name, enforce, err string
		edit               func(*api.SubmitJob)
	}{
		{name: "no node left", edit: nowhere, err: "Requested node configuration is not available"},
		{name: "no node left, held", edit: func(j *api.SubmitJob) { nowhere(j); j.Hold = true }},
		{name: "required and excluded", edit: func(j *api.SubmitJob) {
			j.Request.Place.Nodes, j.Request.Place.Exclude = []string{"n1"}, []string{"n1"}
		}, err: "Invalid node name specified"},
		{name: "a choice of nodes", edit: func(j *api.SubmitJob) {
			j.Request.Place.Nodes, j.Request.Size.MinNodes, j.Request.Size.MaxNodes = []string{"n1", "n2"}, 1, 1
		}},
		{name: "another account's partition", edit: func(j *api.SubmitJob) { j.Request.Partitions = []string{"bio"} }},
		{name: "another account's partition, enforced", enforce: "ANY", edit: func(j *api.SubmitJob) { j.Request.Partitions = []string{"bio"} }, err: "account not permitted"},
	}
	for _, x := range tests {
		c := newCore(t)
		cluster := *c.Root().Cluster()
		cluster.Policy.EnforcePartLimits = x.enforce
		c.must(t, &state.Configure{Cluster: cluster})
		_, err := c.submit(t, 1000, x.edit)
		switch {
		case x.err == "" && err != nil, x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)):
			t.Errorf("%s: %v, want %q", x.name, err, x.err)
		}
	}
}

// TestCircularDependency: jobs may not wait for each other, nor for themselves.
func TestCircularDependency(t *testing.T) {
	c := newCore(t)
	first, err := c.submit(t, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.submit(t, 1000, func(j *api.SubmitJob) { j.Dependency = "afterok:" + fmt.Sprint(first) })
	if err != nil {
		t.Fatal(err)
	}
	for on, want := range map[job.ID]string{first: "Job dependency problem", second: "Circular job dependency"} {
		req := &api.UpdateRequest{Action: "update", Pairs: []api.Pair{{Name: "JobId", Value: fmt.Sprint(first)}, {Name: "Dependency", Value: "afterok:" + fmt.Sprint(on)}}}
		var reply api.ChangeReply
		if err := c.call(t, 1000, api.MethodUpdateJob, req, &reply); err == nil && (len(reply.Failures) != 1 || !strings.Contains(reply.Failures[0].Text, want)) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("on %d: %v %+v, want %q", on, err, reply.Failures, want)
		}
	}
}

// TestDependencyNamedTwice: a condition that is repeated counts once.
func TestDependencyNamedTwice(t *testing.T) {
	c := newCore(t)
	first, err := c.submit(t, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.submit(t, 1000, func(j *api.SubmitJob) { j.Dependency = fmt.Sprintf("afterok:%d:%d", first, first) })
	if err != nil {
		t.Fatal(err)
	}
	if deps := c.Root().Job(second).Deps; len(deps) != 1 {
		t.Errorf("dependencies: %v", deps)
	}
}
