package admit

import (
	"fmt"
	"slices"
	"testing"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// ruleCore is a cluster with accounts (alice's is phys, bob's bio) and rules.
func ruleCore(t *testing.T, rules ...partition.SubmitRule) *fakeCore {
	t.Helper()
	c := accountCore(t)
	cluster := *c.Root().Cluster()
	cluster.Rules = rules
	c.must(t, &state.Configure{Cluster: cluster})
	return c
}

// change is scontrol update JobId=id by a user; it returns the refusal.
func (c *fakeCore) change(t *testing.T, uid uint32, id job.ID, name, value string) string {
	t.Helper()
	var reply api.ChangeReply
	req := &api.UpdateRequest{Action: "update", Pairs: []api.Pair{{Name: "JobId", Value: fmt.Sprint(id)}, {Name: name, Value: value}}}
	if err := c.call(t, uid, api.MethodUpdateJob, req, &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Failures) > 0 {
		return reply.Failures[0].Text
	}
	return ""
}

// TestRulesAtSubmit: rules see defaults as what the user asked for, and refuse with
// their own text.
func TestRulesAtSubmit(t *testing.T) {
	c := ruleCore(t,
		partition.SubmitRule{Name: "bio", Accounts: []string{"bio"}, Device: "gpu", Refuse: "bio has no GPUs"},
		partition.SubmitRule{Name: "wheel", Groups: []string{"wheel"}, Partitions: []string{"debug"}, NodesOver: 1, Refuse: "one node only"},
		partition.SubmitRule{Name: "long", TimeOver: 60, SetPartitions: []string{"one"}},
		partition.SubmitRule{Name: "root", Users: []string{"root"}, SetAccount: "phys"},
	)
	gpu := func(j *api.SubmitJob) {
		j.Request.Gres.PerJob, j.Request.Timing.Limit = gres.Spec{{Name: "gpu", Count: 1}}, 5
	}
	for _, test := range []struct {
		name      string
		uid       uint32
		edit      func(*api.SubmitJob)
		partition string
		err       string
	}{
		{"no account named", 1001, gpu, "", "bio has no GPUs"},
		{"other account", 1000, gpu, "debug", ""},
		{"default partition", 1001, func(j *api.SubmitJob) { j.Request.Size.MinNodes = 2 }, "", "one node only"},
		{"few nodes", 1001, nil, "one", ""}, // debug has no time limit
		{"short", 1001, func(j *api.SubmitJob) { j.Request.Timing.Limit = 60 }, "debug", ""},
		{"long", 1000, func(j *api.SubmitJob) { j.Request.Timing.Limit = 61 }, "one", ""},
		{"long, held", 1000, func(j *api.SubmitJob) { j.Request.Timing.Limit, j.Hold = 61, true }, "one", ""},
	} {
		id, err := c.submit(t, test.uid, test.edit)
		switch {
		case test.err != "":
			if e, ok := err.(*api.Error); !ok || e.Text != test.err || e.Kind != api.ErrDenied {
				t.Errorf("%s: got %v, want %q", test.name, err, test.err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		default:
			if got := c.Root().Job(id).Request.Partitions; !slices.Equal(got, []string{test.partition}) {
				t.Errorf("%s: got %q", test.name, got)
			}
		}
	}
	// A rule gives nobody an account that he may not use.
	if _, err := c.submit(t, 0, nil); err == nil || err.Error() != slurm.TextAccount {
		t.Errorf("an account that is not the user's: %v", err)
	}
}

// TestRulesAtUpdate: a user can't get by a change what a submit would refuse; what has
// nothing to do with rules may be changed, and root may change all.
func TestRulesAtUpdate(t *testing.T) {
	c := ruleCore(t,
		partition.SubmitRule{Name: "one", Partitions: []string{"one"}, TimeOver: 30, Refuse: "30 minutes at most"},
		partition.SubmitRule{Name: "wide", NodesOver: 1, SetPartitions: []string{"debug"}},
	)
	id, err := c.submit(t, 1000, func(j *api.SubmitJob) { j.Request.Timing.Limit = 60 })
	if err != nil {
		t.Fatal(err)
	}
	if got := c.change(t, 1000, id, "Partition", "one"); got != "30 minutes at most" || c.Root().Job(id).Request.Partitions[0] != "debug" {
		t.Errorf("to a partition with a rule: %q", got)
	}
	if got := c.change(t, 0, id, "Partition", "one"); got != "" {
		t.Errorf("root: %q", got)
	}
	if got := c.change(t, 1000, id, "Comment", "x"); got != "" {
		t.Errorf("the comment of a job that root moved: %q", got)
	}
	if got := c.change(t, 1000, id, "TimeLimit", "20"); got != "" {
		t.Errorf("to what the rule allows: %q", got)
	}
	if got := c.change(t, 1000, id, "NumNodes", "2"); got != "" || !slices.Equal(c.Root().Job(id).Request.Partitions, []string{"debug"}) {
		t.Errorf("to two nodes: %q, partitions %q", got, c.Root().Job(id).Request.Partitions)
	}
}

// TestRulesSetAccountAndQOS: what a rule sets is what the job has, at a submit and at a
// change.
func TestRulesSetAccountAndQOS(t *testing.T) {
	c := ruleCore(t, partition.SubmitRule{Name: "short", Partitions: []string{"one"}, SetAccount: "bio", SetQOS: "short"})
	for _, line := range []string{"add user alice account=bio", "modify user alice set qos+=short"} {
		if _, err := c.manage(t, 0, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	limit := func(j *api.SubmitJob) { j.Request.Timing.Limit = 5 }
	for _, how := range []string{"submit", "change"} {
		id, err := c.submit(t, 1000, func(j *api.SubmitJob) {
			limit(j)
			if how == "submit" {
				j.Request.Partitions = []string{"one"}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if how == "change" {
			if j := c.Root().Job(id); j.Account != "phys" || j.QOS != "normal" {
				t.Fatalf("before the change: %s/%s", j.Account, j.QOS)
			}
			if got := c.change(t, 1000, id, "Partition", "one"); got != "" {
				t.Fatal(got)
			}
		}
		if j := c.Root().Job(id); j.Account != "bio" || j.QOS != "short" {
			t.Errorf("%s: %s/%s", how, j.Account, j.QOS)
		}
	}
}
