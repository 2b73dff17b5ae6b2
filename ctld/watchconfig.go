package ctld

import (
	"context"
	"time"

	"muster/partition"
	"muster/state"
)

// configPatience is how long nodes may take to say that they go by a configuration
// before they are marked as behind. A node that is connected takes milliseconds.
const configPatience = 3 * time.Second

// watchConfig marks the nodes that have not taken the configuration in force, and
// those that have it at last, until ctx ends. No launch comes before the configuration
// on a node's stream, so nothing goes wrong before a node is marked.
func (l *lead) watchConfig(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	serial, since := l.c.store.Root().Configuration().Serial, l.c.clock.Now()
	first := serial
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		root := l.c.store.Root()
		if now := root.Configuration().Serial; now != serial {
			serial, since = now, l.c.clock.Now()
		}
		late := l.c.clock.Now().Sub(since) > configPatience
		cmd := following(root, l.dispatcher.Config, late, late && serial != first)
		if cmd == nil {
			continue
		}
		l.c.log.Warn("nodes and the configuration", "serial", serial, "behind", len(cmd.Behind), "follow again", len(cmd.Follow))
		l.propose(ctx, "nodes that follow", cmd)
	}
}

// following sorts the nodes by the configuration that they said they go by; nil if
// nothing is new. late tells that one that names an older one is behind, unheard that
// one of which nothing was heard is, too: the configuration is newer than the lead.
func following(root *state.Root, has func(node string) (serial uint64, heard bool), late, unheard bool) *state.NodesFollow {
	cmd := &state.NodesFollow{Serial: root.Configuration().Serial}
	for n := range root.Nodes() {
		if n.BootID == "" {
			continue // it has never registered
		}
		serial, heard := has(n.Name)
		marked := n.Admin&partition.NodeBehind != 0
		switch {
		case serial == cmd.Serial && marked:
			cmd.Follow = append(cmd.Follow, n.ID)
		case serial == cmd.Serial || marked:
		case heard && late, !heard && unheard:
			cmd.Behind = append(cmd.Behind, n.ID)
		}
	}
	if len(cmd.Behind)+len(cmd.Follow) == 0 {
		return nil
	}
	return cmd
}
