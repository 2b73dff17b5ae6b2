package main

import (
	"muster/api/slurm"
)

// noTriggers is what strigger says of all that it can be asked for.
const noTriggers = "there are no triggers here; watch events with squeue and sinfo, or let jobs send mail with --mail-type"

// striggerFlags are the options of strigger(1), so that each is refused by name.
func striggerFlags() []slurm.Flag {
	const r, n = slurm.RequiredArg, slurm.NoArg
	flags := []slurm.Flag{
		{Name: "backup_slurmctld_assumed_control", Short: 'C', Arg: n}, {Name: "backup_slurmctld_failure", Short: 'B', Arg: n},
		{Name: "backup_slurmctld_resumed_operation", Short: 'c', Arg: n}, {Name: "burst_buffer", Arg: n}, {Name: "clear", Arg: n}, {Name: "clusters", Short: 'M', Arg: r},
		{Name: "down", Short: 'd', Arg: n}, {Name: "drained", Short: 'D', Arg: n}, {Name: "draining", Arg: n}, {Name: "fail", Short: 'F', Arg: n}, {Name: "fini", Short: 'f', Arg: n},
		{Name: "flags", Arg: r}, {Name: "get", Arg: n}, {Name: "id", Short: 'i', Arg: r}, {Name: "idle", Short: 'I', Arg: n}, {Name: "jobid", Short: 'j', Arg: r},
		{Name: "node", Short: 'n', Arg: slurm.OptionalArg}, {Name: "noheader", Short: 'N', Arg: n}, {Name: "offset", Short: 'o', Arg: r},
		{Name: "primary_database_failure", Short: 'h', Arg: n}, {Name: "primary_database_resumed_operation", Short: 'H', Arg: n},
		{Name: "primary_slurmdbd_failure", Short: 'g', Arg: n}, {Name: "primary_slurmdbd_resumed_operation", Short: 'G', Arg: n},
		{Name: "primary_slurmctld_acct_buffer_full", Short: 'e', Arg: n}, {Name: "primary_slurmctld_failure", Short: 'a', Arg: n},
		{Name: "primary_slurmctld_resumed_control", Short: 'b', Arg: n}, {Name: "primary_slurmctld_resumed_operation", Short: 'A', Arg: n},
		{Name: "program", Short: 'p', Arg: r}, {Name: "quiet", Short: 'Q', Arg: n}, {Name: "reconfig", Short: 'r', Arg: n}, {Name: "resume", Short: 'R', Arg: n},
		{Name: "set", Arg: n}, {Name: "time", Short: 't', Arg: n}, {Name: "up", Short: 'u', Arg: n}, {Name: "user", Arg: r}, {Name: "verbose", Short: 'v', Arg: n},
	}
	for i := range flags {
		flags[i].Refuse = noTriggers
	}
	return append(flags, slurm.Flag{Name: "help"}, slurm.Flag{Name: "usage"}, slurm.Flag{Name: "version", Short: 'V'})
}

// strigger refuses triggers: strigger(1).
func strigger(in *invocation) int {
	given, _, ok, code := in.options(striggerFlags(), 1)
	if !ok {
		return code
	}
	for _, g := range given {
		if g.Flag.Name == "version" {
			return printVersion(in)
		}
		printFlags(in, "strigger [--version]", striggerFlags())
		return 0
	}
	in.errorf("%s", noTriggers)
	return 1
}
