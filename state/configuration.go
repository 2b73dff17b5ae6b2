package state

import (
	"fmt"
	"slices"

	"muster/internal/wire"
	"muster/job"
	"muster/partition"
)

// MaxConfigurations is how many configurations are remembered, the one in force
// among them.
const MaxConfigurations = 32

// behindReason is what is shown of a node that is behind, if nothing else is.
const behindReason = "Configuration not taken"

// Configuration is one text that was the configuration, and how it came to be.
type Configuration struct {
	Serial uint64   // counts up from 1
	At     job.Time // state time of the entry from which on it is the configuration
	By     Actor
	Forced bool   // jobs were allowed to end for it
	Undo   uint64 // serial of the earlier one whose text this is again; 0: a text of its own
	Source string // the cluster file
}

// Code implements wire.Message.
func (v *Configuration) Code(c *wire.Coder) {
	c.Uint64(1, &v.Serial)
	wire.Int(c, 2, &v.At)
	wire.Struct(c, 3, &v.By)
	c.Bool(4, &v.Forced)
	c.Uint64(5, &v.Undo)
	c.String(6, &v.Source)
}

// NodesFollow says which nodes have not taken the configuration in force, though
// they could have, and which have it after all. One that is behind gets no new job.
type NodesFollow struct {
	Serial uint64       // of the configuration that is meant; for another the command is stale
	Behind []job.NodeID // have not taken it
	Follow []job.NodeID // have it
}

// Kind implements Command.
func (*NodesFollow) Kind() Kind { return KindNodesFollow }

// Code implements wire.Message.
func (f *NodesFollow) Code(c *wire.Coder) {
	c.Uint64(1, &f.Serial)
	wire.Ints(c, 2, &f.Behind)
	wire.Ints(c, 3, &f.Follow)
}

// configurationRow is a configuration with its sum. Immutable.
type configurationRow struct {
	Configuration
	sum Hash
}

// Configurations are those that are remembered, oldest first; the last is in force.
// None before the first. The list is not to be changed.
func (r *Root) Configurations() []*Configuration {
	out := make([]*Configuration, len(r.configs))
	for i, row := range r.configs {
		out[i] = &row.Configuration
	}
	return out
}

// Configuration is the one in force; the zero value before the first.
func (r *Root) Configuration() Configuration {
	if n := len(r.configs); n > 0 {
		return r.configs[n-1].Configuration
	}
	return Configuration{}
}

// rememberConfiguration notes that a text is the configuration from this entry on.
func (m *Machine) rememberConfiguration(c *Configure) {
	row := &configurationRow{Configuration: Configuration{
		Serial: m.work.Configuration().Serial + 1, At: m.work.now, By: m.by,
		Forced: c.Force, Undo: c.Undo, Source: c.Cluster.Source,
	}}
	row.sum = m.sum.of(tableConfigurations, row.Serial, &row.Configuration)
	m.work.hash.add(row.sum)
	list := append(slices.Clone(m.work.configs), row)
	for len(list) > MaxConfigurations {
		m.work.hash.sub(list[0].sum)
		list = list[1:]
	}
	m.work.configs = list
}

// nodesFollow marks the nodes that are behind, and those that are not any more.
func (m *Machine) nodesFollow(c *NodesFollow) Result {
	if now := m.work.Configuration().Serial; c.Serial != now {
		return Result{Code: Stale, Text: fmt.Sprintf("the configuration is number %d, not %d", now, c.Serial)}
	}
	mark := func(list []job.NodeID, behind bool) {
		for _, id := range list {
			old := m.work.Node(id)
			if old == nil || behind == (old.Admin&partition.NodeBehind != 0) {
				continue
			}
			n := *old
			n.Admin ^= partition.NodeBehind
			switch {
			case behind && n.Reason == "":
				m.nodeReason(&n, behindReason, "slurm")
			case !behind && n.Reason == behindReason:
				m.nodeReason(&n, "", "")
			}
			m.putNode(n)
		}
	}
	mark(c.Behind, true)
	mark(c.Follow, false)
	return Result{}
}
