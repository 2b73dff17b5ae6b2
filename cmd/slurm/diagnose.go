package main

import (
	"fmt"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/tree"
	"muster/job"
)

// sdiagTime is how sdiag writes moments.
const sdiagTime = "Mon Jan 02 15:04:05 2006"

// sdiag shows the counters of the controller that answers: sdiag(1).
func sdiag(in *invocation) int {
	given, _, ok, code := in.options([]slurm.Flag{
		{Name: "all", Short: 'a'}, {Name: "help", Short: 'h'}, {Name: "usage"}, {Name: "version", Short: 'V'}, {Name: "reset", Short: 'r'},
		{Name: "sort-by-id", Short: 'i'}, {Name: "sort-by-time", Short: 't'}, {Name: "sort-by-time2", Short: 'T'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg},
		{Name: "json", Arg: slurm.OptionalArg}, {Name: "yaml", Arg: slurm.OptionalArg},
	}, 1)
	if !ok {
		return code
	}
	structured, yaml := false, false
	for i := range given {
		switch given[i].Flag.Name {
		case "help", "usage":
			fmt.Fprintln(in.stdout, "Usage: sdiag [--json|--yaml]")
			return 0
		case "version":
			return printVersion(in)
		case "reset":
			in.errorf("--reset: the counters start with the controller and are not reset")
			return 1
		case "json", "yaml":
			structured, yaml = true, given[i].Flag.Name == "yaml"
		}
	}
	var s api.StatsReply
	if code := in.ask("slurm_get_statistics", api.MethodStats, &api.NameQuery{}, &s); code != 0 {
		return code
	}
	if structured {
		return in.document(yaml, "", nil, func(w *tree.Writer) { tree.Stats(w, &s) })
	}
	in.printStats(&s)
	return 0
}

// mean is sum over count, 0 if there were none.
func mean(sum, count uint64) uint64 {
	if count == 0 {
		return 0
	}
	return sum / count
}

func (in *invocation) printStats(s *api.StatsReply) {
	stars := "*******************************************************"
	at := func(t job.Time) string {
		when := time.Unix(t.Unix(), 0).In(in.now().Location())
		return fmt.Sprintf("%s (%d)", when.Format(sdiagTime), t.Unix())
	}
	p := func(format string, args ...any) { fmt.Fprintf(in.stdout, format+"\n", args...) }
	p("%s\nsdiag output at %s\nData since      %s\n%s", stars, at(s.Now), at(s.Started), stars)
	p("Server thread count:  %d\nRPC queue enabled:    0\nAgent queue size:     0\nAgent count:          0\nAgent thread count:   0\nDBD Agent queue size: 0\n", s.Threads)
	j, c := &s.Jobs, &s.Cycles
	p("Jobs submitted: %d\nJobs started:   %d\nJobs completed: %d\nJobs canceled:  %d\nJobs failed:    %d\n", j.Submitted, j.Started, j.Completed, j.Cancelled, j.Failed)
	p("Job states ts:  %s\nJobs pending:   %d\nJobs running:   %d\n", at(s.Now), j.Pending, j.Running)
	minutes := uint64(max(1, s.Now.Sub(s.Started)/time.Minute))
	p("Main schedule statistics (microseconds):\n\tLast cycle:   %d\n\tMax cycle:    %d\n\tTotal cycles: %d\n\tMean cycle:   %d\n\tMean depth cycle:  %d\n\tCycles per minute: %d\n\tLast queue length: %d\n",
		c.Last, c.Max, c.Count, mean(c.Sum, c.Count), mean(c.DepthSum, c.Count), c.Count/minutes, c.QueueLen)
	p("Backfilling stats\n\tTotal backfilled jobs (since last slurm start): %d\n\tTotal backfilled jobs (since last stats cycle start): %d\n\tTotal backfilled heterogeneous job components: 0",
		s.Backfilled, s.Backfilled)
	p("\tTotal cycles: %d\n\tLast cycle: %d\n\tMax cycle:  %d\n\tMean cycle: %d\n\tLast depth cycle: %d\n\tLast depth cycle (try sched): %d\n\tDepth Mean: %d\n\tDepth Mean (try depth): %d\n\tLast queue length: %d\n\tQueue length mean: %d\n",
		c.Count, c.Last, c.Max, mean(c.Sum, c.Count), c.LastDepth, c.LastDepth, mean(c.DepthSum, c.Count), mean(c.DepthSum, c.Count), c.QueueLen, c.QueueLen)
	p("Remote Procedure Call statistics by message type")
	for _, call := range s.Calls {
		p("\t%-40s count:%-6d ave_time:%-6d total_time:%d", call.Method, call.Count, mean(call.Sum, call.Count), call.Sum)
	}
	p("\nPending RPC statistics\n\tNo pending RPCs")
}

// sprio shows the priorities of waiting jobs: sprio(1). The cluster tells the
// whole priority only, not what it is made of.
func sprio(in *invocation) int {
	given, rest, ok, code := in.options([]slurm.Flag{
		{Name: "jobs", Short: 'j', Arg: slurm.RequiredArg}, {Name: "users", Short: 'u', Arg: slurm.RequiredArg}, {Name: "noheader", Short: 'h'}, {Name: "long", Short: 'l'},
		{Name: "partition", Short: 'p', Arg: slurm.RequiredArg}, {Name: "format", Short: 'o', Arg: slurm.RequiredArg}, {Name: "sort", Short: 'S', Arg: slurm.RequiredArg},
		{Name: "help"}, {Name: "usage"}, {Name: "version", Short: 'V'}, {Name: "verbose", Short: 'v'},
	}, 1)
	if !ok {
		return code
	}
	o := &queueOptions{format: "%.15i %9P %.10Q", sort: "i", formatSet: true}
	for i := range given {
		g := &given[i]
		switch g.Flag.Name {
		case "jobs", "users", "noheader", "partition", "sort", "version":
			if code, stop := o.take(in, g); stop {
				return code
			}
		case "long":
			o.format = "%.15i %9P %.8u %.8a %.10Q"
		case "help", "usage":
			fmt.Fprintln(in.stdout, "Usage: sprio [-h] [-l] [-j JOBS] [-u USERS] [-p PARTITIONS]")
			return 0
		case "format":
			in.errorf("--format: the factors of a priority are not told by this cluster; use squeue -o with %%i %%P %%Q")
			return 1
		}
	}
	if len(rest) > 0 {
		in.errorf("Unrecognized option: %s", rest[0])
		return 1
	}
	if o.help == "version" {
		return printVersion(in)
	}
	o.query.States = 1 << job.Pending
	if n := len(o.query.Jobs); n == 1 { // an unknown job is no error here
		o.query.Jobs = append(o.query.Jobs, o.query.Jobs[0])
	}
	return o.list(in)
}
