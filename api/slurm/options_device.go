package slurm

// deviceOptions are the options on devices, licences and what is bound to them.
func deviceOptions() []Option {
	return []Option{
		no("bb", 0, RequiredArg, "there are no burst buffers here", "SBATCH_BURST_BUFFER").each(),
		no("bbf", 0, RequiredArg, "there are no burst buffers here").each(),
		no("cpu-freq", 0, RequiredArg, "processor frequencies are left to the node", "SBATCH_CPU_FREQ_REQ").each(),
		req("gpu-bind", 0, "how tasks are bound to GPUs", setGPUBind, "SBATCH_GPU_BIND").each().
			differs("as in Slurm by the variables of the tasks, which can still open all GPUs of their job; verbose prints nothing"),
		no("gpu-freq", 0, RequiredArg, "GPU frequencies are left to the node", "SBATCH_GPU_FREQ").each(),
		req("gpus", 'G', "GPUs of the whole job: [type:]count", setGPUs, "SBATCH_GPUS").each(),
		req("gpus-per-node", 0, "GPUs of each node", setGPUsPerNode, "SBATCH_GPUS_PER_NODE").each(),
		req("gpus-per-socket", 0, "GPUs of each socket", setGPUsPerSocket, "SBATCH_GPUS_PER_SOCKET").each(),
		req("gpus-per-task", 0, "GPUs of each task", setGPUsPerTask, "SBATCH_GPUS_PER_TASK").each(),
		req("gres", 0, "generic resources of each node: name[:type][:count],…", setGres, "SBATCH_GRES").each(),
		req("gres-flags", 0, "disable-binding, enforce-binding, …", setGresFlags, "SBATCH_GRES_FLAGS").each().
			but("use multiple-tasks-per-sharing", "one-task-per-sharing", "allow-task-sharing").
			differs("with enforce-binding a job waits until the cores that it needs are free beside its devices, whatever the order of the queue; multiple-tasks-per-sharing is what is always done"),
		req("licenses", 'L', "licences: name[:count],…", text(func(o *Options) *string { return &o.Job.Licenses })).each(),
		no("mem-bind", 0, RequiredArg, "memory follows the CPUs of a job; use numactl in the script", "SBATCH_MEM_BIND").only(Sbatch | Salloc).each(),
		no("network", 0, RequiredArg, "there is no switch plug-in here", "SBATCH_NETWORK").each(),
		no("resources", 0, RequiredArg, "use --licenses").each(),
		req("tres-bind", 0, "how tasks are bound to GPUs: gres/gpu:TYPE", setTRESBind, "SBATCH_TRES_BIND").each().
			differs("for gres/gpu only, as --gpu-bind"),
		req("tres-per-task", 0, "resources of each task: cpu=2,gres/gpu=1", setTRESPerTask, "SBATCH_TRES_PER_TASK").each(),
	}
}
