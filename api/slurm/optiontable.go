package slurm

// Option is one line of the table of job options. The same table makes the
// grammar, the directive reader, the input variables and the help text.
type Option struct {
	Flag
	Env    []string // sbatch's input variables, a later one wins
	For    Program
	Each   bool   // not taken over by later components of a heterogeneous job
	Early  bool   // read from the command line and the environment only
	Refuse string // why it is refused and what to use instead; Set is nil then
	Set    func(o *Options, value string) error
	Help   string // one line for --help
}

// opt, req and flag make table lines: an option with an optional value, a
// required one, or none.
func opt(name string, short byte, help string, set func(*Options, string) error, env ...string) Option {
	return Option{Flag: Flag{name, short, OptionalArg}, Env: env, For: allPrograms, Help: help, Set: set}
}

func req(name string, short byte, help string, set func(*Options, string) error, env ...string) Option {
	return Option{Flag: Flag{name, short, RequiredArg}, Env: env, For: allPrograms, Help: help, Set: set}
}

func flag(name string, short byte, help string, set func(*Options), env ...string) Option {
	return Option{Flag: Flag{name, short, NoArg}, Env: env, For: allPrograms, Help: help,
		Set: func(o *Options, _ string) error { set(o); return nil }}
}

// no makes the line of an option that is refused.
func no(name string, short byte, arg Arg, why string, env ...string) Option {
	return Option{Flag: Flag{name, short, arg}, Env: env, For: allPrograms, Refuse: why, Help: "not supported: " + why}
}

func (o Option) only(p Program) Option { o.For = p; return o }
func (o Option) each() Option          { o.Each = true; return o }
func (o Option) early() Option         { o.Early = true; return o }

// optionTable has all long options of sbatch(1) of Slurm 26.05 by name. It is
// never changed.
var optionTable = []Option{
	req("account", 'A', "account to charge", text(func(o *Options) *string { return &o.Job.Account }), "SBATCH_ACCOUNT"),
	no("acctg-freq", 0, RequiredArg, "the sampling interval is set in the cluster file", "SBATCH_ACCTG_FREQ"),
	req("array", 'a', "index list of a job array: 0-9, 1,3,5-7, 0-100:10, 0-15%4",
		text(func(o *Options) *string { return &o.Array }), "SBATCH_ARRAY_INX").only(Sbatch),
	no("batch", 0, RequiredArg, "name the node's features with --constraint", "SBATCH_BATCH").only(Sbatch),
	no("bb", 0, RequiredArg, "there are no burst buffers here", "SBATCH_BURST_BUFFER").each(),
	no("bbf", 0, RequiredArg, "there are no burst buffers here").each(),
	req("begin", 'b', "not before this time: now+1hour, 16:00, 2030-01-20T12:34", setBegin),
	req("chdir", 'D', "working directory of the script", setChdir),
	no("cluster", 0, RequiredArg, "submit on a host of that cluster"),
	no("cluster-constraint", 0, RequiredArg, "there is no federation here", "SBATCH_CLUSTER_CONSTRAINT"),
	req("clusters", 'M', "name of this cluster", text(func(o *Options) *string { return &o.Job.Cluster }), "SBATCH_CLUSTERS", "SLURM_CLUSTERS"),
	req("comment", 0, "comment", text(func(o *Options) *string { return &o.Job.Comment }), "SBATCH_COMMENT"),
	no("consolidate-segments", 0, NoArg, "there is no block topology here", "SBATCH_CONSOLIDATE_SEGMENTS").each(),
	req("constraint", 'C', "features that the nodes must have", text(func(o *Options) *string { return &o.Job.Place.Constraint }), "SBATCH_CONSTRAINT").each(),
	no("container", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER"),
	no("container-id", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER_ID"),
	no("container-type", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER_TYPE"),
	flag("contiguous", 0, "nodes that are next to each other", func(o *Options) { o.Job.Place.Contiguous = true }).each(),
	req("core-spec", 'S', "cores to keep free of the job", setCoreSpec, "SBATCH_CORE_SPEC").each(),
	req("cores-per-socket", 0, "least number of cores a socket", u16("cores-per-socket", func(o *Options) *uint16 { return &o.Job.Size.CoresPerSocket })).each(),
	no("cpu-freq", 0, RequiredArg, "processor frequencies are left to the node", "SBATCH_CPU_FREQ_REQ").each(),
	req("cpus-per-gpu", 0, "CPUs for each GPU", u16("cpus-per-gpu", func(o *Options) *uint16 { return &o.Job.Gres.CPUsPerGPU }), "SBATCH_CPUS_PER_GPU").each(),
	req("cpus-per-task", 'c', "CPUs for each task", u16("cpus-per-task", func(o *Options) *uint16 { return &o.Job.Size.CPUsPerTask })).each(),
	req("deadline", 0, "cancel the job if it can't end before this time", setDeadline),
	no("delay-boot", 0, RequiredArg, "nodes are not booted for jobs here", "SBATCH_DELAY_BOOT"),
	req("dependency", 'd', "start after others: afterok:ID, afterany:ID, singleton, …", text(func(o *Options) *string { return &o.Dependency })),
	req("distribution", 'm', "how tasks are spread: block, cyclic, plane=N, arbitrary", setDistribution, "SBATCH_DISTRIBUTION").each(),
	req("error", 'e', "file for standard error", setStderr, "SBATCH_ERROR"),
	req("exclude", 'x', "nodes not to use", text(func(o *Options) *string { return excludeText(o) })),
	opt("exclusive", 0, "whole nodes, shared with no other job (user: with one's own)", setExclusive, "SBATCH_EXCLUSIVE").each(),
	req("export", 0, "variables to pass on: ALL, NONE, NIL or NAME[=value],…", text(func(o *Options) *string { return &o.Job.Batch.Export }), "SBATCH_EXPORT"),
	req("export-file", 0, "file of NUL separated variables to pass on", text(func(o *Options) *string { return &o.Act.ExportFile })).only(Sbatch),
	no("external", 0, NoArg, "there are no external jobs here").only(Sbatch).each(),
	req("extra", 0, "text that site tools may use", text(func(o *Options) *string { return &o.Job.Extra })),
	req("extra-node-info", 'B', "sockets[:cores[:threads]] of a node", setNodeInfo).each(),
	flag("get-user-env", 0, "variables of a new login of the user", func(o *Options) { o.Job.Batch.GetUserEnv = true }, "SBATCH_GET_USER_ENV").only(Sbatch),
	req("gid", 0, "group of the job (root only)", setGID).only(Sbatch),
	req("gpu-bind", 0, "how tasks are bound to GPUs", text(func(o *Options) *string { return &o.Job.Gres.Bind }), "SBATCH_GPU_BIND").each(),
	no("gpu-freq", 0, RequiredArg, "GPU frequencies are left to the node", "SBATCH_GPU_FREQ").each(),
	req("gpus", 'G', "GPUs of the whole job: [type:]count", setGPUs, "SBATCH_GPUS").each(),
	req("gpus-per-node", 0, "GPUs of each node", setGPUsPerNode, "SBATCH_GPUS_PER_NODE").each(),
	req("gpus-per-socket", 0, "GPUs of each socket", setGPUsPerSocket, "SBATCH_GPUS_PER_SOCKET").each(),
	req("gpus-per-task", 0, "GPUs of each task", setGPUsPerTask, "SBATCH_GPUS_PER_TASK").each(),
	req("gres", 0, "generic resources of each node: name[:type][:count],…", setGres, "SBATCH_GRES").each(),
	req("gres-flags", 0, "disable-binding, enforce-binding, …", setGresFlags, "SBATCH_GRES_FLAGS").each(),
	flag("help", 'h', "this text", func(o *Options) { o.Act.Help = true }).early(),
	req("hint", 0, "compute_bound, memory_bound, multithread or nomultithread", setHint, "SLURM_HINT", "SBATCH_HINT").each(),
	flag("hold", 'H', "submit the job held", func(o *Options) { o.Hold = true }),
	flag("ignore-pbs", 0, "do not read #PBS and #BSUB lines", func(o *Options) { o.Act.IgnorePBS = true }, "SBATCH_IGNORE_PBS").only(Sbatch),
	req("input", 'i', "file for standard input", setStdin, "SBATCH_INPUT"),
	req("job-name", 'J', "name of the job", text(func(o *Options) *string { return &o.Job.Name }), "SBATCH_JOB_NAME"),
	req("kill-on-invalid-dep", 0, "yes: cancel a job whose dependency can't be satisfied", setKillOnDep).only(Sbatch),
	req("licenses", 'L', "licences: name[:count],…", text(func(o *Options) *string { return &o.Job.Licenses })).each(),
	req("mail-type", 0, "events to send mail for", setMailType).each(),
	req("mail-user", 0, "who gets the mail", text(func(o *Options) *string { return &o.Job.Mail.User })).each(),
	no("mcs-label", 0, RequiredArg, "there are no MCS labels here"),
	req("mem", 0, "memory of each node: size[K|M|G|T]", setMem("mem"), "SBATCH_MEM_PER_NODE"),
	no("mem-bind", 0, RequiredArg, "memory follows the CPUs of a job; use numactl in the script", "SBATCH_MEM_BIND").each(),
	req("mem-per-cpu", 0, "memory of each CPU", setMem("mem-per-cpu"), "SBATCH_MEM_PER_CPU").each(),
	req("mem-per-gpu", 0, "memory of each GPU", setMem("mem-per-gpu"), "SBATCH_MEM_PER_GPU").each(),
	no("mem-update", 0, RequiredArg, "the memory of a running job is not changed here"),
	req("mincpus", 0, "least number of CPUs a node", u16("mincpus", func(o *Options) *uint16 { return &o.Job.Size.MinCPUsPerNode })).each(),
	no("network", 0, RequiredArg, "there is no switch plug-in here", "SBATCH_NETWORK").each(),
	opt("nice", 0, "lower the priority by 100 or by the value", setNice),
	opt("no-kill", 'k', "go on when a node is lost", setNoKill, "SBATCH_NO_KILL"),
	flag("no-requeue", 0, "never run the job again", func(o *Options) { o.setRequeue(false) }, "SBATCH_NO_REQUEUE").only(Sbatch),
	req("nodefile", 'F', "file of nodes to use", text(func(o *Options) *string { return &o.NodeFile })).each(),
	req("nodelist", 'w', "nodes to use", text(func(o *Options) *string { return includeText(o) })).each(),
	req("nodes", 'N', "number of nodes: N, MIN-MAX or sizes", setNodes).each(),
	req("ntasks", 'n', "number of tasks", setTasks).each(),
	req("ntasks-per-core", 0, "most tasks a core", u16("ntasks-per-core", func(o *Options) *uint16 { return &o.Job.Size.TasksPerCore })).each(),
	req("ntasks-per-gpu", 0, "tasks for each GPU", u16("ntasks-per-gpu", func(o *Options) *uint16 { return &o.Job.Size.TasksPerGPU })).each(),
	req("ntasks-per-node", 0, "tasks of each node", u16("ntasks-per-node", func(o *Options) *uint16 { return &o.Job.Size.TasksPerNode })).each(),
	req("ntasks-per-socket", 0, "most tasks a socket", u16("ntasks-per-socket", func(o *Options) *uint16 { return &o.Job.Size.TasksPerSocket })).each(),
	no("ntasks-per-tres", 0, RequiredArg, "use --ntasks-per-gpu").each(),
	no("oom-kill-step", 0, OptionalArg, "a step that runs out of memory ends on all its nodes"),
	req("open-mode", 0, "append or truncate", setOpenMode, "SBATCH_OPEN_MODE"),
	req("output", 'o', "file for standard output", setStdout, "SBATCH_OUTPUT"),
	flag("overcommit", 'O', "one CPU a node for all tasks", func(o *Options) { o.Job.Size.Overcommit = true }, "SBATCH_OVERCOMMIT").each(),
	flag("oversubscribe", 's', "share cores with other jobs", func(o *Options) { o.Job.Place.Sharing = shareCores }).each(),
	flag("parsable", 0, "print the id only", func(o *Options) { o.Act.Parsable = true }).only(Sbatch | Srun),
	req("partition", 'p', "partitions to run in", setPartition, "SBATCH_PARTITION").each(),
	req("prefer", 0, "features that the nodes should have", text(func(o *Options) *string { return &o.Job.Place.Prefer })).each(),
	req("priority", 0, "fixed priority (operators only)", setPriority),
	req("profile", 0, "none; profiles are not kept", setProfile, "SBATCH_PROFILE"),
	opt("propagate", 0, "resource limits to pass on: ALL, NONE or names", setPropagate).only(Sbatch | Srun),
	req("qos", 'q', "quality of service", text(func(o *Options) *string { return &o.Job.QOS }), "SBATCH_QOS"),
	flag("quiet", 'Q', "print nothing but errors", func(o *Options) { o.Act.Quiet = true }).early(),
	no("reboot", 0, NoArg, "nodes are not booted for jobs here"),
	opt("requeue", 0, "run the job again after a failure of its node", setRequeue, "SBATCH_REQUEUE").only(Sbatch),
	req("reservation", 0, "run in these reservations", text(func(o *Options) *string { return &o.Job.Reservation }), "SBATCH_RESERVATION"),
	no("resources", 0, RequiredArg, "use --licenses").each(),
	no("resv-ports", 0, OptionalArg, "ports are not reserved here").each(),
	no("segment", 0, RequiredArg, "there is no block topology here", "SBATCH_SEGMENT_SIZE").each(),
	req("signal", 0, "signal before the end: [{R|B}:]signal[@seconds]", setSignal, "SBATCH_SIGNAL"),
	req("sockets-per-node", 0, "least number of sockets a node", u16("sockets-per-node", func(o *Options) *uint16 { return &o.Job.Size.SocketsPerNode })).each(),
	flag("spread-job", 0, "as many nodes as possible", func(o *Options) { o.Job.Place.Spread = true }, "SBATCH_SPREAD_JOB").each(),
	no("spread-segments", 0, NoArg, "there is no block topology here", "SBATCH_SPREAD_SEGMENTS").each(),
	no("stepmgr", 0, NoArg, "steps are managed by the nodes of the job already"),
	req("switches", 0, "most switches, and how long to wait for that: count[@time]", setSwitches).each(),
	req("tasks-per-node", 0, "tasks of each node", u16("tasks-per-node", func(o *Options) *uint16 { return &o.Job.Size.TasksPerNode })).each(),
	flag("test-only", 0, "say when the job could start; submit nothing", func(o *Options) { o.Act.TestOnly = true }).only(Sbatch | Srun),
	req("thread-spec", 0, "threads to keep free of the job", setThreadSpec, "SBATCH_THREAD_SPEC").each(),
	req("threads-per-core", 0, "threads of each core", u16("threads-per-core", func(o *Options) *uint16 { return &o.Job.Size.ThreadsPerCore }), "SBATCH_THREADS_PER_CORE").each(),
	req("time", 't', "time limit", setTime, "SBATCH_TIMELIMIT"),
	req("time-min", 0, "least time limit that will do", setTimeMin),
	req("tmp", 0, "disk for temporary files of each node", setTmp).each(),
	no("tres-bind", 0, RequiredArg, "use --gpu-bind", "SBATCH_TRES_BIND").each(),
	req("tres-per-task", 0, "resources of each task: cpu=2,gres/gpu=1", setTRESPerTask, "SBATCH_TRES_PER_TASK").each(),
	req("uid", 0, "user of the job (root only)", setUID).only(Sbatch),
	flag("usage", 0, "a short text", func(o *Options) { o.Act.Usage = true }).early(),
	flag("use-min-nodes", 0, "the fewest nodes of a range", func(o *Options) { o.Job.Place.MinimalN = true }, "SBATCH_USE_MIN_NODES").each(),
	flag("verbose", 'v', "say more; may be repeated", func(o *Options) { o.Act.Verbose++ }, "SBATCH_DEBUG").early(),
	flag("version", 'V', "print the version", func(o *Options) { o.Act.Version = true }).early(),
	flag("wait", 'W', "wait until the job has ended; its exit code is ours", func(o *Options) { o.Act.Wait = true }, "SBATCH_WAIT").only(Sbatch),
	req("wait-all-nodes", 0, "1: start the script once all nodes are ready", setWaitAll, "SBATCH_WAIT_ALL_NODES").only(Sbatch | Salloc),
	req("wckey", 0, "workload key", text(func(o *Options) *string { return &o.Job.WCKey }), "SBATCH_WCKEY"),
	req("wrap", 0, "run this line with sh instead of a script", setWrap).only(Sbatch).early(),
}
