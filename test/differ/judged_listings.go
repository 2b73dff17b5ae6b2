package differ

// judgedListings are differences of commands that show and change things.
func judgedListings() []entry {
	const (
		strict  = "a word, a number or a letter that can't be read is refused; Slurm passes over it or takes it for some other"
		ours    = "said in our own words; the exit code is Slurm's"
		placing = "where a job ran"
	)
	return []entry{
		{where: "code|stdout|stderr", key: `(squeue|sinfo) .*%(12)?0.*|(squeue|sinfo) -S '?(\?|bogus).*|sinfo extra|squeue extra|squeue .*'name:-10\|'`, reason: strict},
		{where: "code|stderr", key: `scancel (1_|99999999999|@0@\.77|--signal=99 999999)`, reason: strict},
		{where: "code|stderr", key: `scontrol show (hostnames( 'n\[3-1\]')?|node 'n\[1-')|scontrol write batch_script 999999`, reason: strict},
		{where: "code|stdout|stderr", key: `sacct .*(jobname%0|%abc|state%\.5).*`, reason: strict},
		{where: "stdout", key: `(sinfo) .*(%(\d+|\.\d+)?n|NodeHost).*`, want: "(?s).*vm.*|.*vm.*", reason: "several nodes on one host"},
		{where: "stdout|stderr", key: `sinfo .*GresFrag.*`, reason: "a field of our own"},
		{where: "stdout|stderr", key: `sinfo .*-O.*Priority.*`, reason: "sinfo(1) has the field; Slurm 26.05.3 does not know it"},
		{where: "code|stderr", key: `scontrol update job=@5@ priority=99`, want: "1|(Changes to job priority are not persistent|Access/permission denied).*", reason: "a priority that its user lowers stays; Slurm lowers it for a while and says so"},
		{where: "stdout", key: `sinfo -O (features_act|State\w+)`, same: true, reason: "which of two lines comes first, where nothing says so"},
		{where: "stdout", key: `sacct .*(NodeList).*`, want: `[a-z0-9 |\n]*`, got: `[a-z0-9 |\n]*`, reason: placing},
		{where: "stdout", key: `sacct .*-N n1 .*`, more: "done|bad", reason: placing},
		{where: "stdout", key: `sacct .*Comment.*`, want: `[a-z0-9 |\n]*`, got: `[a-z0-9 |\n]*\bfirst\b[a-z0-9 |\n]*`, reason: "a job's comment is kept; Slurm keeps it with a setting"},
		{where: "stdout", key: `sacct .*(AssocID|QOSRAW).*`, got: "(?s)[^0-9|]*(run1|batch|run2|done|bad|[ |\n])*", reason: "there are no numbers of a database"},
		{where: "stdout", key: `sacct .*(Ave|Max|Min|TRESUsage).*`, want: "(?s)(run1|run2|done|bad|batch|energy=0|[|\n])*", reason: "measured here; the recorded cluster gathers nothing of short jobs"},
		{where: "stdout", key: `sacct -X .*-S now-1hours .*`, more: `held|beg(in|\+)|arr(ay|\+)|dep(ends|\+)|gpus|gone|<J([4-79]|12)>`, reason: "jobs that wait or were cancelled before they could start are shown too: a record is there from the moment that submit returns"},
		{where: "stdout", key: `sinfo (-N|.* -N|-O State).*|squeue (-j|--nohead)`, same: true, reason: "the order of equal lines, which in Slurm changes from call to call"},
		{where: "stdout", key: `sacct .*Flags.*`, want: "[^C]*(SchedBackfill|SchedMain),Star.*", got: "[^C]*SchedMain,Star.*", reason: "which scheduler started a job"},
		{where: "stdout", key: `sacct .*PlannedCPURAW.*`, want: `([a-z0-9]+[ |]*\d*[ |]*\d*[ |]*\n\s*)*`, got: `\s*([a-z0-9]+[ |]*\d*[ |]*\d*[ |]*\n\s*)*`, reason: "how long a job waited"},
		{where: "stdout", key: `squeue .*%12L.*`, want: `TIME_LEFT[^a-z]*(<span>|[^a-z])*`, got: `TIME_LEFT[^a-z]*(<span>|[^a-z])*`, reason: "the moment"},
		{where: "stdout", key: `sacct -X -n -I 4 .*`, reason: "a job of four CPUs has four CPUs"},
		{where: "code|stderr", key: `sacct .*-q nosuch .*`, reason: "a QOS that does not exist has no jobs"},
		{where: "stderr", key: `scontrol (notify|reboot|reconfigure|shutdown|setdebug|token|listjobs).*`, want: ".+", got: "scontrol: .*", reason: ours},
		{where: "stderr", key: `scontrol (top 999999|delete partition=debug|update job=@0@ numnodes=2)|sattach abc`, reason: ours},
		{where: "stdout", key: `scontrol show topology`, want: "", reason: ours},
		{where: "stdout", key: `sstat -e`, reason: "Pids are not listed"},
	}
}
