package slurm

// runOptions are the options on the files and the environment of the script, and what the command itself does.
func runOptions() []Option {
	return []Option{
		req("chdir", 'D', "working directory of the script", setChdir),
		no("container", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER"),
		no("container-id", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER_ID"),
		no("container-type", 0, RequiredArg, "start the container from the script", "SBATCH_CONTAINER_TYPE"),
		req("error", 'e', "file for standard error", setStderr, "SBATCH_ERROR"),
		req("export", 0, "variables to pass on: ALL, NONE, NIL or NAME[=value],…", text(func(o *Options) *string { return &o.Job.Batch.Export }), "SBATCH_EXPORT"),
		req("export-file", 0, "file of NUL separated variables to pass on", text(func(o *Options) *string { return &o.Act.ExportFile })).only(Sbatch),
		flag("get-user-env", 0, "variables of a new login of the user", func(o *Options) { o.Job.Batch.GetUserEnv = true }, "SBATCH_GET_USER_ENV").only(Sbatch),
		flag("help", 'h', "this text", func(o *Options) { o.Act.Help = true }).early(),
		flag("ignore-pbs", 0, "do not read #PBS and #BSUB lines", func(o *Options) { o.Act.IgnorePBS = true }, "SBATCH_IGNORE_PBS").only(Sbatch),
		req("input", 'i', "file for standard input", setStdin, "SBATCH_INPUT"),
		req("open-mode", 0, "append or truncate", setOpenMode, "SBATCH_OPEN_MODE"),
		req("output", 'o', "file for standard output", setStdout, "SBATCH_OUTPUT"),
		flag("parsable", 0, "print the id only", func(o *Options) { o.Act.Parsable = true }).only(Sbatch | Srun),
		opt("propagate", 0, "resource limits to pass on: ALL, NONE or names", setPropagate).only(Sbatch | Srun),
		flag("quiet", 'Q', "print nothing but errors", func(o *Options) { o.Act.Quiet = true }).early(),
		flag("test-only", 0, "say when the job could start; submit nothing", func(o *Options) { o.Act.TestOnly = true }).only(Sbatch | Srun),
		flag("usage", 0, "a short text", func(o *Options) { o.Act.Usage = true }).early(),
		flag("verbose", 'v', "say more; may be repeated", func(o *Options) { o.Act.Verbose++ }, "SBATCH_DEBUG").early(),
		flag("version", 'V', "print the version", func(o *Options) { o.Act.Version = true }).early(),
		flag("wait", 'W', "wait until the job has ended; its exit code is ours", func(o *Options) { o.Act.Wait = true }, "SBATCH_WAIT").only(Sbatch),
		req("wait-all-nodes", 0, "1: start the script once all nodes are ready", setWaitAll, "SBATCH_WAIT_ALL_NODES").only(Sbatch | Salloc).
			differs("kept; the script starts when its own node is ready, and steps wait for theirs"),
		req("wrap", 0, "run this line with sh instead of a script", setWrap).only(Sbatch).early(),
	}
}
