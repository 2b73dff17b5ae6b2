package cgroup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Pool lends control groups to jobs. Making and removing those of a job costs
// more than all the rest that a node daemon does for it, so groups that a job
// left as it found them serve the next one. The kernel's counters run on in them:
// each job is told the difference.
type Pool struct {
	tree *Tree

	mu   sync.Mutex
	free []*Slot // the last one that came back is taken first: the kernel has it at hand
	next uint64  // number of the next group that is made
}

const (
	// mostFree is how many groups wait for jobs. Each holds some memory of the
	// kernel, for each CPU of the machine.
	mostFree = 64
	// mostLeft is how many bytes may still be charged to a group that is used
	// again: files in /dev/shm that outlive a job, and cache. They count against
	// the next job.
	mostLeft = 1 << 20
)

// Slot is a group while one job has it.
type Slot struct {
	*Group
	pool  *Pool
	shape shape
	base  Stats  // what was used before the job
	last  *Stats // what was used when it was seen empty; nil if it was not
	// The pool's lock guards:
	spent  bool // not to be used again
	shares int  // others that may start processes in it
}

// shape says which limits a group has: it is used again only for such as have
// the same.
type shape struct{ memory, pids, cpus bool }

func shapeOf(l Limits) shape { return shape{l.MemoryMB != 0, l.PIDs != 0, l.CPUs != ""} }

// NewPool makes a pool of a tree's groups.
func NewPool(t *Tree) *Pool { return &Pool{tree: t, next: 1} }

// slotPrefix begins the names of the groups of a pool.
const slotPrefix = "slot_"

// Take gives a job groups with its limits: some that are free, or new ones.
func (p *Pool) Take(l Limits) (*Slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	want := shapeOf(l)
	for i := len(p.free) - 1; i >= 0 && len(l.Deny) == 0; i-- {
		s := p.free[i]
		if s.shape != want {
			continue
		}
		p.free = append(p.free[:i], p.free[i+1:]...)
		if err := p.tree.limit(s.Group, l); err != nil {
			s.Group.Remove() // what is wrong with it does not concern the job
			break
		}
		return s, nil
	}
	return p.make(l, want)
}

// make makes groups; the caller holds the lock.
func (p *Pool) make(l Limits, want shape) (*Slot, error) {
	name := ""
	for name == "" || p.tree.Find(name) != nil { // those of an earlier daemon's jobs
		name = slotPrefix + strconv.FormatUint(p.next, 10)
		p.next++
	}
	g, err := p.tree.Create(name, l)
	if err != nil {
		return nil, err
	}
	// Only the v2 hierarchy says for certain that nothing lives in a group.
	// Rules for devices can't be taken back.
	return &Slot{Group: g, pool: p, shape: want, spent: g.v2 == "" || len(l.Deny) > 0}, nil
}

// Mark names the slot and what was used before its job, for Find by a later
// daemon.
func (s *Slot) Mark() string {
	return fmt.Sprintf("%s %d %d %d", s.name, s.base.UserUS, s.base.SystemUS, s.base.OOMKills)
}

// Find is the slot of a job that an earlier daemon's pool lent it; nil if its
// groups are gone.
func (p *Pool) Find(mark string) *Slot {
	s := &Slot{pool: p, spent: true}
	var name string
	if _, err := fmt.Sscanf(mark, "%s %d %d %d", &name, &s.base.UserUS, &s.base.SystemUS, &s.base.OOMKills); err != nil {
		return nil
	}
	if !strings.HasPrefix(name, slotPrefix) || strings.Contains(name, "/") {
		return nil
	}
	if s.Group = p.tree.Find(name); s.Group == nil {
		return nil
	}
	return s
}

// Sweep removes the groups that an earlier daemon's pool had, but those that the
// marks name. Processes in them belong to no job that is known: they are left,
// and the names of their groups are returned.
func (p *Pool) Sweep(marks []string) []string {
	used := map[string]bool{}
	for _, m := range marks {
		name, _, _ := strings.Cut(m, " ")
		used[name] = true
	}
	var busy []string
	for _, name := range p.tree.List() {
		if used[name] || !strings.HasPrefix(name, slotPrefix) {
			continue
		}
		if g := p.tree.Find(name); g != nil && errors.Is(g.Remove(), ErrBusy) {
			busy = append(busy, name)
		}
	}
	return busy
}

// Close removes the groups that are free.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.free {
		s.Group.Remove()
	}
	p.free = nil
}

// Share says that more than the job's first process may be started in the slot,
// until the returned function is called. A slot that is given back while it is
// shared is not used again: a start that comes late must not end up among the
// processes of another job.
func (s *Slot) Share() (end func()) {
	s.share(1)
	return sync.OnceFunc(func() { s.share(-1) })
}

func (s *Slot) share(n int) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.shares += n
}

// spend has the groups removed after this job.
func (s *Slot) spend() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.spent = true
}

// Freeze is Group.Freeze. A group that may be frozen is not used again.
func (s *Slot) Freeze(on bool) error {
	s.spend()
	return s.Group.Freeze(on)
}

// Kill is Group.Kill. A group that was killed is not used again: kernels from 6.12
// on kill what is born into it later.
func (s *Slot) Kill(ctx context.Context) error {
	s.spend()
	return s.Group.Kill(ctx)
}

// Stats is Group.Stats of this job.
func (s *Slot) Stats() Stats { return s.Group.Stats().less(s.base) }

// Final is Group.Final of this job.
func (s *Slot) Final() Stats {
	s.pool.mu.Lock()
	alone := !s.spent && s.shares == 0
	s.pool.mu.Unlock()
	empty := alone && s.empty() // asked first: nothing is used after it
	now := s.Group.Final()
	if empty {
		s.last = &now
	}
	return now.less(s.base)
}

// empty tells whether no process is in the slot.
func (s *Slot) empty() bool {
	populated := uint64(1)
	s.files.values(filepath.Join(s.v2, "cgroup.events"), map[string]*uint64{"populated": &populated})
	return populated == 0
}

// Remove gives the groups back, or removes them; ErrBusy while processes are left.
func (s *Slot) Remove() error {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.spent || s.shares > 0 || s.last == nil || len(s.pool.free) >= mostFree || !s.asBefore() {
		return s.Group.Remove()
	}
	s.pool.free = append(s.pool.free, &Slot{Group: s.Group, pool: s.pool, shape: s.shape, base: *s.last})
	return nil
}

// asBefore tells whether a job has left its groups as it found them: no groups
// of its own below them, and nearly no memory.
func (s *Slot) asBefore() bool {
	for _, dir := range s.all() {
		if s.files.hasGroups(dir) {
			return false
		}
	}
	if s.pure {
		return s.files.number(filepath.Join(s.v2, "memory.current")) <= mostLeft
	}
	if d := s.dirs["memory"]; d != "" {
		return s.files.number(filepath.Join(d, "memory.usage_in_bytes")) <= mostLeft
	}
	return true
}
