package state

import (
	"fmt"
	"slices"

	"muster/job"
	"muster/partition"
)

// lostReason is what Slurm writes for a node that fell silent.
const lostReason = "Not responding"

// putNode replaces a node's record.
func (m *Machine) putNode(n partition.Node) {
	id := uint64(n.ID)
	n.Since = m.work.now
	if old := m.work.nodes.Get(id); old != nil {
		m.work.hash.sub(old.sum)
		m.nodeChanged(&old.Node, &n)
	}
	row := &nodeRow{Node: n}
	row.sum = m.sum.of(tableNodes, id, &row.Node)
	m.work.hash.add(row.sum)
	m.work.nodes.Set(m.epoch, id, row)
}

// nodeRegister takes in a node that came up or came back. If it has booted
// since, or lost its store, the attempts that it no longer holds ended there; so
// did, in any case, those that had ended for us and were only to be cleaned up.
func (m *Machine) nodeRegister(c *NodeRegister) Result {
	old := m.work.NodeNamed(c.Name)
	if old == nil {
		return Result{Code: NoSuchNode, Text: fmt.Sprintf("node %s is not in the cluster file", c.Name)}
	}
	n := *old
	other := n.BootID != "" && (n.BootID != c.BootID || n.Journal != c.Journal)
	n.BootID, n.Journal, n.BootTime, n.Started = c.BootID, c.Journal, c.BootTime, c.Started
	n.Address, n.Port, n.HostName = c.Address, c.Port, c.HostName
	n.OS, n.Arch, n.Version, n.Found = c.OS, c.Arch, c.Version, c.Found
	n.Gres = n.Gres.With(&c.Gres.Gres)
	n.LastSeen = m.work.now
	m.backInService(&n)
	wasInvalid := n.Admin&partition.NodeInvalidReg != 0
	switch {
	case c.Problem != "":
		n.Admin |= partition.NodeInvalidReg
		m.nodeReason(&n, c.Problem, "")
	case wasInvalid:
		n.Admin &^= partition.NodeInvalidReg
		m.nodeReason(&n, "", "")
	}
	m.putNode(n)
	m.endUnlisted(&n, c.Running, other)
	return Result{}
}

// backInService makes a node that answers usable, unless an admin took it out.
func (m *Machine) backInService(n *partition.Node) {
	n.Admin &^= partition.NodeNotResponding
	switch {
	case n.State == partition.NodeUnknown:
		n.State = partition.NodeUp
	case n.State == partition.NodeDown && n.Admin&partition.NodeLost != 0:
		n.State = partition.NodeUp
		n.Admin &^= partition.NodeLost
		m.nodeReason(n, "", "")
	}
}

func (m *Machine) nodeReason(n *partition.Node, reason, by string) {
	n.Reason, n.ReasonBy, n.ReasonAt = reason, by, m.work.now
	if reason == "" {
		n.ReasonBy, n.ReasonAt = "", 0
	}
}

// endUnlisted ends, on one node, the attempts that the node does not hold.
func (m *Machine) endUnlisted(n *partition.Node, listed []AttemptID, otherBoot bool) {
	for _, id := range m.jobsOn(n.ID) {
		r := m.edit(id)
		if slices.Contains(listed, AttemptID{Job: id, Attempt: r.Attempt}) {
			continue
		}
		if otherBoot || r.State.Ended() {
			m.loseShare(r, n, true)
		}
	}
}

func (m *Machine) jobsOn(id job.NodeID) []job.ID {
	var ids []job.ID
	for j := range m.work.OnNode(id) {
		ids = append(ids, j.ID)
	}
	return ids
}

// loseShare takes one node away from a job. gone says that nothing of the job
// can still run there, so that its share is free.
func (m *Machine) loseShare(r *jobRow, n *partition.Node, gone bool) {
	at := r.Alloc.OnNode(n.ID)
	batch := r.Alloc.BatchNode == n.ID || r.Alloc.BatchNode == 0 && at == 0
	if r.State.Active() {
		if r.Request.NoKill && !batch && r.Alloc.Unreleased() > 1 && r.Cancel == nil {
			if gone {
				r.Alloc = releaseShare(r.Alloc, at)
				m.put(r)
			}
			return
		}
		m.failOn(r, n)
	}
	if gone {
		r.Alloc = releaseShare(r.Alloc, at)
	}
	m.finish(r)
}

// failOn ends a running attempt because of one of its nodes.
func (m *Machine) failOn(r *jobRow, n *partition.Node) {
	m.endAttempt(r, job.NodeFail, job.ReasonNodeDown, m.work.now)
	r.End.FailedNode = n.Name
	if r.State == job.NodeFail && r.Flags&requeueFlags == 0 && requeueable(r) {
		r.Flags |= job.Requeued
	}
}

// nodeSilent marks nodes as not responding, as down, or as heard again.
func (m *Machine) nodeSilent(c *NodeSilent) Result {
	for _, id := range c.Nodes {
		old := m.work.Node(id)
		if old == nil {
			continue
		}
		n := *old
		if c.Heard {
			m.backInService(&n)
			m.putNode(n)
			continue
		}
		n.Admin |= partition.NodeNotResponding
		wasDown := n.State == partition.NodeDown
		if c.Down && !wasDown && n.State != partition.NodeFuture {
			n.State = partition.NodeDown
			n.Admin |= partition.NodeLost
			if n.Reason == "" {
				m.nodeReason(&n, lostReason, "slurm")
			}
		}
		n.LastSeen = m.work.now
		m.putNode(n)
		if c.Down || wasDown {
			m.loseNode(&n, true)
		}
	}
	return Result{}
}

// loseNode takes a node away from all jobs on it. With silent, nothing more is
// heard from it: what a fenced partition started there stays in the book until
// the node is known to have ended it.
func (m *Machine) loseNode(n *partition.Node, silent bool) {
	for _, id := range m.jobsOn(n.ID) {
		r := m.edit(id)
		p := m.work.Partition(r.Alloc.Partition)
		fenced := p != nil && p.Fence != partition.FenceTimeout
		m.loseShare(r, n, silent && !fenced)
	}
}

// nodeAdmin is scontrol update NodeName=: all names or, if one is unknown, none.
func (m *Machine) nodeAdmin(c *NodeAdmin) Result {
	for _, name := range c.Names {
		if m.work.NodeNamed(name) == nil {
			return Result{Code: NoSuchNode, Text: fmt.Sprintf("node %s is not known", name)}
		}
	}
	for _, name := range c.Names {
		n := *m.work.NodeNamed(name)
		if why := m.setNode(&n, c); why != "" {
			return Result{Code: Invalid, Text: why}
		}
		m.putNode(n)
		if c.State == "DOWN" {
			m.loseNode(&n, n.Admin&partition.NodeNotResponding != 0)
		}
	}
	return Result{}
}

// setNode changes a node's record as an admin asked.
func (m *Machine) setNode(n *partition.Node, c *NodeAdmin) string {
	if c.Reason != nil {
		m.nodeReason(n, *c.Reason, m.by.User)
	}
	switch c.State {
	case "":
	case "DOWN":
		n.State = partition.NodeDown
		n.Admin &^= partition.NodeLost
	case "DRAIN":
		n.Admin |= partition.NodeDrain
	case "FAIL":
		n.Admin |= partition.NodeFail
	case "UNDRAIN":
		n.Admin &^= partition.NodeDrain
		if n.State != partition.NodeDown && n.Admin&partition.NodeFail == 0 {
			m.nodeReason(n, "", "") // nothing is left that it explains
		}
	case "RESUME", "IDLE":
		m.resumeNode(n)
	case "FUTURE":
		n.State = partition.NodeFuture
	default:
		return fmt.Sprintf("a node cannot be set to %s; known are DOWN, DRAIN, UNDRAIN, FAIL, RESUME, IDLE and FUTURE", c.State)
	}
	if c.Weight != nil {
		n.Weight = *c.Weight
	}
	switch {
	case c.SetFeat && !within(n.Active, c.Features), c.SetActive && !within(c.Features, n.Features):
		return "Active features not subset of available features"
	case c.SetFeat:
		n.Features, n.Active = c.Features, slices.Clone(c.Features)
	case c.SetActive:
		n.Active = c.Features
	}
	if c.Comment != nil {
		n.Comment = *c.Comment
	}
	if c.Extra != nil {
		n.Extra = *c.Extra
	}
	return ""
}

// within tells whether all of a list are in another one.
func within(list, all []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(all, s) })
}

// resumeNode gives a node back to service.
func (m *Machine) resumeNode(n *partition.Node) {
	n.Admin &^= partition.NodeDrain | partition.NodeFail | partition.NodeLost | partition.NodeRebootRequested
	if n.State == partition.NodeDown || n.State == partition.NodeFuture {
		n.State = partition.NodeUp
		if n.BootID == "" {
			n.State = partition.NodeUnknown
		}
	}
	m.nodeReason(n, "", "")
}
