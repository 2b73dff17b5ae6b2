package state

import (
	"muster/accounting"
	"muster/internal/bitset"
	"muster/internal/paged"
	"muster/job"
	"muster/partition"
)

// jobRow is a job record with what belongs to it but is not part of it.
type jobRow struct {
	job.Job
	owner   *ownerRow
	request *requestRow
	sum     Hash
	summed  bool        // sum is valid and in the state hash
	tasks   uint32      // array tasks that the record stands for; 0: no array
	fresh   paged.Epoch // epoch in which Array.Waiting was made: not published yet then
	out     uint64      // number of its last record in the outbox, 0: none
}

// ownerRow and requestRow are shared by all jobs with equal content.
type ownerRow struct {
	job.Owner
	sum Hash
}

type requestRow struct {
	job.Request
	sum Hash
}

// outboxRow is the record of an attempt that ended, as it was then, or an event.
type outboxRow struct {
	job   *jobRow // nil for an event
	event *accounting.Event
	sum   Hash
}

type nodeRow struct {
	partition.Node
	sum Hash
}

type partitionRow struct {
	partition.Partition
	members *bitset.Set
	sum     Hash
}

type reservationRow struct {
	partition.Reservation
	members *bitset.Set
	sum     Hash
}

// blobRow counts the distinct requests that name a blob.
type blobRow struct {
	hash job.Hash
	refs int
}

func (b blobRow) before(o blobRow) bool { return string(b.hash[:]) < string(o.hash[:]) }

// answer is the remembered result of a client's request.
type answer struct {
	id     RequestID
	at     job.Time
	result Result
	sum    Hash
}

// counters number what is never numbered twice.
type counters struct {
	Job      job.ID     // next to be given
	Node     job.NodeID // next to be given
	SLUID    uint64     // next to be given
	Out      uint64     // next number of the outbox; the first is 1
	Answer   uint64     // next number in the answer table
	Priority uint32     // next priority of a job that brings none; counts down
	Version  uint32     // cluster version
	Mail     uint64     // number of the last mail that was due
	MailLost uint64     // mails that found the table full

	UsageAt    job.Time // up to when the use of running jobs is counted
	UsageReset job.Time // when past use was last forgotten, or was to be
}

// firstPriority is where priorities that count down begin, as in Slurm.
const firstPriority = 4294901759

func members(nodes []job.NodeID) *bitset.Set {
	s := &bitset.Set{}
	for _, n := range nodes {
		s.Add(int(n))
	}
	return s
}
