package job

import "fmt"

// successors is the table of legal changes of the base state: row by the state
// before, true for each state after. Whoever changes a job goes through it.
//
// An ended job goes back to PENDING when it is requeued; an attempt that has
// ended never changes how it ended.
var successors = [...][OutOfMemory + 1]bool{
	Pending: {Running: true, Cancelled: true, Deadline: true, Failed: true, NodeFail: true, BootFail: true, Preempted: true},
	Running: {Suspended: true, Completed: true, Cancelled: true, Failed: true, Timeout: true, NodeFail: true,
		Preempted: true, BootFail: true, Deadline: true, OutOfMemory: true},
	Suspended: {Running: true, Completed: true, Cancelled: true, Failed: true, Timeout: true, NodeFail: true,
		Preempted: true, BootFail: true, Deadline: true, OutOfMemory: true},
	Completed:   {Pending: true},
	Cancelled:   {Pending: true},
	Failed:      {Pending: true},
	Timeout:     {Pending: true},
	NodeFail:    {Pending: true},
	Preempted:   {Pending: true},
	BootFail:    {Pending: true},
	Deadline:    {Pending: true},
	OutOfMemory: {Pending: true},
}

// CanBecome tells whether a job in state s may go to state next. Staying in the
// same state is always legal.
func (s State) CanBecome(next State) bool {
	if s == next {
		return true
	}
	return int(s) < len(successors) && int(next) < len(successors[s]) && successors[s][next]
}

// CheckTransition is an error that names what is wrong with replacing the record
// old by next; old is nil for a new record. A job begins as PENDING; a part of a
// waiting array may be split off straight into a state that follows PENDING.
func CheckTransition(old, next *Job) error {
	isPart := next.Array.JobID != 0 && next.Array.JobID != next.ID
	switch {
	case old == nil && next.State != Pending && !(isPart && Pending.CanBecome(next.State)):
		return fmt.Errorf("job %d would begin its life as %s", next.ID, next.State)
	case old == nil:
		return nil
	case !old.State.CanBecome(next.State):
		return fmt.Errorf("job %d cannot go from %s to %s", next.ID, old.State, next.State)
	case old.State.Ended() && next.State == Pending && next.Attempt != old.Attempt+1:
		return fmt.Errorf("job %d goes back to the queue as attempt %d after attempt %d", next.ID, next.Attempt, old.Attempt)
	case old.Attempt != next.Attempt && (!old.State.Ended() || next.State != Pending):
		return fmt.Errorf("job %d changes from attempt %d to %d while %s", next.ID, old.Attempt, next.Attempt, old.State)
	case old.Terminal() && next.State.Ended() && !next.Terminal():
		return fmt.Errorf("job %d has ended and cannot be completing again", next.ID)
	case next.State == Pending && next.Alloc.Held():
		return fmt.Errorf("job %d would wait while it holds nodes", next.ID)
	case next.State.Active() && next.Alloc == nil:
		return fmt.Errorf("job %d would run without an allocation", next.ID)
	}
	return nil
}

// Held tells whether some node's share is not released yet. A nil allocation
// holds nothing.
func (a *Allocation) Held() bool {
	if a == nil {
		return false
	}
	for i := range a.Nodes {
		if !a.Nodes[i].Released {
			return true
		}
	}
	return false
}

// Unreleased counts the shares that are not released yet.
func (a *Allocation) Unreleased() int {
	n := 0
	if a != nil {
		for i := range a.Nodes {
			if !a.Nodes[i].Released {
				n++
			}
		}
	}
	return n
}

// OnNode finds the share of a node; -1 if there is none.
func (a *Allocation) OnNode(id NodeID) int {
	if a != nil {
		for i := range a.Nodes {
			if a.Nodes[i].Node == id {
				return i
			}
		}
	}
	return -1
}
