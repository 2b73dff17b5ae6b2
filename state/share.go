package state

import (
	"muster/job"
)

// share makes a row use the one record of its owner and of its request, and
// counts the row among their users.
func (m *Machine) share(r *jobRow) {
	if r.owner == nil || r.Owner != &r.owner.Owner {
		r.owner = m.ownerRow(r.Owner)
		r.Owner = &r.owner.Owner
	}
	if r.request == nil || r.Request != &r.request.Request {
		r.request = m.requestRow(r.Request)
		r.Request = &r.request.Request
	}
	m.refer(r)
}

// refer counts a row as user of its shared records: one for the job table, one
// for each place in the outbox.
func (m *Machine) refer(r *jobRow) {
	if m.link(r) {
		m.countBlobs(&r.request.Request, 1)
	}
}

// link is refer without the blobs; it tells whether the request is a new one, whose
// blobs are to be counted.
func (m *Machine) link(r *jobRow) (fresh bool) {
	o := m.owners[r.owner.sum]
	if o == nil {
		o = &sharedOwner{row: r.owner}
		m.owners[r.owner.sum] = o
	}
	o.refs++
	q := m.requests[r.request.sum]
	if q == nil {
		q = &sharedReq{row: r.request}
		m.requests[r.request.sum], fresh = q, true
	}
	q.refs++
	return fresh
}

// unshare takes a row off the users of its records; what nobody uses goes.
func (m *Machine) unshare(r *jobRow) {
	o := m.owners[r.owner.sum]
	if o.refs--; o.refs == 0 {
		delete(m.owners, r.owner.sum)
	}
	q := m.requests[r.request.sum]
	if q.refs--; q.refs == 0 {
		delete(m.requests, r.request.sum)
		m.countBlobs(&r.request.Request, -1)
	}
}

func (m *Machine) ownerRow(o *job.Owner) *ownerRow {
	sum := m.sum.of(tableOwners, 0, o)
	if s := m.owners[sum]; s != nil {
		return s.row
	}
	return &ownerRow{Owner: *o, sum: sum}
}

func (m *Machine) requestRow(q *job.Request) *requestRow {
	sum := m.sum.of(tableRequests, 0, q)
	if s := m.requests[sum]; s != nil {
		return s.row
	}
	return &requestRow{Request: *q, sum: sum}
}

// blobsOf are the blobs that a request names; zero ones stand for none.
func blobsOf(q *job.Request) [2]job.Hash { return [2]job.Hash{q.Batch.Script, q.Batch.Environment} }

func (m *Machine) countBlobs(q *job.Request, n int) {
	for _, h := range blobsOf(q) {
		if h == (job.Hash{}) {
			continue
		}
		b, _ := m.work.blobs.Get(blobRow{hash: h})
		b.hash = h
		if b.refs += n; b.refs > 0 {
			m.work.blobs.Set(b)
		} else {
			m.work.blobs.Delete(b)
		}
	}
}
