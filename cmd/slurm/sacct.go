package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/internal/hostlist"
	"muster/job"
)

// The formats of sacct (sacct(1)).
const (
	sacctDefault = "jobid,jobname,partition,account,alloccpus,state,exitcode"
	sacctBrief   = "jobid,state,exitcode"
	sacctLong    = "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss," +
		"maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode," +
		"avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask," +
		"avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax," +
		"tresusageinmaxn,tresusageinmaxt,tresusageinmin,tresusageinminn,tresusageinmint,tresusageintot,tresusageoutmax," +
		"tresusageoutmaxn,tresusageoutmaxt,tresusageoutave,tresusageouttot"
)

// acctOptions is a command line of sacct.
type acctOptions struct {
	clusterChoice
	acctChoice
	query          api.AcctQuery
	fields         string
	table          format.AcctTable
	allUsers       bool
	usersGiven     bool
	allocations    bool
	noHeader       bool
	arrays         bool
	unit           slurm.Unit
	start, end     string
	steps          []api.JobRef // named with a step: only these are listed
	script, envVar bool
	json, yaml     bool
	help           string
}

func sacctFlags() []slurm.Flag {
	const r, n, o = slurm.RequiredArg, slurm.NoArg, slurm.OptionalArg
	return []slurm.Flag{
		{Name: "accounts", Short: 'A', Arg: r}, {Name: "allusers", Short: 'a', Arg: n}, {Name: "allclusters", Short: 'L', Arg: n, Note: oneCluster}, {Name: "allocations", Short: 'X', Arg: n},
		{Name: "array", Arg: n}, {Name: "associations", Short: 'x', Arg: r, Refuse: "associations have no numbers here; use -A and -u"}, {Name: "batch-script", Short: 'B', Arg: n}, {Name: "brief", Short: 'b', Arg: n},
		{Name: "clusters", Short: 'M', Arg: r}, {Name: "completion", Short: 'c', Arg: n, Refuse: "there is one record of jobs; leave it out"}, {Name: "constraints", Short: 'C', Arg: r}, {Name: "delimiter", Arg: r}, {Name: "duplicates", Short: 'D', Arg: n},
		{Name: "endtime", Short: 'E', Arg: r}, {Name: "env-vars", Arg: n}, {Name: "expand-patterns", Arg: n}, {Name: "federation", Arg: n, Note: oneCluster},
		{Name: "file", Short: 'f', Arg: r, Refuse: "there is no file of completed jobs; leave it out"}, {Name: "flags", Short: 'F', Arg: r, Refuse: "which pass of the scheduler started a job is not kept"}, {Name: "format", Short: 'o', Arg: r}, {Name: "gid", Short: 'g', Arg: r}, {Name: "group", Short: 'g', Arg: r},
		{Name: "help", Short: 'h', Arg: n}, {Name: "helpformat", Short: 'e', Arg: n}, {Name: "jobs", Short: 'j', Arg: r}, {Name: "json", Arg: o}, {Name: "local", Arg: n, Note: oneCluster},
		{Name: "long", Short: 'l', Arg: n}, {Name: "name", Arg: r}, {Name: "ncpus", Short: 'I', Arg: r}, {Name: "nnodes", Short: 'i', Arg: r}, {Name: "noconvert", Arg: n}, {Name: "nodelist", Short: 'N', Arg: r},
		{Name: "noheader", Short: 'n', Arg: n}, {Name: "parsable", Short: 'p', Arg: n}, {Name: "parsable2", Short: 'P', Arg: n}, {Name: "partition", Short: 'r', Arg: r},
		{Name: "qos", Short: 'q', Arg: r}, {Name: "reason", Short: 'R', Arg: r}, {Name: "starttime", Short: 'S', Arg: r}, {Name: "state", Short: 's', Arg: r},
		{Name: "timelimit-max", Short: 'K', Arg: r}, {Name: "timelimit-min", Short: 'k', Arg: r}, {Name: "truncate", Short: 'T', Arg: n}, {Name: "uid", Short: 'u', Arg: r}, {Name: "user", Short: 'u', Arg: r}, {Name: "units", Arg: r},
		{Name: "usage", Arg: n}, {Name: "use-local-uid", Arg: n, Note: "what is done always: users are known by number"}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy}, {Name: "version", Short: 'V', Arg: n},
		{Name: "wckeys", Short: 'W', Arg: r}, {Name: "whole-hetjob", Arg: o, Note: "without effect: the id of the first component names all, that of another only itself"}, {Name: "yaml", Arg: o},
	}
}

// sacct lists jobs that have ended, run or wait: sacct(1).
func sacct(in *invocation) int {
	given, rest, ok, code := in.options(sacctFlags(), 1)
	if !ok {
		return code
	}
	o := &acctOptions{unit: slurm.Exact, table: format.AcctTable{Delimiter: "|"}}
	o.query.Filter.Fields = api.JobAll &^ api.JobPlanned
	for i := range given {
		if code, stop := o.take(in, &given[i]); stop {
			return code
		}
	}
	if len(rest) > 0 {
		in.errorf("Unknown arguments:")
		for _, w := range rest {
			in.errorf(" %s", w)
		}
		return 1
	}
	if o.help != "" {
		return o.printHelp(in)
	}
	if code, stop := o.finish(in); stop {
		return code
	}
	if o.script || o.envVar {
		return o.printScripts(in)
	}
	return o.list(in)
}

// fatal prints an error as sacct does before it ends.
func (in *invocation) fatal(format string, args ...any) (int, bool) {
	fmt.Fprintf(in.stderr, in.name+": fatal: "+format+"\n", args...)
	return 1, true
}

// take acts on one option.
func (o *acctOptions) take(in *invocation, g *slurm.Given) (code int, stop bool) {
	if taken, code, stop := o.acctChoice.take(in, g); taken {
		return code, stop
	}
	q, v := &o.query, g.Value
	f := &q.Filter
	switch g.Flag.Name {
	case "accounts":
		f.Accounts = append(f.Accounts, words(v)...)
	case "allusers":
		o.allUsers = true
	case "allocations":
		o.allocations = true
	case "array":
		o.arrays = true
	case "clusters":
		o.setClusters(v)
	case "batch-script":
		o.script = true
	case "env-vars":
		o.envVar = true
	case "brief":
		o.fields += "," + sacctBrief
	case "long":
		o.fields += "," + sacctLong
	case "format":
		o.fields += "," + v
	case "delimiter":
		o.table.Delimiter = v
	case "duplicates":
		q.Duplicates = true
	case "endtime":
		o.end = v
	case "starttime":
		o.start = v
	case "gid", "group":
		q.Groups = append(q.Groups, words(v)...)
	case "help", "usage", "version", "helpformat":
		o.help = g.Flag.Name
	case "jobs":
		return o.setJobs(in, v)
	case "json", "yaml":
		o.json, o.yaml = g.Flag.Name == "json", g.Flag.Name == "yaml"
	case "name":
		f.Names = append(f.Names, words(v)...)
	case "ncpus":
		return o.setRange(in, v, "cpu", &q.MinCPUs, &q.MaxCPUs)
	case "nnodes":
		return o.setRange(in, v, "node", &q.MinNodes, &q.MaxNodes)
	case "noconvert":
		o.unit = slurm.Keep
	case "nodelist":
		names, err := hostlist.Expand(v)
		if err != nil {
			return in.fatal("Invalid node list %s", v)
		}
		f.Nodes = names
	case "noheader":
		o.noHeader = true
	case "parsable":
		o.table.Parsable = format.DelimiterAfter
	case "parsable2":
		o.table.Parsable = format.DelimiterBetween
	case "partition":
		f.Partitions = append(f.Partitions, words(v)...)
	case "qos":
		f.QOS = append(f.QOS, words(v)...)
	case "state":
		return o.setStates(in, v)
	case "uid", "user":
		return o.setUsers(in, v)
	case "units":
		return o.setUnits(in, v)
	case "wckeys":
		q.WCKeys = append(q.WCKeys, words(v)...)
	}
	return 0, false // clusters, federation, local, verbose and so on change nothing with one cluster
}

func (o *acctOptions) setJobs(in *invocation, list string) (int, bool) {
	for _, w := range splitRefs(list) {
		refs, err := slurm.ParseJobRefs(w)
		if err != nil {
			return in.fatal("Bad job/step specified: %s", w)
		}
		for _, r := range refs {
			if r.HasStep {
				o.steps = append(o.steps, r)
			}
		}
		o.query.Filter.Jobs = append(o.query.Filter.Jobs, refs...)
	}
	return 0, false
}

func (o *acctOptions) setStates(in *invocation, list string) (int, bool) {
	var set slurm.JobStates
	for _, w := range words(list) {
		if strings.EqualFold(w, "all") {
			continue
		}
		if !set.Add(w) {
			return in.fatal("unrecognized job state value '%s'", w)
		}
	}
	f := &o.query.Filter
	f.States, f.Flags = f.States|set.States, f.Flags|set.Flags
	o.query.ByState = f.States != 0 || f.Flags != 0
	return 0, false
}

func (o *acctOptions) setUsers(in *invocation, list string) (int, bool) {
	for _, u := range words(list) {
		if !userExists(u) {
			return in.fail("Invalid user id: %s", u)
		}
		o.query.Filter.Users = append(o.query.Filter.Users, u)
	}
	o.usersGiven = true
	return 0, false
}

func (o *acctOptions) setUnits(in *invocation, v string) (int, bool) {
	i := strings.Index("KMGTP", strings.ToUpper(v))
	if len(v) != 1 || i < 0 {
		in.errorf("Invalid unit type '%s'. Possible options are 'KMGTP'", v)
		return in.fatal("Invalid unit type")
	}
	o.unit = slurm.Kilo + slurm.Unit(i)
	return 0, false
}

// setRange reads a count or a range of counts.
func (o *acctOptions) setRange(in *invocation, v, what string, low, high *uint32) (int, bool) {
	a, b, ranged := strings.Cut(v, "-")
	n, err := strconv.ParseUint(a, 10, 31)
	m := n
	if err == nil && ranged {
		m, err = strconv.ParseUint(b, 10, 31)
	}
	if err != nil {
		return in.fail("Invalid numeric value \"%s\" for requested %s range.", v, what)
	}
	if m < n {
		return in.fail("invalid %s range %q", what, v)
	}
	*low, *high = uint32(n), uint32(m)
	return 0, false
}

// finish fills in what was not given: the window, the user, the fields.
func (o *acctOptions) finish(in *invocation) (int, bool) {
	q := &o.query
	now := in.now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	q.From = job.TimeOf(midnight)
	for _, t := range []struct {
		text string
		to   *job.Time
	}{{o.start, &q.From}, {o.end, &q.To}} {
		if t.text == "" {
			continue
		}
		at, err := slurm.ParseTime(t.text, now, slurm.Past)
		if err != nil {
			fmt.Fprintln(in.stderr, err)
			return 1, true
		}
		*t.to = job.TimeOf(at)
	}
	named := len(q.Filter.Jobs) > 0
	switch {
	case o.start == "" && named:
		q.From = 0 // job ids alone mean all of their time
	case o.start == "" && q.ByState:
		q.From = job.TimeOf(now) // states alone mean jobs that are in them now
	}
	o.windowStarts, o.windowEnds = q.From, q.To
	if q.To != 0 {
		q.To = q.To.Add(time.Second) // times are given in whole seconds: that second counts
	}
	if q.To != 0 && q.To < q.From {
		return in.fail("Start time (%s) requested is after end time (%s).", isoTime(q.From, now), isoTime(q.To, now))
	}
	q.Filter.AnyState = !q.ByState
	if !o.usersGiven && !o.allUsers && !named && in.uid != 0 {
		q.Filter.Users = []string{strconv.Itoa(int(in.uid))}
	}
	fields := strings.TrimPrefix(o.fields, ",")
	if fields == "" {
		if fields = in.env("SACCT_FORMAT"); fields == "" {
			fields = sacctDefault
		}
	}
	columns, err := format.AcctColumns(fields)
	if err != nil {
		return in.fail("%v", err)
	}
	o.table.Columns = columns
	return 0, false
}

// isoTime writes a moment in the zone of now.
func isoTime(t job.Time, now time.Time) string {
	return time.Unix(t.Unix(), 0).In(now.Location()).Format("2006-01-02T15:04:05")
}

func (o *acctOptions) printHelp(in *invocation) int {
	switch o.help {
	case "version":
		return printVersion(in)
	case "helpformat":
		in.stdout.Write(format.AcctHelp())
	case "usage":
		fmt.Fprint(in.stdout, "Usage: sacct [OPTIONS...]\n")
	default:
		printFlags(in, "sacct [OPTIONS...]", sacctFlags())
	}
	return 0
}

// list prints the jobs.
func (o *acctOptions) list(in *invocation) int {
	list, code := o.load(in)
	if code != 0 {
		return code
	}
	if o.json || o.yaml {
		return o.structured(in, list)
	}
	x := in.context(list.Now, list.Cluster, false)
	x.Unit, x.Expand = o.unit, o.expandPaths
	var buf []byte
	if !o.noHeader {
		buf = o.table.AppendHead(buf)
	}
	jobs := make([]*api.JobRecord, len(list.Jobs))
	for i := range list.Jobs {
		jobs[i] = &list.Jobs[i]
	}
	if o.arrays {
		jobs = format.SplitArrays(jobs)
	}
	for _, r := range jobs {
		for _, row := range o.rows(r) {
			buf = o.table.AppendRow(buf, x, &row)
		}
		if len(buf) > 32<<10 {
			in.stdout.Write(buf)
			buf = buf[:0]
		}
	}
	in.stdout.Write(buf)
	return 0
}

// load asks for the jobs.
func (o *acctOptions) load(in *invocation) (*api.JobList, int) {
	c, err := in.connect()
	if err != nil {
		return nil, in.loadFailed("slurmdb_jobs_get", err)
	}
	defer c.Close()
	list := &api.JobList{}
	if err := read(c, api.MethodAccounting, &o.query, list); err != nil {
		return nil, in.loadFailed("slurmdb_jobs_get", err)
	}
	if !o.check(in, list.Cluster) {
		return nil, 1
	}
	o.choose(list)
	return list, 0
}

// rows are the lines of one job: itself and its steps, or the steps that were
// named.
func (o *acctOptions) rows(r *api.JobRecord) []format.AcctRow {
	whole := len(o.steps) == 0 || o.namedWhole(r)
	var rows []format.AcctRow
	if whole {
		rows = append(rows, format.AcctRow{Job: r})
	}
	if o.allocations {
		return rows
	}
	for _, s := range format.Steps(r) {
		if whole || o.namedStep(r, s.ID) {
			rows = append(rows, format.AcctRow{Job: r, Step: &s})
		}
	}
	return rows
}

// namedWhole tells whether a job was named without a step.
func (o *acctOptions) namedWhole(r *api.JobRecord) bool {
	for i := range o.query.Filter.Jobs {
		if ref := &o.query.Filter.Jobs[i]; !ref.HasStep && refers(ref, r) {
			return true
		}
	}
	return false
}

func (o *acctOptions) namedStep(r *api.JobRecord, step job.StepID) bool {
	for i := range o.steps {
		if ref := &o.steps[i]; ref.Step == step && refers(ref, r) {
			return true
		}
	}
	return false
}

// refers tells whether a reference means a job.
func refers(ref *api.JobRef, r *api.JobRecord) bool {
	switch {
	case ref.HasTask:
		return r.Array.JobID == ref.ID && r.Array.Task == ref.Task && r.Array.Waiting == ""
	case ref.HasHet:
		return r.Het.Leader == ref.ID && r.Het.Offset == ref.Offset
	}
	return r.ID == ref.ID || r.Array.JobID == ref.ID || r.Het.Leader == ref.ID
}

// printScripts is sacct --batch-script and --env-vars.
func (o *acctOptions) printScripts(in *invocation) int {
	list, code := o.load(in)
	if code != 0 {
		return code
	}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed("slurmdb_jobs_get", err)
	}
	defer c.Close()
	for i := range list.Jobs {
		r := &list.Jobs[i]
		what := "Batch Script"
		if o.envVar {
			what = "Environment used for"
		}
		id := format.AppendJobID(nil, r)
		title := fmt.Sprintf("%s for %s", what, id)
		if o.envVar {
			title = fmt.Sprintf("%s %s (must be batch to display)", what, id)
		}
		fmt.Fprintf(in.stdout, "%s\n%s\n", title, strings.Repeat("-", 80))
		var reply api.ScriptReply
		_, err := c.Ask(api.MethodScript, &api.ScriptRequest{Job: api.JobRef{ID: r.ID}, Environment: o.envVar}, &reply)
		if err != nil {
			fmt.Fprintf(in.stdout, "NONE\n")
			in.errorf("job %s: %v", id, err)
			code = 1
			continue
		}
		if o.envVar {
			reply.Data = []byte(strings.ReplaceAll(string(reply.Data), "\x00", "\n"))
		}
		fmt.Fprintf(in.stdout, "%s\n", reply.Data)
	}
	return code
}
