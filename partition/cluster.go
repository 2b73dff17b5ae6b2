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
	Timers     Timers
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
	DefMemory         job.Memory
	MaxMemory         job.Memory
	MailProg          string // program that sends mail; "": none is sent
	MailDomain        string // added to the name of a user who gave no address
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
	HalfLife, CalcPeriod                           uint32 // seconds
	TRES                                           []TRESWeight
}

// TRESWeight is a weight of one trackable resource, in thousandths.
type TRESWeight struct {
	TRES   string
	Weight uint64
}
