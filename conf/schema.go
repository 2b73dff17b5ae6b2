package conf

// schema is the whole of cluster.toml. The tags are data: toml is the key,
// default what holds without it, doc the line of the reference page. A key with
// the tag later is read, kept and shown, but nothing acts on it yet; a file that
// sets it gets a warning. Checks that need more than one value are in build.go.
type schema struct {
	Name     string `toml:"name" default:"cluster" doc:"Name of the cluster, as squeue --clusters and sacct show it."`
	TimeZone string `toml:"time_zone" default:"UTC" doc:"The cluster's one time zone (IANA name such as Europe/Berlin): times without a zone that users write, and report periods, are meant in it."`

	Controllers []controllerTable `toml:"controller" doc:"A controller; write one, three or five that vote. Without any there is one on this host, for trying things."`
	Nodes       []nodeTable       `toml:"node" doc:"Nodes of one shape. At least one is needed."`
	Partitions  []partitionTable  `toml:"partition" doc:"A partition. Without any there is one, named main, of all nodes."`
	Switches    []switchTable     `toml:"switch" doc:"A switch of the network (topology.conf(5), topology/tree). Partitions that name its topology place the nodes of a job near each other."`
	Blocks      []blockTable      `toml:"block" doc:"Nodes that are near each other (topology/block)."`
	Licenses    []licenseTable    `toml:"license" doc:"A kind of licence that the cluster counts."`
	Rules       []ruleTable       `toml:"rule" doc:"A rule for jobs that are submitted, and for changes of waiting jobs by their users. A job must meet every condition that is written; of a list, one entry is enough; without any the rule is for all jobs. Rules apply in the order of the file, and each sees what those before it have set. A rule either refuses or sets."`

	Timers   timersTable   `toml:"timers" doc:"Times that daemons go by."`
	Programs programsTable `toml:"programs" doc:"Programs of the site that nodes run around jobs."`
	Limits   limitsTable   `toml:"limits" doc:"Bounds of what the controllers keep."`
	Policy   policyTable   `toml:"policy" doc:"What jobs may do and what they get by default."`
	Gres     gresTable     `toml:"gres" doc:"How devices are given to jobs."`
	Priority priorityTable `toml:"priority" doc:"Weights of the multifactor priority."`
}

type controllerTable struct {
	Name      string   `toml:"name" doc:"Name of the controller, shown by scontrol ping."`
	Addresses []string `toml:"addresses" doc:"Host names or IP addresses (version 4 or 6) that others reach it by, the best first. The name, if not given."`
	Bind      string   `toml:"bind" doc:"Address to listen on; all of them, if not given."`
	Port      ports    `toml:"port" default:"6817" doc:"Port that nodes and other controllers connect to."`
	Votes     bool     `toml:"votes" default:"true" doc:"It counts in the majority that every change needs. With false it follows the others and answers reads. Of a running cluster, muster controllers changes it."`
	DataDir   string   `toml:"data_dir" default:"/var/lib/muster/ctld" doc:"Directory for the replicated log, snapshots and finished jobs, on a local disk."`
}

type nodeTable struct {
	Names     string            `toml:"names" doc:"Host-list expression: n[1-4], gpu[001-128]."`
	Addresses []string          `toml:"addresses" doc:"Host-list expressions that give one address for each node: 10.0.0.[1-4]. Several are tried in this order. The node's name, if not given."`
	Bind      string            `toml:"bind" doc:"Address to listen on; all of them, if not given."`
	Port      ports             `toml:"port" default:"6818" doc:"Port of the node daemon: one for all of these nodes, or a list with one for each."`
	DataDir   string            `toml:"data_dir" default:"/var/lib/muster/noded" doc:"Directory for the node's own records, on a local disk."`
	CPUs      count             `toml:"cpus" doc:"CPUs of the node. Sockets times cores times threads, if not given; this or cores is needed."`
	Boards    count             `toml:"boards" default:"1" doc:"Boards of the node."`
	Sockets   count             `toml:"sockets" default:"1" doc:"Sockets of the node."`
	Cores     count             `toml:"cores" doc:"Cores of a socket. Follows from cpus, if not given."`
	Threads   count             `toml:"threads" default:"1" doc:"Hardware threads of a core."`
	Memory    megabytes         `toml:"memory" doc:"Memory for jobs: MB, or a size such as 4000M or 64G. Needed."`
	TmpDisk   megabytes         `toml:"tmp_disk" default:"0" doc:"Temporary disk space for jobs: MB, or a size."`
	Gres      []string          `toml:"gres" doc:"Devices: name:count or name:type:count, such as gpu:a100:8."`
	Devices   map[string]string `toml:"devices" doc:"Device files of a kind, in the order of their numbers: { gpu = \"/dev/nvidia[0-7]\" }."`
	Features  []string          `toml:"features" doc:"Words that sbatch --constraint may ask for."`
	Weight    uint32            `toml:"weight" default:"1" doc:"Nodes of lower weight are used first."`
	CoreSpec  uint16            `toml:"core_spec" default:"0" doc:"Cores kept from jobs."`
	MemSpec   megabytes         `toml:"mem_spec" default:"0" doc:"Memory kept from jobs: MB, or a size."`
	Real      bool              `toml:"real" default:"false" doc:"In a throw-away cluster (muster dev): bind jobs to the host's own CPUs, although other nodes share them."`
}

type partitionTable struct {
	Name          string     `toml:"name" doc:"Name of the partition. Needed."`
	Nodes         string     `toml:"nodes" default:"ALL" doc:"Host-list expression, or ALL."`
	Default       bool       `toml:"default" default:"false" doc:"Takes jobs that name no partition. The first partition does, if none says so."`
	State         string     `toml:"state" default:"UP" doc:"UP, DOWN (queues, starts nothing), DRAIN (refuses, starts what waits) or INACTIVE."`
	MaxTime       timeLimit  `toml:"max_time" default:"UNLIMITED" doc:"Longest time limit: minutes, or a time such as 1-00:00:00."`
	DefaultTime   *timeLimit `toml:"default_time" doc:"Time limit of a job that names none. max_time, if not given."`
	MaxNodes      uint32     `toml:"max_nodes" default:"0" doc:"Most nodes of a job; 0 is no limit."`
	MinNodes      uint32     `toml:"min_nodes" default:"0" doc:"Fewest nodes of a job."`
	PriorityTier  uint16     `toml:"priority_tier" default:"1" doc:"Partitions of a higher tier are looked at first."`
	JobFactor     uint16     `toml:"priority_job_factor" default:"1" doc:"The partition's factor in the multifactor priority."`
	DefMemPerCPU  megabytes  `toml:"def_mem_per_cpu" default:"0" doc:"As in [policy], for this partition."`
	DefMemPerNode megabytes  `toml:"def_mem_per_node" default:"0" doc:"As in [policy], for this partition."`
	MaxMemPerCPU  megabytes  `toml:"max_mem_per_cpu" default:"0" doc:"As in [policy], for this partition."`
	MaxMemPerNode megabytes  `toml:"max_mem_per_node" default:"0" doc:"As in [policy], for this partition."`
	MaxCPUsNode   uint32     `toml:"max_cpus_per_node" default:"0" doc:"Most CPUs of a node that jobs of this partition use; 0 is no limit."`
	OverSubscribe string     `toml:"oversubscribe" default:"NO" doc:"NO, or EXCLUSIVE: a job gets whole nodes."`
	AllowAccounts []string   `toml:"allow_accounts" doc:"Only these accounts may use the partition."`
	DenyAccounts  []string   `toml:"deny_accounts" doc:"These accounts may not use it."`
	AllowGroups   []string   `toml:"allow_groups" doc:"Only members of these groups may use it."`
	AllowQOS      []string   `toml:"allow_qos" doc:"Only jobs of these QOS may use it."`
	DenyQOS       []string   `toml:"deny_qos" doc:"Jobs of these QOS may not use it."`
	Fence         string     `toml:"fence" default:"node_timeout" doc:"When a job may be started again whose node fell silent: node_timeout (after [timers] node_timeout, though it may still run there), or proof (not before its node has said that it ended, or has come back with another boot)."`
	Hidden        bool       `toml:"hidden" default:"false" doc:"Listed only with --all."`
	RootOnly      bool       `toml:"root_only" default:"false" doc:"Only root submits to it."`
	DisableRoot   bool       `toml:"disable_root_jobs" default:"false" doc:"Root may not run jobs in it."`
	Topology      string     `toml:"topology" doc:"Topology by which nodes are chosen: that of some [[switch]] or [[block]]. The network is flat, if not given."`
	PreemptMode   string     `toml:"preempt_mode" doc:"What happens to a job of this partition that makes room for another: OFF, CANCEL or REQUEUE (PreemptMode). What [policy] says, if not given."`
	GraceTime     seconds    `toml:"grace_time" default:"0" doc:"Time between the notice (SIGCONT, SIGTERM) to such a job and SIGKILL; 0 is [timers] kill_wait (GraceTime)."`
	LLN           bool       `toml:"lln" default:"false" doc:"Prefer the least loaded nodes."`
	QOS           string     `toml:"qos" doc:"QOS whose limits hold for all jobs of the partition." later:"limits of partition QOS"`
	Billing       []string   `toml:"tres_billing_weights" doc:"What jobs are billed for each of a resource (TRESBillingWeights), such as cpu=1, mem=0.25G or gres/gpu=2; none: the CPUs."`
	Alternate     string     `toml:"alternate" doc:"Partition that takes the jobs while this one is DRAIN or INACTIVE."`
}

type switchTable struct {
	Name     string `toml:"name" doc:"Name of the switch. Needed."`
	Topology string `toml:"topology" default:"default" doc:"The topology that it belongs to."`
	Nodes    string `toml:"nodes" doc:"Host-list expression of the nodes on it. This or switches is needed."`
	Switches string `toml:"switches" doc:"The switches below it, in the same form."`
}

type blockTable struct {
	Name     string `toml:"name" doc:"Name of the block. Needed."`
	Topology string `toml:"topology" default:"default" doc:"The topology that it belongs to."`
	Nodes    string `toml:"nodes" doc:"Host-list expression of its nodes. Needed."`
}

type licenseTable struct {
	Name  string `toml:"name" doc:"Name of the licence. Needed."`
	Total count  `toml:"total" doc:"How many there are. Needed."`
}

type ruleTable struct {
	Name       string    `toml:"name" doc:"Name of the rule. Needed."`
	Users      []string  `toml:"users" doc:"Condition: the user."`
	Groups     []string  `toml:"groups" doc:"Condition: one of the user's groups."`
	Accounts   []string  `toml:"accounts" doc:"Condition: the account, also one that the user has by default."`
	Partitions []string  `toml:"partitions" doc:"Condition: one of the partitions asked for, also the default one."`
	QOS        []string  `toml:"qos" doc:"Condition: the QOS, also one that the user has by default."`
	Device     string    `toml:"device" doc:"Condition: the job asks for a device of this kind, such as gpu."`
	NodesOver  count     `toml:"nodes_over" doc:"Condition: it names more nodes than this, by a count (the higher one of a range), a list, or tasks of each node. A number of tasks alone does not count: on how many nodes they run is known when they start."`
	TimeOver   timeLimit `toml:"time_over" doc:"Condition: its time limit, or the one that it gets by default, is longer."`

	Refuse        string   `toml:"refuse" doc:"Refuse the job; the user sees this text, one line."`
	SetPartitions []string `toml:"set_partitions" doc:"Send the job to these partitions."`
	SetAccount    string   `toml:"set_account" doc:"Give the job this account."`
	SetQOS        string   `toml:"set_qos" doc:"Give the job this QOS."`
}

type timersTable struct {
	KillWait    seconds `toml:"kill_wait" default:"30s" doc:"Time between SIGTERM and SIGKILL when a job is ended (KillWait)."`
	MinJobAge   seconds `toml:"min_job_age" default:"5m" doc:"How long squeue and scontrol still show a job that has ended (MinJobAge)."`
	NodeTimeout seconds `toml:"node_timeout" default:"5m" doc:"Silence after which a node is down and its jobs end or are requeued (SlurmdTimeout)."`
	Silent      seconds `toml:"silent" default:"4s" doc:"Silence after which a node is shown as not responding and gets no new job."`
	Heartbeat   millis  `toml:"heartbeat" default:"1s" doc:"Time between two heartbeats of a node."`
	OverTime    uint32  `toml:"over_time" default:"0" doc:"Minutes that a job may run over its limit (OverTimeLimit)."`
	Sampling    seconds `toml:"sampling" default:"30s" doc:"Time between two samples of a job's memory use (JobAcctGatherFrequency)."`
	BatchStart  seconds `toml:"batch_start" default:"10s" doc:"Time within which a batch script must have been started (BatchStartTimeout)." later:"watching launches"`
}

type programsTable struct {
	Prolog string  `toml:"prolog" doc:"Program that each node of a job runs before the job's first process, as the user of the node's daemon, with the job in SLURM_ variables and nothing of the user's environment. If it fails, the node is drained and the job waits, held (Prolog). It may run again where the daemon was restarted meanwhile."`
	Epilog string  `toml:"epilog" doc:"The same after the last process of a job; the node is not given to others before it has ended. If it fails, the node is drained (Epilog)."`
	Time   seconds `toml:"time" default:"5m" doc:"How long each of them may take; then it is killed and has failed (PrologEpilogTimeout)."`
}

type limitsTable struct {
	MaxArraySize count     `toml:"max_array_size" default:"1000001" doc:"The highest index of a job array is below this (MaxArraySize)."`
	MaxJobs      count     `toml:"max_jobs" default:"1000000" doc:"Most jobs that are kept in memory, waiting, running and lately ended (MaxJobCount)."`
	MaxScript    megabytes `toml:"max_script" default:"4M" doc:"Largest batch script: MB, or a size."`
	MaxEnv       megabytes `toml:"max_environment" default:"2M" doc:"Largest environment of a job: MB, or a size."`
}

type policyTable struct {
	DefMemPerCPU  megabytes `toml:"def_mem_per_cpu" default:"0" doc:"Memory for each CPU of a job that asks for none. With 0 such a job gets all memory of its nodes, and so nothing else fits beside it."`
	DefMemPerNode megabytes `toml:"def_mem_per_node" default:"0" doc:"The same for each node; only one of the two can be set."`
	MaxMemPerCPU  megabytes `toml:"max_mem_per_cpu" default:"0" doc:"Most memory that a job may ask for each CPU; 0 is no limit."`
	MaxMemPerNode megabytes `toml:"max_mem_per_node" default:"0" doc:"The same for each node; only one of the two can be set."`
	PartLimits    string    `toml:"enforce_part_limits" default:"NO" doc:"Whether a job that no limit of its partitions lets run is refused when submitted: NO (it waits), ANY (no partition would do), ALL (one would not do). EnforcePartLimits."`
	Requeue       bool      `toml:"requeue" default:"true" doc:"Batch jobs may be requeued, if they do not say otherwise (JobRequeue)."`
	AllocCores    bool      `toml:"allocate_cores" default:"true" doc:"Jobs get whole cores; with false, single hardware threads."`
	TrackMemory   bool      `toml:"track_memory" default:"true" doc:"Memory is given out like CPUs; with false, jobs share it."`
	Enforce       []string  `toml:"enforce" doc:"What accounting demands of a job: associations, limits, qos, safe (AccountingStorageEnforce)."`
	Propagate     []string  `toml:"propagate_except" doc:"Resource limits of the submitting shell that are not carried to the job, such as MEMLOCK (PropagateResourceLimitsExcept)."`
	Admins        []string  `toml:"administrators" doc:"Names of users who may change accounts and the configuration as root may, beside those whom sacctmgr makes administrators. Their jobs have no other rights for it."`
	PrivateData   []string  `toml:"private_data" doc:"What users do not see of each other: jobs, usage, accounts, users, nodes, partitions, reservations (PrivateData). Root and operators see all. Nodes and partitions are refused to users as a whole; sinfo then lists no partitions. Of reservations a user sees those that he may use."`
	Preempt       string    `toml:"preempt" default:"none" doc:"Which running jobs make room for which: none, qos (those in the list of the other's QOS), or partition_prio (those in a partition of a lower priority_tier) (PreemptType)."`
	PreemptMode   string    `toml:"preempt_mode" default:"REQUEUE" doc:"What happens to them: OFF, CANCEL or REQUEUE, where neither their QOS nor their partition says (PreemptMode). Jobs that may not be requeued are ended."`
	PreemptExempt seconds   `toml:"preempt_exempt_time" default:"0" doc:"Time that a job runs before it may be preempted (PreemptExemptTime)."`
	Completion    string    `toml:"completion_file" doc:"File to which each controller appends a line of JSON for each job that has ended (docs/reports.md has its names); empty: none (JobCompType and JobCompLoc)."`
	MailProg      string    `toml:"mail_prog" default:"/bin/mail" doc:"Program that the leading controller sends mail with, called as PROGRAM -s SUBJECT USER with nothing to read; empty: no mail (MailProg)."`
	MailDomain    string    `toml:"mail_domain" doc:"Added to the name of a user who gave no --mail-user, as NAME@DOMAIN (MailDomain)."`
	Order         string    `toml:"order" default:"slurm" doc:"How jobs of equal priority are ordered: slurm (by time of submission), balanced (short ones first, without starving others; docs/simulator.md has its numbers)."`
	OrderClasses  []string  `toml:"order_classes" doc:"Upper bounds of the classes of length of the balanced order, ascending, such as [\"2m\", \"45m\"], for jobs that ask for all CPUs of their partition. Not set: those that were chosen by simulation."`
	SchedInterval millis    `toml:"sched_interval" default:"1s" doc:"Longest time between two looks of the scheduler at the queue; it also looks whenever something changed." later:"a scheduler that also works by the clock"`
}

type priorityTable struct {
	Multifactor bool     `toml:"multifactor" default:"true" doc:"Order by the factors below; with false, by time of submission."`
	Age         uint32   `toml:"age" default:"0" doc:"Weight of the time a job waits (PriorityWeightAge)."`
	FairShare   uint32   `toml:"fair_share" default:"0" doc:"Weight of fair share (PriorityWeightFairshare)."`
	JobSize     uint32   `toml:"job_size" default:"0" doc:"Weight of the job's size (PriorityWeightJobSize)."`
	Partition   uint32   `toml:"partition" default:"0" doc:"Weight of the partition's priority_job_factor (PriorityWeightPartition)."`
	QOS         uint32   `toml:"qos" default:"0" doc:"Weight of the QOS (PriorityWeightQOS)."`
	Assoc       uint32   `toml:"association" default:"0" doc:"Weight of the association (PriorityWeightAssoc)."`
	MaxAge      seconds  `toml:"max_age" default:"7d" doc:"Waiting time from which the age counts in full (PriorityMaxAge)."`
	FavorSmall  bool     `toml:"favor_small" default:"false" doc:"Small jobs have the higher size factor (PriorityFavorSmall)."`
	HalfLife    seconds  `toml:"half_life" default:"7d" doc:"Time after which past use counts half (PriorityDecayHalfLife); 0: it does not decay."`
	Rule        string   `toml:"fair_share_rule" default:"fair_tree" doc:"How fair share follows from past use: fair_tree, or classic."`
	Damping     uint32   `toml:"fair_share_damping" default:"1" doc:"FairShareDampeningFactor of the classic rule."`
	UsageReset  string   `toml:"usage_reset" default:"NONE" doc:"When past use is forgotten (PriorityUsageResetPeriod): NONE, DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY, at midnight of the cluster's zone."`
	Billing     string   `toml:"billing" default:"SUM" doc:"How tres_billing_weights of a partition make up the billing: SUM, MAX_TRES (the highest of CPUs, memory, nodes and gres, plus the rest), or MAX_TRES_GRES (of these the gres are added)."`
	CalcPeriod  seconds  `toml:"calc_period" default:"5m" doc:"Time between two updates of use and priorities (PriorityCalcPeriod)."`
	TRES        []string `toml:"tres" doc:"Weights of resources, such as cpu=1000 or gres/gpu=2.5 (PriorityWeightTRES)." later:"weights of resources"`
}
