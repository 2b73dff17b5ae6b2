package conf

import (
	"reflect"
	"strings"
	"testing"

	"muster/partition"
)

const withPartitions = small + "[[partition]]\nname = \"main\"\n[[partition]]\nname = \"gpu\"\n"

func TestRules(t *testing.T) {
	f := parse(t, withPartitions+`
[[rule]]
name = "gpus"
users = ["alice", "bob"]
groups = "phys"
accounts = ["a"]
partitions = ["main"]
qos = ["normal"]
device = "gpu"
nodes_over = 2
time_over = "1-00:00:00"
set_partitions = ["gpu"]
set_account = "b"
set_qos = "high"
[[rule]]
name = "closed"
refuse = "Closed until Monday"
`)
	want := []partition.SubmitRule{
		{Name: "gpus", Users: []string{"alice", "bob"}, Groups: []string{"phys"}, Accounts: []string{"a"}, Partitions: []string{"main"}, QOS: []string{"normal"},
			Device: "gpu", NodesOver: 2, TimeOver: 1440, SetPartitions: []string{"gpu"}, SetAccount: "b", SetQOS: "high"},
		{Name: "closed", Refuse: "Closed until Monday"},
	}
	if !reflect.DeepEqual(f.Cluster.Rules, want) {
		t.Errorf("got %+v", f.Cluster.Rules)
	}
}

func TestRulesThatAreWrong(t *testing.T) {
	for _, test := range []struct{ rule, want string }{
		{`refuse = "no"`, "the rule has no name"},
		{`name = "r"`, "rule r does nothing; write refuse, set_partitions, set_account or set_qos"},
		{"name = \"r\"\nrefuse = \"no\"\nset_qos = \"q\"", "rule r refuses and sets; keep one"},
		{"name = \"r\"\nrefuse = \"a\\nb\"", "refuse: want one line of plain text"},
		{"name = \"r\"\nrefuse = \"a\"\npartitions = [\"gpus\"]", "there is no partition"},
		{"name = \"r\"\nset_partitions = [\"gpus\"]", "there is no partition"},
		{"name = \"r\"\nrefuse = \"a\"\n[[rule]]\nname = \"r\"\nrefuse = \"b\"", "rule r is there twice"},
		{"name = \"r\"\nrefuse = \"a\"\nuser = \"x\"", "unknown key user"},
	} {
		_, err := Parse("cluster.toml", []byte(withPartitions+"[[rule]]\n"+test.rule+"\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.rule, err, test.want)
		}
	}
}

// TestRulesThatChange: a change of a rule is a line of what muster conf diff shows.
func TestRulesThatChange(t *testing.T) {
	before := parse(t, withPartitions+"[[rule]]\nname = \"r\"\nrefuse = \"a\"\n")
	after := parse(t, withPartitions+"[[rule]]\nname = \"r\"\nrefuse = \"b\"\n")
	if c := Diff(before, after); len(c) != 1 || c[0].Table != "rule" || c[0].Names != "r" || c[0].Key != "refuse" {
		t.Errorf("got %+v", c)
	}
}
