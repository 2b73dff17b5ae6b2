// Package query answers the calls that read: jobs, nodes, partitions,
// reservations, licences, accounting, configuration and counters. It filters
// where the data is and sends what was asked for, in chunks.
package query

import (
	"context"

	"muster/api"
	"muster/ctld/service"
	"muster/internal/wire"
)

// Methods are the reading calls with their handlers. Every controller answers
// them from its own root; the leader is asked for what it alone hears.
func Methods() []service.Method {
	return []service.Method{
		{Name: api.MethodPing, Handle: ping},
		{Name: api.MethodJobs, Handle: jobs},
		{Name: api.MethodScript, Own: true, Handle: script},
		{Name: api.MethodNodes, Live: true, Handle: nodes},
		{Name: api.MethodPartitions, Handle: partitions},
		{Name: api.MethodReservations, Handle: reservations},
		{Name: api.MethodLicenses, Handle: licenses},
		{Name: api.MethodConfig, Live: true, Handle: config},
		{Name: api.MethodAccounting, Live: true, Handle: acctJobs},
		{Name: api.MethodStats, Live: true, Handle: stats},
		{Name: api.MethodWhy, Handle: why},
		{Name: api.MethodConfigs, Handle: configs},
		{Name: api.MethodBookList, Handle: bookList},
		{Name: api.MethodCrontab, Own: true, Handle: crontab},
		{Name: api.MethodUse, Live: true, Handle: use},
	}
}

// decode reads the request message of a call.
func decode(r *service.Request, into wire.Message) error {
	if err := wire.Decode(r.Body, into); err != nil {
		return api.Errorf(api.ErrInvalid, "%s: %v", r.Method, err)
	}
	return nil
}

// send sends one message as one chunk.
func send(r *service.Request, m wire.Message) error { return r.Send(wire.Encode(nil, m)) }

// jobStream sends job records in chunks.
type jobStream struct {
	ctx  context.Context
	r    *service.Request
	list api.JobList
	buf  []byte
	sent bool
}

// next makes room for one more record and returns it; the chunk is sent first if
// it is full. The record is valid until the next call.
func (s *jobStream) next() (*api.JobRecord, error) {
	if len(s.list.Jobs) == api.ChunkRecords {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.list.Jobs = append(s.list.Jobs, api.JobRecord{})
	return &s.list.Jobs[len(s.list.Jobs)-1], nil
}

// flush sends what there is.
func (s *jobStream) flush() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.buf = wire.Encode(s.buf[:0], &s.list)
	s.list.Jobs = s.list.Jobs[:0]
	s.sent = true
	return s.r.Send(s.buf)
}

// close sends the rest; an answer has at least one chunk, so that the reader
// knows the time and the cluster's name.
func (s *jobStream) close() error {
	if len(s.list.Jobs) == 0 && s.sent {
		return nil
	}
	return s.flush()
}
