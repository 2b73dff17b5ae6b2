package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/hostlist"
	"muster/job"
)

// scancelFlags is the grammar of scancel(1).
var scancelFlags = []slurm.Flag{
	{Name: "account", Short: 'A', Arg: slurm.RequiredArg}, {Name: "admin-comment", Arg: slurm.RequiredArg, Refuse: "set it with scontrol update job ID AdminComment=TEXT"},
	{Name: "batch", Short: 'b'}, {Name: "ctld", Note: "what is done always"}, {Name: "cron", Short: 'c', Note: "needed always for jobs of scrontab, as in Slurm with ScronParameters=explicit_scancel"}, {Name: "full", Short: 'f'}, {Name: "help"},
	{Name: "hurry", Short: 'H', Note: "without effect: there are no burst buffers"}, {Name: "interactive", Short: 'i'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg},
	{Name: "clusters", Short: 'M', Arg: slurm.RequiredArg}, {Name: "jobname", Short: 'n', Arg: slurm.RequiredArg}, {Name: "me"},
	{Name: "name", Short: 'n', Arg: slurm.RequiredArg}, {Name: "nodelist", Short: 'w', Arg: slurm.RequiredArg},
	{Name: "partition", Short: 'p', Arg: slurm.RequiredArg}, {Name: "qos", Short: 'q', Arg: slurm.RequiredArg}, {Name: "quiet", Short: 'Q'},
	{Name: "reservation", Short: 'R', Arg: slurm.RequiredArg}, {Name: "sibling", Arg: slurm.RequiredArg, Refuse: "there is no federation here; use -M or nothing"},
	{Name: "signal", Short: 's', Arg: slurm.RequiredArg}, {Name: "state", Short: 't', Arg: slurm.RequiredArg}, {Name: "usage"},
	{Name: "user", Short: 'u', Arg: slurm.RequiredArg}, {Name: "verbose", Short: 'v'}, {Name: "version", Short: 'V'},
	{Name: "wckey", Arg: slurm.RequiredArg},
}

// scancelVariables: the input variables that stand for options with a value.
var scancelVariables = []struct{ variable, option string }{
	{"SCANCEL_ACCOUNT", "account"}, {"SCANCEL_NAME", "name"}, {"SCANCEL_PARTITION", "partition"}, {"SCANCEL_QOS", "qos"},
	{"SCANCEL_STATE", "state"}, {"SCANCEL_USER", "user"}, {"SCANCEL_WCKEY", "wckey"},
}

// scancelOptions is what the options came to.
type scancelOptions struct {
	clusterChoice
	request     api.CancelRequest
	interactive bool
	quiet       bool
	verbose     int
	done        bool // an option such as --help has been answered
}

// scancel cancels or signals jobs: scancel(1).
func scancel(in *invocation) int {
	o, code := readScancel(in)
	if o == nil || o.done {
		return code
	}
	if !selects(&o.request) {
		in.errorf("No job identification provided")
		return 1
	}
	client, err := in.connect()
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	defer client.Close()
	if code := o.reach(in); code != 0 {
		return code
	}
	if o.interactive {
		if err := confirm(in, client, &o.request); err != nil {
			in.errorf("%v", err)
			return 1
		}
		if len(o.request.Jobs) == 0 {
			return 0
		}
	}
	var reply api.CancelReply
	if _, err := client.Ask(api.MethodCancel, &o.request, &reply); err != nil {
		in.errorf("%v", err)
		return 1
	}
	return reportCancelled(in, o, &reply)
}

// readScancel reads environment and command line; nil options come with an exit
// code.
func readScancel(in *invocation) (*scancelOptions, int) {
	given, jobs, ok, code := in.options(scancelFlags, 1)
	if !ok {
		return nil, code
	}
	o := &scancelOptions{}
	o.fromEnv(in)
	o.request.Jobs = nil
	seen := make(map[string]bool)
	for _, g := range given {
		seen[g.Flag.Name] = true
		if code, ok := o.set(in, g.Flag.Name, g.Value); !ok {
			return nil, code
		}
	}
	for _, v := range scancelVariables {
		if value, ok := in.getenv(v.variable); ok && value != "" && !seen[v.option] && !o.done {
			if code, ok := o.set(in, v.option, value); !ok {
				return nil, code
			}
		}
	}
	o.switches(in)
	for _, j := range jobs {
		for id := range strings.FieldsFuncSeq(j, func(r rune) bool { return r == ' ' || r == '\t' }) {
			ids, ok := splitJobs(id)
			if !ok || strings.ContainsFunc(afterDot(id), func(r rune) bool { return r < '0' || r > '9' }) {
				in.errorf("Invalid job id %s", id)
				return nil, 1
			}
			o.request.Jobs = append(o.request.Jobs, ids...)
		}
	}
	return o, 0
}

// switches takes the variables over that stand for options without a value: true
// or T, false or F. SCANCEL_CRON counts by being there.
func (o *scancelOptions) switches(in *invocation) {
	verbose := false
	for _, v := range []struct {
		variable string
		to       *bool
	}{{"SCANCEL_BATCH", &o.request.Batch}, {"SCANCEL_FULL", &o.request.Full}, {"SCANCEL_INTERACTIVE", &o.interactive}, {"SCANCEL_VERBOSE", &verbose}} {
		value, ok := in.getenv(v.variable)
		switch {
		case !ok:
		case strings.EqualFold(value, "true"), strings.EqualFold(value, "T"):
			*v.to = true
		case !strings.EqualFold(value, "false") && !strings.EqualFold(value, "F"):
			in.errorf("Unrecognized %s value: %s", v.variable, value)
		}
	}
	if verbose {
		o.verbose = max(o.verbose, 1)
	}
	if _, ok := in.getenv("SCANCEL_CRON"); ok {
		o.request.Cron = true
	}
}

// set takes one option over; false with an exit code if its value is wrong.
func (o *scancelOptions) set(in *invocation, name, value string) (int, bool) {
	r := &o.request
	one := func(field *[]string) { *field = []string{value} } // never a list, as in Slurm
	switch name {
	case "account":
		one(&r.Accounts)
	case "name", "jobname":
		one(&r.Names)
	case "partition":
		one(&r.Partitions)
	case "qos":
		one(&r.QOS)
	case "reservation":
		one(&r.Reservations)
	case "user":
		if !userExists(value) {
			in.errorf("Invalid user name: %s", value)
			return 1, false
		}
		one(&r.Users)
	case "wckey":
		one(&r.WCKeys)
	case "cluster", "clusters":
		o.setClusters(value)
	case "me":
		r.Users = append(r.Users, strconv.FormatUint(uint64(in.uid), 10))
	case "nodelist":
		names, err := hostlist.Expand(value)
		if err != nil {
			in.errorf("Invalid node list %s: %v", value, err)
			return 1, false
		}
		r.Nodes = names
	case "state":
		return o.setState(in, value)
	case "signal":
		n, ok := slurm.ParseSignalName(value)
		if !ok {
			fmt.Fprintf(in.stderr, "Unknown job signal: %s\n", value)
			return 1, false
		}
		r.Signal = n
	case "batch":
		r.Batch = true
	case "full":
		r.Full = true
	case "cron":
		r.Cron = true
	case "interactive":
		o.interactive = true
	case "quiet":
		o.quiet = true
	case "verbose":
		o.verbose++
	case "ctld", "hurry": // the controller does the work always; there are no burst buffers to hurry
	case "help", "usage":
		o.done = true
		printFlags(in, "scancel [OPTIONS] [job_id[_array_id][.step_id]]", scancelFlags)
	case "version":
		o.done = true
		printVersion(in)
	default:
		in.errorf("option --%s is not supported", name)
		return 1, false
	}
	return 0, true
}

// setState reads --state: pending, running or suspended.
func (o *scancelOptions) setState(in *invocation, value string) (int, bool) {
	states := &o.request.States
	switch strings.ToUpper(value) {
	case "PENDING", "PD":
		*states = []job.State{job.Pending}
	case "RUNNING", "R":
		*states = []job.State{job.Running}
	case "SUSPENDED", "S":
		*states = []job.State{job.Suspended}
	default:
		fmt.Fprintf(in.stderr, "Invalid job state specified: %s\nValid job states are PENDING, RUNNING, and SUSPENDED\n", value)
		return 1, false
	}
	return 0, true
}

// filters lists the selectors in the words in which scancel names them.
func filters(r *api.CancelRequest) string {
	var text strings.Builder
	add := func(name string, list []string) {
		if len(list) > 0 {
			text.WriteString(name + "=" + strings.Join(list, ",") + " ")
		}
	}
	add("account", r.Accounts)
	add("job_name", r.Names)
	add("nodelist", r.Nodes)
	add("partition", r.Partitions)
	add("qos", r.QOS)
	add("reservation", r.Reservations)
	for _, s := range r.States {
		add("state", []string{s.String()})
	}
	add("user_name", r.Users)
	add("wckey", r.WCKeys)
	return text.String()
}

// selects tells whether the request names any job or selector.
func selects(r *api.CancelRequest) bool {
	for _, l := range [][]string{r.Jobs, r.Users, r.Names, r.Partitions, r.Accounts, r.QOS, r.Reservations, r.WCKeys, r.Nodes} {
		if len(l) > 0 {
			return true
		}
	}
	return len(r.States) > 0
}

// afterDot is what names the step; steps without a number, such as batch, cannot
// be cancelled by themselves.
func afterDot(id string) string {
	_, step, _ := strings.Cut(id, ".")
	return step
}

// splitJobs splits a list of job names at commas outside brackets and checks
// each.
func splitJobs(text string) ([]string, bool) {
	ids := slurm.SplitOutside(strings.Trim(text, ","), ',')
	for _, id := range ids {
		if _, err := slurm.ParseJobName(id); err != nil {
			return nil, false
		}
	}
	return ids, true
}

// confirm asks for each job that the request means and leaves those that were
// agreed to.
func confirm(in *invocation, client *api.Client, r *api.CancelRequest) error {
	list := *r
	list.List = true
	var reply api.CancelReply
	if _, err := client.Ask(api.MethodCancel, &list, &reply); err != nil {
		return err
	}
	answers := bufio.NewReader(in.stdin)
	*r = api.CancelRequest{Signal: r.Signal, Batch: r.Batch, Full: r.Full, Cron: r.Cron}
	for _, j := range reply.Jobs {
		if j.Finished {
			continue
		}
		fmt.Fprintf(in.stdout, "Cancel job_id=%s name=%s partition=%s [y/n]? ", j.Job, j.Name, j.Partition)
		if err := in.stdout.Flush(); err != nil {
			return err
		}
		line, err := answers.ReadString('\n')
		if strings.HasPrefix(strings.ToLower(line), "y") {
			r.Jobs = append(r.Jobs, j.Job)
		}
		if err != nil {
			break
		}
	}
	return nil
}

// The low bytes of Slurm's error numbers for refusals, which scancel ends with.
const (
	exitDenied   = 210
	exitWholeHet = 60
)

// reportCancelled prints what could not be done; its exit code is scancel's.
func reportCancelled(in *invocation, o *scancelOptions, reply *api.CancelReply) int {
	code := 0
	if text := filters(&o.request); len(reply.Jobs) == 0 && text != "" && o.verbose > 0 {
		in.errorf("No active jobs match ALL job filters, including: %s", text)
	}
	for _, j := range reply.Jobs {
		switch {
		case j.Step && (j.Finished || j.Failure != ""):
			code = max(code, 1)
			if !o.quiet {
				in.errorf("Kill job error on job step id %s: %s", j.Job, slurm.TextNoSuchJob)
			}
		case j.Failure != "":
			in.errorf("Kill job error on job id %s: %s", j.Job, j.Failure)
			switch j.Failure {
			case slurm.TextDenied:
				code = exitDenied
			case slurm.TextWholeHet:
				code = exitWholeHet
			default:
				code = 1
			}
		case j.Finished && (o.verbose > 0 || o.request.Batch && !j.Known):
			o.say(in, j.Job)
			text := slurm.TextFinished
			if !j.Known {
				text, code = slurm.TextNoSuchJob, max(code, failedBatch(o))
			}
			in.errorf("Kill job error on job id %s: %s", j.Job, text)
		default:
			o.say(in, j.Job)
		}
	}
	return code
}

// failedBatch is 1 for --batch, which Slurm asks of the job itself and so finds out
// that there is none; without it scancel is content with a job that is not there.
func failedBatch(o *scancelOptions) int {
	if o.request.Batch {
		return 1
	}
	return 0
}

// say tells with --verbose what is done to a job.
func (o *scancelOptions) say(in *invocation, name string) {
	switch {
	case o.verbose == 0 || o.quiet:
	case o.request.Signal != 0:
		fmt.Fprintf(in.stderr, "scancel: Signal %d to job %s\n", o.request.Signal, name)
	default:
		fmt.Fprintf(in.stderr, "scancel: Terminating job %s\n", name)
	}
}

// callText is the text of a refusal by the cluster, or the error's own.
func callText(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Text
	}
	return err.Error()
}
