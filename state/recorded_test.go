package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// recordings are logs of all cluster versions so far, each stream with the hash
// that it came to.
const recordings = "../test/recorded/version-*.log"

// thisVersion is the recording that is made by MUSTER_GENERATE=1. Before a version
// is released its recording may be made anew; after that never: what changes Apply
// is switched by the cluster version, and gets a recording of its own.
const thisVersion = "../test/recorded/version-1.log"

// stream is the entries of one log and the hash after the last.
type stream struct {
	entries [][]byte
	hash    Hash
}

// streams are logs that have something of everything: one by hand, and random ones
// from fixed seeds.
func streams(t *testing.T) []stream {
	w := richWorld(t)
	out := []stream{{w.log, w.m.Root().Hash()}}
	random := rapid.Custom(func(rt *rapid.T) stream {
		p := &player{T: rt, w: newWorld(rt), ends: map[[2]uint64]int{}, seen: 1}
		for i := range 120 {
			env := Seal(p.command(), p.w.by, RequestID{})
			if i%4 == 0 {
				env.Request = RequestID{byte(1 + i%9)}
			}
			p.w.apply(env)
		}
		return stream{p.w.log, p.w.m.Root().Hash()}
	})
	for seed := range 12 {
		out = append(out, random.Example(seed))
	}
	return out
}

func writeStreams(path string, list []stream) error {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s.entries)))
		for _, e := range s.entries {
			b = append(binary.AppendUvarint(b, uint64(len(e))), e...)
		}
		b = append(b, s.hash[:]...)
	}
	return os.WriteFile(path, b, 0o644)
}

func readStreams(path string) ([]stream, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(b)
	number := func() uint64 {
		n, e := binary.ReadUvarint(r)
		if e != nil && err == nil {
			err = e
		}
		return n
	}
	var out []stream
	for range number() {
		var s stream
		for range number() {
			e := make([]byte, min(number(), uint64(r.Len())))
			if _, e2 := io.ReadFull(r, e); e2 != nil || err != nil {
				return nil, fmt.Errorf("%s is cut: %w", path, err)
			}
			s.entries = append(s.entries, e)
		}
		if _, err := io.ReadFull(r, s.hash[:]); err != nil {
			return nil, fmt.Errorf("%s is cut: %w", path, err)
		}
		out = append(out, s)
	}
	return out, err
}

// replayed is the machine after all entries of a stream.
func replayed(t *testing.T, s stream) *Machine {
	t.Helper()
	m := New()
	for i, b := range s.entries {
		e, err := DecodeEntry(b)
		if err != nil {
			t.Fatalf("entry %d: %v", i+1, err)
		}
		if _, err := m.Apply(uint64(i+1), e); err != nil {
			t.Fatalf("entry %d: %v", i+1, err)
		}
	}
	return m
}

func recorded(t *testing.T) map[string][]stream {
	t.Helper()
	paths, err := filepath.Glob(recordings)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded logs at %s: %v", recordings, err)
	}
	out := map[string][]stream{}
	for _, path := range paths {
		if out[path], err = readStreams(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRecordedLogsGiveTheirHash(t *testing.T) {
	if os.Getenv("MUSTER_GENERATE") != "" {
		if err := writeStreams(thisVersion, streams(t)); err != nil {
			t.Fatal(err)
		}
	}
	for path, list := range recorded(t) {
		for i, s := range list {
			m := replayed(t, s)
			if got := m.Root().Hash(); got != s.hash {
				t.Errorf("%s, stream %d: the hash is %x, recorded was %x. Apply does something else than it did: switch that by the cluster version. (As long as the version is not released, record anew: make generate)", path, i, got, s.hash)
			}
			if again := restored(t, snapshot(t, m.Root())); again.Root().Hash() != s.hash {
				t.Errorf("%s, stream %d: a snapshot gives another hash", path, i)
			}
		}
	}
}

const replayVariable = "MUSTER_REPLAY"

// The recorded logs come to the same state and the same snapshot bytes in processes
// of other processor counts, time zones, time zone files, languages and garbage
// collection.
func TestSurroundingsChangeNoState(t *testing.T) {
	if os.Getenv(replayVariable) != "" {
		for _, s := range recorded(t)[thisVersion] {
			r := replayed(t, s).Root()
			fmt.Printf("hash %x snapshot %x\n", r.Hash(), (&summer{}).bytes(0, 0, snapshot(t, r)))
		}
		return
	}
	var want string
	for _, env := range [][]string{
		{"GOMAXPROCS=1", "TZ=UTC", "LC_ALL=C"},
		{"GOMAXPROCS=8", "TZ=Asia/Kathmandu", "LC_ALL=tr_TR.UTF-8", "GOGC=1"},
		{"GOMAXPROCS=2", "TZ=America/New_York", "LANG=de_DE", "ZONEINFO=/dev/null", "GOGC=off"},
		{"GOMAXPROCS=3", "TZ=:/nowhere", "LC_ALL=zz", "GODEBUG=randautoseed=0"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSurroundingsChangeNoState$")
		cmd.Env = append(append(os.Environ(), replayVariable+"=1"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		var got strings.Builder
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "hash ") {
				got.WriteString(line)
			}
		}
		if want == "" {
			want = got.String()
		}
		if got.String() == "" || got.String() != want {
			t.Errorf("with %v:\n%s\nbefore:\n%s", env, got.String(), want)
		}
	}
}
