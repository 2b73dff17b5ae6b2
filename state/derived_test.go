package state

import (
	"maps"
	"reflect"
	"slices"

	"muster/internal/bitset"
	"muster/job"
)

// sameDerived compares use, arrays, licences, blobs and names.
func sameDerived(t tester, a, b *Root) {
	t.Helper()
	type derived struct {
		Uses     map[uint64]NodeUse
		Arrays   map[uint64]ArrayUse
		Licenses []job.License
		Blobs    []blobRow
		Names    []nodeName
	}
	of := func(r *Root) derived {
		d := derived{Uses: map[uint64]NodeUse{}, Arrays: map[uint64]ArrayUse{}, Licenses: r.licenses, Names: r.names}
		for n, u := range r.uses.All() {
			d.Uses[n] = plainUse(*u)
		}
		for n, u := range r.arrays.All() {
			v := *u
			v.LastEnd = 0
			d.Arrays[n] = v
		}
		r.blobs.Scan(func(x blobRow) bool { d.Blobs = append(d.Blobs, x); return true })
		if len(d.Licenses) == 0 {
			d.Licenses = nil
		}
		if len(d.Names) == 0 {
			d.Names = nil
		}
		return d
	}
	if x, y := of(a), of(b); !reflect.DeepEqual(x, y) {
		t.Fatalf("derived: %+v\nwant %+v", y, x)
	}
}

// plainUse makes uses comparable: an empty set is an empty set.
func plainUse(u NodeUse) NodeUse {
	u.Cores = bitset.FromWords(slices.Clone(u.Cores.Words()))
	if len(u.Devices) == 0 {
		u.Devices = nil
	}
	return u
}

// checkRoot checks what must hold in every state: nothing is promised twice, the
// counts are those of the records, the outbox has no gap.
func checkRoot(t tester, r *Root) {
	t.Helper()
	cores, memory := map[job.NodeID]*bitset.Set{}, map[job.NodeID]uint64{}
	devices, counts := map[job.NodeID]*bitset.Set{}, map[job.NodeID]uint64{}
	licenses := map[string]uint32{}
	tasks := map[job.ID]uint32{}
	for j := range r.Jobs() {
		if j.Array.JobID != 0 {
			tasks[j.Array.JobID] += r.jobs.Get(uint64(j.ID)).tasks
		}
		checkRecord(t, j)
		if j.Alloc == nil {
			continue
		}
		for i := range j.Alloc.Nodes {
			s := &j.Alloc.Nodes[i]
			if s.Released {
				continue
			}
			if cores[s.Node] == nil {
				cores[s.Node], devices[s.Node] = bitset.Of(), bitset.Of()
			}
			if cores[s.Node].Overlaps(s.Cores) {
				t.Fatalf("job %d holds cores of node %d that another holds", j.ID, s.Node)
			}
			cores[s.Node].Union(s.Cores)
			memory[s.Node] += s.MemoryMB
			for _, d := range s.Devices {
				if d.Index == nil {
					counts[s.Node] += d.Count
					continue
				}
				if devices[s.Node].Overlaps(d.Index) {
					t.Fatalf("job %d holds devices of node %d that another holds", j.ID, s.Node)
				}
				devices[s.Node].Union(d.Index)
			}
		}
		if j.Alloc.Held() {
			for _, l := range j.Alloc.Licenses {
				licenses[l.Name] += l.Count
			}
		}
	}
	for id, c := range cores {
		u := r.NodeUse(id)
		if u == nil || !slices.Equal(u.Cores.Slice(), c.Slice()) || u.MemoryMB != memory[id] {
			t.Fatalf("use of node %d is %+v, the jobs hold cores %v and %d MB", id, u, c.Slice(), memory[id])
		}
		if u.MemoryMB > 8000 || counts[id] > 10 {
			t.Fatalf("node %d: %d MB and %d of scratch are promised", id, u.MemoryMB, counts[id])
		}
	}
	if r.uses.Len() != len(cores) {
		t.Fatalf("%d nodes are in use, the jobs hold %d", r.uses.Len(), len(cores))
	}
	for _, name := range slices.Sorted(maps.Keys(licenses)) {
		if n := licenses[name]; n > 3 || r.LicenseUse(name) != n {
			t.Fatalf("%d licences are held, the count is %d", n, r.LicenseUse(name))
		}
	}
	for id, n := range tasks {
		if u := r.ArrayUse(id); u.tasks() != n {
			t.Fatalf("array %d has %d tasks, counted as %+v", id, n, u)
		}
	}
	first, next := r.OutboxRange()
	for n := range r.Outbox(0) {
		if n != first {
			t.Fatalf("the outbox has number %d after %d", n, first-1)
		}
		first++
	}
	if first != next {
		t.Fatalf("the outbox ends before %d, want %d", first, next)
	}
}

// checkRecord checks what must hold in every record.
func checkRecord(t tester, j *job.Job) {
	t.Helper()
	switch {
	case j.State.Active() && !j.Alloc.Held():
		t.Fatalf("job %d is %s and holds nothing", j.ID, j.State)
	case j.State == job.Pending && j.Alloc.Held():
		t.Fatalf("job %d waits and holds nodes", j.ID)
	case j.Terminal() && (j.Alloc.Held() || j.Times.End == 0 || j.Cancel != nil):
		t.Fatalf("job %d is over: %+v", j.ID, j)
	case (j.Priority == 0) != j.Held.Is() && j.State == job.Pending:
		t.Fatalf("job %d has priority %d and hold %d", j.ID, j.Priority, j.Held)
	}
}
