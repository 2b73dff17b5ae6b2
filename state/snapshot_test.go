package state

import (
	"bytes"
	"errors"
	"testing"

	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// richWorld has something in every table.
func richWorld(t tester) *world {
	w := newWorld(t)
	a := w.submit(nil)
	w.start(a, "n1", "n2")
	b := w.submit(func(n *NewJob) { n.Owner.UID, n.Owner.Groups = 2000, []uint32{1, 2} })
	w.start(b, "n3")
	w.exit(b, 1)
	w.submit(func(n *NewJob) { n.Deps = []job.Dependency{{Kind: job.DependAfterOK, On: a, Task: job.NoTask}} })
	arr := w.submit(func(n *NewJob) { n.Tasks, n.Range = bitset.Range(0, 10), "0-9" })
	w.must(w.startCmd(arr, 0, 1, "n1"))
	e := Seal(&Submit{Jobs: []NewJob{newJob()}}, w.by, RequestID{9})
	w.apply(e)
	w.apply(Seal(&End{Targets: []Target{{Job: 99}, {Job: a}}, To: job.Cancelled}, w.by, RequestID{8}))
	w.must(&Promise{Set: []Planned{{Job: w.submit(nil), Task: job.NoTask, Start: w.now, Partition: "debug", Nodes: []PlannedShare{{Node: 1, CPUs: 2, Devices: []uint64{1}}}}}})
	w.must(&Reservation{Create: true, Value: partition.Reservation{Name: "r", Start: 1, End: 2, Nodes: []job.NodeID{1, 3}}})
	return w
}

func snapshot(t tester, r *Root) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteSnapshot(&b); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes()
}

func restored(t tester, b []byte) *Machine {
	t.Helper()
	m := New()
	if err := m.Restore(bytes.NewReader(b)); err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

func TestSnapshotRestores(t *testing.T) {
	for name, w := range map[string]*world{"rich": richWorld(t), "empty": {m: New()}} {
		b := snapshot(t, w.m.Root())
		m := restored(t, b)
		sameRoots(t, w.m.Root(), m.Root())
		if again := snapshot(t, m.Root()); !bytes.Equal(b, again) {
			t.Errorf("%s: the snapshot of the restored state has other bytes", name)
		}
	}
}

// Whatever single byte of a snapshot is wrong, and wherever it is cut off, the
// restore fails and the machine keeps what it had.
func TestDamagedSnapshots(t *testing.T) {
	good := snapshot(t, richWorld(t).m.Root())
	m := New()
	before := m.Root().Hash()
	try := func(b []byte, what string, at int) {
		err := m.Restore(bytes.NewReader(b))
		if err == nil {
			t.Fatalf("%s at byte %d of %d was not noticed", what, at, len(good))
		}
		if m.Root().Hash() != before || m.Root().JobCount() != 0 {
			t.Fatalf("%s at byte %d changed the machine", what, at)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		try(bad, "damage", i)
		try(good[:i], "a cut", i)
	}
	try(append(bytes.Clone(good), 0), "a byte more", len(good))
	if err := m.Restore(bytes.NewReader(good[:len(good)-1])); !errors.Is(err, ErrDamaged) {
		t.Errorf("a cut snapshot: %v is not ErrDamaged", err)
	}
}

// A root that was taken stays as it was, whatever comes after.
func TestRootsDoNotChange(t *testing.T) {
	w := richWorld(t)
	old := w.m.Root()
	before := snapshot(t, old)
	w.register("n1", "boot2")
	w.cancel(Target{Job: 4})
	w.submit(nil)
	if !bytes.Equal(before, snapshot(t, old)) {
		t.Error("an old root has changed")
	}
	sameRoots(t, restored(t, before).Root(), old)
}

// sameRoots compares what is stored and all that is derived from it.
func sameRoots(t tester, a, b *Root) {
	t.Helper()
	if a.Index() != b.Index() || a.Now() != b.Now() || a.Hash() != b.Hash() {
		t.Fatalf("index %d, now %d, hash %x; want %d, %d, %x", b.Index(), b.Now(), b.Hash(), a.Index(), a.Now(), a.Hash())
	}
	for k := range a.indices {
		x, y := keysOf(a, indexKind(k)), keysOf(b, indexKind(k))
		if len(x) != len(y) {
			t.Fatalf("index %d: %v\nwant %v", k, y, x)
		}
		for i := range x {
			if x[i] != y[i] {
				t.Fatalf("index %d: entry %d is %v, want %v", k, i, y[i], x[i])
			}
		}
	}
	sameDerived(t, a, b)
}

// keysOf lists an index; of arrays in byFinish only that they are there, since
// the time of an end that a requeue took back is not stored.
func keysOf(r *Root, k indexKind) []key {
	var out []key
	r.indices[k].Scan(func(e key) bool {
		if j := r.Job(e.jobOf()); k == byFinish && j != nil && j.Array.JobID != 0 {
			e.a = 0
		}
		out = append(out, e)
		return true
	})
	return out
}
