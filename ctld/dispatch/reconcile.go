package dispatch

import (
	"muster/api/pb"
	"muster/job"
	"muster/state"
)

// shareOn finds what a job still holds on a node; -1 if nothing.
func shareOn(j *job.Job, n job.NodeID) int {
	if j == nil || j.Alloc == nil || !j.State.Active() && j.Flags&job.Completing == 0 {
		return -1
	}
	for i := range j.Alloc.Nodes {
		if j.Alloc.Nodes[i].Node == n && !j.Alloc.Nodes[i].Released {
			return i
		}
	}
	return -1
}

// wanted tells whether the attempt of a job that holds something should run.
func wanted(j *job.Job) bool { return j.State.Active() && j.Cancel == nil }

// reconcile compares a job's record with what the node was told of it, and adds
// the difference to the session's pending message. j is nil for a purged job.
func (s *Session) reconcile(root *state.Root, id job.ID, j *job.Job) {
	t := s.told[id]
	i := shareOn(j, s.node)
	if t != nil && (i < 0 || t.attempt != j.Attempt) {
		s.forget(id, t)
		t = nil
	}
	if i < 0 {
		return
	}
	switch {
	case wanted(j) && t == nil:
		n := root.Node(s.node)
		if n == nil || n.BootID != s.hello.BootId {
			return // it is about to register with another boot
		}
		s.told[id] = &told{attempt: j.Attempt, endMS: s.endMS(root, j), suspended: j.State == job.Suspended}
		s.change().Launch = append(s.change().Launch, s.launch(root, n, j, i))
	case wanted(j):
		s.adjust(root, j, t)
	case t == nil:
		s.told[id] = &told{attempt: j.Attempt, ending: true}
		s.change().Ending = append(s.change().Ending, ending(j))
	case !t.ending:
		t.ending = true
		if t.ended {
			return // it cleans up by itself
		}
		s.change().Ending = append(s.change().Ending, ending(j))
	}
}

// forget drops an attempt that holds nothing here any more. If it was not the
// node that gave it up (it was declared down, say), the node is told to end it.
func (s *Session) forget(id job.ID, t *told) {
	delete(s.told, id)
	if t.released {
		return
	}
	s.change().Ending = append(s.change().Ending, &pb.Ending{
		Attempt: &pb.Attempt{Job: uint32(id), Attempt: t.attempt}, Now: true, AtMs: int64(s.d.cfg.Core.Now())})
}

// adjust passes on a new time limit, suspension and resumption.
func (s *Session) adjust(root *state.Root, j *job.Job, t *told) {
	if end := s.endMS(root, j); end != t.endMS {
		t.endMS = end
		s.change().Limits = append(s.change().Limits, &pb.Limit{Attempt: attemptOf(j), EndMs: end})
	}
	suspended := j.State == job.Suspended
	if suspended == t.suspended {
		return
	}
	t.suspended = suspended
	if suspended {
		s.change().Suspend = append(s.change().Suspend, attemptOf(j))
	} else {
		s.change().Resume = append(s.change().Resume, attemptOf(j))
	}
}

// change is the message that the present root's differences are gathered in.
func (s *Session) change() *pb.Desired {
	if s.pending == nil {
		s.pending = &pb.Desired{}
	}
	return s.pending
}

// flush sends what was gathered.
func (s *Session) flush(root *state.Root) {
	if s.pending == nil {
		return
	}
	m := s.d.message(root)
	m.Desired = s.pending
	s.pending = nil
	s.out.Send(m)
}

// endMS is when the node ends the attempt by itself; 0: never. A suspended
// attempt's time stands still.
func (s *Session) endMS(root *state.Root, j *job.Job) int64 {
	if j.Times.LimitEnd == 0 || j.State == job.Suspended {
		return 0
	}
	var over int64
	if c := root.Cluster(); c != nil {
		over = int64(c.Timers.OverTime) * 60_000
	}
	return int64(j.Times.LimitEnd) + over
}

func attemptOf(j *job.Job) *pb.Attempt {
	return &pb.Attempt{Job: uint32(j.ID), Attempt: j.Attempt}
}

// ending says why an attempt ends, for the line in the job's output.
func ending(j *job.Job) *pb.Ending {
	e := &pb.Ending{Attempt: attemptOf(j)}
	c := j.Cancel
	if c == nil {
		e.AtMs = int64(j.Times.End) // ended elsewhere, or by itself
		if j.State == job.NodeFail {
			e.Why = j.State.String()
		}
		return e
	}
	e.AtMs = int64(c.At)
	e.Why, e.GraceS = c.To.String(), c.Grace
	if c.Flags&(job.Requeued|job.RequeueHold|job.SpecialExit) != 0 && c.To != job.Preempted && c.To != job.NodeFail {
		e.Why = "REQUEUED"
	}
	return e
}
