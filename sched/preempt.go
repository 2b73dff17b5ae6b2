package sched

import (
	"cmp"
	"slices"

	"muster/accounting"
	"muster/job"
	"muster/partition"
)

// maxVictims bounds how many running jobs one waiting job may displace.
const maxVictims = 256

// victim is a running job that may have to make room: a plain one, or all
// components of a heterogeneous one, which go together.
type victim struct {
	job    *job.Job // component 0 of a heterogeneous job
	holds  []taken
	tier   int      // the highest of its components
	rank   uint64   // the highest priority of their QOS
	qos    []string // of each component
	worth  uint64   // CPU milliseconds that would be lost
	wanted bool     // some component is to be requeued
	barred bool     // some component may not be requeued
	grace  job.Time // milliseconds, the longest of its components
	stays  bool     // some component is not displaced now
	ends   job.Time // when it would be gone
}

// taken is what a running job holds of one node.
type taken struct {
	node  int // place in the view
	room  partition.Room
	until job.Time
}

// requeue tells whether the victim goes back to the queue. As in Slurm a
// heterogeneous job is requeued if the mode of any component says so
// (PreemptMode in slurm.conf(5)); one that may not be requeued ends.
func (v *victim) requeue() bool { return v.wanted && !v.barred }

// displacements is what a cycle knows of jobs that may have to make room.
type displacements struct {
	running   []*victim // running jobs, once they were gathered
	rivals    map[rivalsKey][]*victim
	displaced map[job.ID]bool // victims of this plan
}

// rivalsKey is what decides who may be displaced.
type rivalsKey struct {
	qos  string
	tier int
}

// displacing tells whether the cluster lets jobs make room for others.
func (c *cycle) displacing() bool {
	return c.view.Policy.Preempt.Type != ""
}

// rivalsOf lists whom a job in a partition may displace. The cheapest come first:
// those of the lowest QOS and partition, of these the ones that lose the least CPU
// time.
func (c *cycle) rivalsOf(j *job.Job, part int) []*victim {
	key := rivalsKey{j.QOS, c.tier(part)}
	if list, known := c.rivals[key]; known {
		return list
	}
	var list []*victim
	for _, v := range c.runners() {
		if c.mayDisplace(j, part, v) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *victim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.tier, b.tier), cmp.Compare(a.worth, b.worth), cmp.Compare(b.job.ID, a.job.ID))
	})
	c.rivals[key] = list
	return list
}

// runners gathers the running jobs that some rule lets make room.
func (c *cycle) runners() []*victim {
	if c.running != nil {
		return c.running
	}
	all := []*victim{}
	at, seen := map[job.ID]*victim{}, map[job.ID]bool{}
	for i := range c.view.Nodes {
		for k := range c.view.Nodes[i].Holds {
			h := &c.view.Nodes[i].Holds[k]
			if h.Of == nil {
				continue
			}
			id := cmp.Or(h.Of.Het.Leader, h.Job)
			v := at[id]
			if v == nil {
				v = &victim{}
				at[id] = v
				all = append(all, v)
			}
			if !seen[h.Job] {
				seen[h.Job] = true
				c.join(v, h)
			}
			v.holds = append(v.holds, taken{i, h.Room, c.end(h.Until)})
		}
	}
	c.running = slices.DeleteFunc(all, func(v *victim) bool {
		v.ends = second(c.now + v.grace + overdue)
		return v.stays || v.job == nil // without component 0 the others are about to end
	})
	return c.running
}

// join adds a job, or a component, to what displacing a victim would mean.
func (c *cycle) join(v *victim, h *Hold) {
	j := h.Of
	if j.Het.Leader == 0 || j.Het.Leader == h.Job {
		v.job = j
	}
	part := c.partition(h.Partition)
	mode, exempt, grace := c.preemption(j, part)
	if q := c.qosOf(j); q != nil {
		v.rank = max(v.rank, uint64(q.Priority))
	}
	v.qos = append(v.qos, j.QOS)
	v.tier = max(v.tier, c.tier(part))
	v.grace = max(v.grace, job.Time(grace)*1000)
	v.wanted = v.wanted || mode == partition.PreemptRequeue
	v.barred = v.barred || j.Request == nil || !j.Request.Requeue || j.Request.Interactive
	v.stays = v.stays || j.State != job.Running || j.Cancel != nil ||
		mode == partition.PreemptOff || mode == partition.PreemptUnset || c.now < j.Times.Start+job.Time(exempt)*1000
	if j.Alloc != nil {
		v.worth += uint64(j.Alloc.CPUs) * uint64(max(0, c.now-j.Times.Start))
	}
}

// preemption is what the cluster, the QOS and the partition say of a running job:
// what happens to it, and for how many seconds it is exempt and warned.
func (c *cycle) preemption(j *job.Job, part int) (mode partition.PreemptMode, exempt, grace uint32) {
	mode, exempt = c.view.Policy.Preempt.Mode, c.view.Policy.Preempt.Exempt
	if q := c.qosOf(j); q != nil {
		if c.view.Policy.Preempt.Type == partition.PreemptByQOS {
			mode, grace = cmp.Or(q.PreemptMode, mode), q.GraceTime
		}
		if n, ok := q.Exempt.Get(); ok {
			exempt = uint32(min(n, 1<<31))
		}
	}
	if part >= 0 && c.view.Policy.Preempt.Type == partition.PreemptByTier {
		own, _ := partition.ParsePreemptMode(c.view.Partitions[part].PreemptMode)
		mode, grace = cmp.Or(own, mode), c.view.Partitions[part].GraceTime
	}
	return mode, exempt, grace
}

func (c *cycle) qosOf(j *job.Job) *accounting.QOS {
	if c.view.Book == nil {
		return nil
	}
	return c.view.Book.QOSNamed(j.QOS)
}

// mayDisplace judges one pair by the cluster's rule, which must hold for each
// component of the victim.
func (c *cycle) mayDisplace(j *job.Job, part int, v *victim) bool {
	if c.displaced[v.job.ID] {
		return false
	}
	if c.view.Policy.Preempt.Type == partition.PreemptByTier {
		return c.tier(part) > v.tier
	}
	q := c.qosOf(j)
	return q != nil && !slices.ContainsFunc(v.qos, func(of string) bool { return !slices.Contains(q.Preempt, of) })
}

// displace makes room for a job that cannot start now: it looks for the cheapest
// running jobs without which the job starts sooner than it would otherwise, and
// lists them in the plan. The room is kept for the job, so that it starts when
// they are gone. ok is false if that helps nothing. planned is where the job would
// start otherwise, nil if nowhere; nothing of it is taken.
func (c *cycle) displace(w waiter, planned *spot) (s spot, ok bool) {
	t := w.trial
	if !c.displacing() || t.resv != nil || len(t.absent) > 0 {
		return spot{}, false
	}
	all := c.inReach(t, c.rivalsOf(w.job, t.partAt))
	if len(all) == 0 {
		return spot{}, false
	}
	try := *t
	try.rows = nil // the grid does not know of room that is only wished for
	fits := func(some []*victim) (spot, bool) {
		ready := c.now
		for _, v := range some {
			ready = max(ready, v.ends)
		}
		if planned != nil && planned.start <= ready {
			return spot{}, false // it starts as soon without
		}
		c.release(some, 1)
		defer c.release(some, -1)
		return c.at(&try, ready, t.limit, false)
	}
	// The fewest of the cheapest that suffice, then without each that is not needed,
	// the dearest first.
	n := c.enoughOf(all, fits)
	if n == 0 {
		return spot{}, false
	}
	chosen := slices.Clone(all[:n])
	for i := len(chosen) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(chosen), i, i+1)
		if _, ok := fits(fewer); ok {
			chosen = fewer
		}
	}
	s, ok = fits(chosen)
	if !ok || len(chosen) == 0 {
		return spot{}, false
	}
	c.release(chosen, 1)
	for _, v := range chosen {
		c.displaced[v.job.ID] = true
		c.plan.Preempt = append(c.plan.Preempt, Preemption{Victim: v.job.ID, Attempt: v.job.Attempt, For: w.job.ID, Requeue: v.requeue(), Grace: uint32(v.grace / 1000)})
		for _, h := range v.holds {
			if c.grid != nil {
				c.grid.redraw(c, h.node, c.now, never)
			}
		}
	}
	clear(c.rivals)
	return s, true
}

// displaceFor makes room for a job and keeps it, in place of where the job was
// planned.
func (c *cycle) displaceFor(w waiter, planned *spot) (spot, bool) {
	if !c.displacing() {
		return spot{}, false
	}
	if planned != nil {
		c.take(planned, 1)
	}
	s, ok := c.displace(w, planned)
	switch {
	case ok:
		c.take(&s, -1)
		c.noteTaking(w.job.ID, &s, nil)
	case planned != nil:
		c.take(planned, -1)
	}
	return s, ok
}

// displaceInAny makes room for a job of several partitions in the first of them,
// in the order of the queue, where that helps. Called when all were looked at, so
// that nobody is displaced for a job that another partition has room for.
func (c *cycle) displaceInAny(s *several) {
	for _, w := range s.looked {
		better, ok := c.displaceFor(w, s.planned)
		if !ok {
			continue
		}
		s.planned = &better
		s.verdict.Planned, s.verdict.Nodes = better.start, c.nodeIDs(better.placed)
		c.give(w.job.ID, w.task, w.trial, &better)
		return
	}
}

// enoughOf is the least number of victims, from the cheapest on, with which a job
// fits; 0 if it does not with all of them.
func (c *cycle) enoughOf(all []*victim, fits func([]*victim) (spot, bool)) int {
	if _, ok := fits(all); !ok {
		return 0
	}
	low, high := 0, len(all) // low does not suffice, high does
	for high-low > 1 {
		mid := low + (high-low)/2
		if _, ok := fits(all[:mid]); ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// inReach are the victims that hold something of nodes which a trial may use.
func (c *cycle) inReach(t *trial, list []*victim) []*victim {
	var out []*victim
	for _, v := range list {
		if len(out) == maxVictims {
			break
		}
		if !c.displaced[v.job.ID] && slices.ContainsFunc(v.holds, func(h taken) bool { return t.bits[h.node/64]&(1<<(h.node%64)) != 0 }) {
			out = append(out, v)
		}
	}
	return out
}

// release gives back what victims would hold after their early ends, or with sign
// -1 takes it again.
func (c *cycle) release(list []*victim, sign int) {
	for _, v := range list {
		for k := range v.holds {
			h := &v.holds[k]
			if h.until <= v.ends {
				continue
			}
			c.lines[h.node].change(v.ends, h.until, &h.room, sign)
			if c.kept != nil && len(c.kept.lines[h.node].at) > 0 {
				c.kept.lines[h.node].change(v.ends, h.until, &h.room, sign)
			}
		}
	}
}
