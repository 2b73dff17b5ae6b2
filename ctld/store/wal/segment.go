package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/raft"

	"muster/internal/faults"
)

// segmentBytes is the size of a segment: some seconds of a busy cluster.
const segmentBytes = 4 << 20

// headRoom is kept for the header, so that no record shares a page with it.
const headRoom = 4096

const headerMagic = 0x4853534d

// headerBytes: magic, checksum of the rest, id, generation, number of the first
// record, 1 if settled.
const headerBytes = 4 + 4 + 8 + 8 + 8 + 8

// disk is a file of a fixed size. What WriteAt has written when it returns
// without an error is still there after a power cut.
type disk interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// header begins a segment.
type header struct {
	id         uint64 // of the log
	generation uint64 // counts the times that a segment was begun
	first      uint64 // number of its first record
	settled    bool   // all that was stored before is in the store behind
}

func (h header) encode() []byte {
	le := binary.LittleEndian
	buf := make([]byte, headerBytes)
	le.PutUint32(buf, headerMagic)
	le.PutUint64(buf[8:], h.id)
	le.PutUint64(buf[16:], h.generation)
	le.PutUint64(buf[24:], h.first)
	if h.settled {
		buf[32] = 1
	}
	le.PutUint32(buf[4:], sum(h.id, buf[8:]))
	return buf
}

// readHeader reads a header; false if it is not whole.
func readHeader(buf []byte) (header, bool) {
	le := binary.LittleEndian
	if len(buf) < headerBytes || le.Uint32(buf) != headerMagic {
		return header{}, false
	}
	h := header{id: le.Uint64(buf[8:]), generation: le.Uint64(buf[16:]), first: le.Uint64(buf[24:]), settled: buf[32] == 1}
	return h, sum(h.id, buf[8:headerBytes]) == le.Uint32(buf[4:])
}

// segment is one of the two files of a log. Its file is written over from the
// start each time it is begun, so that no write changes more than data.
type segment struct {
	disk disk
	size int64
	head header
	end  int64  // where the next record goes
	next uint64 // its number
}

// begin empties the segment.
func (s *segment) begin(h header) error {
	if _, err := s.disk.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	s.head, s.end, s.next = h, headRoom, h.first
	return nil
}

// fits tells whether a record of n bytes goes into what is left.
func (s *segment) fits(n int) bool { return s.end+int64(n) <= s.size }

// fitsEmpty tells whether a record of n bytes goes into an empty segment.
func (s *segment) fitsEmpty(n int) bool { return headRoom+int64(n) <= s.size }

// shut lets no record in until the segment is begun again.
func (s *segment) shut() { s.end = s.size }

// append writes one record, durably. After an error the next one takes its place.
func (s *segment) append(buf []byte) error {
	if _, err := s.disk.WriteAt(buf, s.end); err != nil {
		return err
	}
	s.end += int64(len(buf))
	s.next++
	return nil
}

// errDamaged: what was stored cannot be read any more.
var errDamaged = errors.New("is damaged")

// load reads a segment's header. valid is false if it is not whole, which a
// crash while the segment was begun leaves.
func (s *segment) load() (data []byte, valid bool, err error) {
	data = make([]byte, s.size)
	if _, err := s.disk.ReadAt(data, 0); err != nil {
		return nil, false, err
	}
	s.head, valid = readHeader(data)
	return data, valid, nil
}

// records reads what the segment holds, and finds its end.
func (s *segment) records(data []byte) ([]*raft.Log, error) {
	var logs []*raft.Log
	s.end, s.next = headRoom, s.head.first
	for {
		r, ok := readRecord(data[s.end:], s.head.id, s.head.generation)
		if !ok || r.number != s.next {
			break
		}
		logs = append(logs, r.logs...)
		s.end += int64(r.size)
		s.next++
	}
	if s.later(data) {
		return nil, fmt.Errorf("%w at byte %d", errDamaged, s.end)
	}
	return logs, nil
}

// former makes up the header that a segment had before it was begun once more,
// which a crash cut short: its records are all there yet.
func (s *segment) former(data []byte, id, generation uint64) {
	s.head = header{id: id, generation: generation}
	if r, ok := readRecord(data[headRoom:], id, generation); ok {
		s.head.first = r.number
	}
}

// later tells whether a whole record lies behind the last one that can be read.
// A crash does not leave that, since each is on disk before the next is written.
func (s *segment) later(data []byte) bool {
	for at := s.end; at+headBytes <= int64(len(data)); at += align {
		if binary.LittleEndian.Uint32(data[at:]) != recordMagic {
			continue
		}
		if r, ok := readRecord(data[at:], s.head.id, s.head.generation); ok && r.number > s.next {
			return true
		}
	}
	return false
}

// names are the files of a log in its directory.
func names(dir string) [2]string {
	return [2]string{filepath.Join(dir, "tail-0"), filepath.Join(dir, "tail-1")}
}

// openDisk opens a segment's file. Each write is one to the disk.
func openDisk(path string) (disk, error) {
	flags := os.O_RDWR | syscall.O_DSYNC
	if faults.On(faults.TailNoSync) {
		flags = os.O_RDWR
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != segmentBytes {
		err = fmt.Errorf("%s has %d bytes, not %d", path, info.Size(), segmentBytes)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// create makes a file full of zeros: later writes change no metadata.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, segmentBytes))
	return errors.Join(err, f.Sync(), f.Close())
}
