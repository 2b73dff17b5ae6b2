package admit

import (
	"bytes"
	"fmt"
	"slices"

	"muster/conf"
	"muster/internal/hostlist"
	"muster/internal/wire"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// preview works out what a cluster file would change, and what would follow.
type preview struct {
	root  *state.Root
	after *conf.File

	changes, effects, ends []string
}

// make fills the lists. Its error says what cannot be changed at all.
func (p *preview) make() error {
	before, err := conf.Parse("the configuration in force", []byte(p.root.Cluster().Source))
	if err != nil {
		return err
	}
	if before.Cluster.Name != p.after.Cluster.Name {
		return errFixedName
	}
	for _, c := range conf.Diff(before, p.after) {
		if c.Table == "controller" {
			return fmt.Errorf("%s: %w", c, errFixedControllers)
		}
		p.changes = append(p.changes, c.String())
		p.daemons(&c)
	}
	p.losses()
	p.partitions()
	p.overridden(before)
	p.absent()
	return nil
}

func (p *preview) effect(format string, args ...any) {
	p.effects = append(p.effects, fmt.Sprintf(format, args...))
}

// daemons tells of what a node has to be started anew for, or to register first.
func (p *preview) daemons(c *conf.Change) {
	if c.Table != "node" {
		return
	}
	switch c.Key {
	case "":
		if c.Old == "" {
			p.effect("node %s: gets jobs once its daemon has registered", c.Names)
		}
	case "bind", "port", "data_dir", "real":
		p.effect("node %s: %s counts from the next start of its daemon on", c.Names, c.Key)
	}
}

// losses lists what would end.
func (p *preview) losses() {
	jobs, reservations := p.root.Losses(&p.after.Cluster)
	for _, l := range jobs {
		text := fmt.Sprintf("job %d on %s: %s", l.Job, l.Node, l.Why)
		if l.Fenced {
			text += "; its partition is fenced, so it has to be cancelled first"
		}
		p.ends = append(p.ends, text)
	}
	for _, name := range reservations {
		p.ends = append(p.ends, fmt.Sprintf("reservation %s: nodes of it are removed", name))
	}
}

// partitions tells of jobs whose partitions are gone.
func (p *preview) partitions() {
	there := func(name string) bool {
		return slices.ContainsFunc(p.after.Cluster.Partitions, func(n partition.Partition) bool { return n.Name == name })
	}
	waiting, running := map[string]int{}, map[string]int{}
	for j := range p.root.Waiting() {
		if list := j.Request.Partitions; len(list) > 0 && !slices.ContainsFunc(list, there) {
			waiting[list[0]]++
		}
	}
	for j := range p.root.Holding() {
		if j.State != job.Pending && !there(j.Alloc.Partition) {
			running[j.Alloc.Partition]++
		}
	}
	for old := range p.root.Partitions() {
		if n := waiting[old.Name]; n > 0 {
			p.effect("partition %s is gone: %d waiting jobs stay until it is back, or until they are moved", old.Name, n)
		}
		if n := running[old.Name]; n > 0 {
			p.effect("partition %s is gone: %d jobs that run in it run on", old.Name, n)
		}
	}
}

// overridden tells of changes that scontrol made since, and that the file takes back.
func (p *preview) overridden(before *conf.File) {
	for now := range p.root.Partitions() {
		old, next := partitionNamed(before, now.Name), partitionNamed(p.after, now.Name)
		switch {
		case old == nil && next == nil:
			p.effect("partition %s: was made with scontrol and goes, since the file does not have it", now.Name)
		case old != nil && next != nil && !samePartition(now, old) && !samePartition(now, next):
			p.effect("partition %s: what was changed with scontrol goes back to what the file says", now.Name)
		}
	}
	var nodes []string
	for now := range p.root.Nodes() {
		old, next := nodeNamed(before, now.Name), nodeNamed(p.after, now.Name)
		if old != nil && next != nil && !sameNode(now, old) && !sameNode(now, next) {
			nodes = append(nodes, now.Name)
		}
	}
	if len(nodes) > 0 {
		p.effect("node %s: weight and features that were changed with scontrol go back to what the file says", hostlist.Compress(nodes))
	}
}

// absent tells which nodes cannot follow now.
func (p *preview) absent() {
	var names []string
	for n := range p.root.Nodes() {
		silent := n.State == partition.NodeDown || n.Admin&partition.NodeNotResponding != 0
		if n.BootID != "" && silent && nodeNamed(p.after, n.Name) != nil {
			names = append(names, n.Name)
		}
	}
	if len(names) > 0 {
		p.effect("node %s: does not answer; it is behind, and gets no job, until it returns", hostlist.Compress(names))
	}
}

func partitionNamed(f *conf.File, name string) *partition.Partition {
	for i := range f.Cluster.Partitions {
		if p := &f.Cluster.Partitions[i]; p.Name == name {
			return p
		}
	}
	return nil
}

func nodeNamed(f *conf.File, name string) *partition.Node {
	for i := range f.Cluster.Nodes {
		if n := &f.Cluster.Nodes[i]; n.Name == name {
			return n
		}
	}
	return nil
}

// samePartition compares all that a file says of a partition.
func samePartition(a, b *partition.Partition) bool {
	x, y := *a, *b
	x.Nodes, y.Nodes = nil, nil
	return bytes.Equal(wire.Encode(nil, &x), wire.Encode(nil, &y))
}

func sameNode(a, b *partition.Node) bool {
	return a.Weight == b.Weight && slices.Equal(a.Features, b.Features)
}
