package slurm

// lifeOptions are the options on whose, when, and what becomes of it.
func lifeOptions() []Option {
	return []Option{
		req("account", 'A', "account to charge", text(func(o *Options) *string { return &o.Job.Account }), "SBATCH_ACCOUNT"),
		no("acctg-freq", 0, RequiredArg, "the sampling interval is set in the cluster file", "SBATCH_ACCTG_FREQ"),
		req("array", 'a', "index list of a job array: 0-9, 1,3,5-7, 0-100:10, 0-15%4",
			text(func(o *Options) *string { return &o.Array }), "SBATCH_ARRAY_INX").only(Sbatch),
		req("begin", 'b', "not before this time: now+1hour, 16:00, 2030-01-20T12:34", setBegin),
		req("comment", 0, "comment", text(func(o *Options) *string { return &o.Job.Comment })),
		req("deadline", 0, "cancel the job if it can't end before this time", setDeadline),
		req("dependency", 'd', "start after others: afterok:ID, afterany:ID, singleton, …", text(func(o *Options) *string { return &o.Dependency })),
		no("external", 0, NoArg, "there are no external jobs here").only(Sbatch).each(),
		req("extra", 0, "text that site tools may use", text(func(o *Options) *string { return &o.Job.Extra })),
		no("gid", 0, RequiredArg, "submit with that group, for example with setpriv or sg").only(Sbatch).root(),
		flag("hold", 'H', "submit the job held", func(o *Options) { o.Hold = true }),
		req("job-name", 'J', "name of the job", text(func(o *Options) *string { return &o.Job.Name }), "SBATCH_JOB_NAME"),
		req("kill-on-invalid-dep", 0, "yes: cancel a job whose dependency can't be satisfied", setKillOnDep).only(Sbatch),
		req("mail-type", 0, "events to send mail for", setMailType).each().but("there are no burst buffers", "STAGE_OUT"),
		req("mail-user", 0, "who gets the mail", setMailUser).each(),
		opt("nice", 0, "lower the priority by 100 or by the value", setNice),
		opt("no-kill", 'k', "go on when a node is lost", setNoKill, "SBATCH_NO_KILL"),
		flag("no-requeue", 0, "never run the job again", func(o *Options) { o.setRequeue(false) }, "SBATCH_NO_REQUEUE").only(Sbatch),
		no("oom-kill-step", 0, OptionalArg, "a step that runs out of memory ends on all its nodes"),
		req("priority", 0, "fixed priority (operators only)", setPriority),
		req("profile", 0, "none; profiles are not kept", setProfile, "SBATCH_PROFILE").differs("profiles are not kept: only none is taken"),
		req("qos", 'q', "quality of service", text(func(o *Options) *string { return &o.Job.QOS }), "SBATCH_QOS"),
		opt("requeue", 0, "run the job again after a failure of its node", setRequeue, "SBATCH_REQUEUE").only(Sbatch).but("use --requeue", "expedite"),
		req("signal", 0, "signal before the end: [{R|B}:]signal[@seconds]", setSignal, "SBATCH_SIGNAL"),
		no("stepmgr", 0, NoArg, "steps are managed by the nodes of the job already"),
		req("time", 't', "time limit", setTime, "SBATCH_TIMELIMIT"),
		req("time-min", 0, "least time limit that will do", setTimeMin),
		no("uid", 0, RequiredArg, "submit as that user, for example with setpriv or su").only(Sbatch).root(),
		req("wckey", 0, "workload key", text(func(o *Options) *string { return &o.Job.WCKey }), "SBATCH_WCKEY"),
	}
}
