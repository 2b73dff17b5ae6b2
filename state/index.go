package state

import (
	"iter"

	"muster/job"

	"github.com/tidwall/btree"
)

// key is one entry of an ordered index: a is what is looked for, b tells apart
// those that are equal in it (mostly the job's id).
type key struct{ a, b uint64 }

func (k key) before(o key) bool { return k.a < o.a || k.a == o.a && k.b < o.b }

func (k key) compare(o key) int {
	switch {
	case k.before(o):
		return -1
	case k == o:
		return 0
	}
	return 1
}

// indexKind numbers the ordered indices over the job table. All are derived
// from the records and built anew on restore.
type indexKind int

const (
	byUser    indexKind = iota // a: uid; b: id
	byName                     // a: hash of the name, lowest bit set once terminal; b: uid, id
	byArray                    // a: the array's id; b: task, id
	byQueue                    // a: priority turned round; b: id. Pending jobs
	byNode                     // a: node; b: id. Shares not released
	byHolding                  // a: id. Jobs with such shares
	byLimit                    // a: when the limit ends; b: id. Running jobs
	byFinish                   // a: when it ended; b: id. What Purge can take
	byDepend                   // a: what is waited for; b: id of the waiting job
	byDue                      // a: when to look again; b: id. Pending jobs
	indexCount
)

// indices are all of them; a copied value is a version of its own.
type indices [indexCount]*btree.BTreeG[key]

func newIndices() indices {
	var x indices
	for k := range x {
		x[k] = btree.NewBTreeGOptions(key.before, btree.Options{NoLocks: true})
	}
	return x
}

// freeze returns a version that stays as it is while x goes on.
func (x *indices) freeze() indices {
	var out indices
	for k := range x {
		out[k] = x[k].Copy()
	}
	return out
}

// equal yields all entries of an index with a given a, by ascending b.
func (x *indices) equal(k indexKind, a uint64) iter.Seq[key] {
	return func(yield func(key) bool) {
		x[k].Ascend(key{a: a}, func(e key) bool { return e.a == a && yield(e) })
	}
}

// below yields all entries with a below a limit, ascending.
func (x *indices) below(k indexKind, limit uint64) iter.Seq[key] {
	return func(yield func(key) bool) {
		x[k].Scan(func(e key) bool { return e.a < limit && yield(e) })
	}
}

// entry is a key in one of the indices.
type entry struct {
	kind indexKind
	key
}

// appendEntries lists the index entries of a record, ordered by kind and key.
// That of byFinish is not among them: it depends on the whole array.
func appendEntries(dst []entry, j *job.Job) []entry {
	id := uint64(j.ID)
	add := func(k indexKind, a, b uint64) { dst = append(dst, entry{k, key{a, b}}) }
	add(byUser, uint64(j.Owner.UID), id)
	add(byName, nameHash(j.Request.Name, j.Terminal()), uint64(j.Owner.UID)<<32|id)
	if j.Array.JobID != 0 {
		add(byArray, uint64(j.Array.JobID), uint64(j.Array.Task)<<32|id)
	}
	if j.State == job.Pending {
		add(byQueue, uint64(^j.Priority), id)
	}
	at := len(dst)
	if j.Alloc != nil {
		for i := range j.Alloc.Nodes {
			if s := &j.Alloc.Nodes[i]; !s.Released {
				add(byNode, uint64(s.Node), id)
			}
		}
	}
	if len(dst) > at {
		sortEntries(dst[at:])
		add(byHolding, id, 0)
	}
	if j.State == job.Running && j.Times.LimitEnd != 0 {
		add(byLimit, uint64(j.Times.LimitEnd), id)
	}
	if j.State == job.Pending {
		at = len(dst)
		dst = appendDependencies(dst, j)
		sortEntries(dst[at:])
		if due := dueAt(j); due != 0 {
			add(byDue, uint64(due), id)
		}
	}
	return dst
}

// update turns the entries of an old record into those of a new one.
func (x *indices) update(old, now []entry) {
	i, k := 0, 0
	for i < len(old) || k < len(now) {
		switch {
		case k == len(now) || i < len(old) && old[i].less(now[k]):
			x[old[i].kind].Delete(old[i].key)
			i++
		case i == len(old) || now[k].less(old[i]):
			x[now[k].kind].Set(now[k].key)
			k++
		default:
			i, k = i+1, k+1
		}
	}
}

func (e entry) less(o entry) bool {
	return e.kind < o.kind || e.kind == o.kind && e.key.before(o.key)
}

// sortEntries orders entries of one kind; they are few and mostly in order.
func sortEntries(list []entry) {
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && list[k].key.before(list[k-1].key); k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// nameHash is FNV-1a of a job name with the lowest bit saying whether the job
// is over. Names that collide are told apart by the records.
func nameHash(name string, over bool) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h &^= 1
	if over {
		h |= 1
	}
	return h
}

// jobOf is the job id in the low half of b.
func (k key) jobOf() job.ID { return job.ID(uint32(k.b)) }
