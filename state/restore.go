package state

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"muster/accounting"
	"muster/internal/wire"
	"muster/partition"
)

// ErrDamaged is wrapped by errors about a snapshot that is not what was written.
var ErrDamaged = errors.New("state: the snapshot is damaged")

// largestSection bounds what a damaged length can make the reader allocate.
const largestSection = 1 << 28

// restorer builds a machine from a snapshot.
type restorer struct {
	m        *Machine
	head     header
	owners   []*ownerRow
	requests []*requestRow
	strings  map[string]string
	hash     Hash
	ended    bool
	entries  [indexCount][]key
	census   census
}

// Restore replaces everything by a snapshot. All checksums and the state hash
// are checked first; on an error the machine stays as it was.
func (m *Machine) Restore(r io.Reader) error {
	s := &restorer{m: &Machine{}, strings: map[string]string{}, census: newCensus()}
	s.m.reset()
	if err := s.read(bufio.NewReaderSize(r, sectionSize)); err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	s.finish()
	n := s.m
	m.work, m.requests, m.owners, m.answered = n.work, n.requests, n.owners, n.answered
	m.epoch = max(m.epoch, n.epoch) + 1
	m.dirty, m.events, m.fault = nil, nil, nil
	m.publish()
	return nil
}

func (s *restorer) read(r io.Reader) error {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	}
	var buf []byte
	for n := 0; ; n++ {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if err == io.EOF && s.ended {
				return nil
			}
			return fmt.Errorf("%w: section %d: %w", ErrDamaged, n, noEOF(err))
		}
		size := binary.LittleEndian.Uint32(head[:4])
		if size > largestSection {
			return fmt.Errorf("%w: section %d would have %d bytes", ErrDamaged, n, size)
		}
		buf = slices.Grow(buf[:0], int(size))[:size]
		if _, err := io.ReadFull(r, buf); err != nil {
			return fmt.Errorf("%w: section %d: %w", ErrDamaged, n, noEOF(err))
		}
		if crc32.Checksum(buf, crcTable) != binary.LittleEndian.Uint32(head[4:]) {
			return fmt.Errorf("%w: section %d has a wrong checksum", ErrDamaged, n)
		}
		if err := s.section(buf); err != nil {
			return fmt.Errorf("section %d: %w", n, err)
		}
	}
}

// noEOF makes the end of the input the error that it is here.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *restorer) section(b []byte) error {
	for len(b) > 0 {
		table := b[0]
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || size > uint64(len(b)-1-n) {
			return fmt.Errorf("%w: a record is longer than its section", ErrDamaged)
		}
		record := b[1+n : 1+n+int(size)]
		b = b[1+n+int(size):]
		if s.ended {
			return fmt.Errorf("%w: records after the end mark", ErrDamaged)
		}
		if (s.head.format == 0) != (table == tableHeader) {
			return fmt.Errorf("%w: the header is not the first record or is not alone", ErrDamaged)
		}
		if err := s.record(table, record); err != nil {
			return fmt.Errorf("record of table %d: %w", table, err)
		}
	}
	return nil
}

func (s *restorer) record(table byte, b []byte) error {
	w := &s.m.work
	switch table {
	case tableHeader:
		return s.header(b)
	case tableCluster:
		w.cluster = &partition.Cluster{}
		if err := wire.Decode(b, w.cluster); err != nil {
			return err
		}
		// Before the first Configure it is in no hash.
		if len(b) > 0 {
			w.clusterSum = s.sumOf(table, 0, b)
		}
		return nil
	case tableNodes:
		row := &nodeRow{}
		if err := wire.Decode(b, &row.Node); err != nil {
			return err
		}
		row.sum = s.sumOf(table, uint64(row.ID), b)
		w.nodes.Set(s.m.epoch, uint64(row.ID), row)
		return nil
	case tablePartitions:
		row := &partitionRow{}
		if err := wire.Decode(b, &row.Partition); err != nil {
			return err
		}
		row.members, row.sum = members(row.Nodes), s.sumOf(table, 0, b)
		w.partitions = append(w.partitions, row)
		return nil
	case tableReservations:
		row := &reservationRow{}
		if err := wire.Decode(b, &row.Reservation); err != nil {
			return err
		}
		row.members, row.sum = members(row.Nodes), s.sumOf(table, 0, b)
		w.reservations = append(w.reservations, row)
		return nil
	case tablePromises:
		row := &promiseRow{}
		if err := wire.Decode(b, &row.Planned); err != nil {
			return err
		}
		row.sum = s.sumOf(table, uint64(row.Job), b)
		w.promises = append(w.promises, row)
		return nil
	case tableCrontabs:
		row := &crontabRow{}
		if err := wire.Decode(b, &row.Crontab); err != nil {
			return err
		}
		row.sum = s.sumOf(table, uint64(row.UID), b)
		w.crontabs = append(w.crontabs, row)
		return nil
	case tableConfigurations:
		row := &configurationRow{}
		if err := wire.Decode(b, &row.Configuration); err != nil {
			return err
		}
		row.sum = s.sumOf(table, row.Serial, b)
		w.configs = append(w.configs, row)
		return nil
	case tableBook:
		return s.readBook(b)
	case tableUsage:
		row := &usageRow{}
		if err := wire.Decode(b, &row.Usage); err != nil {
			return err
		}
		row.sum = s.sumOf(table, 0, b)
		w.usage.Set(row)
		return nil
	case tableEnd:
		return s.end(b)
	}
	return s.jobRecord(table, b)
}

// jobRecord is record for the tables that are about jobs.
func (s *restorer) jobRecord(table byte, b []byte) error {
	switch table {
	case tableOwners:
		row := &ownerRow{}
		if err := wire.DecodeInterned(b, &row.Owner, s.intern); err != nil {
			return err
		}
		row.sum = s.m.sum.bytes(table, 0, b)
		s.owners = append(s.owners, row)
		return nil
	case tableRequests:
		row := &requestRow{}
		if err := wire.DecodeInterned(b, &row.Request, s.intern); err != nil {
			return err
		}
		row.sum = s.m.sum.bytes(table, 0, b)
		s.requests = append(s.requests, row)
		return nil
	case tableJobs:
		row, err := s.row(table, 0, b)
		if err == nil {
			s.addJob(row)
		}
		return err
	case tableOutbox:
		n, size := binary.Uvarint(b)
		row, err := s.row(table, n, b[max(size, 0):])
		if err == nil {
			s.census.refer(s.m, row)
			s.m.work.outbox.Set(s.m.epoch, n, &outboxRow{job: row, sum: row.sum})
			if j := s.m.work.jobs.Get(uint64(row.ID)); j != nil {
				j.out = max(j.out, n)
			}
		}
		return err
	case tableEvents:
		n, size := binary.Uvarint(b)
		e := &accounting.Event{}
		if err := wire.Decode(b[max(size, 0):], e); err != nil {
			return err
		}
		s.m.work.outbox.Set(s.m.epoch, n, &outboxRow{event: e, sum: s.sumOf(table, n, b[max(size, 0):])})
		return nil
	case tableMails:
		n, size := binary.Uvarint(b)
		mail := &mailRow{}
		if err := wire.Decode(b[max(size, 0):], &mail.event); err != nil {
			return err
		}
		mail.sum = s.sumOf(table, n, b[size:])
		s.m.work.mails.Set(s.m.epoch, n, mail)
		return nil
	case tableAnswers:
		n, size := binary.Uvarint(b)
		a := &answer{}
		if err := wire.Decode(b[max(size, 0):], a); err != nil {
			return err
		}
		a.sum = s.sumOf(table, n, b[size:])
		s.m.work.answers.Set(s.m.epoch, n, a)
		s.m.answered[a.id] = n
		return nil
	}
	return fmt.Errorf("%w: table %d of a snapshot; upgrade this controller", ErrUnknown, table)
}

func (s *restorer) header(b []byte) error {
	if err := wire.Decode(b, &s.head); err != nil {
		return err
	}
	if s.head.format != snapshotFormat {
		return fmt.Errorf("%w: snapshot format %d (known: %d); upgrade this controller", ErrUnknown, s.head.format, snapshotFormat)
	}
	w := &s.m.work
	w.index, w.now, w.hash = s.head.index, s.head.now, s.head.hash
	w.counters, w.order = s.head.counts, s.head.order
	return nil
}

func (s *restorer) end(b []byte) error {
	s.ended = true
	switch {
	case string(b) != string(s.head.hash[:]) || s.hash != s.head.hash:
		return fmt.Errorf("%w: the records have another state hash than the header", ErrDamaged)
	case uint64(s.m.work.jobs.Len()) != s.head.jobs:
		return fmt.Errorf("%w: %d jobs, the header says %d", ErrDamaged, s.m.work.jobs.Len(), s.head.jobs)
	}
	for _, id := range s.m.work.order {
		if s.m.work.Node(id) == nil {
			return fmt.Errorf("%w: node %d is missing", ErrDamaged, id)
		}
	}
	return nil
}

// row decodes a job and takes it into the hash, over the bytes as they are.
func (s *restorer) row(table byte, key uint64, b []byte) (*jobRow, error) {
	owner, n := binary.Uvarint(b)
	request, k := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || k <= 0 || owner >= uint64(len(s.owners)) || request >= uint64(len(s.requests)) {
		return nil, fmt.Errorf("%w: a job names an owner or request that is not there", ErrDamaged)
	}
	b = b[n+k:]
	row := &jobRow{owner: s.owners[owner], request: s.requests[request]}
	if err := wire.DecodeInterned(b, &row.Job, s.intern); err != nil {
		return nil, err
	}
	row.Owner, row.Request = &row.owner.Owner, &row.request.Request
	row.tasks = row.countTasks()
	if table == tableJobs {
		key = uint64(row.ID)
	}
	sum := &s.m.sum
	sum.start(table, key)
	sum.buf = append(sum.buf, b...)
	row.sum, row.summed = sum.rowDone(row.owner.sum, row.request.sum), true
	s.hash.add(row.sum)
	return row, nil
}

// addJob puts a job into its table; the indices are made at the end.
func (s *restorer) addJob(r *jobRow) {
	m := s.m
	s.census.refer(m, r)
	m.work.jobs.Set(m.epoch, uint64(r.ID), r)
	m.recount(nil, &r.Job)
	s.census.hold(r)
	m.now = appendEntries(m.now[:0], &r.Job)
	for _, e := range m.now {
		s.entries[e.kind] = append(s.entries[e.kind], e.key)
	}
	if r.Array.JobID == 0 {
		if r.Terminal() {
			s.entries[byFinish] = append(s.entries[byFinish], key{uint64(r.Times.End), uint64(r.ID)})
		}
		return
	}
	u := m.work.ArrayUse(r.Array.JobID)
	u.ID = r.Array.JobID
	*u.class(&r.Job) += r.tasks
	if r.Terminal() {
		u.LastEnd = max(u.LastEnd, r.Times.End)
	}
	m.work.arrays.Set(m.epoch, uint64(u.ID), &u)
}

// finish makes what is derived from the tables.
func (s *restorer) finish() {
	for _, u := range s.m.work.arrays.All() {
		if u.over() {
			s.entries[byFinish] = append(s.entries[byFinish], key{uint64(u.LastEnd), uint64(u.ID)})
		}
	}
	for k, list := range s.entries {
		slices.SortFunc(list, key.compare)
		for _, e := range list {
			s.m.work.indices[k].Load(e)
		}
	}
	s.census.put(s.m)
	s.m.renewShares()
	s.m.nameNodes()
}

func (s *restorer) sumOf(table byte, k uint64, b []byte) Hash {
	sum := s.m.sum.bytes(table, k, b)
	s.hash.add(sum)
	return sum
}

// bytes is of for a record that is coded already.
func (s *summer) bytes(table byte, k uint64, b []byte) Hash {
	s.start(table, k)
	s.buf = append(s.buf, b...)
	return s.done()
}

// intern shares short strings, of which most jobs have the same few.
func (s *restorer) intern(b []byte) string {
	if len(b) > 64 {
		return string(b)
	}
	if v, ok := s.strings[string(b)]; ok {
		return v
	}
	v := string(b)
	s.strings[v] = v
	return v
}
