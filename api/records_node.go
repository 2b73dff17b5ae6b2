package api

import (
	"muster/gres"
	"muster/internal/wire"
	"muster/job"
)

// NodeQuery asks for node records; empty lists are all.
type NodeQuery struct {
	Names      []string // expanded
	Partitions []string
	WithUse    bool // jobs' shares per node: Gres in use
	WithFrag   bool // fragmentation of the nodes' GPUs
}

// Code implements wire.Message.
func (q *NodeQuery) Code(w *wire.Coder) {
	wire.Texts(w, 1, &q.Names)
	wire.Texts(w, 2, &q.Partitions)
	w.Bool(3, &q.WithUse)
	w.Bool(4, &q.WithFrag)
}

// NodeList is one chunk of the answer: all partitions come with the first one,
// since nodes are shown by partition.
type NodeList struct {
	Now        job.Time
	Cluster    string
	Nodes      []NodeRecord
	Partitions []PartitionRecord
}

// Code implements wire.Message.
func (l *NodeList) Code(w *wire.Coder) {
	wire.Int(w, 1, &l.Now)
	w.String(2, &l.Cluster)
	wire.Slice(w, 3, &l.Nodes)
	wire.Slice(w, 4, &l.Partitions)
}

// NodeBase is the base state of a node as Slurm shows it: unlike the stored one
// it tells what the jobs on it make of it.
type NodeBase uint8

// The base states of a node.
const (
	NodeUnknown NodeBase = iota
	NodeDown
	NodeIdle
	NodeAllocated
	NodeMixed
	NodeFuture
)

// NodeFlag adds to a node's state. The numbers are those of partition.NodeFlag,
// then what follows from jobs, reservations and plans.
type NodeFlag uint32

// The flags of a node.
const (
	NodeDrain NodeFlag = 1 << iota
	NodeFail
	NodeNoResponse
	NodeMaint
	NodeReboot
	NodeInvalid
	NodeBehind
	NodeCompleting NodeFlag = 1 << 16
	NodePlanned    NodeFlag = 1 << 17
	NodeReserved   NodeFlag = 1 << 18
)

// NodeRecord is one node as readers see it. Memory and disk in MB.
type NodeRecord struct {
	Name        string
	Base        NodeBase
	Flags       NodeFlag
	Shape       NodeShape
	Found       NodeShape // what the node reported
	Used        Resources
	Load        uint32 // hundredths
	FreeMemory  uint64
	HasLive     bool // Load and FreeMemory are known
	Gres        []gres.Item
	Features    []string
	Active      []string
	Partitions  []string
	Weight      uint32
	Comment     string
	Extra       string
	Reason      string
	ReasonBy    string
	ReasonUID   uint32
	ReasonAt    job.Time
	Address     string
	Port        uint16
	HostName    string
	OS, Arch    string
	Version     string
	BootTime    job.Time
	Started     job.Time
	LastBusy    job.Time
	LastSeen    job.Time
	Reservation string
	GresUsed    []gres.Item // what jobs hold, by kind
	// With NodeQuery.WithFrag, in thousandths of a GPU: what is free of the node's
	// GPUs, and how much of it the next job is expected not to be able to use.
	FreeGPU, FragGPU uint64
}

// NodeShape is a node's size.
type NodeShape struct {
	Boards, Sockets, CoresPerSocket, ThreadsPerCore uint16
	CPUs                                            uint32
	MemoryMB, TmpDiskMB                             uint64
	CoreSpec                                        uint16
	MemSpecMB                                       uint64
}

// Code implements wire.Message.
func (n *NodeRecord) Code(w *wire.Coder) {
	w.String(1, &n.Name)
	wire.Uint(w, 2, &n.Base)
	wire.Uint(w, 3, &n.Flags)
	wire.Struct(w, 4, &n.Shape)
	wire.Struct(w, 5, &n.Found)
	wire.Struct(w, 6, &n.Used)
	wire.Uint(w, 7, &n.Load)
	w.Uint64(8, &n.FreeMemory)
	w.Bool(9, &n.HasLive)
	wire.Slice(w, 10, &n.Gres)
	wire.Texts(w, 11, &n.Features)
	wire.Texts(w, 12, &n.Active)
	wire.Texts(w, 13, &n.Partitions)
	wire.Uint(w, 14, &n.Weight)
	w.String(15, &n.Comment)
	w.String(16, &n.Extra)
	w.String(17, &n.Reason)
	w.String(18, &n.ReasonBy)
	wire.Uint(w, 19, &n.ReasonUID)
	wire.Int(w, 20, &n.ReasonAt)
	w.String(21, &n.Address)
	wire.Uint(w, 22, &n.Port)
	w.String(23, &n.HostName)
	w.String(24, &n.OS)
	w.String(25, &n.Arch)
	w.String(26, &n.Version)
	wire.Int(w, 27, &n.BootTime)
	wire.Int(w, 28, &n.Started)
	wire.Int(w, 29, &n.LastBusy)
	wire.Int(w, 30, &n.LastSeen)
	w.String(31, &n.Reservation)
	wire.Slice(w, 32, &n.GresUsed)
	w.Uint64(33, &n.FreeGPU)
	w.Uint64(34, &n.FragGPU)
}

// Code implements wire.Message.
func (s *NodeShape) Code(w *wire.Coder) {
	wire.Uint(w, 1, &s.Boards)
	wire.Uint(w, 2, &s.Sockets)
	wire.Uint(w, 3, &s.CoresPerSocket)
	wire.Uint(w, 4, &s.ThreadsPerCore)
	wire.Uint(w, 5, &s.CPUs)
	w.Uint64(6, &s.MemoryMB)
	w.Uint64(7, &s.TmpDiskMB)
	wire.Uint(w, 8, &s.CoreSpec)
	w.Uint64(9, &s.MemSpecMB)
}

// PartitionQuery asks for partitions; no names are all.
type PartitionQuery struct {
	Names []string
}

// Code implements wire.Message.
func (q *PartitionQuery) Code(w *wire.Coder) { wire.Texts(w, 1, &q.Names) }

// PartitionList is the answer to a PartitionQuery.
type PartitionList struct {
	Cluster    string
	Partitions []PartitionRecord
}

// Code implements wire.Message.
func (l *PartitionList) Code(w *wire.Coder) {
	w.String(1, &l.Cluster)
	wire.Slice(w, 2, &l.Partitions)
}

// PartitionRecord is one partition as readers see it.
type PartitionRecord struct {
	Name          string
	Nodes         string // host list
	NodeList      string // as written in the cluster file
	Total         Resources
	Default       bool
	State         string // UP, DOWN, DRAIN, INACTIVE
	MaxTime       job.Minutes
	DefaultTime   job.Minutes
	MaxNodes      uint32
	MinNodes      uint32
	PriorityTier  uint16
	JobFactor     uint16
	DefMemory     JobMemory
	MaxMemory     JobMemory
	MaxCPUsNode   uint32
	OverSubscribe string
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
	GraceTime     uint32
	Alternate     string
	NodeNames     []string // only in a NodeList
}

// Code implements wire.Message.
func (p *PartitionRecord) Code(w *wire.Coder) {
	w.String(1, &p.Name)
	w.String(2, &p.Nodes)
	w.String(3, &p.NodeList)
	wire.Struct(w, 4, &p.Total)
	w.Bool(5, &p.Default)
	w.String(6, &p.State)
	wire.Uint(w, 7, &p.MaxTime)
	wire.Uint(w, 8, &p.DefaultTime)
	wire.Uint(w, 9, &p.MaxNodes)
	wire.Uint(w, 10, &p.MinNodes)
	wire.Uint(w, 11, &p.PriorityTier)
	wire.Uint(w, 12, &p.JobFactor)
	wire.Struct(w, 13, &p.DefMemory)
	wire.Struct(w, 14, &p.MaxMemory)
	wire.Uint(w, 15, &p.MaxCPUsNode)
	w.String(16, &p.OverSubscribe)
	wire.Texts(w, 17, &p.AllowAccounts)
	wire.Texts(w, 18, &p.DenyAccounts)
	wire.Texts(w, 19, &p.AllowGroups)
	wire.Texts(w, 20, &p.AllowQOS)
	wire.Texts(w, 21, &p.DenyQOS)
	w.String(22, &p.QOS)
	w.Bool(23, &p.Hidden)
	w.Bool(24, &p.RootOnly)
	w.Bool(25, &p.ReqResv)
	w.Bool(26, &p.DisableRoot)
	w.Bool(27, &p.LLN)
	w.String(28, &p.PreemptMode)
	wire.Uint(w, 29, &p.GraceTime)
	w.String(30, &p.Alternate)
	wire.Texts(w, 31, &p.NodeNames)
}
