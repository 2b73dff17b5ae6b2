package state

import (
	"io"
	"iter"

	"muster/job"
	"muster/partition"
)

// Root is one immutable version of the whole state. Any number of readers may
// hold one; nothing that they see changes.
type Root struct {
	// owned by the state package
}

// Hash is the state hash: equal on all replicas at the same index.
type Hash [16]byte

// Index is the raft index of the last entry applied.
func (r *Root) Index() uint64 { panic("contract") }

// Now is the state time of that entry.
func (r *Root) Now() job.Time { panic("contract") }

// Hash covers all tables at Index.
func (r *Root) Hash() Hash { panic("contract") }

// Version is the cluster version that decides what Apply does.
func (r *Root) Version() uint32 { panic("contract") }

// Cluster is the configuration in force.
func (r *Root) Cluster() *partition.Cluster { panic("contract") }

// Job finds a record by id; nil if there is none in memory.
func (r *Root) Job(id job.ID) *job.Job { panic("contract") }

// Jobs yields all records by ascending id.
func (r *Root) Jobs() iter.Seq[*job.Job] { panic("contract") }

// JobCount is the number of records.
func (r *Root) JobCount() int { panic("contract") }

// Array yields the records of an array: started tasks by ascending index, then
// the rest not started, if any.
func (r *Root) Array(id job.ID) iter.Seq[*job.Job] { panic("contract") }

// ArrayTask finds the record of one task: its own, or the rest that holds it.
func (r *Root) ArrayTask(id job.ID, task uint32) *job.Job { panic("contract") }

// JobsOfUser yields a user's records by ascending id.
func (r *Root) JobsOfUser(uid uint32) iter.Seq[*job.Job] { panic("contract") }

// JobsNamed yields the records of a user (or of all: everyone) with a name.
func (r *Root) JobsNamed(name string) iter.Seq[*job.Job] { panic("contract") }

// Waiting yields the pending jobs by descending priority, then ascending id.
func (r *Root) Waiting() iter.Seq[*job.Job] { panic("contract") }

// OnNode yields the records of jobs that hold something on a node.
func (r *Root) OnNode(n job.NodeID) iter.Seq[*job.Job] { panic("contract") }

// Holding yields the jobs that hold resources anywhere, by ascending id.
func (r *Root) Holding() iter.Seq[*job.Job] { panic("contract") }

// EndingBefore yields running jobs whose limit ends before t, soonest first.
func (r *Root) EndingBefore(t job.Time) iter.Seq[*job.Job] { panic("contract") }

// FinishedBefore yields terminal jobs that ended before t, oldest first.
func (r *Root) FinishedBefore(t job.Time) iter.Seq[*job.Job] { panic("contract") }

// Node finds a node by id.
func (r *Root) Node(id job.NodeID) *partition.Node { panic("contract") }

// NodeNamed finds a node by name.
func (r *Root) NodeNamed(name string) *partition.Node { panic("contract") }

// Nodes yields all nodes in the order of the cluster file.
func (r *Root) Nodes() iter.Seq[*partition.Node] { panic("contract") }

// NodeUse is what jobs hold of a node; nil if they hold nothing.
func (r *Root) NodeUse(id job.NodeID) *NodeUse { panic("contract") }

// ArrayUse counts the tasks of an array; the zero value if there is none.
func (r *Root) ArrayUse(id job.ID) ArrayUse { panic("contract") }

// LicenseUse is how many of a licence running jobs hold.
func (r *Root) LicenseUse(name string) uint32 { panic("contract") }

// Promises are the planned starts that were committed last, in queue order.
func (r *Root) Promises() []Planned { panic("contract") }

// Partition finds a partition by name.
func (r *Root) Partition(name string) *partition.Partition { panic("contract") }

// Partitions yields them in the order of the cluster file.
func (r *Root) Partitions() iter.Seq[*partition.Partition] { panic("contract") }

// Reservation finds a reservation by name.
func (r *Root) Reservation(name string) *partition.Reservation { panic("contract") }

// Reservations yields them by name.
func (r *Root) Reservations() iter.Seq[*partition.Reservation] { panic("contract") }

// Blob tells how many jobs name a blob.
func (r *Root) Blob(h job.Hash) int { panic("contract") }

// Outbox yields finished records with their numbers, from number `from` on.
func (r *Root) Outbox(from uint64) iter.Seq2[uint64, *job.Job] { panic("contract") }

// OutboxRange is the first number still held and the next one to be given.
func (r *Root) OutboxRange() (first, next uint64) { panic("contract") }

// DiffJobs yields the ids of jobs whose record differs between two roots
// (old nil: all), without looking at what is equal.
func (r *Root) DiffJobs(old *Root) iter.Seq[job.ID] { panic("contract") }

// DiffNodes is the same for nodes.
func (r *Root) DiffNodes(old *Root) iter.Seq[job.NodeID] { panic("contract") }

// WriteSnapshot streams the state; it takes no lock and may run while the
// machine goes on.
func (r *Root) WriteSnapshot(w io.Writer) error { panic("contract") }
