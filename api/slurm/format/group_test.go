package format

import (
	"testing"

	"muster/api"
)

// A partition whose nodes are all filtered out has a line only where lines name
// partitions (sinfo -n NODE -o '%t %E' is what node health checks read).
func TestEmptyPartitions(t *testing.T) {
	nodes := []api.NodeRecord{{Name: "n1", Base: api.NodeIdle}, {Name: "n2", Base: api.NodeIdle}}
	parts := []*api.PartitionRecord{{Name: "a", NodeNames: []string{"n1"}}, {Name: "b", NodeNames: []string{"n2"}}}
	for format, want := range map[string]int{"%t %E": 1, "%P %t": 2, "%R": 2} {
		table := Letters(format, NodeFields())
		g := Grouping{}
		for i := range table.Columns {
			if f := table.Columns[i].Field; f != nil {
				g.Fields = append(g.Fields, f)
			}
		}
		lines := g.Groups(parts, nodes, func(n *api.NodeRecord) bool { return n.Name == "n1" })
		if len(lines) != want {
			t.Errorf("%s: %d lines, want %d", format, len(lines), want)
		}
	}
}
