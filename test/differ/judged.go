package differ

// What Slurm makes of values that it can't read, or reads in ways of its own.
const (
	unread = "Slurm takes a value that it can't read as none, or as some other; refused here, since no user means that"
	beyond = "beyond what is counted here; refused, where Slurm lets the job wait for good"
	spelt  = "names are taken as they are written; Slurm passes over upper and lower case"
	number = "the job's number"
)

// refusedHere are the entries of cases that Slurm takes and that are refused here.
func refusedHere(key, reason string) []entry {
	return []entry{
		{where: "code", key: key, want: "0", got: "1|255", reason: reason},
		{where: "stdout", key: key, want: "(Submitted batch job )?<ID>.*", got: "|255", reason: reason},
		{where: "stderr", key: key, want: "", got: ".*(error|fatal): .*", reason: reason},
	}
}

// judged are differences that were found by the generator, looked at, and left.
func judged() []entry {
	var out []entry
	for _, r := range [][2]string{
		{`sbatch .*--time(-min)?=(-5|1-|2147483647|4294967294|99999999999)( .*)?`, unread},
		{`sbatch --(begin|deadline)=now\+99999999999 .*`, beyond},
		{`sbatch --switches=1@(|-1|10@10|infinite|x) .*`, unread},
		{`sbatch --signal=(-1|65|99|USR1@) .*`, unread},
		{`sbatch --(nice|priority)=(|1\.5|abc|x+….*|2147483645|4294967293)( .*)?`, unread},
		{`sbatch --gpus-per-task=(abc|gpu|gpu:gpu:1|a100|a:b:c|1:|x+….*)( .*)?`, unread},
		{`sbatch --gpu-bind=(single:0|single:x|map_gpu:) .*`, unread},
		{`sbatch --nodes=(-1|-2) .*`, unread},
		{`sbatch --nodes=(2m|99999999) .*`, beyond},
		{`sbatch --extra-node-info=(65535|99999) .*`, beyond},
		{`sbatch --(propagate=NOFILE,|propagate=all --propagate=ALL|wait-all-nodes=|licenses=foo:0|licenses=foo:1,|export==1|hint=nomultithread,compute_bound) .*`, unread},
		{`sbatch '--constraint=fast&' .*`, unread},
		{`sbatch .*--(account=PHYS|qos=NORMAL|clusters=CONFORM) .*`, spelt},
		{`sbatch .*--mail-u\S*[= ]?\S*a b.*`, "an address with a blank is none, and could be an option of the mail program"},
		{`sbatch --mincpus=4 .*--mem-per-cpu=1G`, "four CPUs of 1G each are more than a node has: refused at once"},
		{`sbatch .*--extra-node-info=1:2:3:4 .*`, unread},
		{`sbatch .*--ntasks-per-g\S*[ =]\d+ .*|sbatch .*--ntasks-per-gpu=2`, "tasks that make no whole number of GPUs: Slurm says so and lets the job wait for good"},
	} {
		out = append(out, refusedHere(r[0], r[1])...)
	}
	out = append(out, judgedListings()...)
	out = append(out, judgedChanges()...)
	return append(out, []entry{
		{where: "code|stdout|stderr", key: `sbatch .*=6553[2-6] .*`, reason: "Slurm keeps these counts in 16 bits, in which the highest five numbers mean something else"},
		{where: "stderr", options: []string{"verbose"}, want: ".*defined options.*", reason: "what --verbose adds is said in our own words"},
		{where: "stderr", key: `.*--(gpus|gres)\S*[= ].*`, want: `.*(Requested node configuration|Invalid Trackable|option requires --sockets|Failed to validate job spec|parameter too long).*`,
			got: `sbatch: error: Invalid generic resource \(gres\) specification\n`, reason: "refused as well: that a list of devices can't be read is said before what it would ask for"},
		{where: "stderr", want: `Invalid time specification \(pos=-?\d+\).*`, got: `Invalid time specification \(pos=\d+\).*`, reason: "the place in the text at which the reading stopped"},
		{where: "record:Std(Out|Err|In)", want: `DIR/0{3,}\d+`, got: `DIR/0{3,}\d+`, reason: number},
		{where: "env:SLURM_JOB_?ID", key: "run: sbatch --array.*", want: `\d+`, got: `\d+`, reason: number},
		{where: "record:Std(Out|Err|In)", key: `sbatch --(output|error|input)=(|%|trailing%|%u/%N) .*|sbatch --array= .*`, reason: "a % that begins no pattern stays, a name that is empty is none, and there is no node before the start"},
		{where: "record:(Comment|Extra|ExcNodeList|Prefer|Features|JobName|TresBind)", key: `sbatch --[a-z-]+= .*`, want: `( DelayBoot=\S+)?`, reason: "a text that is empty is none"},
		{where: "env:SLURM_(NTASKS|CPUS_PER_TASK|GPUS|ARRAY_TASK_ID|RESTART_COUNT)", key: "run: SLURM_.*", got: `\(not there\)`, reason: "what tells of the job around sbatch is not taken over into the new one"},
		{where: "env:SLURM_MEM_PER_NODE", key: "run: .*--mem=0 .*", want: `\(not there\)`, reason: "the memory that the job has is told; Slurm tells none where all was asked for"},
		{where: "code|stdout|stderr", key: "run: SLURM_JWT=x .*", reason: "callers are known by their user id on the host: a token in the environment is not read"},
		{where: "stderr", key: `sbatch --mem(-per-cpu|-per-gpu)?=9223372036854775807 .*|sbatch --mail-user=x+….*`, reason: "refused as well, by the option itself"},
		{where: "code", key: `sbatch --(tmp=9223372036854775807|mail-user=x+….*|time-min=(-5|1-|2147483647|4294967294|99999999999)) .*`, want: "1", got: "255", reason: "refused as well, by the option itself"},
		{where: "code|stdout|stderr", key: `sbatch .*--prefer=(fast&slow|slow).*|sbatch '--prefer=fast&slow' .*`, want: "1||.*Requested node configuration is not available.*", reason: "a wish that no node meets is passed over; Slurm refuses the job"},
		{where: "stderr", key: `.*(-M ?|--clusters[ =])conform.*`, want: "sbatch: error: Batch job submission failed: Invalid generic resource.*", got: ".*Invalid generic resource.*", reason: "with -M Slurm leaves the check to the cluster; here the commands make it always, and say what does not go together"},
		{where: "stderr", key: `sbatch .*--(tres-per-task|gpus-per-task)=.*`, want: ".*(Invalid generic resource|Invalid Trackable|Invalid --tres-per-task|parameter too long).*", got: ".*(Invalid generic resource|Invalid Trackable|Invalid --tres-per-task).*", reason: "refused as well: which of several faults is said first"},
		{where: "stderr", key: `sbatch --(partition|nodelist|extra-node-info)=.*`, want: ".*(parameter too long|Invalid node name|can not be satisfied).*", got: "sbatch: error: .*", reason: "refused as well, by the option itself"},
		{where: "stderr", key: `sbatch .*--thread-spec=2 .*-S2`, want: ".*mutually exclusive\n", got: ".*mutually exclusive\n", reason: "refused as well, after the warnings of both options"},
		{where: "stderr", key: `sbatch --external yes .*`, reason: "the script is read before the options are checked against it"},
		{where: "record:Reason", key: `sbatch --n(tasks|odes)=.*`, want: "PartitionConfig", got: "BeginTime|PartitionNodeLimit", reason: "what Slurm shows for a moment after the submit; then it shows what we do"},
		{where: "record:(NumCPUs|NumTasks|ReqTRES|NumNodes)", key: `sbatch --nodes=(0-2|1,) .*`, reason: unread},
		{where: "record:(MemPerTres|MinMemory(CPU|TRES))", key: `sbatch --mem-per-gpu=0G? .*`, reason: "no memory by GPU is none asked: the default counts"},
		{where: "record:TimeMin", key: `sbatch --deadline=now\+1hour -p short .*`, reason: "a least time that nobody asked for is not made up"},
		{where: "record:NumNodes", key: `sbatch .*--spread-j.*|sbatch '--prefer=fast\*2' .*`, want: "[1-4](-4)?", got: "[1-4](-4)?", reason: "over how many nodes a job is spread is known when it starts; until then the least is shown, and a wish for nodes asks for none"},
		{where: "stderr", key: `sbatch .*--test-only.*`, want: `sbatch: Job <ID> to start at \S+ a using \d+ processors on nodes n\[1-4\] .*`, got: `sbatch: Job <ID> to start at \S+ a using \d+ processors on nodes n1 .*`, reason: "the fewest nodes that will do, as the job itself would get them"},
		{where: "stderr", key: `sbatch --test-only .*--deadline=2036-01-01`, want: `sbatch: Job <ID> to start at \S+ a using 1 .*`, got: `sbatch: Job <ID> to start at \S+ a using 1 .*`, reason: "the moment of the question"},
		{where: "env:SLURM_JOB_PARTITION", key: "run: sbatch -p debug,short .*", want: "debug", got: "short", reason: "the partition of the highest tier is tried first; Slurm does so only for a job that waits"},
		{where: "code", key: `sbatch --mem(-per-cpu|-per-gpu)?=9223372036854775807 .*`, want: "1", got: "255", reason: "refused as well, by the option itself"},
	}...)
}
