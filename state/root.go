package state

import (
	"iter"
	"slices"
	"strings"

	"muster/accounting"
	"muster/internal/paged"
	"muster/job"
	"muster/partition"

	"github.com/tidwall/btree"
)

// Root is one immutable version of the whole state. Any number of readers may
// hold one; nothing that they see changes.
type Root struct {
	index        uint64
	now          job.Time
	hash         Hash
	counters     counters
	cluster      *partition.Cluster
	clusterSum   Hash
	configs      []*configurationRow // the last is in force
	order        []job.NodeID        // of the cluster file
	names        []nodeName          // by name
	partitions   []*partitionRow
	reservations []*reservationRow // by name
	licenses     []job.License     // in use, by name
	promises     []*promiseRow     // by job
	jobs         paged.Table[jobRow]
	nodes        paged.Table[nodeRow]
	uses         paged.Table[NodeUse]
	arrays       paged.Table[ArrayUse]
	outbox       paged.Table[outboxRow]
	answers      paged.Table[answer]
	mails        paged.Table[mailRow]
	crontabs     []*crontabRow // by uid
	blobs        *btree.BTreeG[blobRow]
	book         *accounting.Book
	held         *btree.BTreeG[*heldRow]
	usage        *btree.BTreeG[*usageRow]
	shares       *fairShares
	indices      indices
}

type nodeName struct {
	name string
	id   job.NodeID
}

// Hash is the state hash: equal on all replicas at the same index.
type Hash [16]byte

// Index is the raft index of the last entry applied.
func (r *Root) Index() uint64 { return r.index }

// Now is the state time of that entry.
func (r *Root) Now() job.Time { return r.now }

// Hash covers all tables at Index.
func (r *Root) Hash() Hash { return r.hash }

// Version is the cluster version that decides what Apply does.
func (r *Root) Version() uint32 { return r.counters.Version }

// Cluster is the configuration in force; an empty one before the first Configure.
func (r *Root) Cluster() *partition.Cluster { return r.cluster }

// Job finds a record by id; nil if there is none in memory.
func (r *Root) Job(id job.ID) *job.Job {
	if row := r.jobs.Get(uint64(id)); row != nil {
		return &row.Job
	}
	return nil
}

// Jobs yields all records by ascending id.
func (r *Root) Jobs() iter.Seq[*job.Job] {
	return func(yield func(*job.Job) bool) {
		for _, row := range r.jobs.All() {
			if !yield(&row.Job) {
				return
			}
		}
	}
}

// JobCount is the number of records.
func (r *Root) JobCount() int { return r.jobs.Len() }

// records yields the jobs whose ids are in the low halves of index keys.
func (r *Root) records(keys iter.Seq[key]) iter.Seq[*job.Job] {
	return func(yield func(*job.Job) bool) {
		for k := range keys {
			if j := r.Job(k.jobOf()); j != nil && !yield(j) {
				return
			}
		}
	}
}

// Array yields the records of an array: started tasks by ascending index, then
// what is not started, if any: it may be several records, once parts of it were
// held, changed or cancelled by themselves.
func (r *Root) Array(id job.ID) iter.Seq[*job.Job] {
	return r.records(r.indices.equal(byArray, uint64(id)))
}

// ArrayTask finds the record of one task: its own, or the rest that holds it.
func (r *Root) ArrayTask(id job.ID, task uint32) *job.Job {
	from := key{uint64(id), uint64(task) << 32}
	var found *job.Job
	r.indices[byArray].Ascend(from, func(k key) bool {
		if k.a == from.a && uint32(k.b>>32) == task {
			found = r.Job(k.jobOf())
		}
		return false
	})
	if found != nil {
		return found
	}
	from.b = uint64(job.NoTask) << 32
	r.indices[byArray].Ascend(from, func(k key) bool {
		if k.a != from.a {
			return false
		}
		if j := r.Job(k.jobOf()); j.Array.Waiting.Has(int(task)) {
			found = j
		}
		return found == nil
	})
	return found
}

// JobsOfUser yields a user's records by ascending id.
func (r *Root) JobsOfUser(uid uint32) iter.Seq[*job.Job] {
	return r.records(r.indices.equal(byUser, uint64(uid)))
}

// JobsNamed yields the records of all users with a name, those that are not
// over first.
func (r *Root) JobsNamed(name string) iter.Seq[*job.Job] {
	return func(yield func(*job.Job) bool) {
		for _, over := range []bool{false, true} {
			for j := range r.records(r.indices.equal(byName, nameHash(name, over))) {
				if j.Request.Name == name && !yield(j) {
					return
				}
			}
		}
	}
}

// Waiting yields the pending jobs by descending priority, then ascending id.
func (r *Root) Waiting() iter.Seq[*job.Job] {
	return r.records(r.indices.below(byQueue, 1<<32))
}

// OnNode yields the records of jobs that hold something on a node, by ascending id.
func (r *Root) OnNode(n job.NodeID) iter.Seq[*job.Job] {
	return r.records(r.indices.equal(byNode, uint64(n)))
}

// Holding yields the jobs that hold resources anywhere, by ascending id.
func (r *Root) Holding() iter.Seq[*job.Job] {
	return func(yield func(*job.Job) bool) {
		r.indices[byHolding].Scan(func(k key) bool { return yield(r.Job(job.ID(k.a))) })
	}
}

// EndingBefore yields running jobs whose limit ends before t, soonest first.
func (r *Root) EndingBefore(t job.Time) iter.Seq[*job.Job] {
	return r.records(r.indices.below(byLimit, uint64(t)))
}

// FinishedBefore yields what Purge can take of what ended before t, oldest
// first: terminal jobs, and the record with an array's own id once all tasks of
// the array are terminal. It stands for the whole array.
func (r *Root) FinishedBefore(t job.Time) iter.Seq[*job.Job] {
	return r.records(r.indices.below(byFinish, uint64(t)))
}

// Node finds a node by id.
func (r *Root) Node(id job.NodeID) *partition.Node {
	if row := r.nodes.Get(uint64(id)); row != nil {
		return &row.Node
	}
	return nil
}

// NodeNamed finds a node by name.
func (r *Root) NodeNamed(name string) *partition.Node {
	i, ok := slices.BinarySearchFunc(r.names, name, func(n nodeName, s string) int { return strings.Compare(n.name, s) })
	if !ok {
		return nil
	}
	return r.Node(r.names[i].id)
}

// Nodes yields all nodes in the order of the cluster file.
func (r *Root) Nodes() iter.Seq[*partition.Node] {
	return func(yield func(*partition.Node) bool) {
		for _, id := range r.order {
			if !yield(r.Node(id)) {
				return
			}
		}
	}
}

// NodeUse is what jobs hold of a node; nil if they hold nothing.
func (r *Root) NodeUse(id job.NodeID) *NodeUse { return r.uses.Get(uint64(id)) }

// ArrayUse counts the tasks of an array; the zero value if there is none.
func (r *Root) ArrayUse(id job.ID) ArrayUse {
	if u := r.arrays.Get(uint64(id)); u != nil {
		return *u
	}
	return ArrayUse{}
}

// LicenseUse is how many of a licence running jobs hold.
func (r *Root) LicenseUse(name string) uint32 {
	for _, l := range r.licenses {
		if l.Name == name {
			return l.Count
		}
	}
	return 0
}

// Partition finds a partition by name.
func (r *Root) Partition(name string) *partition.Partition {
	if row := r.partition(name); row != nil {
		return &row.Partition
	}
	return nil
}

func (r *Root) partition(name string) *partitionRow {
	for _, p := range r.partitions {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Partitions yields them in the order of the cluster file.
func (r *Root) Partitions() iter.Seq[*partition.Partition] {
	return func(yield func(*partition.Partition) bool) {
		for _, p := range r.partitions {
			if !yield(&p.Partition) {
				return
			}
		}
	}
}

// Reservation finds a reservation by name.
func (r *Root) Reservation(name string) *partition.Reservation {
	for _, v := range r.reservations {
		if v.Name == name {
			return &v.Reservation
		}
	}
	return nil
}

// Reservations yields them by name.
func (r *Root) Reservations() iter.Seq[*partition.Reservation] {
	return func(yield func(*partition.Reservation) bool) {
		for _, v := range r.reservations {
			if !yield(&v.Reservation) {
				return
			}
		}
	}
}

// Blob tells how many distinct requests of jobs name a blob; 0: it may go.
func (r *Root) Blob(h job.Hash) int {
	b, _ := r.blobs.Get(blobRow{hash: h})
	return b.refs
}

// Outbox yields finished records with their numbers, from number `from` on.
func (r *Root) Outbox(from uint64) iter.Seq2[uint64, accounting.Record] {
	return func(yield func(uint64, accounting.Record) bool) {
		for n, row := range r.outbox.From(from) {
			rec := accounting.Record{Event: row.event}
			if row.job != nil {
				rec.Job = &row.job.Job
			}
			if !yield(n, rec) {
				return
			}
		}
	}
}

// OutboxJobs yields those of them that are about jobs.
func (r *Root) OutboxJobs(from uint64) iter.Seq2[uint64, *job.Job] {
	return func(yield func(uint64, *job.Job) bool) {
		for n, rec := range r.Outbox(from) {
			if rec.Job != nil && !yield(n, rec.Job) {
				return
			}
		}
	}
}

// OutboxRange is the first number still held and the next one to be given.
func (r *Root) OutboxRange() (first, next uint64) {
	return r.counters.Out - uint64(r.outbox.Len()), r.counters.Out
}

// Mails yields the mails that are due with their numbers, oldest first.
func (r *Root) Mails() iter.Seq2[uint64, *job.MailEvent] {
	return func(yield func(uint64, *job.MailEvent) bool) {
		for n, row := range r.mails.All() {
			if !yield(n, &row.event) {
				return
			}
		}
	}
}

// MailsLost counts the mails that are not sent because too many were due.
func (r *Root) MailsLost() uint64 { return r.counters.MailLost }

// DiffJobs yields the ids of jobs whose record differs between two roots
// (old nil: all), ascending, without looking at what is equal.
func (r *Root) DiffJobs(old *Root) iter.Seq[job.ID] {
	if old == nil {
		old = &Root{}
	}
	return func(yield func(job.ID) bool) {
		for n := range r.jobs.Diff(&old.jobs) {
			if !yield(job.ID(n)) {
				return
			}
		}
	}
}

// DiffNodes is the same for nodes.
func (r *Root) DiffNodes(old *Root) iter.Seq[job.NodeID] {
	if old == nil {
		old = &Root{}
	}
	return func(yield func(job.NodeID) bool) {
		for n := range r.nodes.Diff(&old.nodes) {
			if !yield(job.NodeID(n)) {
				return
			}
		}
	}
}
