package state

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"muster/internal/wire"
	"muster/job"
)

// A snapshot is the magic, then sections, then nothing. A section is its length
// and CRC-32C, four bytes each, little endian, and that many bytes of records. A
// record is a table number, a length and the coded record. The first is the
// header, the last the end mark, which repeats the state hash. Owners and
// requests are written once, before the first job that has them, and numbered in
// that order; so equal states give equal bytes.
const (
	snapshotMagic  = "MUSTER\x00S"
	snapshotFormat = 1
	sectionSize    = 256 << 10 // a section is closed once it is that long
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// header is what is no table.
type header struct {
	format uint32
	index  uint64
	now    job.Time
	hash   Hash
	counts counters
	order  []job.NodeID
	jobs   uint64 // records in the job table
}

// Code implements wire.Message.
func (h *header) Code(c *wire.Coder) {
	wire.Uint(c, 1, &h.format)
	c.Uint64(2, &h.index)
	wire.Int(c, 3, &h.now)
	c.Fixed(4, h.hash[:])
	wire.Struct(c, 5, &h.counts)
	wire.Ints(c, 6, &h.order)
	c.Uint64(7, &h.jobs)
}

// Code implements wire.Message.
func (n *counters) Code(c *wire.Coder) {
	wire.Uint(c, 1, &n.Job)
	wire.Uint(c, 2, &n.Node)
	c.Uint64(3, &n.SLUID)
	c.Uint64(4, &n.Out)
	c.Uint64(5, &n.Answer)
	wire.Uint(c, 6, &n.Priority)
	wire.Uint(c, 7, &n.Version)
	c.Uint64(8, &n.Mail)
	c.Uint64(9, &n.MailLost)
	wire.Int(c, 10, &n.UsageAt)
	wire.Int(c, 11, &n.UsageReset)
}

// snapshotWriter writes records in sections.
type snapshotWriter struct {
	w        io.Writer
	section  []byte
	record   []byte
	sum      summer
	owners   map[*ownerRow]uint64
	requests map[*requestRow]uint64
	err      error
}

// WriteSnapshot streams the state; it takes no lock and may run while the
// machine goes on.
func (r *Root) WriteSnapshot(w io.Writer) error {
	s := &snapshotWriter{w: w, owners: map[*ownerRow]uint64{}, requests: map[*requestRow]uint64{}}
	if _, err := io.WriteString(w, snapshotMagic); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	s.put(tableHeader, &header{format: snapshotFormat, index: r.index, now: r.now, hash: r.hash,
		counts: r.counters, order: r.order, jobs: uint64(r.jobs.Len())})
	s.put(tableCluster, r.cluster)
	for _, v := range r.configs {
		s.put(tableConfigurations, &v.Configuration)
	}
	for _, n := range r.nodes.All() {
		s.put(tableNodes, &n.Node)
	}
	for _, p := range r.partitions {
		s.put(tablePartitions, &p.Partition)
	}
	for _, v := range r.reservations {
		s.put(tableReservations, &v.Reservation)
	}
	if r.book.Serial > 0 {
		s.writeBook(r.book)
	}
	for u := range r.Usages() {
		s.put(tableUsage, u)
	}
	for _, row := range r.jobs.All() {
		s.putJob(tableJobs, 0, row)
	}
	for n, row := range r.outbox.All() {
		if row.event != nil {
			s.putNumbered(tableEvents, n, row.event)
			continue
		}
		s.putJob(tableOutbox, n, row.job)
	}
	for n, a := range r.answers.All() {
		s.putNumbered(tableAnswers, n, a)
	}
	for _, row := range r.crontabs {
		s.put(tableCrontabs, &row.Crontab)
	}
	for n, row := range r.mails.All() {
		s.putNumbered(tableMails, n, &row.event)
	}
	for _, p := range r.promises {
		s.put(tablePromises, &p.Planned)
	}
	s.begin()
	s.record = append(s.record, r.hash[:]...)
	s.end(tableEnd)
	s.flush()
	if s.err != nil {
		return fmt.Errorf("write snapshot: %w", s.err)
	}
	return nil
}

func (s *snapshotWriter) begin() { s.record = s.record[:0] }

func (s *snapshotWriter) end(table byte) {
	s.section = append(s.section, table)
	s.section = binary.AppendUvarint(s.section, uint64(len(s.record)))
	s.section = append(s.section, s.record...)
	if len(s.section) >= sectionSize {
		s.flush()
	}
}

func (s *snapshotWriter) put(table byte, m wire.Message) {
	s.begin()
	s.record = wire.Encode(s.record, m)
	s.end(table)
}

// putNumbered writes a record after its number.
func (s *snapshotWriter) putNumbered(table byte, n uint64, m wire.Message) {
	s.begin()
	s.record = binary.AppendUvarint(s.record, n)
	s.record = wire.Encode(s.record, m)
	s.end(table)
}

// putJob writes a job by the numbers of its owner and request, these first if
// they are new.
func (s *snapshotWriter) putJob(table byte, key uint64, r *jobRow) {
	owner, ok := s.owners[r.owner]
	if !ok {
		owner = uint64(len(s.owners))
		s.owners[r.owner] = owner
		s.put(tableOwners, &r.owner.Owner)
	}
	request, ok := s.requests[r.request]
	if !ok {
		request = uint64(len(s.requests))
		s.requests[r.request] = request
		s.put(tableRequests, &r.request.Request)
	}
	s.begin()
	if table == tableOutbox {
		s.record = binary.AppendUvarint(s.record, key)
	}
	s.record = binary.AppendUvarint(s.record, owner)
	s.record = binary.AppendUvarint(s.record, request)
	s.record = s.sum.appendCore(s.record, &r.Job)
	s.end(table)
}

func (s *snapshotWriter) flush() {
	if s.err != nil || len(s.section) == 0 {
		s.section = s.section[:0]
		return
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:4], uint32(len(s.section)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(s.section, crcTable))
	if _, s.err = s.w.Write(head[:]); s.err == nil {
		_, s.err = s.w.Write(s.section)
	}
	s.section = s.section[:0]
}
