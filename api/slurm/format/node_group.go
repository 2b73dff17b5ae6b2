package format

import (
	"cmp"
	"slices"
	"strings"

	"muster/api"
)

// NodeGroup is one line of sinfo: nodes of one partition that are alike in all
// that the line shows.
type NodeGroup struct {
	Part      *api.PartitionRecord // nil where partitions do not matter (sinfo -R)
	PartIndex int
	Nodes     []*api.NodeRecord // empty: the partition has none that were asked for
}

// Grouping says how nodes are put on lines.
type Grouping struct {
	ByNode      bool // one line for each node and partition (sinfo -N)
	NoPartition bool // all partitions together (sinfo -R)
	Exact       bool // nodes of different size are apart (sinfo -e)
	Fields      []*Field[NodeGroup]
}

// Groups puts nodes on lines. keep tells which nodes are listed; parts are the
// partitions listed, in order. A partition without such nodes has a line of its
// own, except with ByNode.
func (g *Grouping) Groups(parts []*api.PartitionRecord, nodes []api.NodeRecord, keep func(*api.NodeRecord) bool) []*NodeGroup {
	byName := make(map[string]*api.NodeRecord, len(nodes))
	for i := range nodes {
		byName[nodes[i].Name] = &nodes[i]
	}
	var all []*NodeGroup
	if g.NoPartition {
		for i := range nodes {
			if keep(&nodes[i]) {
				all = g.add(all, nil, 0, &nodes[i])
			}
		}
		return all
	}
	// A partition without nodes is shown where lines are told apart by partition.
	named := slices.ContainsFunc(g.Fields, func(f *Field[NodeGroup]) bool { return f.Letter == 'P' || f.Letter == 'R' })
	for i, p := range parts {
		before := len(all)
		matched := false
		for _, name := range p.NodeNames {
			if n := byName[name]; n != nil && keep(n) {
				all, matched = g.add(all, p, i, n), true
			}
		}
		if len(all) == before && !matched && !g.ByNode && named {
			all = append(all, &NodeGroup{Part: p, PartIndex: i})
		}
	}
	return all
}

// add puts one node on the line that it is alike with, or on a new one.
func (g *Grouping) add(all []*NodeGroup, p *api.PartitionRecord, index int, n *api.NodeRecord) []*NodeGroup {
	if !g.ByNode {
		for _, old := range all {
			if g.alike(old, p, n) {
				if !slices.Contains(old.Nodes, n) {
					old.Nodes = append(old.Nodes, n)
				}
				return all
			}
		}
	}
	return append(all, &NodeGroup{Part: p, PartIndex: index, Nodes: []*api.NodeRecord{n}})
}

// alike tells whether a node can go on a line.
func (g *Grouping) alike(old *NodeGroup, p *api.PartitionRecord, n *api.NodeRecord) bool {
	one := &NodeGroup{Part: p, Nodes: []*api.NodeRecord{n}}
	first := &NodeGroup{Part: old.Part, Nodes: old.Nodes[:min(1, len(old.Nodes))]}
	for _, f := range g.Fields {
		alike := nodeAlike(f.Name, g.Exact)
		if alike == matchPart && old.Part == p || alike == matchNothing {
			continue
		}
		if alike == matchNode && len(first.Nodes) == 0 {
			continue
		}
		if string(f.Text(nil, new(Context), first)) != string(f.Text(nil, new(Context), one)) {
			return false
		}
	}
	return true
}

// What the nodes of one line must have in common because of a field.
type matching uint8

const (
	matchNothing matching = iota
	matchPart             // the partition's value
	matchNode             // the node's value
)

// nodeAlike tells what nodes on one line have in common if the line shows a
// field (sinfo(1), --exact).
func nodeAlike(name string, exact bool) matching {
	switch strings.ToLower(name) {
	case "available", "defaulttime", "groups", "maxcpuspernode", "oversubscribe", "partition", "partitionname", "preemptmode", "priorityjobfactor", "prioritytier", "root", "share", "size", "time":
		return matchPart
	case "allocmem", "comment", "extra", "features", "features_act", "gres", "gresused", "nodeaddr", "nodehost", "reason", "reservation", "statecompact", "statecomplete", "statelong", "timestamp", "user", "userlong":
		return matchNode
	case "cores", "cpus", "cpusload", "cpusstate", "disk", "freemem", "memory", "port", "sockets", "socketcorethread", "threads", "version", "weight":
		if exact {
			return matchNode
		}
	}
	return matchNothing
}

// groupOrder is how the lines of sinfo are ordered by default: partitions as
// configured, then falling state; with -N by node.
const (
	groupOrder   = "#P,-t"
	byNodeOrder  = "N"
	stateNumbers = 6
)

// SortGroups puts lines into order as -S asks for: letters of -o, each with - for
// the reverse or, for P, # for the order of the cluster file. It reports the
// first letter that lines can't be sorted by.
func SortGroups(lines []*NodeGroup, order string, byNode bool) (bad byte, ok bool) {
	if order == "" {
		order = groupOrder
		if byNode {
			order = byNodeOrder
		}
	}
	type key struct {
		letter      byte
		reverse, as bool
	}
	var keys []key
	k := key{}
	for _, c := range []byte(order) {
		switch c {
		case ',', '+':
			k = key{}
		case '-':
			k.reverse = true
		case '#':
			k.as = true
		default:
			if !strings.ContainsRune("aAbcdDEfFghHlmMnNopPrRsStTuUwXYZz", rune(c)) {
				return c, false
			}
			k.letter = c
			keys = append(keys, k)
			k = key{}
		}
	}
	x := new(Context)
	slices.SortStableFunc(lines, func(a, b *NodeGroup) int {
		for _, k := range keys {
			d := groupCompare(x, k.letter, k.as, a, b)
			if k.reverse {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return 0, true
}

// groupCompare compares two lines by the field of a letter.
func groupCompare(x *Context, letter byte, asConfigured bool, a, b *NodeGroup) int {
	switch letter {
	case 't', 'T':
		return cmp.Compare(stateNumber(a), stateNumber(b))
	case 'N', 'n', 'o':
		return nodeNameCompare(a, b)
	case 'P', 'R':
		if asConfigured {
			return cmp.Compare(a.PartIndex, b.PartIndex)
		}
	case 'D', 'A', 'F':
		return cmp.Compare(len(a.Nodes), len(b.Nodes))
	case 'c', 'd', 'm', 'w', 'X', 'Y', 'Z':
		return cmp.Compare(smallest(a, letter), smallest(b, letter))
	}
	f := byLetter(NodeFields(), letter)
	if f == nil {
		return 0
	}
	return strings.Compare(string(f.Text(nil, x, a)), string(f.Text(nil, x, b)))
}

// stateNumber orders states as Slurm's numbers do: the flags count more than the
// base.
func stateNumber(g *NodeGroup) uint32 {
	if len(g.Nodes) == 0 {
		return 0
	}
	n := g.Nodes[0]
	base := [stateNumbers]uint32{0, 1, 2, 3, 5, 6}[min(n.Base, stateNumbers-1)]
	for _, b := range []struct {
		flag api.NodeFlag
		bit  uint32
	}{
		{api.NodeReserved, 1 << 5}, {api.NodeDrain, 1 << 9}, {api.NodeCompleting, 1 << 10}, {api.NodeNoResponse, 1 << 11},
		{api.NodeFail, 1 << 13}, {api.NodeMaint, 1 << 15}, {api.NodeReboot, 1 << 16}, {api.NodePlanned, 1 << 21},
	} {
		if n.Flags&b.flag != 0 {
			base |= b.bit
		}
	}
	return base
}

func nodeNameCompare(a, b *NodeGroup) int {
	if len(a.Nodes) == 0 || len(b.Nodes) == 0 {
		return cmp.Compare(len(a.Nodes), len(b.Nodes))
	}
	return naturalCompare(a.Nodes[0].Name, b.Nodes[0].Name)
}

// naturalCompare orders names with their numbers by value.
func naturalCompare(a, b string) int {
	pa, pb := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	if pa != pb {
		return strings.Compare(pa, pb)
	}
	na, nb := strings.TrimLeft(a[len(pa):], "0"), strings.TrimLeft(b[len(pb):], "0")
	if len(na) != len(nb) {
		return cmp.Compare(len(na), len(nb))
	}
	return strings.Compare(na, nb)
}

// smallest is the least of a size among a line's nodes.
func smallest(g *NodeGroup, letter byte) uint64 {
	low, _ := extent(g, func(n *api.NodeRecord) uint64 {
		switch letter {
		case 'c':
			return uint64(n.Shape.CPUs)
		case 'd':
			return n.Shape.TmpDiskMB
		case 'm':
			return n.Shape.MemoryMB
		case 'w':
			return uint64(n.Weight)
		case 'X':
			return uint64(n.Shape.Sockets)
		case 'Y':
			return uint64(n.Shape.CoresPerSocket)
		}
		return uint64(n.Shape.ThreadsPerCore)
	})
	return low
}

// extent is the least and the greatest of a number among a line's nodes.
func extent(g *NodeGroup, get func(*api.NodeRecord) uint64) (low, high uint64) {
	for i, n := range g.Nodes {
		v := get(n)
		if i == 0 || v < low {
			low = v
		}
		high = max(high, v)
	}
	return low, high
}
