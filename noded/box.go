package noded

import (
	"context"

	"muster/noded/cgroup"
	"muster/noded/shepherd"
)

// box holds the processes of one attempt, so that none outlives it: a control
// group, or without root what can be found in /proc.
type box interface {
	// PIDs lists the processes.
	PIDs() ([]int, error)
	// Kill ends all of them and waits until they are gone.
	Kill(ctx context.Context) error
	// Freeze stops all, or lets them go on.
	Freeze(on bool) error
	// Stats is what they use; Final is the part that still counts when all
	// have ended.
	Stats() cgroup.Stats
	Final() cgroup.Stats
	// Remove takes the box away; cgroup.ErrBusy while processes are left.
	Remove() error
	// Join1 and Join2 are what the shepherd puts the process into.
	Join1() []string
	Join2() string
}

// boxName is the name of an attempt's box.
func boxName(k shepherd.Key) string { return "job_" + k.String() }

// newBox makes the box of an attempt.
func (n *Node) newBox(k shepherd.Key, l cgroup.Limits) (box, error) {
	if n.tree == nil {
		return n.procs.box(k, l.MemoryMB), nil
	}
	return n.tree.Create(boxName(k), l)
}

// findBox is the box that an earlier daemon made for an attempt.
func (n *Node) findBox(k shepherd.Key, memoryMB uint64) box {
	if n.tree == nil {
		return n.procs.box(k, memoryMB)
	}
	if g := n.tree.Find(boxName(k)); g != nil {
		return g
	}
	return nil
}
