package format

import (
	"strings"
	"testing"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/gres"
	"muster/job"
)

var testNow = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func testContext(t *testing.T) *Context {
	t.Helper()
	times, err := slurm.NewTimeFormat("", testNow)
	if err != nil {
		t.Fatal(err)
	}
	return &Context{Now: job.TimeOf(testNow), Times: times, Unit: slurm.Exact, Cluster: "test"}
}

func moments(minutes int) job.Time {
	return job.TimeOf(testNow.Add(time.Duration(minutes) * time.Minute))
}

// held is a waiting job that its user holds.
func held() *api.JobRecord {
	return &api.JobRecord{
		ID: 61, State: job.Pending, Name: "longjobname", Owner: api.JobOwner{User: "alice", Group: "users", UID: 1001, GID: 100},
		Partition: "debug", Account: "phys", QOS: "normal", Reason: job.ReasonJobHeldUser, Held: job.HeldByUser,
		Count: api.JobCount{Nodes: 1, MaxNodes: 2, CPUs: 6, Tasks: 2}, Memory: api.JobMemory{Per: job.MemoryPerCPU, MB: 100},
		Times:   job.Times{Submit: moments(-10), Limit: 9},
		Request: &job.Request{Comment: "URL", Size: job.Size{CPUsPerTask: 3, Tasks: 2}, Requeue: true, Batch: job.Batch{WorkDir: "/home/alice", Command: "/home/alice/a.sh", SubmitHost: "login"}, SubmitLine: "sbatch a.sh"},
		Asked:   api.Resources{CPUs: 6, MemoryMB: 600, Nodes: 1, Billing: 6},
	}
}

// running is a task of an array that runs on two nodes.
func running() *api.JobRecord {
	return &api.JobRecord{
		ID: 9, Array: api.JobArray{JobID: 7, Task: 3, Limit: 2}, State: job.Running, Name: "env", Priority: 10152,
		Owner: api.JobOwner{User: "bob", Group: "users", UID: 1002, GID: 100}, Partition: "gpu", Account: "bio", QOS: "normal", Nodes: "n[03-04]", BatchHost: "n03",
		Count: api.JobCount{Nodes: 2, MaxNodes: 2, CPUs: 4, Tasks: 4}, Memory: api.JobMemory{Per: job.MemoryPerNode, MB: 1024},
		Times: job.Times{Submit: moments(-70), Eligible: moments(-70), Start: moments(-65), End: moments(55), Limit: 120},
		Request: &job.Request{Size: job.Size{Tasks: 4}, Gres: job.GresRequest{PerNode: gres.Spec{{Name: "gpu", Count: 2}}},
			Batch: job.Batch{WorkDir: "/home/bob", Stdout: "out.%A_%a"}},
		Asked: api.Resources{CPUs: 4, MemoryMB: 2048, Nodes: 2, Billing: 4, Gres: []gres.Item{{Name: "gpu", Count: 4}}},
		Used:  api.Resources{CPUs: 4, MemoryMB: 2048, Nodes: 2, Billing: 4, Gres: []gres.Item{{Name: "gpu", Count: 4}}},
		Alloc: &job.Allocation{CPUs: 4, Nodes: []job.Share{{Node: 3, Name: "n03", CPUs: 2, MemoryMB: 1024}, {Node: 4, Name: "n04", CPUs: 2, MemoryMB: 1024}}},
		End:   &job.Result{Usage: job.Usage{UserUS: 14_000, SystemUS: 2_000, MaxRSSKB: 2876}},
	}
}

func rows(t *testing.T, table Table[api.JobRecord], jobs ...*api.JobRecord) string {
	t.Helper()
	out := table.AppendHead(nil)
	for _, r := range jobs {
		out = table.AppendRow(out, testContext(t), r)
	}
	return string(out)
}

// The lines are laid out as real squeue lays out the same values.
func TestSqueueLetters(t *testing.T) {
	fields := JobFields()
	for _, c := range []struct{ format, want string }{
		{"%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R",
			"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n" +
				"                61     debug longjobn    alice PD       0:00      1 (JobHeldUser)\n" +
				"               7_3       gpu      env      bob  R    1:05:00      2 n[03-04]\n"},
		{"k=%k,%A;", "k=COMMENT,JOBID;\nk=URL,61;\nk=(null),9;\n"},
		{"[%14j][%.14j][%4j][%.4j]", "[NAME          ][          NAME][NAME][NAME]\n[longjobname   ][   longjobname][long][long]\n[env           ][           env][env ][ env]\n"},
		{"%i|%l|%C|%r|%a|%m|%c|%Q|%v|%L|%h", "JOBID|TIME_LIMIT|CPUS|REASON|ACCOUNT|MIN_MEMORY|MIN_CPUS|PRIORITY|RESERVATION|TIME_LEFT|OVER_SUBSCRIBE\n" +
			"61|9:00|6|JobHeldUser|phys|100M|3|0|(null)|9:00|NO\n7_3|2:00:00|4|None|bio|1G|1|10152|(null)|55:00|NO\n"},
		{"%F %K %p %S %e %b", "ARRAY_JOB_ID ARRAY_TASK_ID PRIORITY START_TIME END_TIME TRES_PER_NODE\n61 N/A 0.00000000000000 N/A N/A N/A\n" +
			"7 3 0.00000236369669 2026-12-01T10:55:00 2026-12-01T12:55:00 gres/gpu:2\n"},
		{"%(", "%(\n%(\n%(\n"},
	} {
		if got := rows(t, Letters(c.format, fields), held(), running()); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.format, got, c.want)
		}
	}
	if bad := Letters("%i %( %7?", fields).Unknown; strings.Join(bad, "") != "(?" {
		t.Errorf("unknown letters are %q", bad)
	}
}

func TestSqueueNames(t *testing.T) {
	fields := JobFields()
	for _, c := range []struct{ format, want string }{
		{"Name:6,State:.10,USERNAME:7,NumCPUs:3", "NAME       STATEUSER   CPU\nlongjo   PENDINGalice  6  \nenv      RUNNINGbob    4  \n"},
		{"JobID,Name", "JOBID               NAME                \n61                  longjobname         \n9                   env                 \n"},
		{"jobid:|,state:<>,nodelist:.9;", "JOBID|STATE<> NODELIST;\n61|PENDING<>         ;\n9|RUNNING<> n[03-04];\n"},
		{"tres-alloc:60", "TRES_ALLOC                                                  \ncpu=6,mem=600M,node=1,billing=6                             \ncpu=4,mem=2G,node=2,billing=4,gres/gpu=4                    \n"},
	} {
		if got := rows(t, Names(c.format, fields), held(), running()); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.format, got, c.want)
		}
	}
	if bad := Names("jobid,nosuchfield:5", fields).Unknown; len(bad) != 1 || bad[0] != "nosuchfield" {
		t.Errorf("unknown names are %q", bad)
	}
	if n := Letters("%.18i %.9P %j %u %t %M %D %R", fields); n.Needs() != 0 {
		t.Errorf("the default format needs more than the base part: %b", n.Needs())
	}
}

func TestOrderAndArrays(t *testing.T) {
	rest := &api.JobRecord{ID: 7, Array: api.JobArray{JobID: 7, Waiting: "1-2,5", Limit: 2}, State: job.Pending, Name: "env", Partition: "gpu", Reason: job.ReasonJobArrayTaskLimit}
	single := *rest
	single.ID, single.Array, single.Reason = 10, api.JobArray{JobID: 7, Task: 4, Limit: 2}, job.ReasonJobHeldUser
	ids := func(jobs []*api.JobRecord) string {
		var s []string
		for _, r := range jobs {
			s = append(s, string(AppendJobID(nil, r)))
		}
		return strings.Join(s, " ")
	}
	if got := ids(SplitArrays([]*api.JobRecord{running(), rest})); got != "7_3 7_1 7_2 7_5" {
		t.Errorf("split: %s", got)
	}
	joined := JoinArrays([]*api.JobRecord{running(), rest, &single})
	if got := ids(joined); got != "7_3 7_[1-2,4-5%2]" {
		t.Errorf("joined: %s", got)
	}
	if got := Reason(joined[1]); got != "JobArrayTaskLimit,JobHeldUser" {
		t.Errorf("joined reason: %s", got)
	}
	for order, want := range map[string]string{"": "61 7_3", "i": "7_3 61", "-i": "61 7_3", "l,i": "61 7_3", "-l": "7_3 61", "u": "61 7_3", "-p": "7_3 61", "M,-i": "61 7_3"} {
		o, err := JobOrder(order)
		if err != nil {
			t.Fatal(err)
		}
		jobs := []*api.JobRecord{running(), held()}
		o.Sort(jobs, testContext(t))
		if got := ids(jobs); got != want {
			t.Errorf("-S %s: %s, want %s", order, got, want)
		}
	}
	if _, err := JobOrder("i,?"); err == nil || err.Error() != "Invalid sort specification: ?" {
		t.Errorf("error is %v", err)
	}
}

func TestLongIndexListIsCut(t *testing.T) {
	r := &api.JobRecord{Array: api.JobArray{JobID: 1, Waiting: strings.Repeat("10,", 40) + "10"}}
	got := WaitingList(r, false)
	if len(got) > 64 || !strings.HasSuffix(got, ",...") {
		t.Errorf("got %q", got)
	}
	if whole := WaitingList(r, true); whole != r.Array.Waiting {
		t.Errorf("whole list is %q", whole)
	}
}

func TestShowJob(t *testing.T) {
	x := testContext(t)
	got := string(AppendJob(nil, x, running(), false, true))
	for _, line := range []string{
		"JobId=9 ArrayJobId=7 ArrayTaskId=3 ArrayTaskThrottle=2 JobName=env\n",
		"\n   UserId=bob(1002) GroupId=users(100) MCS_label=N/A\n   Priority=10152 Nice=0 Account=bio QOS=normal\n   JobState=RUNNING Reason=None Dependency=(null)\n",
		"\n   RunTime=01:05:00 TimeLimit=02:00:00 TimeMin=N/A\n",
		"\n   NodeList=n[03-04]\n   BatchHost=n03\n   NumNodes=2 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n   ReqTRES=cpu=4,mem=2G,node=2,billing=4,gres/gpu=4\n   AllocTRES=cpu=4,mem=2G,node=2,billing=4,gres/gpu=4\n",
		"\n   MinCPUsNode=1 MinMemoryNode=1G MinTmpDiskNode=0\n   Features=(null) DelayBoot=00:00:00\n",
		"\n     Nodes=n03 CPU_IDs= Mem=1024 GRES=\n",
		"\n   StdErr=\n   StdIn=/dev/null\n   StdOut=/home/bob/out.7_3\n   TresPerNode=gres/gpu:2\n\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("lacks %q in\n%s", line, got)
		}
	}
	one := string(AppendJob(nil, x, held(), true, false))
	if strings.Count(one, "\n") != 1 || !strings.Contains(one, " NumNodes=1-2 NumCPUs=6 NumTasks=2 CPUs/Task=3 ") || !strings.Contains(one, " MinCPUsNode=3 MinMemoryCPU=100M ") || !strings.Contains(one, " TresPerTask=cpu=3\n") {
		t.Errorf("one line: %s", one)
	}
}

func TestSacctTable(t *testing.T) {
	columns, err := AcctColumns("jobid,jobname,partition,account,alloccpus,state,exitcode")
	if err != nil {
		t.Fatal(err)
	}
	table := &AcctTable{Columns: columns, Delimiter: "|"}
	r := running()
	r.Array, r.Name, r.State, r.Times.End = api.JobArray{}, "interactive", job.Cancelled, moments(-5)
	r.End.By, r.End.ByUser = 1001, true
	print := func() string {
		out := table.AppendHead(nil)
		out = table.AppendRow(out, testContext(t), &AcctRow{Job: r})
		for _, s := range Steps(r) {
			out = table.AppendRow(out, testContext(t), &AcctRow{Job: r, Step: &s})
		}
		return string(out)
	}
	want := "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n" +
		"------------ ---------- ---------- ---------- ---------- ---------- -------- \n" +
		"9            interacti+        gpu        bio          4 CANCELLED+      0:0 \n" +
		"9.batch           batch                   bio          2  CANCELLED      0:0 \n"
	if got := print(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	table.Columns, _ = AcctColumns("JobID,State%30,TotalCPU,MaxRSS,Elapsed,ReqMem,AllocTRES,NodeList")
	table.Parsable = DelimiterBetween
	want = "JobID|State|TotalCPU|MaxRSS|Elapsed|ReqMem|AllocTRES|NodeList\n" +
		"9|CANCELLED by 1001|00:00.016||01:00:00|2G|billing=4,cpu=4,gres/gpu=4,mem=2G,node=2|n[03-04]\n" +
		"9.batch|CANCELLED|00:00.016|2876K|01:00:00||cpu=2,mem=1G,node=1|n03\n"
	if got := print(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := AcctColumns("jobid,nosuchfield"); err == nil || err.Error() != `Invalid field requested: "nosuchfield"` {
		t.Errorf("error is %v", err)
	}
	names := map[string]bool{}
	for _, f := range AcctFields() {
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true
	}
	if len(names) != 123 {
		t.Errorf("%d fields", len(names))
	}
}

// sinfo's lines: partitions as configured, nodes of one state together.
func TestSinfo(t *testing.T) {
	shape := api.NodeShape{Boards: 1, Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, CPUs: 8, MemoryMB: 4000}
	nodes := []api.NodeRecord{
		{Name: "n1", Base: api.NodeIdle, Shape: shape, Features: []string{"fast"}}, {Name: "n2", Base: api.NodeMixed, Shape: shape, Used: api.Resources{CPUs: 3}, Features: []string{"fast"}},
		{Name: "n3", Base: api.NodeIdle, Flags: api.NodeDrain, Shape: shape, Reason: "bad disk", ReasonBy: "root", ReasonAt: moments(-1)},
		{Name: "n4", Base: api.NodeIdle, Shape: shape},
	}
	debug := &api.PartitionRecord{Name: "debug", Default: true, State: "UP", MaxTime: 1440, NodeNames: []string{"n1", "n2", "n3", "n4"}}
	down := &api.PartitionRecord{Name: "down", State: "DOWN", NodeNames: []string{"n4"}}
	print := func(format string, g Grouping, byNode bool, keep func(*api.NodeRecord) bool) string {
		table := Letters(format, NodeFields())
		for _, c := range table.Columns {
			if c.Field != nil {
				g.Fields = append(g.Fields, c.Field)
			}
		}
		lines := g.Groups([]*api.PartitionRecord{debug, down}, nodes, keep)
		if bad, ok := SortGroups(lines, "", byNode); !ok {
			t.Fatalf("%c is no sort letter", bad)
		}
		var out []byte
		for _, l := range lines {
			out = table.AppendRow(out, testContext(t), l)
		}
		return string(out)
	}
	all := func(*api.NodeRecord) bool { return true }
	for _, c := range []struct {
		format string
		g      Grouping
		byNode bool
		keep   func(*api.NodeRecord) bool
		want   string
	}{
		{"%9P %.5a %.10l %.6D %.6t %N", Grouping{}, false, all, "debug*       up 1-00:00:00      1  drain n3\ndebug*       up 1-00:00:00      1    mix n2\ndebug*       up 1-00:00:00      2   idle n[1,4]\ndown       down   infinite      1   idle n4\n"},
		{"%P|%C|%A|%F|%c|%z|%s", Grouping{}, false, all, "debug*|3/21/8/32|1/2|1/2/1/4|8|1:8:1|1-infinite\ndown|0/8/0/8|0/1|0/1/0/1|8|1:8:1|1-infinite\n"},
		{"%E|%u|%N", Grouping{NoPartition: true}, false, func(n *api.NodeRecord) bool { return n.Reason != "" }, "bad disk|root|n3\n"},
		{"%N %P %T", Grouping{ByNode: true}, true, all, "n1 debug* idle\nn2 debug* mixed\nn3 debug* drained\nn4 debug* idle\nn4 down idle\n"},
		{"%P %D %t", Grouping{}, false, func(n *api.NodeRecord) bool { return n.Name == "n1" }, "debug* 1 idle\ndown 0 n/a\n"},
	} {
		if got := print(c.format, c.g, c.byNode, c.keep); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.format, got, c.want)
		}
	}
}

func TestNodeStates(t *testing.T) {
	for _, c := range []struct {
		base          api.NodeBase
		flags         api.NodeFlag
		long, compact string
	}{
		{api.NodeIdle, 0, "idle", "idle"}, {api.NodeIdle, api.NodeNoResponse, "idle*", "idle*"}, {api.NodeAllocated, 0, "allocated", "alloc"},
		{api.NodeMixed, api.NodePlanned, "mixed-", "mix-"}, {api.NodeIdle, api.NodePlanned, "planned", "plnd"}, {api.NodeMixed, api.NodeDrain, "draining", "drng"},
		{api.NodeIdle, api.NodeDrain | api.NodeNoResponse, "drained*", "drain*"}, {api.NodeDown, api.NodeNoResponse, "down*", "down*"},
		{api.NodeIdle, api.NodeCompleting, "completing", "comp"}, {api.NodeAllocated, api.NodeCompleting, "allocated+", "alloc+"},
		{api.NodeIdle, api.NodeMaint, "maint", "maint"}, {api.NodeMixed, api.NodeMaint, "mixed$", "mix$"}, {api.NodeIdle, api.NodeReserved, "reserved", "resv"},
		{api.NodeUnknown, api.NodeNoResponse, "unknown*", "unk*"}, {api.NodeIdle, api.NodeInvalid, "inval", "inval"}, {api.NodeAllocated, api.NodeFail, "failing", "failg"},
	} {
		if got := NodeState(c.base, c.flags, false); got != c.long {
			t.Errorf("%d %x: %s, want %s", c.base, c.flags, got, c.long)
		}
		if got := NodeState(c.base, c.flags, true); got != c.compact {
			t.Errorf("%d %x: %s, want %s", c.base, c.flags, got, c.compact)
		}
	}
	var s NodeStateSet
	if !s.Add("drained") || !s.Add("ALLOC") || s.Add("BOGUS") {
		t.Error("states are read wrongly")
	}
	if !s.Has(api.NodeIdle, api.NodeDrain) || !s.Has(api.NodeMixed, api.NodeDrain) || !s.Has(api.NodeAllocated, 0) || s.Has(api.NodeIdle, 0) {
		t.Error("the set has the wrong nodes")
	}
	var idle NodeStateSet
	idle.Add("idle")
	if !idle.Has(api.NodeIdle, api.NodeDrain) || !idle.Has(api.NodeIdle, 0) || idle.Has(api.NodeMixed, 0) || idle.Has(api.NodeDown, 0) {
		t.Error("the set of idle nodes has the wrong ones: those that are drained count, as in sinfo of 26.05")
	}
}

// TestSacctExitOfWhatTheControllerEnded has the values that Slurm 26.05.3 shows
// for such jobs.
func TestSacctExitOfWhatTheControllerEnded(t *testing.T) {
	columns, err := AcctColumns("State,ExitCode")
	if err != nil {
		t.Fatal(err)
	}
	table := &AcctTable{Columns: columns, Delimiter: "|", Parsable: DelimiterBetween}
	for _, c := range []struct {
		name                   string
		state                  job.State
		code                   uint32
		signal                 uint8
		whole, batch, scontrol string
	}{
		{"limit", job.Timeout, 0, 15, "TIMEOUT|0:0\n", "CANCELLED|0:15\n", "ExitCode=0:15"},
		{"limit, trapped", job.Timeout, 7, 0, "TIMEOUT|0:0\n", "FAILED|7:0\n", "ExitCode=7:0"},
		{"scancel", job.Cancelled, 0, 15, "CANCELLED by 0|0:0\n", "CANCELLED|0:15\n", "ExitCode=0:15"},
		{"own end", job.Failed, 7, 0, "FAILED|7:0\n", "FAILED|7:0\n", "ExitCode=7:0"},
		{"own signal", job.Failed, 0, 11, "FAILED|0:11\n", "CANCELLED|0:11\n", "ExitCode=0:11"},
		{"memory", job.OutOfMemory, 0, 125, "OUT_OF_MEMORY|0:125\n", "OUT_OF_MEMORY|0:125\n", "ExitCode=0:125"},
	} {
		r := running()
		r.State, r.Times.End = c.state, moments(-5)
		r.End.ExitCode, r.End.Signal = c.code, c.signal
		r.End.ByUser = c.state == job.Cancelled
		step := Steps(r)[0]
		whole := string(table.AppendRow(nil, testContext(t), &AcctRow{Job: r}))
		batch := string(table.AppendRow(nil, testContext(t), &AcctRow{Job: r, Step: &step}))
		if whole != c.whole || batch != c.batch {
			t.Errorf("%s: sacct shows %q and %q, want %q and %q", c.name, whole, batch, c.whole, c.batch)
		}
		if got := string(AppendJob(nil, testContext(t), r, true, true)); !strings.Contains(got, " "+c.scontrol+" ") {
			t.Errorf("%s: scontrol shows %s, want %s", c.name, got, c.scontrol)
		}
	}
}

func TestFragOfALine(t *testing.T) {
	node := func(frag, free uint64) *api.NodeRecord { return &api.NodeRecord{FragGPU: frag, FreeGPU: free} }
	cases := []struct {
		nodes []*api.NodeRecord
		want  string
	}{
		{nil, "n/a"},
		{[]*api.NodeRecord{node(0, 0)}, "n/a"},
		{[]*api.NodeRecord{node(0, 4000)}, "0%"},
		{[]*api.NodeRecord{node(1000, 2000), node(0, 4000), node(0, 0)}, "17%"},
	}
	for _, c := range cases {
		if got := string(appendFrag(nil, nil, &NodeGroup{Nodes: c.nodes})); got != c.want {
			t.Errorf("%d nodes: %s, want %s", len(c.nodes), got, c.want)
		}
	}
}
