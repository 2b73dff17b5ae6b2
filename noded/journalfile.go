package noded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"muster/internal/durable"
)

// journalFile is a file of batches, one after the other. A batch is on disk as a
// whole or not at all: it has a checksum, and it is the last one until the disk
// has it. So a crash can only spoil the end of the file, and what it spoils was
// never said to be there.
//
// A batch is
//
//	4 bytes    mark
//	4 bytes    length of the entries
//	4 bytes    CRC-32C of the journal's id and the entries
//	entries    each: number (uvarint), length of the report (uvarint), report
//
// with the numbers big-endian. An entry without a report says that the one of its
// number is not needed any more. The file begins with the journal's id, 16
// letters, and the number of the next report, 8 bytes, as a batch of their own
// kind.
//
// The file is written anew when it has grown, and at each start.
type journalFile struct {
	name string
	id   string
	next uint64 // one more than the highest number that was ever used
	live map[uint64][]byte

	file *os.File
	lock *os.File
	size int64 // of what is good
	// limit is the size at which the file is written anew.
	limit int64
}

// journalEntry is a report, or the number of one that is not needed any more.
type journalEntry struct {
	number uint64
	report []byte // nil: forget it
}

const (
	journalMark  = 0x4d4a_0a1e
	journalHead  = 12
	journalFirst = 24      // bytes in the first batch
	journalLimit = 1 << 20 // bytes, at least, before a file is written anew
)

// errDamaged is a journal with something wrong before its end.
var errDamaged = errors.New("damaged")

// openJournalFile reads a journal, or makes one with the given id. Two processes
// can't have it at once.
func openJournalFile(name, id string) (*journalFile, error) {
	lock, err := lockFile(name + ".lock")
	if err != nil {
		return nil, fmt.Errorf("journal %s (is another node daemon running on this data directory?): %w", name, err)
	}
	j := &journalFile{name: name, id: id, next: 1, live: map[uint64][]byte{}, lock: lock}
	b, err := os.ReadFile(name)
	if err == nil {
		err = j.load(b)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = j.rewrite()
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	return j, nil
}

// lockFile locks a file for as long as it is open.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

// load takes in the contents of a file.
func (j *journalFile) load(b []byte) error {
	const at = journalHead
	if len(b) < at+journalFirst {
		return fmt.Errorf("%w: it is shorter than its beginning: %s", errDamaged, journalRemedy)
	}
	j.id = string(b[at : at+16]) // the checksum is over it
	first, n := j.batch(b)
	if first == nil || len(first) != journalFirst {
		return fmt.Errorf("%w at its beginning: %s", errDamaged, journalRemedy)
	}
	j.next = binary.BigEndian.Uint64(first[16:])
	for off := n; off < len(b); off += n {
		var entries []byte
		if entries, n = j.batch(b[off:]); entries == nil {
			return j.torn(b, off)
		}
		if !j.apply(entries) {
			return fmt.Errorf("%w at byte %d: %s", errDamaged, off, journalRemedy)
		}
	}
	return nil
}

const journalRemedy = "move it away and start the node again; what its jobs reported last, and the controllers did not get, is lost"

// torn judges what follows the last good batch: the rest of a write that a crash
// cut off, or, if something good comes after it, damage.
func (j *journalFile) torn(b []byte, off int) error {
	mark := binary.BigEndian.AppendUint32(nil, journalMark)
	for at := off + 1; ; at++ {
		i := bytes.Index(b[at:], mark)
		if i < 0 {
			return nil
		}
		if at += i; at < len(b) {
			if entries, _ := j.batch(b[at:]); entries != nil {
				return fmt.Errorf("%w at byte %d: %s", errDamaged, off, journalRemedy)
			}
		}
	}
}

// batch reads the batch that b begins with: its entries, nil if it is not whole,
// and its length.
func (j *journalFile) batch(b []byte) ([]byte, int) {
	if len(b) < journalHead || binary.BigEndian.Uint32(b) != journalMark {
		return nil, 0
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if n == 0 || n > len(b)-journalHead {
		return nil, 0
	}
	entries := b[journalHead : journalHead+n]
	if binary.BigEndian.Uint32(b[8:]) != j.sum(entries) {
		return nil, 0
	}
	return entries, journalHead + n
}

// sum has the journal's id in it, which users do not know: no text of a report
// can be taken for a batch.
func (j *journalFile) sum(entries []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(j.id), table), table, entries)
}

// apply takes in the entries of a batch; false if they make no sense.
func (j *journalFile) apply(b []byte) bool {
	for len(b) > 0 {
		number, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return false
		}
		j.one(journalEntry{number, b[n : n+int(size)]})
		b = b[n+int(size):]
	}
	return true
}

// one takes in an entry.
func (j *journalFile) one(e journalEntry) {
	if len(e.report) == 0 {
		delete(j.live, e.number)
		return
	}
	j.live[e.number] = e.report
	j.next = max(j.next, e.number+1)
}

// numbers are those of the reports that are needed, in order.
func (j *journalFile) numbers() []uint64 { return slices.Sorted(maps.Keys(j.live)) }

// append writes a batch and waits until it is on disk. After an error nothing of
// it is there, and it can be tried again.
func (j *journalFile) append(entries []journalEntry) error {
	b := j.frame(func(b []byte) []byte {
		for _, e := range entries {
			b = appendEntry(b, e)
		}
		return b
	})
	if j.size+int64(len(b)) > j.limit {
		if err := j.rewrite(); err != nil {
			return err
		}
	}
	_, err := j.file.WriteAt(b, j.size)
	if err == nil {
		err = unix.Fdatasync(int(j.file.Fd()))
	}
	if err != nil {
		// The kernel may have dropped what it could not write, and would say so
		// only once: this file is not to be trusted any more.
		j.limit = 0
		return fmt.Errorf("write the journal %s: %w", j.name, err)
	}
	j.size += int64(len(b))
	for _, e := range entries {
		j.one(e)
	}
	return nil
}

func appendEntry(b []byte, e journalEntry) []byte {
	b = binary.AppendUvarint(b, e.number)
	b = binary.AppendUvarint(b, uint64(len(e.report)))
	return append(b, e.report...)
}

// frame makes a batch of what fill appends.
func (j *journalFile) frame(fill func([]byte) []byte) []byte {
	b := fill(make([]byte, journalHead, 512))
	binary.BigEndian.PutUint32(b, journalMark)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-journalHead))
	binary.BigEndian.PutUint32(b[8:], j.sum(b[journalHead:]))
	return b
}

// rewrite puts a file with what is needed in place of the one that is there. A
// crash leaves one or the other.
func (j *journalFile) rewrite() error {
	b := j.frame(func(b []byte) []byte { return binary.BigEndian.AppendUint64(append(b, j.id...), j.next) })
	if len(j.live) > 0 {
		b = append(b, j.frame(func(b []byte) []byte {
			for _, n := range j.numbers() {
				b = appendEntry(b, journalEntry{n, j.live[n]})
			}
			return b
		})...)
	}
	f, err := os.OpenFile(j.name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(j.name+".new", j.name)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(j.name))
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("write the journal anew: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file, j.size = f, int64(len(b))
	j.limit = max(journalLimit, 2*j.size)
	return nil
}

func (j *journalFile) close() {
	j.file.Close()
	j.lock.Close()
}
