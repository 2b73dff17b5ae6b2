package conf

import (
	"slices"

	"muster/partition"
)

// topologies makes a topology of all switches, or all blocks, that name it.
func (b *builder) topologies() {
	for i, t := range b.schema.Blocks {
		path := tableAt("block", i)
		if b.checkName(path, "block", t.Name) && b.first(path, "block of topology "+t.Topology, t.Name) {
			b.addLeaf(path, t.Topology, true, partition.Leaf{Name: t.Name, Nodes: b.expand(path, "nodes", t.Nodes)})
		}
	}
	above := map[[2]string]string{} // of a topology and a switch: the switch above it
	for i, t := range b.schema.Switches {
		path := tableAt("switch", i)
		if !b.checkName(path, "switch", t.Name) || !b.first(path, "switch of topology "+t.Topology, t.Name) {
			continue
		}
		switch {
		case (t.Nodes == "") == (t.Switches == ""):
			b.fail(path, "switch %s: want either nodes or switches", t.Name)
		case t.Nodes != "":
			b.addLeaf(path, t.Topology, false, partition.Leaf{Name: t.Name, Nodes: b.expand(path, "nodes", t.Nodes)})
		default:
			for _, below := range b.expand(path, "switches", t.Switches) {
				key := [2]string{t.Topology, below}
				if other := above[key]; other != "" {
					b.fail(path+".switches", "switch %s is below %s already", below, other)
				}
				above[key] = t.Name
			}
		}
	}
	for _, t := range b.file.Cluster.Topologies {
		b.climb(t, above)
		if err := t.Check(); err != nil {
			b.fail("", "%v", err)
		}
	}
}

// addLeaf puts a leaf into its topology, which has either switches or blocks.
func (b *builder) addLeaf(path, name string, block bool, leaf partition.Leaf) {
	list := &b.file.Cluster.Topologies
	i := slices.IndexFunc(*list, func(t *partition.Topology) bool { return t.Name == name })
	if i < 0 {
		i = len(*list)
		*list = append(*list, &partition.Topology{Name: name, Block: block})
	}
	if (*list)[i].Block != block {
		b.fail(path, "topology %s has switches and blocks; give one kind another topology", name)
	}
	(*list)[i].Leaves = append((*list)[i].Leaves, leaf)
}

// climb notes for each leaf the switches above it.
func (b *builder) climb(t *partition.Topology, above map[[2]string]string) {
	for i := range t.Leaves {
		l := &t.Leaves[i]
		for at := above[[2]string{t.Name, l.Name}]; at != ""; at = above[[2]string{t.Name, at}] {
			if slices.Contains(l.Above, at) {
				b.fail("", "topology %s: switch %s is above itself", t.Name, at)
				return
			}
			l.Above = append(l.Above, at)
		}
	}
}

// topologyOf checks the topology that a partition names.
func (b *builder) topologyOf(path, name string) string {
	known := []string{}
	for _, t := range b.file.Cluster.Topologies {
		known = append(known, t.Name)
	}
	if name != "" && !slices.Contains(known, name) {
		b.fail(path+".topology", "topology: there is no switch or block of a topology %q%s", name, suggest(name, known))
	}
	return name
}
