package ctld

import (
	"context"
	"time"

	"muster/job"
	"muster/partition"
	"muster/state"
)

const (
	// watchEvery is the grain at which silence is noticed.
	watchEvery = 250 * time.Millisecond
	// massPercent: silence of more than so many of the nodes, and of more than
	// one, together is a fault of the network or of a switch, and no node's.
	massPercent = 5
	// massWithin is how far apart nodes may fall silent that count as fallen
	// silent together: a failing switch takes them down over some seconds.
	massWithin = 15 * time.Second
	// massPatience is by how much longer than NodeTimeout nodes that fell
	// silent together are waited for.
	massPatience = 10
)

// watchNodes marks nodes that fall silent, that answer again, and that are
// given up, until ctx ends.
func (l *lead) watchNodes(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		root := l.c.store.Root()
		c := root.Cluster()
		if c == nil {
			continue
		}
		w := watch{silent: time.Duration(c.Timers.Silent) * time.Second, timeout: time.Duration(c.Timers.NodeTimeout) * time.Second}
		now := l.c.clock.Now()
		for n := range root.Nodes() {
			w.add(n, now.Sub(l.dispatcher.Heard(n.Name)))
		}
		if list := w.commands(); len(list) > 0 {
			l.c.log.Warn("nodes changed", "silent", len(w.fell), "answer again", len(w.back), "given up", len(w.lost()))
			l.propose(ctx, "silence of nodes", list...)
		}
	}
}

// watch sorts the nodes by how long they have been silent.
type watch struct {
	silent, timeout time.Duration
	total           int
	quiet           []quietNode  // silent for longer than silent
	fell, back      []job.NodeID // to be marked, to be unmarked
}

type quietNode struct {
	id      job.NodeID
	silence time.Duration
}

// add takes one node and how long it has been silent.
func (w *watch) add(n *partition.Node, silence time.Duration) {
	if n.State != partition.NodeUp {
		return
	}
	w.total++
	marked := n.Admin&partition.NodeNotResponding != 0
	switch {
	case silence > w.silent:
		w.quiet = append(w.quiet, quietNode{n.ID, silence})
		if !marked {
			w.fell = append(w.fell, n.ID)
		}
	case marked:
		w.back = append(w.back, n.ID)
	}
}

// lost lists the nodes to be given up. Nodes that fell silent together with too
// many others are only shown as not responding, for a long time (invariant 11).
func (w *watch) lost() []job.NodeID {
	var out []job.NodeID
	for _, q := range w.quiet {
		patience := w.timeout
		if k := w.together(q); k > 1 && k*100 > w.total*massPercent {
			patience *= massPatience
		}
		if q.silence > patience {
			out = append(out, q.id)
		}
	}
	return out
}

// together counts the nodes that fell silent at about the same time as one.
func (w *watch) together(q quietNode) int {
	k := 0
	for _, o := range w.quiet {
		if (o.silence - q.silence).Abs() <= max(w.silent, massWithin) {
			k++
		}
	}
	return k
}

func (w *watch) commands() []state.Command {
	var list []state.Command
	if len(w.fell) > 0 {
		list = append(list, &state.NodeSilent{Nodes: w.fell, Reason: "Not responding"})
	}
	if len(w.back) > 0 {
		list = append(list, &state.NodeSilent{Nodes: w.back, Heard: true})
	}
	if lost := w.lost(); len(lost) > 0 {
		list = append(list, &state.NodeSilent{Nodes: lost, Down: true, Reason: "Not responding"})
	}
	return list
}
