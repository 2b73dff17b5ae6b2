package state

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"muster/internal/wire"
	"muster/job"
)

// The tables that the state hash covers. The numbers are part of the hash and of
// the snapshot format; never reuse one.
const (
	tableHeader byte = iota + 1
	tableCluster
	tableNodes
	tablePartitions
	tableReservations
	tableOwners
	tableRequests
	tableJobs
	tableOutbox
	tableAnswers
	tablePromises
	tableEnd
	tableBook
	tableMails
	tableCrontabs
	tableUsage
	tableConfigurations
	tableEvents = 64 // of the outbox
)

// add takes the hash of one more record into the sum: 128 bits, little endian,
// carry over the top dropped. Addition does not mind the order of changes.
func (h *Hash) add(s Hash) {
	lo, c := bits.Add64(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(s[:8]), 0)
	hi, _ := bits.Add64(binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(s[8:]), c)
	binary.LittleEndian.PutUint64(h[:8], lo)
	binary.LittleEndian.PutUint64(h[8:], hi)
}

// sub takes the hash of a record out of the sum.
func (h *Hash) sub(s Hash) {
	lo, c := bits.Sub64(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(s[:8]), 0)
	hi, _ := bits.Sub64(binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(s[8:]), c)
	binary.LittleEndian.PutUint64(h[:8], lo)
	binary.LittleEndian.PutUint64(h[8:], hi)
}

// summer hashes records; it reuses its buffers and serves one goroutine.
type summer struct {
	buf []byte
	job job.Job
}

const prefixLen = 9 // table and key before the record

func (s *summer) start(table byte, k uint64) {
	s.buf = append(s.buf[:0], table)
	s.buf = binary.LittleEndian.AppendUint64(s.buf, k)
}

func (s *summer) done() Hash {
	full := sha256.Sum256(s.buf)
	return Hash(full[:16])
}

// of hashes a record of a table under its key.
func (s *summer) of(table byte, k uint64, m wire.Message) Hash {
	s.start(table, k)
	s.buf = wire.Encode(s.buf, m)
	return s.done()
}

// row hashes a job. Owner and request, which many jobs share, enter by their own
// hashes, so that they are coded once and not with each change of each job.
func (s *summer) row(table byte, k uint64, r *jobRow) Hash {
	s.start(table, k)
	s.buf = s.appendCore(s.buf, &r.Job)
	return s.rowDone(r.owner.sum, r.request.sum)
}

func (s *summer) rowDone(owner, request Hash) Hash {
	s.buf = append(s.buf, owner[:]...)
	s.buf = append(s.buf, request[:]...)
	return s.done()
}

// appendCore codes a job without its owner and request.
func (s *summer) appendCore(dst []byte, j *job.Job) []byte {
	s.job = *j
	s.job.Owner, s.job.Request = nil, nil
	return wire.Encode(dst, &s.job)
}
