package sched

import (
	"muster/accounting"
	"muster/internal/bitset"
	"muster/job"
	"muster/partition"
)

// View is the cluster as the planner sees it. It is immutable: a plan is a pure
// function of the view, the time and the budget.
type View struct {
	Policy       *partition.Policy
	Nodes        []Node // in the order of the cluster file
	Partitions   []Partition
	Reservations []*partition.Reservation
	Topologies   []*partition.Topology // those that partitions name
	Licenses     []partition.License
	LicenseHolds []LicenseHold
	Waiting      []Waiting        // by descending priority, then ascending id
	Promises     []Promise        // planned starts to be kept, at most one of each job
	Limits       Limits           // nil: none
	Book         *accounting.Book // who may displace whom; nil: nobody by QOS
}

// Node is one node with what jobs hold of it.
type Node struct {
	Host  *partition.Host
	Busy  *bitset.Set // core numbers held
	Held  []*bitset.Set
	Holds []Hold // one for each job; by ascending Until, those without end last
}

// Hold is what one job holds of a node. Until is when its limit ends it, 0: never.
type Hold struct {
	Job       job.ID
	Of        *job.Job // its record
	Partition string
	Until     job.Time
	Room      partition.Room
}

// LicenseHold is what one job holds of the licences.
type LicenseHold struct {
	Job      job.ID
	Until    job.Time
	Licenses []job.License
}

// Partition is a partition with its nodes as places in View.Nodes, in the order
// in which they are preferred: by weight, then by the cluster file.
type Partition struct {
	*partition.Partition
	Nodes []int
}

// Waiting is one pending record: a job, the unstarted rest of an array, or the
// leader of a heterogeneous job with all its components.
type Waiting struct {
	Job    *job.Job
	Class  *Class
	Active uint32 // tasks of the array that run, for its throttle
	Parts  []Part // components of a heterogeneous job, the leader first; else nil
}

// Part is one component of a heterogeneous job.
type Part struct {
	Job   *job.Job
	Class *Class
}

// Limits can hold jobs back for reasons beyond resources: associations and QOS.
type Limits interface {
	// Begin starts a cycle; what it returns counts the cycle's own starts.
	Begin(now job.Time) Ledger
}

// Ledger is the state of the limits within one cycle.
type Ledger interface {
	// Bars tells, before a place is looked for, why a job may not start in a
	// partition wherever that would be.
	Bars(j *job.Job, partition string, limit job.Minutes) Why
	// Holds tells why a job may not start with an allocation; a Reason of
	// ReasonNone lets it.
	Holds(j *job.Job, a *job.Allocation, limit job.Minutes) Why
	// Started counts a start.
	Started(j *job.Job, a *job.Allocation, limit job.Minutes)
}
