package wal

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// A record holds the entries of one StoreLogs: a head of headBytes, then the
// entries, filled up with zeros to a multiple of align. All numbers are little
// endian.
//
//	0   magic, 4 bytes
//	4   checksum of the rest and the id of the log, 4 bytes
//	8   generation of the segment, 8 bytes
//	16  number of the record in the log, 8 bytes
//	24  length of the entries, 4 bytes
//	28  count of the entries, 4 bytes
//
// An entry is index, term, time (nanoseconds since 1970, 0: none), type, the
// lengths of its data and extensions, and these two.
const (
	recordMagic = 0x4c57534d
	headBytes   = 32
	entryBytes  = 8 + 8 + 8 + 1 + 4 + 4
	align       = 8
)

// crcTable is Castagnoli's polynomial, which processors know.
func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sum is the checksum of some bytes of the log with an id. The id keeps bytes
// that a user sent from passing for a record.
func sum(id uint64, data []byte) uint32 {
	seed := binary.LittleEndian.AppendUint64(nil, id)
	return crc32.Update(crc32.Checksum(seed, crcTable()), crcTable(), data)
}

// recordSize is how many bytes the entries take in a segment.
func recordSize(logs []*raft.Log) int {
	n := headBytes
	for _, l := range logs {
		n += entryBytes + len(l.Data) + len(l.Extensions)
	}
	return (n + align - 1) / align * align
}

// appendRecord appends a record to buf, which must be empty.
func appendRecord(buf []byte, id, generation, number uint64, logs []*raft.Log) []byte {
	buf = append(buf, make([]byte, headBytes)...)
	for _, l := range logs {
		buf = appendEntry(buf, l)
	}
	le := binary.LittleEndian
	le.PutUint32(buf, recordMagic)
	le.PutUint64(buf[8:], generation)
	le.PutUint64(buf[16:], number)
	le.PutUint32(buf[24:], uint32(len(buf)-headBytes))
	le.PutUint32(buf[28:], uint32(len(logs)))
	le.PutUint32(buf[4:], sum(id, buf[8:]))
	for len(buf)%align != 0 {
		buf = append(buf, 0)
	}
	return buf
}

func appendEntry(buf []byte, l *raft.Log) []byte {
	le := binary.LittleEndian
	var at int64
	if !l.AppendedAt.IsZero() {
		at = l.AppendedAt.UnixNano()
	}
	buf = le.AppendUint64(buf, l.Index)
	buf = le.AppendUint64(buf, l.Term)
	buf = le.AppendUint64(buf, uint64(at))
	buf = append(buf, byte(l.Type))
	buf = le.AppendUint32(buf, uint32(len(l.Data)))
	buf = le.AppendUint32(buf, uint32(len(l.Extensions)))
	buf = append(buf, l.Data...)
	return append(buf, l.Extensions...)
}

// record is one that was read.
type record struct {
	number uint64
	size   int // bytes in the segment
	logs   []*raft.Log
}

// readRecord reads the record at the start of data; false if there is no whole
// one of this log and generation.
func readRecord(data []byte, id, generation uint64) (record, bool) {
	le := binary.LittleEndian
	if len(data) < headBytes || le.Uint32(data) != recordMagic || le.Uint64(data[8:]) != generation {
		return record{}, false
	}
	length := uint64(le.Uint32(data[24:]))
	if length > uint64(len(data)-headBytes) {
		return record{}, false
	}
	end := headBytes + int(length)
	if sum(id, data[8:end]) != le.Uint32(data[4:]) {
		return record{}, false
	}
	logs, ok := readEntries(data[headBytes:end], le.Uint32(data[28:]))
	return record{number: le.Uint64(data[16:]), size: (end + align - 1) / align * align, logs: logs}, ok
}

// readEntries reads what the checksum says was written; false if it is not so.
func readEntries(data []byte, count uint32) ([]*raft.Log, bool) {
	le := binary.LittleEndian
	var logs []*raft.Log
	for range count {
		if len(data) < entryBytes {
			return nil, false
		}
		l := &raft.Log{Index: le.Uint64(data), Term: le.Uint64(data[8:]), Type: raft.LogType(data[24])}
		if at := int64(le.Uint64(data[16:])); at != 0 {
			l.AppendedAt = time.Unix(0, at).UTC()
		}
		n, m := uint64(le.Uint32(data[25:])), uint64(le.Uint32(data[29:]))
		data = data[entryBytes:]
		if n+m > uint64(len(data)) {
			return nil, false
		}
		l.Data, l.Extensions = clone(data[:n]), clone(data[n:n+m])
		data = data[n+m:]
		logs = append(logs, l)
	}
	return logs, len(data) == 0
}

// clone is a copy of its own, nil for nothing.
func clone(b []byte) []byte { return append([]byte(nil), b...) }
