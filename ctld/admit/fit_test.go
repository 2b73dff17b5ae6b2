package admit

import (
	"fmt"
	"strings"
	"testing"

	"muster/api"
	"muster/job"
	"muster/partition"
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

// TestAlternatePartitions: a partition that takes no jobs hands them on, along its
// alternates, but not in a circle.
func TestAlternatePartitions(t *testing.T) {
	for _, x := range []struct{ asked, second, third, want, err string }{
		{asked: "closed", second: "one", want: "one"},
		{asked: "one", second: "debug", want: "one"}, // it takes jobs itself
		{asked: "closed", err: "Required partition not available"},
		{asked: "closed", second: "shut", third: "debug", want: "debug"},
		{asked: "closed", second: "shut", third: "closed", err: "Required partition not available"},
	} {
		c := newCore(t)
		cluster := *c.Root().Cluster()
		for i := range cluster.Partitions {
			if p := &cluster.Partitions[i]; p.Name == x.asked {
				p.Alternate = x.second
			}
		}
		cluster.Partitions = append(cluster.Partitions, partition.Partition{Name: "shut", NodeList: "n1", State: partition.PartitionInactive, Alternate: x.third})
		c.must(t, &state.Configure{Cluster: cluster})
		id, err := c.submit(t, 1000, func(j *api.SubmitJob) { j.Request.Partitions = []string{x.asked} })
		switch {
		case x.err != "":
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("%+v: %v", x, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", x, err)
		case c.Root().Job(id).Request.Partitions[0] != x.want:
			t.Errorf("%+v: it is in %v", x, c.Root().Job(id).Request.Partitions)
		}
	}
}

// TestMostJobs: a full queue refuses jobs by name and takes them again once there is
// room.
func TestMostJobs(t *testing.T) {
	c := newCore(t)
	cluster := *c.Root().Cluster()
	cluster.Limits.MaxJobs = 2
	c.must(t, &state.Configure{Cluster: cluster})
	for range 2 {
		if _, err := c.submit(t, 1000, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.submit(t, 1000, nil); err == nil || !strings.Contains(err.Error(), "Resource temporarily unavailable") {
		t.Errorf("a third job: %v", err)
	}
	cluster.Limits.MaxJobs = 3
	c.must(t, &state.Configure{Cluster: cluster})
	if _, err := c.submit(t, 1000, nil); err != nil {
		t.Errorf("with room for it: %v", err)
	}
}
