package partition

import (
	"reflect"
	"testing"

	"muster/gres"
	"muster/internal/wire"
	"muster/job"
)

// TestRuleConditions: a rule is for a job that meets all its conditions; each condition
// alone keeps a job out.
func TestRuleConditions(t *testing.T) {
	whole := SubmitRule{Users: []string{"alice", "bob"}, Groups: []string{"phys"}, Accounts: []string{"a"}, Partitions: []string{"gpu"},
		QOS: []string{"normal"}, Device: "gpu", NodesOver: 3, TimeOver: 60, Refuse: "no"}
	for name, test := range map[string]struct {
		edit func(*Asked)
		want bool
	}{
		"all are met":        {func(*Asked) {}, true},
		"the other user":     {func(a *Asked) { a.User = "bob" }, true},
		"another user":       {func(a *Asked) { a.User = "carol" }, false},
		"no such group":      {func(a *Asked) { a.Groups = []string{"users"} }, false},
		"no group":           {func(a *Asked) { a.Groups = nil }, false},
		"account":            {func(a *Asked) { a.Account = "b" }, false},
		"partition":          {func(a *Asked) { a.Partitions = []string{"cpu"} }, false},
		"one of partitions":  {func(a *Asked) { a.Partitions = []string{"cpu", "gpu"} }, true},
		"QOS":                {func(a *Asked) { a.QOS = "high" }, false},
		"no device":          {func(a *Asked) { a.Devices = nil }, false},
		"no more nodes":      {func(a *Asked) { a.Nodes = 3 }, false},
		"no longer":          {func(a *Asked) { a.Limit = 60 }, false},
		"without time limit": {func(a *Asked) { a.Limit = job.Unlimited }, true},
	} {
		a := &Asked{User: "alice", Groups: []string{"users", "phys"}, Account: "a", Partitions: []string{"gpu"}, QOS: "normal", Devices: []string{"gpu"}, Nodes: 4, Limit: 61}
		test.edit(a)
		if got := Judge([]SubmitRule{whole}, a) != nil; got != test.want {
			t.Errorf("%s: refused %v, want %v", name, got, test.want)
		}
	}
	if Judge([]SubmitRule{{Refuse: "closed"}}, &Asked{}) == nil {
		t.Error("a rule without conditions lets a job through")
	}
}

// TestRulesApplyInOrder: a rule sees what those before it set; the first that refuses is
// the one named; what a rule does not set stays.
func TestRulesApplyInOrder(t *testing.T) {
	rules := []SubmitRule{
		{Name: "early", Partitions: []string{"big"}, Refuse: "not yet"},
		{Name: "route", NodesOver: 1, SetPartitions: []string{"big"}},
		{Name: "mark", Partitions: []string{"big"}, SetAccount: "large", SetQOS: "wide"},
		{Name: "late", QOS: []string{"wide"}, Users: []string{"bob"}, Refuse: "too wide"},
		{Name: "later", QOS: []string{"wide"}, Users: []string{"bob"}, Refuse: "again"},
	}
	a := &Asked{User: "alice", Account: "a", QOS: "normal", Partitions: []string{"main"}, Nodes: 2}
	if r := Judge(rules, a); r != nil {
		t.Fatalf("refused by %s", r.Name)
	}
	if want := (&Asked{User: "alice", Account: "large", QOS: "wide", Partitions: []string{"big"}, Nodes: 2}); !reflect.DeepEqual(a, want) {
		t.Errorf("got %+v", a)
	}
	a = &Asked{User: "bob", Account: "a", QOS: "normal", Partitions: []string{"main"}, Nodes: 2}
	if r := Judge(rules, a); r == nil || r.Name != "late" {
		t.Errorf("got %+v", r)
	}
	a = &Asked{User: "bob", Account: "a", QOS: "normal", Partitions: []string{"main"}, Nodes: 1}
	if r := Judge(rules, a); r != nil || a.Account != "a" || a.Partitions[0] != "main" {
		t.Errorf("a job that meets nothing: %+v, %+v", r, a)
	}
	a = &Asked{Nodes: 2}
	Judge(rules[1:2], a)
	if a.Partitions[0] = "mine"; rules[1].SetPartitions[0] != "big" {
		t.Error("a job's list is the rule's own")
	}
}

func TestDevicesAsked(t *testing.T) {
	g := &job.GresRequest{PerNode: gres.Spec{{Name: "nic", Count: 1}}, PerJob: gres.Spec{{Name: "gpu", Count: 2}},
		PerTask: gres.Spec{{Name: "gpu", Count: 1}, {Name: "tpu", Count: 0}}, PerSocket: gres.Spec{{Name: "fpga", Count: 1}}}
	if got := DevicesAsked(g); !reflect.DeepEqual(got, []string{"fpga", "gpu", "nic"}) {
		t.Errorf("got %q", got)
	}
}

func TestNodesAsked(t *testing.T) {
	for _, test := range []struct {
		size  job.Size
		nodes []string
		want  uint32
	}{
		{job.Size{}, nil, 1},
		{job.Size{MinNodes: 3, MaxNodes: 3}, nil, 3},
		{job.Size{MinNodes: 1, MaxNodes: 100}, nil, 100},
		{job.Size{Tasks: 100}, nil, 1},
		{job.Size{Tasks: 9, TasksPerNode: 4}, nil, 3},
		{job.Size{Tasks: 8, TasksPerNode: 4}, nil, 2},
		{job.Size{TasksPerNode: 4}, nil, 1},
		{job.Size{Tasks: 1<<32 - 1, TasksPerNode: 1}, nil, 1<<32 - 1},
		{job.Size{MinNodes: 1}, []string{"n1", "n2"}, 2},
	} {
		q := &job.Request{Size: test.size, Place: job.Placement{Nodes: test.nodes}}
		if got := NodesAsked(q); got != test.want {
			t.Errorf("%+v %q: got %d, want %d", test.size, test.nodes, got, test.want)
		}
	}
}

func TestRuleEncoding(t *testing.T) {
	in := SubmitRule{Name: "n", Users: []string{"u"}, Groups: []string{"g"}, Accounts: []string{"a"}, Partitions: []string{"p"}, QOS: []string{"q"},
		Device: "gpu", NodesOver: 1, TimeOver: 2, Refuse: "r", SetPartitions: []string{"s"}, SetAccount: "t", SetQOS: "v"}
	var out SubmitRule
	if err := wire.Decode(wire.Encode(nil, &in), &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("got %+v, %v", out, err)
	}
}
