package sched

import (
	"slices"

	"muster/job"
	"muster/partition"
)

// Promise is the planned start of a waiting job that was committed. Later plans
// keep it or better it; only what happens outside the planner moves it later.
type Promise struct {
	Job       job.ID
	Task      uint32 // array index, job.NoTask for a plain job
	Start     job.Time
	Partition string
	Nodes     []PromisedNode
	Licenses  []job.License
	Shape     uint64 // of the request and the rules that it was made for
}

// PromisedNode is what a promise takes of one node.
type PromisedNode struct {
	Node job.NodeID
	partition.Take
}

// Delay is a promise of the view that the plan cannot keep. To is the new planned
// start, 0 if the job gets none for now.
type Delay struct {
	Job      job.ID
	From, To job.Time
	Cause    string // for people: what outside the planner is to blame
}

// promises is what a cycle knows of the promises of its view.
//
// There are two pictures of what is free. The free one has the running jobs and
// the jobs that were looked at. The kept one also has the promises of jobs that
// are still to be looked at. A job with a promise betters it only by what is free
// in the kept picture, so that it takes nothing from a promise behind it. A job
// without a promise looks at the free picture: it has come to the queue ahead of
// those behind it, and they may have to make room for it.
type promises struct {
	of       map[job.ID]*Promise
	pins     map[job.ID]*pin // those that can be kept, until their job is looked at
	lines    []line          // the kept picture; a line without segments: as in the free one
	licenses line
	careful  bool // the search goes by the kept picture
	taken    []taking
	causes   map[job.ID]string // why promises cannot be kept
	started  map[job.ID]bool
	looked   map[job.ID]bool
}

// pin is a promise with the room that it takes: one trial and spot, or one of each
// component of a heterogeneous job.
type pin struct {
	start  job.Time
	task   uint32
	part   int // place of the partition in the view
	trials []*trial
	kept   []spot // what it takes
	spots  []spot // as much of it as the kept picture has taken
}

// taking notes who has taken a spot in this cycle, to name who is to blame.
type taking struct {
	job  job.ID
	spot spot
	kept bool // by a job that had a promise
}

// pinAll takes the room of all promises that can be kept out of the kept picture,
// in the order in which the jobs are looked at.
func (c *cycle) pinAll(order []entry) {
	if len(c.view.Promises) == 0 {
		return
	}
	k := &promises{
		of: make(map[job.ID]*Promise, len(c.view.Promises)), pins: make(map[job.ID]*pin, len(c.view.Promises)),
		lines: make([]line, len(c.lines)), licenses: c.licenses.clone(),
		causes: map[job.ID]string{}, started: map[job.ID]bool{}, looked: map[job.ID]bool{},
	}
	c.kept = k
	for i := range c.view.Promises {
		p := &c.view.Promises[i]
		k.of[p.Job] = p
	}
	for _, e := range order {
		w := &c.view.Waiting[e.at]
		p := k.of[w.Job.ID]
		if p == nil || k.pins[w.Job.ID] != nil || e.part < 0 || c.view.Partitions[e.part].Name != p.Partition {
			continue
		}
		if found, cause := c.pin(w, p, e.part); found != nil {
			k.pins[w.Job.ID] = found
			delete(k.causes, w.Job.ID)
		} else {
			k.causes[w.Job.ID] = cause
		}
	}
}

// pin takes the room of one promise out of the kept picture, or says why it can
// no longer be had.
func (c *cycle) pin(w *Waiting, p *Promise, part int) (*pin, string) {
	out := &pin{start: max(p.Start, c.now), task: p.Task, part: part}
	one := Part{Job: w.Job, Class: w.Class}
	parts := w.Parts
	if len(parts) == 0 {
		parts = []Part{one}
	}
	for _, x := range parts {
		promise := c.kept.of[x.Job.ID]
		if promise == nil || promise.Start != p.Start {
			c.unpin(out)
			return nil, "its components were changed"
		}
		t, cause := c.pinTrial(x, promise)
		var s spot
		if t != nil {
			s, cause = c.pinSpot(t, promise, out.start)
		}
		if cause != "" {
			c.unpin(out)
			return nil, cause
		}
		c.kept.hold(c, &s, -1)
		out.trials, out.spots = append(out.trials, t), append(out.spots, s)
	}
	out.kept = out.spots
	return out, ""
}

// pinTrial is the trial of a promise's class on the promise's nodes alone.
func (c *cycle) pinTrial(x Part, p *Promise) (*trial, string) {
	part := c.partition(p.Partition)
	if part < 0 || !slices.Contains(x.Job.Request.Partitions, p.Partition) {
		return nil, "partition " + p.Partition + " is gone or was changed"
	}
	resv, whys := c.reservation(x.Job, x.Class)
	if len(whys) > 0 && resv == nil {
		return nil, whys[0].Detail
	}
	c.waitsForSwitches = c.patient(x.Job)
	t := c.trialOf(x.Class, part, resv)
	c.waitsForSwitches = false
	if t.shapeOf() != p.Shape {
		return nil, "its request or the limits of its partition were changed"
	}
	return c.onNodes(t, p.Nodes)
}

// pinSpot is the room of a promise, which both pictures must have. When it is
// called the free picture has only what runs.
func (c *cycle) pinSpot(t *trial, p *Promise, start job.Time) (spot, string) {
	s := spot{start: start, limit: t.limit, end: endOf(start, t.limit), licenses: p.Licenses}
	if t.resv.Binds() && t.resv.End != 0 && s.end > t.resv.End {
		if s.limit = job.Minutes(max(0, t.resv.End-start) / 60000); s.limit == 0 {
			return s, "reservation " + t.resv.Name + " ends before it"
		}
		s.end = endOf(start, s.limit)
	}
	for i := range p.Nodes {
		if len(p.Nodes[i].Devices) != len(c.view.Nodes[t.nodes[i]].Host.Kinds) {
			return s, "the devices of a node were changed"
		}
		s.placed = append(s.placed, partition.Placed{At: t.nodes[i], Take: p.Nodes[i].Take})
	}
	if !c.free(t, &s) {
		return s, c.outsider(t, start)
	}
	c.kept.careful = true
	defer func() { c.kept.careful = false }()
	if !c.free(t, &s) {
		return s, "jobs ahead of it need its nodes"
	}
	return s, ""
}

// free tells whether all that a spot takes is free, in the picture that the search
// goes by.
func (c *cycle) free(t *trial, s *spot) bool {
	var room partition.Room
	for i := range s.placed {
		p := &s.placed[i]
		if c.blocked(p.At, s.start, s.end, t.resv) != nil {
			return false
		}
		c.line(p.At).least(s.start, s.end, &room)
		if !holds(&room, &p.Room, t.need.Track) {
			return false
		}
		most := int(t.part.MaxCPUsNode)
		if threads := c.view.Nodes[p.At].Host.Threads; most > 0 && s.start <= c.now && c.coresOf(p.At, t.part.Name)+p.Cores > most/threads {
			return false
		}
	}
	if len(s.licenses) == 0 {
		return true
	}
	want := c.licenseRoom(s.licenses)
	c.licensesLine().least(s.start, s.end, &room)
	return holds(&room, &want, false)
}

// holds tells whether there is as much of everything in a room as is wanted of it.
func holds(room, want *partition.Room, memory bool) bool {
	for k, n := range want.Devices {
		if n > 0 && n > room.Devices[k] {
			return false
		}
	}
	return want.Cores <= room.Cores && (!memory || want.MemoryMB <= max(0, room.MemoryMB))
}

// unpin gives the room of a pin back to the kept picture.
func (c *cycle) unpin(p *pin) {
	for i := range p.spots {
		c.kept.hold(c, &p.spots[i], 1)
	}
	p.spots = nil
}

// hold changes the kept picture alone.
func (k *promises) hold(c *cycle, s *spot, sign int) {
	for i := range s.placed {
		p := &s.placed[i]
		l := &k.lines[p.At]
		if len(l.at) == 0 {
			*l = c.lines[p.At].clone()
		}
		l.change(s.start, s.end, &p.Room, sign)
	}
	if len(s.licenses) > 0 {
		r := c.licenseRoom(s.licenses)
		k.licenses.change(s.start, s.end, &r, sign)
	}
}

// careful tells whether the search goes by the kept picture.
func (c *cycle) careful() bool { return c.kept != nil && c.kept.careful }

// carefully searches in the kept picture.
func (c *cycle) carefully(f func() (spot, bool)) (spot, bool) {
	c.kept.careful = true
	s, ok := f()
	c.kept.careful = false
	return s, ok
}

// line is what is free on a node, in the picture that the search goes by.
func (c *cycle) line(node int) *line {
	if k := c.kept; k != nil && k.careful && len(k.lines[node].at) > 0 {
		return &k.lines[node]
	}
	return &c.lines[node]
}

func (c *cycle) licensesLine() *line {
	if k := c.kept; k != nil && k.careful {
		return &k.licenses
	}
	return &c.licenses
}

// follow keeps the kept picture up with a change of the free one.
func (k *promises) follow(c *cycle, s *spot, sign int) {
	for i := range s.placed {
		if p := &s.placed[i]; len(k.lines[p.At].at) > 0 {
			k.lines[p.At].change(s.start, s.end, &p.Room, sign)
		}
	}
	if len(s.licenses) > 0 {
		r := c.licenseRoom(s.licenses)
		k.licenses.change(s.start, s.end, &r, sign)
	}
}
