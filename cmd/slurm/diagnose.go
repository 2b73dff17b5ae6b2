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

func sdiagFlags() []slurm.Flag {
	const noCalls = "without effect: calls are not counted by kind"
	return []slurm.Flag{
		{Name: "all", Short: 'a'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg}, {Name: "help", Short: 'h'},
		{Name: "json", Arg: slurm.OptionalArg}, {Name: "no-trunc", Note: "what is done always"},
		{Name: "reset", Short: 'r', Refuse: "the counters start with the controller and are not reset"}, {Name: "sort-by-id", Short: 'i', Note: noCalls},
		{Name: "sort-by-time", Short: 't', Note: noCalls}, {Name: "sort-by-time2", Short: 'T', Note: noCalls}, {Name: "usage"}, {Name: "version", Short: 'V'},
		{Name: "yaml", Arg: slurm.OptionalArg},
	}
}

// sdiag shows the counters of the controller that answers: sdiag(1).
func sdiag(in *invocation) int {
	given, _, ok, code := in.options(sdiagFlags(), 1)
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
		case "cluster", "clusters":
			if code := in.ownCluster(given[i].Value); code != 0 {
				return code
			}
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

// printStats prints the counters with Slurm's labels. One pass of the planner both
// schedules and backfills, so both parts count the same cycles.
func (in *invocation) printStats(s *api.StatsReply) {
	stars := "*******************************************************"
	at := func(t job.Time) string {
		when := time.Unix(t.Unix(), 0).In(in.now().Location())
		return fmt.Sprintf("%s (%d)", when.Format(sdiagTime), t.Unix())
	}
	p := func(format string, args ...any) { fmt.Fprintf(in.stdout, format+"\n", args...) }
	p("%s\nsdiag output at %s\nData since      %s\n%s", stars, at(s.Now), at(s.Started), stars)
	p("Server thread count:  %d\nRPC queue enabled:    0\nAgent queue size:     0\nAgent count:          0\nAgent thread count:   0\nDBD Agent queue size: 0\n", s.Threads)
	j := &s.Jobs
	p("Jobs submitted: %d\nJobs started:   %d\nJobs completed: %d\nJobs canceled:  %d\nJobs failed:    %d\n", j.Submitted, j.Started, j.Completed, j.Cancelled, j.Failed)
	p("Job states ts:  %s\nJobs pending:   %d\nJobs running:   %d\n", at(s.Now), j.Pending, j.Running)
	in.printCycles(s)
	p("Latency for 1000 calls to gettimeofday(): 0 microseconds\n")
	p("Remote Procedure Call statistics by message type")
	for i, c := range s.Calls {
		p("\t%-40s(%5d) count:%-6d ave_time:%-6d total_time:%d", c.Method, i+1, c.Count, mean(c.Sum, c.Count), c.Sum)
	}
	p("\nRemote Procedure Call statistics by user")
	for _, u := range s.Users {
		p("\t%-16s(%8d) count:%-6d ave_time:%-6d total_time:%d", u.User, u.UID, u.Count, mean(u.Sum, u.Count), u.Sum)
	}
	p("\nPending RPC statistics\n\tNo pending RPCs")
}

// printCycles prints the counters of the scheduler.
func (in *invocation) printCycles(s *api.StatsReply) {
	c := &s.Cycles
	depth := mean(c.DepthSum, c.Count)
	title := func(text string) { fmt.Fprintln(in.stdout, text) }
	line := func(label string, n uint64) { fmt.Fprintf(in.stdout, "\t%s%d\n", label, n) }
	minutes := uint64(max(1, s.Now.Sub(s.Started)/time.Minute))
	title("Main schedule statistics (microseconds):")
	line("Last cycle:   ", c.Last)
	line("Max cycle:    ", c.Max)
	line("Total cycles: ", c.Count)
	line("Mean cycle:   ", mean(c.Sum, c.Count))
	line("Mean depth cycle:  ", depth)
	line("Cycles per minute: ", c.Count/minutes)
	line("Last queue length: ", c.QueueLen)
	title("\nMain scheduler exit:")
	line("End of job queue: ", c.Count)
	for _, label := range []string{"Hit default_queue_depth: ", "Hit sched_max_job_start: ", "Blocked on licenses: ", "Hit max_rpc_cnt: ", "Timeout (max_sched_time): "} {
		line(label, 0)
	}
	title("\nBackfilling stats")
	line("Total backfilled jobs (since last slurm start): ", s.Backfilled)
	line("Total backfilled jobs (since last stats cycle start): ", s.Backfilled)
	line("Total backfilled heterogeneous job components: ", 0)
	line("Total cycles: ", c.Count)
	line("Last cycle: ", c.Last)
	line("Max cycle:  ", c.Max)
	line("Mean cycle: ", mean(c.Sum, c.Count))
	line("Last depth cycle: ", c.LastDepth)
	line("Last depth cycle (try sched): ", c.LastDepth)
	line("Depth Mean: ", depth)
	line("Depth Mean (try depth): ", depth)
	line("Last queue length: ", c.QueueLen)
	line("Queue length mean: ", depth)
	line("Last table size: ", 0)
	line("Mean table size: ", 0)
	title("\nBackfill exit")
	line("End of job queue: ", c.Count)
	for _, label := range []string{"Hit bf_max_job_start: ", "Hit bf_max_job_test: ", "System state changed: ", "Hit table size limit (bf_node_space_size): ", "Timeout (bf_max_time): "} {
		line(label, 0)
	}
	title("")
}
