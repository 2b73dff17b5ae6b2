package partition

import "muster/job"

// Cluster is a whole cluster as its file describes it: what enters the
// replicated state by one command and is the configuration from then on.
type Cluster struct {
	Name       string
	TimeZone   string // IANA name
	Source     string // the text of cluster.toml, for show and undo
	Nodes      []Node // ID, state and what nodes report are not set here
	Partitions []Partition
	Licenses   []License
	Topologies []*Topology
	Timers     Timers
	Programs   Programs
	Rules      []SubmitRule // in the order in which they apply
	Limits     Limits
	Policy     Policy
}

// Timers of a cluster.
type Timers struct {
	KillWait    uint32 // seconds between SIGTERM and SIGKILL
	MinJobAge   uint32 // seconds a finished job stays in memory
	NodeTimeout uint32 // seconds of silence after which a node is down
	Silent      uint32 // seconds of silence after which it is not responding
	Heartbeat   uint32 // milliseconds between heartbeats of a node
	OverTime    uint32 // OverTimeLimit, minutes
	Sampling    uint32 // seconds between samples of memory use
	BatchStart  uint32 // seconds within which a batch script must have started
}

// Programs are the site's own, run by nodes as their own user. "" is none.
type Programs struct {
	Prolog string // before the first process of a job, on each of its nodes
	Epilog string // after the last
	Time   uint32 // seconds that each of them may take
}

// Limits of a cluster.
type Limits struct {
	MaxArraySize uint32 // the highest index must be below it
	MaxJobs      uint32 // most jobs in memory
	MaxScript    uint32 // bytes
	MaxEnv       uint32 // bytes
}

// The orders of the queue (Policy.Order).
const (
	OrderSlurm    = "slurm"    // by priority, then by time of submission
	OrderBalanced = "balanced" // of jobs of equal priority, short ones first; see sched
)

// Policy holds the switches that decide what jobs may do.
type Policy struct {
	EnforcePartLimits string   // NO, ALL, ANY
	Requeue           bool     // JobRequeue: batch jobs may be requeued by default
	AllocCores        bool     // allocate whole cores (CR_Core), else single CPUs
	TrackMemory       bool     // memory is consumed (CR_*_Memory)
	Enforce           []string // associations, limits, qos, safe
	PropagateExcept   []string // resource limits not to propagate
	PrivateData       []string
	Priority          Priority
	Devices           DevicePolicy
	Preempt           Preemption
	SchedInterval     uint32 // milliseconds, upper bound between two cycles
	Order             string // one of the orders; "" is OrderSlurm
	// OrderClasses are the upper bounds of the classes of length of the balanced
	// order, in seconds, ascending; none: those that sched has chosen.
	OrderClasses []uint32
	DefMemory    job.Memory
	MaxMemory    job.Memory
	// Administrators may change accounts and the configuration as root may.
	Administrators []string
	// CompletionFile gets a line of JSON for each job that has ended, on each
	// controller; "": none.
	CompletionFile string
	MailProg       string // program that sends mail; "": none is sent
	MailDomain     string // added to the name of a user who gave no address
}

// DevicePolicy says how generic resources are given to jobs.
type DevicePolicy struct {
	Open         bool     // jobs may open devices that they were not given (ConstrainDevices=no)
	MixTypes     bool     // GPUs of one job may be of several types although it names none
	NICVariables []string // set to the fabric cards near a job's GPUs
}

// Priority holds the weights of the multifactor priority
// (slurm.conf(5), PriorityWeight*).
type Priority struct {
	Multifactor                                    bool
	Age, FairShare, JobSize, Partition, QOS, Assoc uint32
	MaxAge                                         uint32 // seconds
	FavorSmall                                     bool
	HalfLife, CalcPeriod                           uint32 // seconds; a half-life of 0: use does not decay
	TRES                                           []TRESWeight
	Classic                                        bool        // fair share by the classic formula, else Fair Tree
	Damp                                           uint32      // FairShareDampeningFactor of the classic formula, at least 1
	Reset                                          UsageReset  // when past use is forgotten
	Billing                                        BillingRule // of jobs in partitions with weights
}

// UsageReset says when past use is forgotten (slurm.conf(5),
// PriorityUsageResetPeriod).
type UsageReset uint8

// The periods. They begin at midnight in the cluster's zone; weeks on Sunday.
const (
	ResetNone UsageReset = iota
	ResetDaily
	ResetWeekly
	ResetMonthly
	ResetQuarterly
	ResetYearly
)

// BillingRule says how the weights of a partition make up what a job is billed
// (slurm.conf(5), PriorityFlags).
type BillingRule uint8

// The rules.
const (
	BillSum        BillingRule = iota // the sum of all
	BillMax                           // MAX_TRES: the highest of CPUs, memory, nodes and gres, and the sum of the rest
	BillMaxAndGres                    // MAX_TRES_GRES: of these the gres are added and not compared
)

// BillingUnit is how many parts make 1 of billing: weights of three decimals for
// each GB or TB come to whole parts for each MB.
const BillingUnit = 1000 << 20

// TRESWeight is a weight of one trackable resource: of priorities in thousandths, of
// billing in parts of 1/BillingUnit for each one (of memory: each MB).
type TRESWeight struct {
	TRES   string
	Weight uint64
}
