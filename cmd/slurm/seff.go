package main

import (
	"fmt"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
)

func seffFlags() []slurm.Flag {
	const n = slurm.NoArg
	return []slurm.Flag{{Name: "help", Short: 'h', Arg: n}, {Name: "version", Short: 'v', Arg: n}}
}

// seff shows what one job used of what it had. Exit codes are those of Slurm's
// contributed program: 1 for a wrong call, 2 for a job that is not there.
func seff(in *invocation) int {
	given, rest, ok, code := in.options(seffFlags(), 1)
	if !ok {
		return code
	}
	for _, g := range given {
		if g.Flag.Name == "version" {
			return printVersion(in)
		}
	}
	if len(given) > 0 || len(rest) != 1 {
		printFlags(in, "seff [OPTIONS] job", seffFlags())
		return 1
	}
	refs, err := slurm.ParseJobRefs(rest[0])
	if err != nil || len(refs) != 1 || refs[0].HasStep {
		in.errorf("%s is no job id: give one job, or one task of an array as 12_3", rest[0])
		return 1
	}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed("slurmdb_jobs_get", err)
	}
	defer c.Close()
	query := &api.AcctQuery{Filter: api.JobQuery{Fields: api.JobAll &^ api.JobPlanned, Jobs: refs}}
	var list api.JobList
	if err := read(c, api.MethodAccounting, query, &list); err != nil {
		return in.loadFailed("slurmdb_jobs_get", err)
	}
	for i := len(list.Jobs) - 1; i >= 0; i-- { // the last attempt comes last
		if r := &list.Jobs[i]; refers(&refs[0], r) {
			in.stdout.Write(format.AppendEfficiency(nil, r, list.Cluster, list.Now))
			return 0
		}
	}
	fmt.Fprintln(in.stderr, "Job not found.")
	return 2
}
