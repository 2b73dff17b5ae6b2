package query

import (
	"slices"
	"strconv"

	"muster/api"
	"muster/job"
)

// filter decides which jobs an answer holds.
type filter struct {
	q     *api.JobQuery
	uids  map[uint32]bool
	users map[string]bool
	names map[string]bool
	nodes map[string]bool
	only  int64 // uid whose jobs alone may be seen; -1: all
}

// newFilter prepares a query. only is the uid of a caller who may see nothing but
// jobs of one's own, or -1.
func newFilter(q *api.JobQuery, only int64) *filter {
	f := &filter{q: q, only: only, names: set(q.Names), nodes: set(q.Nodes)}
	for _, u := range q.Users {
		if n, err := strconv.ParseUint(u, 10, 32); err == nil {
			if f.uids == nil {
				f.uids = map[uint32]bool{}
			}
			f.uids[uint32(n)] = true
			continue
		}
		if f.users == nil {
			f.users = map[string]bool{}
		}
		f.users[u] = true
	}
	return f
}

func set(list []string) map[string]bool {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// match tells whether a job belongs to the answer, its state aside.
func (f *filter) match(j *job.Job) bool {
	q := f.q
	switch {
	case f.only >= 0 && int64(j.Owner.UID) != f.only:
		return false
	case len(q.Users) > 0 && (f.uids[j.Owner.UID] || f.users[j.Owner.User]) == q.NotUser:
		return false
	case f.names != nil && !f.names[j.Request.Name]:
		return false
	case len(q.Accounts) > 0 && !slices.Contains(q.Accounts, j.Account):
		return false
	case len(q.QOS) > 0 && !slices.Contains(q.QOS, j.QOS):
		return false
	case len(q.Partitions) > 0 && !f.inPartition(j):
		return false
	case len(q.Reservations) > 0 && !slices.Contains(q.Reservations, reservation(j)):
		return false
	case len(q.Licenses) > 0 && !holdsLicense(j, q.Licenses):
		return false
	}
	return f.nodes == nil || f.onNode(j)
}

// inState tells whether the job is in one of the states asked for.
func (f *filter) inState(j *job.Job) bool {
	return f.q.AnyState || f.q.States>>j.State&1 != 0 || j.Flags&f.q.Flags != 0
}

func (f *filter) inPartition(j *job.Job) bool {
	if j.Alloc != nil && j.State != job.Pending {
		return slices.Contains(f.q.Partitions, j.Alloc.Partition)
	}
	for _, p := range j.Request.Partitions {
		if slices.Contains(f.q.Partitions, p) {
			return true
		}
	}
	return false
}

func (f *filter) onNode(j *job.Job) bool {
	if j.Alloc == nil || j.State == job.Pending {
		return false
	}
	for i := range j.Alloc.Nodes {
		if f.nodes[j.Alloc.Nodes[i].Name] {
			return true
		}
	}
	return false
}

func holdsLicense(j *job.Job, names []string) bool {
	if j.Alloc == nil {
		return false
	}
	for _, l := range j.Alloc.Licenses {
		if slices.Contains(names, l.Name) {
			return true
		}
	}
	return false
}

// reservation is the one that a job runs in, or asks for.
func reservation(j *job.Job) string {
	if j.Alloc != nil && j.State != job.Pending {
		return j.Alloc.Reservation
	}
	return j.Request.Reservation
}
