package main

import (
	"errors"
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

// The formats of squeue (squeue(1)).
const (
	squeueDefault = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	squeueLong    = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
	squeueStart   = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
	squeueSteps   = "%.15i %.8j %.9P %.8u %.9M %N"
	squeueStates  = "%.18i %.2t"
)

// queueOptions is a command line of squeue.
type queueOptions struct {
	clusterChoice
	query      api.JobQuery
	noUser     bool // users were given, and none of them exists
	format     string
	long       string
	sort       string
	arrays     bool // one line for each waiting task
	noHeader   bool
	longTable  bool
	start      bool
	steps      bool
	priority   bool
	keepUnits  bool
	expand     bool // file patterns are filled in
	onlyState  bool
	interval   time.Duration
	json, yaml bool
	help       string // what to print instead of jobs
	over       int64  // seconds, 0: not asked for
	under      int64
	formatSet  bool
	jobsGiven  bool
}

// hiddenJobs is how --all and --hide of squeue differ.
const hiddenJobs = "without effect: jobs of hidden partitions are listed always"

// squeueFlags is the grammar of squeue.
func squeueFlags() []slurm.Flag {
	const r, n, o = slurm.RequiredArg, slurm.NoArg, slurm.OptionalArg
	return []slurm.Flag{
		{Name: "account", Short: 'A', Arg: r}, {Name: "accounts", Short: 'A', Arg: r}, {Name: "all", Short: 'a', Arg: n, Note: hiddenJobs}, {Name: "array", Short: 'r', Arg: n},
		{Name: "array-unique", Arg: n}, {Name: "cluster", Short: 'M', Arg: r}, {Name: "clusters", Short: 'M', Arg: r},
		{Name: "expand-patterns", Arg: n}, {Name: "federation", Arg: n, Note: oneCluster}, {Name: "Format", Short: 'O', Arg: r},
		{Name: "format", Short: 'o', Arg: r}, {Name: "help", Arg: n}, {Name: "helpformat", Arg: n}, {Name: "helpFormat", Arg: n},
		{Name: "helpstate", Arg: n}, {Name: "hide", Arg: n, Note: hiddenJobs}, {Name: "iterate", Short: 'i', Arg: r}, {Name: "jobs", Short: 'j', Arg: o},
		{Name: "json", Arg: o}, {Name: "licenses", Short: 'L', Arg: r}, {Name: "local", Arg: n, Note: oneCluster}, {Name: "long", Short: 'l', Arg: n},
		{Name: "me", Arg: n}, {Name: "name", Short: 'n', Arg: r}, {Name: "noconvert", Arg: n}, {Name: "node", Short: 'w', Arg: r},
		{Name: "nodes", Short: 'w', Arg: r}, {Name: "nodelist", Short: 'w', Arg: r}, {Name: "noheader", Short: 'h', Arg: n},
		{Name: "notme", Arg: n}, {Name: "only-job-state", Arg: n}, {Name: "partition", Short: 'p', Arg: r}, {Name: "partitions", Short: 'p', Arg: r},
		{Name: "priority", Short: 'P', Arg: n}, {Name: "qos", Short: 'q', Arg: r}, {Name: "reservation", Short: 'R', Arg: r},
		{Name: "running-over", Arg: r}, {Name: "running-under", Arg: r}, {Name: "sibling", Arg: n, Note: oneCluster}, {Name: "sort", Short: 'S', Arg: r},
		{Name: "start", Arg: n}, {Name: "steps", Short: 's', Arg: o}, {Name: "states", Short: 't', Arg: r}, {Name: "usage", Arg: n},
		{Name: "user", Short: 'u', Arg: r}, {Name: "users", Short: 'u', Arg: r}, {Name: "verbose", Short: 'v', Arg: n, Note: wordy},
		{Name: "version", Short: 'V', Arg: n}, {Name: "yaml", Arg: o}, {Short: 'U', Arg: r},
	}
}

// squeue lists jobs: squeue(1).
func squeue(in *invocation) int {
	given, rest, ok, code := in.options(squeueFlags(), 1)
	if !ok {
		return code
	}
	o := &queueOptions{}
	o.fromEnvironment(in)
	for i := range given {
		if code, stop := o.take(in, &given[i]); stop {
			return code
		}
	}
	if code, stop := o.finish(in, rest); stop {
		return code
	}
	switch {
	case o.help != "":
		return o.printHelp(in)
	case o.steps:
		return o.listSteps(in)
	}
	for {
		code := o.list(in)
		if o.interval == 0 || code != 0 {
			return code
		}
		if in.stdout.Flush() != nil {
			return 1
		}
		time.Sleep(o.interval)
	}
}

// fail prints an error and says that the command ends with code 1.
func (in *invocation) fail(format string, args ...any) (code int, stop bool) {
	in.errorf(format, args...)
	return 1, true
}

// fromEnvironment takes the defaults that the environment gives before the
// command line is read.
func (o *queueOptions) fromEnvironment(in *invocation) {
	_, o.arrays = in.getenv("SQUEUE_ARRAY")
	_, o.priority = in.getenv("SQUEUE_PRIORITY")
	o.sort = in.env("SQUEUE_SORT")
	o.fromEnv(in)
}

// take acts on one option.
func (o *queueOptions) take(in *invocation, g *slurm.Given) (code int, stop bool) {
	q, v := &o.query, g.Value
	switch name := g.Flag.Name; name {
	case "account", "accounts", "":
		q.Accounts = words(v)
	case "array", "array-unique":
		o.arrays = true
	case "Format", "format":
		return o.setFormat(in, name, v)
	case "help", "usage", "helpformat", "helpFormat", "helpstate", "version":
		o.help = name
	case "iterate":
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			return in.fail("--iterate=%s\n", v)
		}
		o.interval = time.Duration(n) * time.Second
	case "jobs":
		o.jobsGiven = true
		if g.HasValue {
			return o.setJobs(in, v)
		}
	case "json", "yaml":
		o.json, o.yaml = name == "json", name == "yaml"
	case "licenses":
		q.Licenses = words(v)
	case "long":
		o.longTable, o.formatSet = true, true
	case "me":
		q.Users, q.NotUser = []string{strconv.Itoa(int(in.uid))}, false
	case "notme":
		q.Users, q.NotUser = []string{strconv.Itoa(int(in.uid))}, true
	case "name":
		q.Names = words(v)
	case "noconvert":
		o.keepUnits = true
	case "node", "nodes", "nodelist":
		names, err := hostlist.Expand(v)
		if err != nil {
			return in.fail("'%s' invalid entry for --nodelist", v)
		}
		q.Nodes = names
	case "noheader":
		o.noHeader = true
	case "expand-patterns":
		o.expand = true
	case "only-job-state":
		o.onlyState, q.OnlyState = true, true
	case "partition", "partitions":
		q.Partitions = words(v)
	case "priority":
		o.priority = true
	case "qos":
		q.QOS = words(v)
	case "reservation":
		q.Reservations = words(v)
	case "sort":
		o.sort = v
	case "start":
		o.start, o.formatSet = true, true
	case "states":
		return o.setStates(in, v)
	case "user", "users":
		o.setUsers(in, v)
	case "steps":
		o.steps, o.formatSet = true, true
		if g.HasValue {
			return o.setSteps(in, v)
		}
	case "running-over", "running-under":
		return o.setRunning(in, name, v)
	case "cluster", "clusters":
		o.setClusters(v)
	}
	return 0, false // all, hide, local, federation, sibling, verbose change nothing here
}

func (o *queueOptions) setFormat(in *invocation, name, v string) (int, bool) {
	if name == "format" {
		if o.long != "" {
			return in.fail("-o (--format) is incompatible with -O (--Format)")
		}
		o.format = v
	} else {
		if o.format != "" {
			return in.fail("-O (--Format) is incompatible with -o (--format)")
		}
		o.long = v
	}
	o.formatSet = true
	return 0, false
}

func (o *queueOptions) setJobs(in *invocation, list string) (int, bool) {
	o.query.Jobs = nil
	for _, w := range splitRefs(list) {
		refs, err := slurm.ParseJobRefs(w)
		if err != nil {
			return in.fail("%v", err)
		}
		o.query.Jobs = append(o.query.Jobs, refs...)
	}
	return 0, false
}

// setSteps takes a list of steps, which all have to name one.
func (o *queueOptions) setSteps(in *invocation, list string) (int, bool) {
	before := len(o.query.Jobs)
	if code, stop := o.setJobs(in, list); stop {
		return code, stop
	}
	for i := before; i < len(o.query.Jobs); i++ {
		if r := &o.query.Jobs[i]; !r.HasStep {
			return in.fail("Invalid job_step id: %d.??", r.ID)
		}
	}
	return 0, false
}

// splitRefs splits job ids at commas that are not in brackets.
func splitRefs(list string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || list[i] == ',' && depth == 0:
			if i > start {
				out = append(out, list[start:i])
			}
			start = i + 1
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		}
	}
	return out
}

func (o *queueOptions) setStates(in *invocation, list string) (int, bool) {
	o.query.States, o.query.Flags, o.query.AnyState = 0, 0, strings.EqualFold(list, "all")
	if o.query.AnyState {
		return 0, false
	}
	var set slurm.JobStates
	for _, w := range words(list) {
		if !set.Add(w) {
			in.errorf("Invalid job state specified: %s", w)
			return in.fail("Valid job states include: %s\n", slurm.JobStateWords)
		}
	}
	o.query.States, o.query.Flags = set.States, set.Flags
	return 0, false
}

func (o *queueOptions) setUsers(in *invocation, list string) {
	o.query.Users, o.query.NotUser, o.noUser = nil, false, false
	for _, u := range words(list) {
		if !userExists(u) {
			in.errorf("Invalid user: %s\n", u)
			continue
		}
		o.query.Users = append(o.query.Users, u)
	}
	o.noUser = len(o.query.Users) == 0
}

func (o *queueOptions) setRunning(in *invocation, name, v string) (int, bool) {
	s, err := slurm.ParseSeconds(v)
	if err != nil || s <= 0 {
		fmt.Fprintf(in.stderr, "%s: fatal: Invalid time limit specification\n", in.name)
		return 1, true
	}
	if name == "running-over" {
		o.over = s
	} else {
		o.under = s
	}
	return 0, false
}

// finish fills in what was not given.
func (o *queueOptions) finish(in *invocation, rest []string) (int, bool) {
	if o.longTable && o.format != "" {
		fmt.Fprintf(in.stderr, "%s: fatal: Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.\n", in.name)
		return 1, true
	}
	// The values of -j and -s may stand apart; those of -j come first.
	for _, apart := range []struct {
		given bool
		set   func(*invocation, string) (int, bool)
	}{{o.jobsGiven, o.setJobs}, {o.steps, o.setSteps}} {
		if !apart.given || len(rest) == 0 {
			continue
		}
		if code, stop := apart.set(in, rest[0]); stop {
			return code, stop
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		in.errorf("Unrecognized option: %s", rest[0])
		fmt.Fprint(in.stdout, "Usage: squeue [OPTIONS...]\n")
		return 1, true
	}
	if !o.formatSet {
		if o.format = in.env("SQUEUE_FORMAT"); o.format == "" {
			o.long = in.env("SQUEUE_FORMAT2")
		}
	}
	q := &o.query
	fill := func(to *[]string, name string) {
		if *to == nil {
			*to = words(in.env(name))
		}
	}
	fill(&q.Accounts, "SQUEUE_ACCOUNT")
	fill(&q.Names, "SQUEUE_NAMES")
	fill(&q.Licenses, "SQUEUE_LICENSES")
	fill(&q.Partitions, "SQUEUE_PARTITION")
	fill(&q.QOS, "SQUEUE_QOS")
	if users := in.env("SQUEUE_USERS"); users != "" && q.Users == nil && !o.noUser {
		o.setUsers(in, users)
	}
	statesGiven := q.AnyState || q.States != 0 || q.Flags != 0
	if s := in.env("SQUEUE_STATES"); s != "" && !statesGiven {
		return o.setStates(in, s)
	}
	if !statesGiven && o.start && !o.steps {
		q.States = 1 << job.Pending
	} else if !statesGiven {
		q.States = 1<<job.Pending | 1<<job.Running | 1<<job.Suspended
		q.Flags = job.Completing | job.Configuring | job.Resizing | job.Stopped | job.Signaling | job.StageOut
	}
	return 0, false
}

func (o *queueOptions) printHelp(in *invocation) int {
	switch o.help {
	case "version":
		return printVersion(in)
	case "helpformat":
		in.stdout.Write(format.HelpLetters(format.JobFields()))
	case "helpFormat":
		in.stdout.Write(format.HelpNames(format.JobFields()))
	case "helpstate":
		fmt.Fprintln(in.stdout, strings.ReplaceAll(slurm.JobStateWords, ",", "\n"))
	case "usage":
		fmt.Fprint(in.stdout, "Usage: squeue [OPTIONS...]\n")
	default:
		printFlags(in, "squeue [OPTIONS...]", squeueFlags())
	}
	return 0
}

// table is the format that was asked for, and the default one otherwise.
func (o *queueOptions) table(in *invocation) format.Table[api.JobRecord] {
	fields := format.JobFields()
	if o.long != "" {
		t := format.Names(o.long, fields)
		in.unknownFields("job", t.Unknown)
		return t
	}
	f := o.format
	switch {
	case f != "":
	case o.onlyState:
		f = squeueStates
	case o.start:
		f = squeueStart
	case o.longTable:
		f = squeueLong
	default:
		f = squeueDefault
	}
	t := format.Letters(f, fields)
	in.unknownFields("job", t.Unknown)
	return t
}

// list prints the jobs once.
func (o *queueOptions) list(in *invocation) int {
	if o.json || o.yaml {
		return o.structured(in)
	}
	t := o.table(in)
	o.query.Fields = api.JobFields(t.Needs())
	order := o.sort
	if order == "" && o.start {
		order = "S"
	}
	less, err := format.JobOrder(order)
	if err != nil {
		code, _ := in.fail("%v", err)
		return code
	}
	o.query.Fields |= api.JobFields(less.Needs)
	list, code := o.load(in)
	if code != 0 {
		return code
	}
	x := in.context(list.Now, list.Cluster, o.keepUnits)
	x.Expand = o.expand
	jobs := o.choose(list, x)
	less.Sort(jobs, x)
	if !o.noHeader {
		o.head(in, list.Cluster)
	}
	var buf []byte
	if o.longTable || o.interval > 0 && !o.noHeader {
		buf = append(in.now().AppendFormat(buf, "Mon Jan 02 15:04:05 2006"), '\n')
	}
	if !o.noHeader {
		buf = t.AppendHead(buf)
	}
	for _, r := range jobs {
		buf = t.AppendRow(buf, x, r)
		if len(buf) > 32<<10 {
			in.stdout.Write(buf)
			buf = buf[:0]
		}
	}
	in.stdout.Write(buf)
	return 0
}

// load asks for the jobs.
func (o *queueOptions) load(in *invocation) (*api.JobList, int) {
	list := &api.JobList{Now: job.TimeOf(in.now())}
	if o.noUser {
		return list, 0
	}
	c, err := in.connect()
	if err != nil {
		return nil, in.loadFailed("slurm_load_jobs", err)
	}
	defer c.Close()
	var refused *api.Error
	if err := read(c, api.MethodJobs, &o.query, list); errors.As(err, &refused) && strings.HasPrefix(refused.Text, api.InvalidNode) {
		in.errorf("%s", refused.Text)
		return nil, 1
	} else if err != nil {
		return nil, in.loadFailed("slurm_load_jobs", err)
	}
	if !o.check(in, list.Cluster) {
		return nil, 1
	}
	return list, 0
}

// choose applies what only the client knows: running times, and how arrays and
// jobs of several partitions are shown.
func (o *queueOptions) choose(list *api.JobList, x *format.Context) []*api.JobRecord {
	jobs := make([]*api.JobRecord, 0, len(list.Jobs))
	for i := range list.Jobs {
		r := &list.Jobs[i]
		run := format.RunSeconds(r, x.Now)
		if o.over > 0 && run <= o.over || o.under > 0 && (run >= o.under || r.State != job.Running) {
			continue
		}
		jobs = append(jobs, r)
	}
	if o.arrays {
		jobs = format.SplitArrays(jobs)
	} else {
		jobs = format.JoinArrays(jobs)
	}
	if o.priority {
		jobs = format.SplitPartitions(jobs, o.query.Partitions)
	}
	return jobs
}

// listSteps is squeue --steps: running steps by partition and id.
func (o *queueOptions) listSteps(in *invocation) int {
	fields := format.StepFields()
	f := o.format
	if f == "" {
		f = squeueSteps
	}
	t := format.Letters(f, fields)
	if o.long != "" {
		t = format.Names(o.long, fields)
	}
	in.unknownFields("job step", t.Unknown)
	order, err := format.JobOrder("P,i")
	if err != nil {
		code, _ := in.fail("%v", err)
		return code
	}
	o.query.Fields = api.JobSteps | api.JobAllocated | api.JobRequest | api.JobEnding
	o.query.States, o.query.Flags, o.query.AnyState = 1<<job.Running|1<<job.Suspended, 0, false
	list, code := o.load(in)
	if code != 0 {
		return code
	}
	x := in.context(list.Now, list.Cluster, o.keepUnits)
	jobs := o.choose(list, x)
	order.Sort(jobs, x)
	var buf []byte
	if !o.noHeader {
		buf = t.AppendHead(buf)
	}
	for _, r := range jobs {
		for _, s := range format.Steps(r) {
			if s.End == 0 {
				buf = t.AppendRow(buf, x, &format.AcctRow{Job: r, Step: &s})
			}
		}
	}
	in.stdout.Write(buf)
	return 0
}
