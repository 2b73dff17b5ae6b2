// Package partition is the shape of the cluster: nodes, partitions,
// reservations, licences and the network topology. It answers "may this job be
// here, and if not, why".
package partition

import (
	"muster/gres"
	"muster/job"
)

// Node is one machine: what it has, what it reported, and what admins said.
// Records are immutable once they are in a table.
type Node struct {
	ID       job.NodeID
	Name     string
	Declared Shape // what the cluster file says
	Found    Shape // what the node reported; zero before it registered
	Gres     gres.Inventory
	Features []string // available; active ones are the same until rebooted with others
	Active   []string
	Weight   uint32
	Comment  string
	Extra    string
	State    NodeState
	Admin    NodeFlag // drain, down and alike by an admin or by us, with a reason
	Reason   string
	ReasonBy string
	ReasonAt job.Time
	Address  []string
	Port     uint16
	HostName string
	OS, Arch string
	Version  string
	BootID   string
	Journal  string // id of the node daemon's own store
	BootTime job.Time
	Started  job.Time // of the node daemon
	LastSeen job.Time // coarse: when it last registered or fell silent
	LastBusy job.Time
	Since    job.Time // since when it is in its condition and of its size
}

// Shape is a node's size. Memory and disk in MB of 2^20 bytes.
type Shape struct {
	Boards, Sockets, CoresPerSocket, ThreadsPerCore uint16
	CPUs                                            uint32
	MemoryMB                                        uint64
	TmpDiskMB                                       uint64
	CoreSpec                                        uint16 // cores kept from jobs
	MemSpecMB                                       uint64
}

// Cores is the number of cores.
func (s Shape) Cores() int { return int(s.Sockets) * int(s.CoresPerSocket) }

// NodeState is what is known of the node itself.
type NodeState uint8

// The base states of a node. Idle, allocated and mixed are not stored: they
// follow from the jobs on it.
const (
	NodeUnknown NodeState = iota // has never registered
	NodeUp
	NodeDown
	NodeFuture
)

// NodeFlag adds to the state of a node.
type NodeFlag uint32

// The flags of a node. The numbers are stored; never reorder them.
const (
	NodeDrain NodeFlag = 1 << iota
	NodeFail
	NodeNotResponding
	NodeMaint
	NodeRebootRequested
	NodeInvalidReg // registered with less than it declares
	NodeBehind     // has an older configuration
	NodeLost       // down because it fell silent: returns to service by itself
)

// Partition is one queue and its rules.
type Partition struct {
	Name          string
	Nodes         []job.NodeID // in the order of the cluster file
	NodeList      string       // as written
	Default       bool
	State         PartitionState
	MaxTime       job.Minutes // 0 or Unlimited: none
	DefaultTime   job.Minutes
	MaxNodes      uint32 // 0: no limit
	MinNodes      uint32
	PriorityTier  uint16
	JobFactor     uint16 // PriorityJobFactor
	DefMemory     job.Memory
	MaxMemory     job.Memory
	MaxCPUsNode   uint32
	OverSubscribe string // NO, YES:4, FORCE:2, EXCLUSIVE
	AllowAccounts []string
	DenyAccounts  []string
	AllowGroups   []string
	AllowQOS      []string
	DenyQOS       []string
	QOS           string
	Hidden        bool
	RootOnly      bool
	ReqResv       bool
	DisableRoot   bool
	LLN           bool
	PreemptMode   string
	GraceTime     uint32 // seconds
	Fence         Fence
	Alternate     string
	Billing       []TRESWeight // TRESBillingWeights; none: CPUs are billed
	Topology      string       // name of the Topology, "" for a flat network
}

// PartitionState says what a partition does with new and waiting jobs
// (scontrol(1), State=).
type PartitionState uint8

// The states of a partition.
const (
	PartitionUp       PartitionState = iota
	PartitionDown                    // queues, starts nothing
	PartitionDrain                   // refuses, starts what waits
	PartitionInactive                // refuses, starts nothing
)

// Fence says when a job may be started again after its node fell silent.
type Fence uint8

// The kinds of fence; see invariant 2 of the design.
const (
	FenceTimeout Fence = iota
	FenceProof
	FenceLease
)

// Reservation keeps nodes for somebody for some time.
type Reservation struct {
	Name       string
	Start, End job.Time
	Nodes      []job.NodeID
	NodeList   string
	Users      []string
	Accounts   []string
	Partition  string
	Flags      []string
	Features   string
	CoreCount  uint32
	Licenses   []job.License
	CreatedBy  string
	Comment    string
	Since      job.Time // when it was made or last changed
	Every      job.Time // distance of its occurrences in ms; 0: once, or not always the same
}

// License is a kind of licence that the cluster counts.
type License struct {
	Name  string
	Total uint32
}
