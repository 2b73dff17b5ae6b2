package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
	"muster/api/slurm/tree"
	"muster/internal/hostlist"
	"muster/internal/wire"
	"muster/job"
)

// showingVerbs are the commands of scontrol that change nothing.
func showingVerbs() []verb {
	return []verb{
		{"completing", 3, 0, 0, func(in *invocation, _ *scontrolOptions, _ []string) int { return in.completing() }, ""},
		{"getaddrs", 8, 1, 1, scontrolAddresses, ""},
		{"help", 2, 0, 0, scontrolHelp, ""},
		{"listjobs", 5, 0, 1, func(in *invocation, _ *scontrolOptions, words []string) int { return in.listJobs(words) }, ""},
		{"ping", 3, 0, 0, func(in *invocation, o *scontrolOptions, _ []string) int { return in.ping(o) }, ""},
		{"show", 3, 1, 2, func(in *invocation, o *scontrolOptions, words []string) int { return in.show(o, words) }, ""},
	}
}

// entity is a thing that scontrol show knows; its name may be cut to least bytes.
type entity struct {
	name  string
	least int
	show  func(in *invocation, o *scontrolOptions, id string) int // nil: there is none here
	why   string                                                  // and what to use instead
}

// entities lists them in the order in which show looks them up.
func entities() []entity {
	says := func(text string) func(*invocation, *scontrolOptions, string) int {
		return func(in *invocation, _ *scontrolOptions, _ string) int {
			fmt.Fprintln(in.stdout, text)
			return 0
		}
	}
	const noBuffers = "there are no burst buffers"
	return []entity{
		{"aliases", 2, func(in *invocation, _ *scontrolOptions, id string) int { return in.showAliases(id) }, ""},
		{"assoc_mgr", 2, nil, "use sacctmgr show assoc"},
		{"bbstat", 3, nil, noBuffers},
		{"burstbuffer", 2, nil, noBuffers},
		{"config", 1, func(in *invocation, o *scontrolOptions, _ string) int { return in.showConfig(o) }, ""},
		{"daemons", 1, says("slurmctld slurmd"), ""},
		{"dwstat", 2, nil, noBuffers},
		{"federation", 1, nil, "there is no federation"},
		{"hostnames", 5, func(in *invocation, _ *scontrolOptions, id string) int { return in.hostNames(id) }, ""},
		{"hostlistsorted", 9, func(in *invocation, _ *scontrolOptions, id string) int { return in.hostList(id, true) }, ""},
		{"hostlist", 5, func(in *invocation, _ *scontrolOptions, id string) int { return in.hostList(id, false) }, ""},
		{"jobs", 1, (*invocation).showJobs, ""},
		{"licenses", 2, (*invocation).showLicenses, ""},
		{"nodes", 1, (*invocation).showNodes, ""},
		{"partitions", 1, (*invocation).showPartitions, ""},
		{"reservations", 1, (*invocation).showReservations, ""},
		{"slurmd", 2, nil, "use scontrol show node"},
		{"steps", 2, (*invocation).showSteps, ""},
		{"topology", 1, says("No topology information available"), ""},
		{"topoconf", 5, nil, "the network is taken for flat"},
	}
}

// findEntity finds what show is asked for by a start of its name; nil if it is
// nothing that it knows.
func findEntity(word string) *entity {
	word = strings.ToLower(word)
	for _, e := range entities() {
		if len(word) >= e.least && strings.HasPrefix(e.name, word) {
			return &e
		}
	}
	return nil
}

// show is scontrol show ENTITY [ID]; the two may be joined by =.
func (in *invocation) show(o *scontrolOptions, args []string) int {
	word, id, _ := strings.Cut(args[0], "=")
	if len(args) > 1 {
		id = args[1]
	}
	e := findEntity(word)
	if e == nil { // jobid=, nodename=
		e = findEntity(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(word), "id"), "name"))
	}
	if key, value, ok := strings.Cut(id, "="); ok && len(args) > 1 && !strings.ContainsAny(key, ",[") {
		id = value
	}
	switch {
	case e == nil:
		fmt.Fprintf(in.stderr, "invalid entity:%s for keyword:show\n", args[0])
		return 1
	case e.show == nil:
		fmt.Fprintf(in.stderr, "scontrol: show %s: this cluster has nothing of that kind: %s\n", e.name, e.why)
		return 1
	}
	return e.show(in, o, id)
}

// ask makes one reading call; a failure is printed.
func (in *invocation) ask(what, method string, query, reply wire.Message) int {
	if err := in.fetch(method, query, reply); err != nil {
		return in.loadFailed(what, err)
	}
	return 0
}

// fetch makes one reading call.
func (in *invocation) fetch(method string, query, reply wire.Message) error {
	c, err := in.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return read(c, method, query, reply)
}

// showJobs is scontrol show job.
func (in *invocation) showJobs(o *scontrolOptions, id string) int {
	q := &api.JobQuery{Fields: api.JobAll &^ api.JobSteps, AnyState: true}
	for _, w := range splitRefs(id) {
		refs, err := slurm.ParseJobRefs(w)
		if err != nil {
			fmt.Fprintln(in.stderr, "scontrol_print_job error: Invalid job id specified")
			return 1
		}
		q.Jobs = append(q.Jobs, refs...)
	}
	var list api.JobList
	if code := in.ask("slurm_load_jobs", api.MethodJobs, q, &list); code != 0 {
		return code
	}
	if o.json || o.yaml {
		return in.writeJobs(o.yaml, &list)
	}
	if len(list.Jobs) == 0 {
		if id != "" {
			fmt.Fprintf(in.stderr, "Job %s not found\n", id)
			return 1
		}
		fmt.Fprintln(in.stdout, "No jobs in the system")
		return 0
	}
	x := in.context(list.Now, list.Cluster, false)
	for i := range list.Jobs {
		in.stdout.Write(format.AppendJob(nil, x, &list.Jobs[i], o.oneliner, o.details))
	}
	return 0
}

// showNodes is scontrol show node.
func (in *invocation) showNodes(o *scontrolOptions, id string) int {
	var names []string
	if id != "" {
		var err error
		if names, err = hostlist.Expand(id); err != nil {
			fmt.Fprintf(in.stderr, "Invalid node list %s: %v\n", id, err)
			return 1
		}
	}
	var list api.NodeList
	if code := in.ask("slurm_load_node", api.MethodNodes, &api.NodeQuery{Names: names, WithUse: true}, &list); code != 0 {
		return code
	}
	if o.json || o.yaml {
		return in.writeNodes(o.yaml, &list)
	}
	x := in.context(list.Now, list.Cluster, false)
	have := map[string]bool{}
	for i := range list.Nodes {
		n := &list.Nodes[i]
		have[n.Name] = true
		in.stdout.Write(format.AppendNode(nil, x, n, o.oneliner, o.details))
	}
	return in.notFound("Node", names, have)
}

// notFound says which of the names asked for there are not.
func (in *invocation) notFound(what string, names []string, found map[string]bool) int {
	code := 0
	for _, n := range names {
		if !found[n] {
			fmt.Fprintf(in.stdout, "%s %s not found\n", what, n)
			code = 1
		}
	}
	return code
}

// showPartitions is scontrol show partition.
func (in *invocation) showPartitions(o *scontrolOptions, id string) int {
	var list api.PartitionList
	if code := in.ask("slurm_load_partitions", api.MethodPartitions, &api.PartitionQuery{Names: words(id)}, &list); code != 0 {
		return code
	}
	x := in.context(job.TimeOf(in.now()), list.Cluster, false)
	if o.json || o.yaml {
		return in.writePartitions(o.yaml, x, &list)
	}
	found := map[string]bool{}
	for i := range list.Partitions {
		p := &list.Partitions[i]
		found[p.Name] = true
		if p.Hidden && !o.all && id == "" {
			continue
		}
		in.stdout.Write(format.AppendPartition(nil, x, p, o.oneliner))
	}
	return in.notFound("Partition", words(id), found)
}

// showReservations is scontrol show reservation.
func (in *invocation) showReservations(o *scontrolOptions, id string) int {
	var list api.ReservationList
	if code := in.ask("slurm_load_reservations", api.MethodReservations, &api.NameQuery{Names: words(id)}, &list); code != 0 {
		return code
	}
	if o.json || o.yaml {
		return in.writeReservations(o.yaml, &list)
	}
	x := in.context(list.Now, list.Cluster, false)
	found := map[string]bool{}
	for i := range list.Reservations {
		found[list.Reservations[i].Name] = true
		in.stdout.Write(format.AppendReservation(nil, x, &list.Reservations[i], o.oneliner))
	}
	if id == "" && len(list.Reservations) == 0 {
		fmt.Fprintln(in.stdout, "No reservations in the system")
	}
	return in.notFound("Reservation", words(id), found)
}

// showLicenses is scontrol show licenses.
func (in *invocation) showLicenses(o *scontrolOptions, id string) int {
	var list api.LicenseList
	if code := in.ask("slurm_load_licenses", api.MethodLicenses, &api.NameQuery{Names: words(id)}, &list); code != 0 {
		return code
	}
	if o.json || o.yaml {
		return in.writeLicenses(o.yaml, &list)
	}
	found := map[string]bool{}
	for i := range list.Licenses {
		found[list.Licenses[i].Name] = true
		in.stdout.Write(format.AppendLicense(nil, &list.Licenses[i], o.oneliner))
	}
	if id == "" && len(list.Licenses) == 0 {
		fmt.Fprintln(in.stdout, "No licenses configured in Slurm.")
	}
	for _, n := range words(id) {
		if !found[n] {
			in.errorf("query \"%s\" matched zero licenses.", n)
			return 1
		}
	}
	return 0
}

// showConfig is scontrol show config.
func (in *invocation) showConfig(o *scontrolOptions) int {
	var reply api.ConfigReply
	if code := in.ask("slurm_load_ctl_conf", api.MethodConfig, &api.NameQuery{}, &reply); code != 0 {
		return code
	}
	if o.json || o.yaml {
		return in.writeConfig(o.yaml, &reply)
	}
	in.stdout.Write(format.AppendConfig(nil, in.context(reply.Now, reply.Cluster, false), &reply))
	return in.ping(&scontrolOptions{})
}

// showSteps is scontrol show step.
func (in *invocation) showSteps(o *scontrolOptions, id string) int {
	q := &api.JobQuery{Fields: api.JobSteps | api.JobAllocated | api.JobRequest | api.JobEnding, States: 1<<job.Running | 1<<job.Suspended}
	step, named := job.StepID(0), false
	if id != "" {
		refs, err := slurm.ParseJobRefs(id)
		if err != nil || len(refs) != 1 {
			fmt.Fprintln(in.stderr, "slurm_get_job_steps error: Invalid job id specified")
			return 1
		}
		q.Jobs, step, named = refs, refs[0].Step, refs[0].HasStep
	}
	var list api.JobList
	if err := in.fetch(api.MethodJobs, q, &list); err != nil {
		in.errorf("scontrol_print_step: slurm_get_job_steps(%s) failed: %s", id, callText(err))
		return 1
	}
	wanted := func(s *job.Step) bool { return !named || s.ID == step }
	if o.json || o.yaml {
		return in.document(o.yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Steps(w, &list, wanted) })
	}
	x := in.context(list.Now, list.Cluster, false)
	shown := 0
	for i := range list.Jobs {
		r := &list.Jobs[i]
		for _, s := range format.Steps(r) {
			if s.End == 0 && wanted(&s) {
				in.stdout.Write(format.AppendStep(nil, x, &format.AcctRow{Job: r, Step: &s}, o.oneliner))
				shown++
			}
		}
	}
	if shown == 0 && id != "" {
		fmt.Fprintf(in.stdout, "Job step %s not found\n", id)
		return 1
	} else if shown == 0 {
		fmt.Fprintln(in.stdout, "No job steps in the system")
	}
	return 0
}

// ping is scontrol ping: one line a controller, the leader first as the primary.
func (in *invocation) ping(o *scontrolOptions) int {
	var reply api.PingReply
	begun := in.now()
	c, err := in.connect()
	if err == nil {
		defer c.Close()
		_, err = c.Ask(api.MethodPing, &api.NameQuery{}, &reply)
	}
	if o.json || o.yaml {
		return in.writePing(o.yaml, &reply, in.now().Sub(begun), err)
	}
	if err != nil {
		fmt.Fprintln(in.stdout, "Slurmctld(primary) at unknown is DOWN")
		var none *api.NoAgentError
		if errors.As(err, &none) {
			in.errorf("%v", err)
		}
		return 1
	}
	code, role := 1, "primary"
	for _, leader := range []bool{true, false} {
		for _, ctl := range reply.Controllers {
			if ctl.Leader != leader {
				continue
			}
			word, name := "DOWN", ctl.Name
			if ctl.Up {
				word, code = "UP", 0
			}
			if name == "" {
				name = ctl.Address
			}
			fmt.Fprintf(in.stdout, "Slurmctld(%s) at %s is %s\n", role, name, word)
			role = "backup"
		}
	}
	return code
}

// completing lists jobs that still clean up.
func (in *invocation) completing() int {
	var list api.JobList
	if code := in.ask("slurm_load_jobs", api.MethodJobs, &api.JobQuery{Flags: job.Completing}, &list); code != 0 {
		return code
	}
	x := in.context(list.Now, list.Cluster, false)
	for i := range list.Jobs {
		r := &list.Jobs[i]
		fmt.Fprintf(in.stdout, "JobId=%d EndTime=%s CompletingTime=%s Nodes(COMPLETING)=%s\n",
			r.ID, x.Times.Append(nil, r.Times.End, "Unknown"), slurm.AppendSpan(nil, list.Now.Unix()-r.Times.End.Unix()), r.Nodes)
	}
	return 0
}

// listJobs lists the jobs of a node, by default of this host.
func (in *invocation) listJobs(words []string) int {
	host := in.env("SLURMD_NODENAME")
	if len(words) > 0 {
		host = words[0]
	} else if host == "" {
		host, _ = os.Hostname()
	}
	q := &api.JobQuery{States: 1<<job.Running | 1<<job.Suspended, Flags: job.Completing, Nodes: []string{host}}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed("slurm_load_jobs", err)
	}
	defer c.Close()
	var list api.JobList
	var refused *api.Error
	if err := read(c, api.MethodJobs, q, &list); errors.As(err, &refused) && refused.Kind == api.ErrNotFound {
		in.errorf("host %s is no node of this cluster; name one", host)
		return 1
	} else if err != nil {
		return in.loadFailed("slurm_load_jobs", err)
	}
	fmt.Fprintln(in.stdout, "JOBID")
	for i := range list.Jobs {
		fmt.Fprintln(in.stdout, list.Jobs[i].ID)
	}
	return 0
}
