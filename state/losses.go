package state

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// Loss is a running job that a new configuration has no place for.
type Loss struct {
	Job  job.ID
	Node string
	Why  string
	// Fenced: its partition promises that no second attempt runs beside the first,
	// which nobody could tell of a node that is gone. Force does not help.
	Fenced bool
}

// Losses lists what a configuration would end or break, if it were forced: running
// jobs, by node in the order of the file in force, and reservations that have a node
// which is gone.
func (r *Root) Losses(c *partition.Cluster) (jobs []Loss, reservations []string) {
	next := make(map[string]*partition.Node, len(c.Nodes))
	for i := range c.Nodes {
		next[c.Nodes[i].Name] = &c.Nodes[i]
	}
	removed := bitset.Of()
	for n := range r.Nodes() {
		file := next[n.Name]
		if file == nil {
			removed.Add(int(n.ID))
		}
		why := r.noPlace(n, file, c)
		if why == "" {
			continue
		}
		for j := range r.OnNode(n.ID) {
			p := r.Partition(j.Alloc.Partition)
			fenced := file == nil && p != nil && p.Fence != partition.FenceTimeout
			if j.State.Active() || fenced {
				jobs = append(jobs, Loss{Job: j.ID, Node: n.Name, Why: why, Fenced: fenced})
			}
		}
	}
	for _, v := range r.reservations {
		if v.members.Overlaps(removed) {
			reservations = append(reservations, v.Name)
		}
	}
	return jobs, reservations
}

// noPlace says why the jobs on a node could not go on there; "" if they could. file
// is the node in the new configuration, nil if it is gone.
func (r *Root) noPlace(n, file *partition.Node, c *partition.Cluster) string {
	u := r.NodeUse(n.ID)
	if u == nil || u.Jobs == 0 {
		return ""
	}
	if file == nil {
		return "the node is removed"
	}
	before := r.fileNode(n.Name)
	after := declared(n, before, file)
	was, size := n.Size(), after.Size()
	switch {
	// Jobs hold cores by number, and these count something else in another shape.
	case was.Sockets != size.Sockets || was.CoresPerSocket != size.CoresPerSocket || was.ThreadsPerCore != size.ThreadsPerCore:
		return "the node has other sockets, cores or threads"
	case u.CPUs > size.CPUs || u.Cores.Max() >= size.Cores()-int(size.CoreSpec) && size.CoreSpec > was.CoreSpec:
		return fmt.Sprintf("jobs hold %d CPUs, the node would have %d", u.CPUs, size.CPUs)
	case c.Policy.TrackMemory && u.MemoryMB > size.MemoryMB-min(size.MemSpecMB, size.MemoryMB):
		return fmt.Sprintf("jobs hold %d MB, the node would have %d", u.MemoryMB, size.MemoryMB-min(size.MemSpecMB, size.MemoryMB))
	}
	none := &NodeUse{}
	for i := range u.Devices {
		d := &u.Devices[i]
		if !mayHave(&after, none, &job.DeviceShare{Name: d.Name, Type: d.Type, Count: d.Count, Index: d.Index}) {
			return "jobs hold devices " + d.Name + " that the node would not have"
		}
	}
	return ""
}

// fileNode is what the configuration in force says of a node; nil if nothing.
func (r *Root) fileNode(name string) *partition.Node {
	i := slices.IndexFunc(r.cluster.Nodes, func(n partition.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &r.cluster.Nodes[i]
}

// refuseLosses says why a configuration is not taken without force; "" if it is.
func refuseLosses(jobs []Loss, reservations []string) string {
	const most = 10
	var parts []string
	for i, l := range jobs {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(jobs)-most))
			break
		}
		text := fmt.Sprintf("job %d on %s: %s", l.Job, l.Node, l.Why)
		if l.Fenced {
			text += ", and its partition is fenced: cancel it, and wait for its end"
		}
		parts = append(parts, text)
	}
	for _, name := range reservations {
		parts = append(parts, fmt.Sprintf("reservation %s has a node that is removed", name))
	}
	return strings.Join(parts, "; ")
}
