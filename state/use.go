package state

import (
	"muster/internal/bitset"
	"muster/job"
)

// NodeUse is what jobs hold of one node: of running, suspended and completing
// jobs whose share is not released yet. Immutable, derived from the jobs.
type NodeUse struct {
	Cores    *bitset.Set // cores held; never nil
	CPUs     uint32
	MemoryMB uint64
	Devices  []DeviceUse // by name, then type
	Jobs     uint32      // jobs that hold something
	Whole    uint32      // of these, the ones that hold the node for themselves
}

// DeviceUse is what jobs hold of one kind of device on one node.
type DeviceUse struct {
	Name, Type string
	Count      uint64
	Index      *bitset.Set // device numbers held; nil for a kind without device files
}

// ArrayUse counts the tasks of one array by how far they are, so that throttles
// and dependencies need not look at each task. Derived from the jobs.
type ArrayUse struct {
	ID      job.ID
	Waiting uint32 // not started: in the rest, or as records of their own
	Active  uint32 // running, suspended, or completing
	Good    uint32 // ended as COMPLETED
	Bad     uint32 // ended otherwise
	// LastEnd is when the last one so far ended.
	LastEnd job.Time
}
