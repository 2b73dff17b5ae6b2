package differ

// judgedChanges are differences of commands that change things.
func judgedChanges() []entry {
	const (
		moment  = "the moment"
		placing = "which of several free nodes"
		wording = "said in our own words; the exit code is Slurm's"
	)
	return []entry{
		{where: "record:.*", key: `waiting: (root: )?scontrol release .*`, reason: "whether the job has started or ended when somebody looks"},
		{where: "record:(EligibleTime|StartTime|EndTime)", key: `waiting: .*StartTime=(tomorrow|now).*`, reason: moment},
		{where: "record:(StartTime|EndTime)", key: "waiting: scancel .*", want: "submit", got: "Unknown|submit", reason: "a job that was cancelled before it began has no start"},
		{where: "record:SecsPreSuspend", reason: moment},
		{where: "record:line0", key: "node: .*", want: `.*\*.*`, reason: "the recorded cluster was slow to answer"},
		{where: "stdout", key: "node: .*show node.*", reason: "tells of the machine and of the moment"},
		{where: "stderr", key: `waiting: .*jobname=base.*|waiting: scontrol (hold|release) jobname=base`, want: "Job has already finished.*", reason: "a name means the jobs that have not ended"},
		{where: "record:.*", key: `waiting: scontrol (release|hold) jobname=base`, reason: "whether the job has started or ended when somebody looks"},
		{where: "record:MinNodes", key: "partition: .*", want: "1|4294967295", got: "0", reason: "a new partition asks for no least number of nodes; a count that can't be read is refused"},
		{where: "stderr", key: "allocation: .*", want: `salloc: Granted job allocation <ID>\nsalloc: Nodes n\d are ready for job\nsalloc: Relinquishing job allocation <ID>\n.*`,
			got: `salloc: Granted job allocation <ID>\nsalloc: Nodes n\d are ready for job\nsalloc: Relinquishing job allocation <ID>\n`, reason: placing},
		{where: "stderr", key: "allocation: srun --test-only .*", want: `srun: Job <ID> to start at <now> a using \d+ processors on nodes n\S+ in partition debug\n`,
			got: `srun: Job <ID> to start at <now> a using \d+ processors on nodes n\S+ in partition debug\n`, reason: placing},
		{where: "code|stderr", key: `allocation: .*--segment=\d+ .*`, reason: "where no blocks of nodes are declared a job that asks for segments says so and waits"},
		{where: "stderr", key: "array: .*", want: ".*(_parse_single_range|_1,3-4).*", reason: wording},
	}
}
