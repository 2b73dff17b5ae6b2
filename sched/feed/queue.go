package feed

import (
	"muster/job"
	"muster/sched"
	"muster/state"
)

// queue lists the waiting records in order, each with its class.
func (f *Feed) queue(root *state.Root) {
	list := make([]sched.Waiting, 0, len(f.view.Waiting)+16)
	for j := range root.Waiting() {
		if j.Flags&job.Revoked != 0 || j.Het.Leader != 0 && j.Het.Leader != j.ID {
			continue // a component is looked at with its leader
		}
		w := sched.Waiting{Job: j, Class: f.classOf(j)}
		if j.Array.JobID != 0 && j.Array.Limit > 0 {
			w.Active = root.ArrayUse(j.Array.JobID).Active
		}
		if j.Het.Leader == j.ID {
			if w.Parts = f.parts(root, j); w.Parts == nil {
				continue
			}
		}
		list = append(list, w)
	}
	f.view.Waiting = list
}

// parts gathers the components of a heterogeneous job; nil if one of them still
// runs, so that the job cannot start as a whole. One that was cancelled is left out.
func (f *Feed) parts(root *state.Root, leader *job.Job) []sched.Part {
	out := make([]sched.Part, 0, len(leader.Het.IDs))
	for _, id := range leader.Het.IDs {
		j := root.Job(id)
		if j == nil || j.Terminal() {
			continue
		}
		if j.State != job.Pending {
			return nil
		}
		out = append(out, sched.Part{Job: j, Class: f.classOf(j)})
	}
	return out
}

// classOf finds the class of a pending record, and makes it for the first.
func (f *Feed) classOf(j *job.Job) *sched.Class {
	if s, ok := f.waiting[j.ID]; ok {
		return s.use.class
	}
	key := sched.Key(j.Request)
	use := f.classes[key]
	if use == nil {
		use = &classUse{key: key, class: sched.NewClass(j.Request)}
		f.classes[key] = use
	}
	use.refs++
	f.waiting[j.ID] = shape{request: j.Request, use: use}
	return use.class
}

// drop forgets a record that waits no more, or asks for something else now.
func (f *Feed) drop(id job.ID, s shape) {
	delete(f.waiting, id)
	if s.use.refs--; s.use.refs == 0 {
		delete(f.classes, s.use.key)
	}
}
