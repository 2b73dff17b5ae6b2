package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"muster/job"
)

// packBytes is the size at which a pack is closed and the next one begun.
const packBytes = 64 << 20

// packMagic begins each record of a pack.
const packMagic uint32 = 0x4d504b31

// headerBytes: magic, length of the data (4 bytes each, big endian), hash.
const headerBytes = 8 + 16

// pack is one file of blobs, one after the other, each behind its header.
type pack struct {
	number uint64
	path   string
	file   *os.File
	size   int64 // end of the last whole record
	live   int64 // bytes of blobs that are in use
	dirty  bool  // written to since the last sync
}

func packPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%010d.pack", number))
}

// openPacks opens all packs of a directory, which it makes if need be, by number.
func openPacks(dir string) ([]*pack, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.pack")) // sorted
	if err != nil {
		return nil, err
	}
	var list []*pack
	for _, path := range names {
		var number uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "%d.pack", &number); err != nil {
			return nil, fmt.Errorf("%s is no pack: remove it", path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, &pack{number: number, path: path, file: f})
	}
	return list, nil
}

func createPack(dir string, number uint64) (*pack, error) {
	path := packPath(dir, number)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &pack{number: number, path: path, file: f, dirty: true}, nil
}

// scan finds the records of a pack. It ends at the first that is not whole,
// which a crash left, and the pack goes on from there. What was behind it is in
// the raft log, or at other controllers.
func (p *pack) scan(found func(h job.Hash, offset int64, size int)) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	for {
		var head [headerBytes]byte
		if _, err := p.file.ReadAt(head[:], p.size); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		size := int64(binary.BigEndian.Uint32(head[4:]))
		end := p.size + headerBytes + size
		if binary.BigEndian.Uint32(head[:]) != packMagic || end > info.Size() {
			return nil
		}
		var h job.Hash
		copy(h[:], head[8:])
		found(h, p.size+headerBytes, int(size))
		p.size = end
	}
}

// append writes a blob behind the last record and returns where its data is.
func (p *pack) append(h job.Hash, data []byte) (int64, error) {
	record := make([]byte, headerBytes, headerBytes+len(data))
	binary.BigEndian.PutUint32(record, packMagic)
	binary.BigEndian.PutUint32(record[4:], uint32(len(data)))
	copy(record[8:], h[:])
	if _, err := p.file.WriteAt(append(record, data...), p.size); err != nil {
		return 0, err
	}
	offset := p.size + headerBytes
	p.size = offset + int64(len(data))
	p.dirty = true
	return offset, nil
}

func (p *pack) read(offset int64, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := p.file.ReadAt(data, offset)
	return data, err
}

func (p *pack) remove() error {
	return errors.Join(p.file.Close(), os.Remove(p.path))
}
