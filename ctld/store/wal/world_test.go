package wal

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// Disks and a store behind in memory, with a power that can fail in the middle
// of any write.

var (
	errPower = errors.New("the power is off")
	errWrite = errors.New("the disk refused a write")
)

// sector is how many bytes reach a disk together. Real ones are larger; a log that
// survives this one survives those.
const sector = 16

// power is what all of a machine's disks hang on.
type power struct {
	left    int            // writes until it fails; -1: it does not
	refuse  int            // writes until one is refused; -1: none is
	landed  func(int) bool // tells which sectors (by number) of a failing write reach the disk
	applied func() bool    // tells whether a failing transaction was done
}

func steady() *power { return &power{left: -1, refuse: -1} }

// take counts one write; its error says that the write does not succeed.
func (p *power) take() error {
	switch p.left {
	case -1:
	case 0:
		return errPower
	default:
		p.left--
		if p.left == 0 {
			return errPower
		}
	}
	if p.refuse >= 0 {
		p.refuse--
		if p.refuse == -1 {
			return errWrite
		}
	}
	return nil
}

// memoryDisk is a disk of one segment.
type memoryDisk struct {
	power *power
	data  []byte
}

func (d *memoryDisk) ReadAt(p []byte, off int64) (int, error) { return copy(p, d.data[off:]), nil }

func (d *memoryDisk) WriteAt(p []byte, off int64) (int, error) {
	before := d.power.left
	if err := d.power.take(); err != nil {
		if before == 0 { // it was off already
			return 0, err
		}
		for at := int64(0); at < int64(len(p)); {
			n := min(sector-(off+at)%sector, int64(len(p))-at)
			if d.power.landed(int((off + at) / sector)) {
				copy(d.data[off+at:off+at+n], p[at:])
			}
			at += n
		}
		return 0, err
	}
	return copy(d.data[off:], p), nil
}

func (d *memoryDisk) Close() error { return nil }

// memoryStore is a store behind: a map, whose changes are transactions.
type memoryStore struct {
	raft.StableStore
	power *power
	mu    sync.Mutex
	logs  map[uint64]raft.Log
	keys  map[string][]byte
	gate  chan struct{} // if set, each StoreLogs takes an element first
}

func newMemoryStore(p *power) *memoryStore {
	return &memoryStore{power: p, logs: map[uint64]raft.Log{}, keys: map[string][]byte{}}
}

// change is one transaction.
func (m *memoryStore) change(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.power.left
	err := m.power.take()
	if err == nil || before > 0 && errors.Is(err, errPower) && m.power.applied() {
		f()
	}
	return err
}

func (m *memoryStore) StoreLog(l *raft.Log) error { return m.StoreLogs([]*raft.Log{l}) }

func (m *memoryStore) StoreLogs(logs []*raft.Log) error {
	if m.gate != nil {
		<-m.gate
	}
	return m.change(func() {
		for _, l := range logs {
			m.logs[l.Index] = *l
		}
	})
}

func (m *memoryStore) DeleteRange(from, to uint64) error {
	return m.change(func() { maps.DeleteFunc(m.logs, func(i uint64, _ raft.Log) bool { return from <= i && i <= to }) })
}

func (m *memoryStore) GetLog(index uint64, l *raft.Log) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.logs[index]
	if !ok {
		return raft.ErrLogNotFound
	}
	*l = found
	return nil
}

func (m *memoryStore) FirstIndex() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.logs) == 0 {
		return 0, nil
	}
	return slices.Min(slices.Collect(maps.Keys(m.logs))), nil
}

func (m *memoryStore) LastIndex() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.logs) == 0 {
		return 0, nil
	}
	return slices.Max(slices.Collect(maps.Keys(m.logs))), nil
}

func (m *memoryStore) Set(key, value []byte) error {
	return m.change(func() { m.keys[string(key)] = slices.Clone(value) })
}

func (m *memoryStore) Get(key []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.keys[string(key)]
	if !ok {
		return nil, boltdb.ErrKeyNotFound
	}
	return v, nil
}

// machine is a computer whose log survives its reboots.
type machine struct {
	power *power
	disks [2]*memoryDisk
	store *memoryStore
	id    uint64
}

// newMachine has segments of so many bytes, formatted.
func newMachine(size int64, id uint64) *machine {
	p := steady()
	m := &machine{power: p, store: newMemoryStore(p), id: id}
	for i := range m.disks {
		m.disks[i] = &memoryDisk{power: p, data: make([]byte, size)}
	}
	if err := m.log().format(id); err != nil {
		panic(err)
	}
	return m
}

// log is a log on the machine's disks that knows nothing yet. What it does at the
// same time as something else it does at once, so that each run is the same.
func (m *machine) log() *Log {
	var s [2]*segment
	for i, d := range m.disks {
		s[i] = &segment{disk: d, size: int64(len(d.data))}
	}
	l := newLog(m.store, s)
	l.spawn = func(f func()) { f() }
	return l
}

// boot switches the power on and opens the log.
func (m *machine) boot() (*Log, error) {
	*m.power = power{left: -1, refuse: -1}
	l := m.log()
	return l, l.recover(m.id)
}
