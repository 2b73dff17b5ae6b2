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

// newBox makes the box of an attempt.
func (n *Node) newBox(k shepherd.Key, l cgroup.Limits) (box, error) {
	if n.pool == nil {
		return n.procs.box(k, l.MemoryMB), nil
	}
	return n.pool.Take(l)
}

// boxMark is what the record of an attempt keeps of its box.
func boxMark(b box) string {
	if s, ok := b.(*cgroup.Slot); ok {
		return s.Mark()
	}
	return ""
}

// findBox is the box that an earlier daemon made for an attempt; nil if it is
// gone.
func (n *Node) findBox(r record) box {
	if n.pool == nil {
		return n.procs.box(keyOf(r.Launch.Attempt), r.Launch.GetPart().GetMemoryMb())
	}
	if s := n.pool.Find(r.Box); s != nil {
		return s
	}
	return nil
}

// shareBox notes that more than the script of an attempt is started in its box,
// until end is called.
func shareBox(b box) (end func()) {
	if s, ok := b.(*cgroup.Slot); ok {
		return s.Share()
	}
	return func() {}
}
