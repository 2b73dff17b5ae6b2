package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// entry is one of a size.
func entry(index uint64, size int) *raft.Log {
	return &raft.Log{Index: index, Term: 1, Data: bytes.Repeat([]byte{byte(index)}, size)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openBolt(t *testing.T, dir string) *boltdb.BoltStore {
	t.Helper()
	b, err := boltdb.New(boltdb.Options{Path: filepath.Join(dir, "raft.db"), MsgpackUseNewTimeFormat: true})
	must(t, err)
	return b
}

// A directory holds its log over reopening, with and without a Close before.
func TestDirectoryHoldsLog(t *testing.T) {
	for _, closed := range []bool{true, false} {
		dir := t.TempDir()
		b := openBolt(t, dir)
		l, err := Open(dir, b)
		must(t, err)
		want := model{}
		for i := uint64(1); i <= 30; i++ { // about two segments
			e := entry(i, 300<<10)
			must(t, l.StoreLog(e))
			want[i] = *e
		}
		if closed {
			must(t, l.Close())
		}
		must(t, l.finish())
		must(t, b.Close())
		b = openBolt(t, dir)
		l, err = Open(dir, b)
		must(t, err)
		if d := differs(l, want); d != "" {
			t.Errorf("closed %v: %s", closed, d)
		}
		must(t, l.Close())
		must(t, b.Close())
	}
}

// An entry larger than a segment is stored all the same.
func TestStoreOfMoreThanASegment(t *testing.T) {
	dir := t.TempDir()
	b := openBolt(t, dir)
	defer b.Close()
	l, err := Open(dir, b)
	must(t, err)
	defer l.Close()
	want := model{}
	for i, size := range []int{100, segmentBytes, 100} {
		e := entry(uint64(i+1), size)
		must(t, l.StoreLog(e))
		want[e.Index] = *e
	}
	if d := differs(l, want); d != "" {
		t.Error(d)
	}
}

// A first start that a crash ended before it was done is done again.
func TestFirstStartAfterACrash(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(names(dir)[0], []byte("half"), 0o600))
	b := openBolt(t, dir)
	defer b.Close()
	l, err := Open(dir, b)
	must(t, err)
	must(t, l.Close())
}

// A log whose segments are gone, short or another log's is refused: they may have
// held what was acknowledged.
func TestLostSegmentsAreRefused(t *testing.T) {
	other := t.TempDir()
	b := openBolt(t, other)
	l, err := Open(other, b)
	must(t, err)
	must(t, l.Close())
	must(t, b.Close())
	for name, harm := range map[string]func(path string) error{
		"gone":    os.Remove,
		"short":   func(path string) error { return os.Truncate(path, 100) },
		"another": func(path string) error { return os.Rename(names(other)[0], path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := openBolt(t, dir)
			defer b.Close()
			l, err := Open(dir, b)
			must(t, err)
			must(t, l.Close())
			must(t, harm(names(dir)[0]))
			if l, err := Open(dir, b); err == nil {
				l.Close()
				t.Error("the log was opened")
			}
		})
	}
}

// Damage to what was stored is found, wherever it is, and not taken for the end
// of the log.
func TestDamageIsFound(t *testing.T) {
	flip := func(disk, at int) func(*machine) {
		return func(m *machine) { m.disks[disk].data[at] ^= 1 }
	}
	for _, c := range []struct {
		name    string
		entries int // of 200 bytes; eight fill the first segment
		harm    func(*machine)
	}{
		{"a record before others", 5, flip(0, headRoom+300)},
		{"the length of a record", 5, flip(0, headRoom+24)},
		{"the last record of the older segment", 9, flip(0, headRoom+1800)},
		{"all records of the older segment", 9, func(m *machine) { clear(m.disks[0].data[headRoom:]) }},
		{"both headers", 5, func(m *machine) { flip(0, 20)(m); flip(1, 20)(m) }},
		{"another log's header", 5, func(m *machine) {
			copy(m.disks[0].data, header{id: 8, generation: 2, first: 1, settled: true}.encode())
		}},
		{"a record that is not the next", 0, func(m *machine) {
			copy(m.disks[0].data[headRoom:], appendRecord(nil, 7, 2, 5, []*raft.Log{entry(5, 10)}))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(headRoom+2048, 7)
			l, err := m.boot()
			must(t, err)
			for i := range c.entries {
				must(t, l.StoreLog(entry(uint64(i+1), 200)))
			}
			clear(m.store.logs) // what is handed on hides nothing
			c.harm(m)
			if _, err := m.boot(); err == nil || !strings.Contains(err.Error(), "empty data directory") {
				t.Errorf("error %v, want one that says what to do", err)
			}
		})
	}
}

// What a user sends cannot pass for a record: who made it does not know the id.
func TestARecordInsideARecordIsData(t *testing.T) {
	m := newMachine(headRoom+2048, 7)
	l, err := m.boot()
	must(t, err)
	forged := appendRecord(nil, 0, l.segments[l.now].head.generation, 9, []*raft.Log{entry(99, 10)})
	e := entry(1, 0)
	e.Data = append(bytes.Repeat([]byte{0}, (align-(headBytes+entryBytes)%align)%align), forged...)
	must(t, l.StoreLog(e))
	before := headRoom + recordSize([]*raft.Log{e})
	must(t, l.StoreLog(entry(2, 10)))
	clear(m.disks[l.now].data[headRoom:before][:headBytes]) // torn off: the forged one is what a scan meets
	_, err = m.boot()
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatalf("error %v: record 2 follows the lost one", err)
	}
	binary.LittleEndian.PutUint32(m.disks[l.now].data[before:], 0)
	l, err = m.boot()
	must(t, err)
	if d := differs(l, model{}); d != "" {
		t.Error(d)
	}
}

// Stores go on while a full segment is handed on, and readers find all entries
// at any time.
func TestStoresGoOnWhileASegmentIsHandedOn(t *testing.T) {
	m := newMachine(headRoom+4096, 7)
	l, err := m.boot()
	must(t, err)
	l.spawn = func(f func()) { go f() }
	m.store.gate = make(chan struct{})
	var stored uint64
	for l.handing == nil {
		stored++
		must(t, l.StoreLog(entry(stored, 200)))
	}
	stored++
	must(t, l.StoreLog(entry(stored, 200))) // the gate is shut
	close(m.store.gate)

	ends := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for n := uint64(0); ; n++ {
				select {
				case <-ends:
					return
				default:
				}
				if err := check(l, n%stored+1); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range uint64(2000) {
		must(t, l.StoreLog(entry(stored+1+i, 200)))
	}
	close(ends)
	readers.Wait()
	must(t, l.Close())
	if n := len(m.store.logs); uint64(n) != stored+2000 {
		t.Errorf("the store behind has %d entries, want %d", n, stored+2000)
	}
}

// check reads one entry and the ends of a log.
func check(l *Log, index uint64) error {
	var e raft.Log
	if err := l.GetLog(index, &e); err != nil || e.Index != index {
		return fmt.Errorf("entry %d: %v, %w", index, e.Index, err)
	}
	first, err := l.FirstIndex()
	if err != nil || first != 1 {
		return fmt.Errorf("first index %d, want 1: %w", first, err)
	}
	last, err := l.LastIndex()
	if err != nil || last < index {
		return fmt.Errorf("last index %d, want %d or more: %w", last, index, err)
	}
	return nil
}

func BenchmarkStoreLogs(b *testing.B) {
	for _, direct := range []bool{true, false} {
		b.Run(map[bool]string{true: "bolt", false: "wal"}[direct], func(b *testing.B) {
			dir := b.TempDir()
			bolt, err := boltdb.New(boltdb.Options{Path: filepath.Join(dir, "raft.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer bolt.Close()
			var log raft.LogStore = bolt
			if !direct {
				l, err := Open(dir, bolt)
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				log = l
			}
			i := uint64(0)
			for b.Loop() {
				i++
				if err := log.StoreLogs([]*raft.Log{entry(i, 3000)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
