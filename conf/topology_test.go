package conf

import (
	"reflect"
	"strings"
	"testing"

	"muster/partition"
)

const net = "[[node]]\nnames = \"n[1-4]\"\ncpus = 4\nmemory = 1000\n[[partition]]\nname = \"p\"\ntopology = \"default\"\n"

func TestTopologies(t *testing.T) {
	f, err := Parse("cluster.toml", []byte(net+"[[switch]]\nname = \"a\"\nnodes = \"n[1-2]\"\n[[switch]]\nname = \"b\"\nnodes = \"n[3-4]\"\n[[switch]]\nname = \"top\"\nswitches = \"a,b\"\n"+
		"[[block]]\nname = \"x\"\nnodes = \"n[1-4]\"\ntopology = \"racks\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*partition.Topology{
		{Name: "racks", Block: true, Leaves: []partition.Leaf{{Name: "x", Nodes: []string{"n1", "n2", "n3", "n4"}}}},
		{Name: "default", Leaves: []partition.Leaf{{Name: "a", Nodes: []string{"n1", "n2"}, Above: []string{"top"}}, {Name: "b", Nodes: []string{"n3", "n4"}, Above: []string{"top"}}}},
	}
	if got := f.Cluster.Topologies; !reflect.DeepEqual(got, want) || f.Cluster.Partitions[0].Topology != "default" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, c := range []struct{ text, want string }{
		{"[[block]]\nname = \"x\"\nnodes = \"n1\"\n[[switch]]\nname = \"a\"\nnodes = \"n2\"\n", "has switches and blocks"},
		{"[[switch]]\nname = \"a\"\n", "want either nodes or switches"},
		{"[[switch]]\nname = \"a\"\nnodes = \"n1\"\n[[switch]]\nname = \"b\"\nnodes = \"n1\"\n", "node n1 is in a and in b"},
		{"[[block]]\nname = \"x\"\nnodes = \"n1\"\ntopology = \"other\"\n", "there is no switch or block of a topology"},
		{"[[switch]]\nname = \"a\"\nnodes = \"n1\"\n[[switch]]\nname = \"b\"\nswitches = \"a,c\"\n[[switch]]\nname = \"c\"\nswitches = \"b\"\n", "is above itself"},
	} {
		if _, err := Parse("cluster.toml", []byte(net+c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
