package slurm

// sizeOptions are the options on how many: nodes, tasks, CPUs, memory.
func sizeOptions() []Option {
	return []Option{
		req("core-spec", 'S', "cores to keep free of the job", setCoreSpec, "SBATCH_CORE_SPEC").each().
			differs("warned of and without effect, as Slurm does with AllowSpecResourcesUsage=no"),
		req("cores-per-socket", 0, "least number of cores a socket", u16("cores-per-socket", func(o *Options) *uint16 { return &o.Job.Size.CoresPerSocket })).each(),
		req("cpus-per-gpu", 0, "CPUs for each GPU", u16("cpus-per-gpu", func(o *Options) *uint16 { return &o.Job.Gres.CPUsPerGPU }), "SBATCH_CPUS_PER_GPU").each(),
		req("cpus-per-task", 'c', "CPUs for each task", u16("cpus-per-task", func(o *Options) *uint16 { return &o.Job.Size.CPUsPerTask })).each(),
		req("extra-node-info", 'B', "sockets[:cores[:threads]] of a node", setNodeInfo).each(),
		req("hint", 0, "compute_bound, memory_bound, multithread or nomultithread", setHint, "SLURM_HINT", "SBATCH_HINT").each(),
		req("mem", 0, "memory of each node: size[K|M|G|T]", setMem("mem"), "SBATCH_MEM_PER_NODE"),
		req("mem-per-cpu", 0, "memory of each CPU", setMem("mem-per-cpu"), "SBATCH_MEM_PER_CPU").each(),
		req("mem-per-gpu", 0, "memory of each GPU", setMem("mem-per-gpu"), "SBATCH_MEM_PER_GPU").each(),
		no("mem-update", 0, RequiredArg, "the memory of a running job is not changed here"),
		req("mincpus", 0, "least number of CPUs a node", u16("mincpus", func(o *Options) *uint16 { return &o.Job.Size.MinCPUsPerNode })).each(),
		req("nodes", 'N', "number of nodes: N, MIN-MAX or sizes", setNodes).each(),
		req("ntasks", 'n', "number of tasks", setTasks).each(),
		req("ntasks-per-core", 0, "most tasks a core", u16("ntasks-per-core", func(o *Options) *uint16 { return &o.Job.Size.TasksPerCore })).each(),
		req("ntasks-per-gpu", 0, "tasks for each GPU", u16("ntasks-per-gpu", func(o *Options) *uint16 { return &o.Job.Size.TasksPerGPU })).each(),
		req("ntasks-per-node", 0, "tasks of each node", u16("ntasks-per-node", func(o *Options) *uint16 { return &o.Job.Size.TasksPerNode })).each(),
		req("ntasks-per-socket", 0, "most tasks a socket", u16("ntasks-per-socket", func(o *Options) *uint16 { return &o.Job.Size.TasksPerSocket })).each(),
		no("ntasks-per-tres", 0, RequiredArg, "use --ntasks-per-gpu").each(),
		flag("overcommit", 'O', "one CPU a node for all tasks", func(o *Options) { o.Job.Size.Overcommit = true }, "SBATCH_OVERCOMMIT").each(),
		req("sockets-per-node", 0, "least number of sockets a node", u16("sockets-per-node", func(o *Options) *uint16 { return &o.Job.Size.SocketsPerNode })).each(),
		req("tasks-per-node", 0, "tasks of each node", u16("ntasks-per-node", func(o *Options) *uint16 { return &o.Job.Size.TasksPerNode })).each().also("ntasks-per-node"),
		req("thread-spec", 0, "threads to keep free of the job", setThreadSpec, "SBATCH_THREAD_SPEC").each().
			differs("warned of and without effect, as Slurm does with AllowSpecResourcesUsage=no"),
		req("threads-per-core", 0, "threads of each core", u16("threads-per-core", func(o *Options) *uint16 { return &o.Job.Size.ThreadsPerCore }), "SBATCH_THREADS_PER_CORE").each(),
		req("tmp", 0, "disk for temporary files of each node", setTmp).each(),
		flag("use-min-nodes", 0, "the fewest nodes of a range", func(o *Options) { o.Job.Place.MinimalN = true }, "SBATCH_USE_MIN_NODES").each(),
	}
}
