package job

import "muster/gres"

// ID numbers a job. It comes from a counter in state and is never given twice.
type ID uint32

// NodeID numbers a node for the life of the cluster; it is never given twice.
type NodeID uint32

// Owner is who a job runs as, resolved by the submitting host's name service.
type Owner struct {
	UID, GID uint32
	User     string
	Group    string
	Groups   []uint32 // supplementary groups, ascending
	// GroupNames are the groups of the user by the name service, sorted; nil if it
	// did not say.
	GroupNames []string
}

// Request is what was asked for. It is immutable: an update makes a new one, and
// the tasks of an array share theirs.
type Request struct {
	Name         string
	Account      string
	Partitions   []string // in the order given; one once the job is started
	QOS          string
	WCKey        string
	Comment      string
	AdminComment string
	Extra        string
	Reservation  string // comma separated names
	Licenses     string // as given; parsed by partition.ParseLicenses
	Cluster      string
	SubmitLine   string // the command line as typed
	Size         Size
	Memory       Memory
	Gres         GresRequest
	Place        Placement
	Timing       Timing
	Batch        Batch
	Signal       Signal
	Mail         Mail
	Cron         Cron
	Nice         int32 // added to nothing, taken off the priority
	SitePriority uint32
	Requeue      bool // may be requeued (after the default of the cluster)
	KillOnDep    Tri  // --kill-on-invalid-dep
	NoKill       bool // --no-kill: survives the loss of a node
	Interactive  bool // salloc and srun: there is no batch script
	Options      []Option
}

// Tri is a switch that may be left to the default.
type Tri uint8

// The values of a Tri.
const (
	Default Tri = iota
	No
	Yes
)

// Size is the shape of the request: how many nodes, tasks and CPUs. Zero means
// that the user did not say.
type Size struct {
	MinNodes, MaxNodes uint32
	NodeCounts         []uint32 // exact node counts of -N 1-7:2 or -N 2,4; sorted
	Tasks              uint32
	CPUsPerTask        uint16
	TasksPerNode       uint16
	TasksPerCore       uint16
	TasksPerSocket     uint16
	TasksPerGPU        uint16
	MinCPUsPerNode     uint16 // --mincpus
	SocketsPerNode     uint16
	CoresPerSocket     uint16
	ThreadsPerCore     uint16
	CoreSpec           uint16 // --core-spec
	ThreadSpec         uint16 // --thread-spec
	Overcommit         bool
	MinCPUs            uint32 // CPUs of the whole job that follow from the above
	LikelyNodes        uint32 // nodes that it would get of its first partition if that were empty; 0: not looked at
}

// Memory is the memory asked for, in MB of 2^20 bytes.
type Memory struct {
	Per MemoryUnit
	MB  uint64 // 0 with Per set: all of the node's memory
}

// MemoryUnit says what Memory.MB is counted by.
type MemoryUnit uint8

// What memory is asked for by. Unset leaves it to the partition's default.
const (
	MemoryUnset MemoryUnit = iota
	MemoryPerNode
	MemoryPerCPU
	MemoryPerGPU
)

// GresRequest holds the generic resources asked for, by what each is counted.
type GresRequest struct {
	PerNode    gres.Spec // --gres, --gpus-per-node, --tres-per-node
	PerJob     gres.Spec // --gpus, --tres-per-job
	PerSocket  gres.Spec
	PerTask    gres.Spec
	CPUsPerGPU uint16
	Bind       string // --gpu-bind, as given
	Freq       string // --gpu-freq
	Flags      string // --gres-flags, as given
}

// Sharing says who else may be on the job's nodes or cores.
type Sharing uint8

// The sharing wishes of a job.
const (
	ShareDefault Sharing = iota
	Exclusive            // --exclusive: whole nodes
	ExclusiveUser
	ExclusiveMCS
	ExclusiveTopo
	Oversubscribe // --oversubscribe
)

// Placement narrows where the job may run.
type Placement struct {
	Constraint string // --constraint, as given
	Prefer     string
	Nodes      []string // --nodelist, expanded, in the order given
	Exclude    []string // --exclude, expanded
	Sharing    Sharing
	Contiguous bool
	Spread     bool // --spread-job
	MinimalN   bool // --use-min-nodes
	Switches   uint32
	SwitchWait uint32 // seconds to wait for that many switches
	Segment    uint32
	TmpDiskMB  uint64
	Dist       string // --distribution, as given
	Hint       string
}

// Timing is when the job may run and how long.
type Timing struct {
	Limit    Minutes // 0: the partition's default
	MinLimit Minutes // --time-min
	Begin    Time
	Deadline Time
	DelayEnd bool // --delay-boot and alike are refused, kept for layout
}

// Batch is the script and all that its process needs.
type Batch struct {
	Script      Hash // of the script's bytes
	Environment Hash // of the environment: NUL separated NAME=value
	Args        []string
	WorkDir     string
	Stdin       string // pattern, as given; "" is /dev/null
	Stdout      string // pattern, as given; "" is the default
	Stderr      string // pattern, as given; "" merges into Stdout
	Append      Tri    // --open-mode
	Command     string // the script's path, "" for --wrap and stdin
	SubmitDir   string
	SubmitHost  string
	Umask       uint32
	Limits      []Limit // resource limits to propagate
	Export      string  // --export, as given
	GetUserEnv  bool
	WaitAll     bool // --wait-all-nodes
}

// Limit is one resource limit of the submitting process. Value ^uint64(0) is
// unlimited.
type Limit struct {
	Name  string // NOFILE, STACK, … as in --propagate
	Value uint64
}

// Signal is --signal: what to send how long before the end.
type Signal struct {
	Number uint8  // 0: none
	Before uint16 // seconds before the time limit
	Shell  bool   // B: to the batch shell only
	Resv   bool   // R: also at the start of a reservation that overlaps
}

// Cron is where a recurring job comes from: an entry of its user's crontab. After
// each run it waits for its next time.
type Cron struct {
	Spec        string // its times, as written; "": the job does not recur
	First, Last uint32 // its lines, from 0 on
}

// Mail is --mail-type and --mail-user.
type Mail struct {
	Types uint32 // bits as in api/slurm's table
	User  string
}

// Option is a site's own option ([[option]] in the cluster file).
type Option struct{ Name, Value string }

// Hash names a blob: the first 16 bytes of the SHA-256 of its content. Zero
// means that there is none.
type Hash [16]byte
