package main

import (
	"os"
	"strconv"
	"time"

	"muster/api"
	"muster/api/slurm/format"
	"muster/api/slurm/tree"
)

// document prints one JSON or YAML document: what fill writes, then the part that
// all documents have.
func (in *invocation) document(yaml bool, cluster string, errors []string, fill func(*tree.Writer)) int {
	w := tree.NewWriter(in.stdout, yaml)
	fill(w)
	user := in.env("USER")
	if user == "" {
		user = strconv.Itoa(int(in.uid))
	}
	tree.Meta(w, cluster, user, strconv.Itoa(os.Getgid()), append([]string{in.name}, in.args...), errors)
	if err := w.Close(); err != nil {
		in.errorf("writing the output: %v", err)
		return 1
	}
	if len(errors) > 0 {
		return 1
	}
	return 0
}

// structured prints jobs as JSON or YAML.
func (o *queueOptions) structured(in *invocation) int {
	o.query.Fields = api.JobAll &^ api.JobSteps
	list, code := o.load(in)
	if code != 0 {
		return code
	}
	return in.writeJobs(o.yaml, list)
}

func (in *invocation) writeJobs(yaml bool, list *api.JobList) int {
	return in.document(yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Jobs(w, list) })
}

// structured prints nodes as JSON or YAML, grouped as sinfo's lines are when
// they show all that there is.
func (o *nodeOptions) structured(in *invocation, list *api.NodeList) int {
	t := format.Names("partition,available,time,statelong,features,gres,reason", format.NodeFields())
	lines := o.groups(list, &t)
	if bad, ok := format.SortGroups(lines, o.sort, o.byNode); !ok {
		in.errorf("Invalid sort specification: %c", bad)
		return 1
	}
	return in.document(o.yaml, list.Cluster, nil, func(w *tree.Writer) { tree.NodeGroups(w, lines) })
}

// structured prints accounting records as JSON or YAML.
func (o *acctOptions) structured(in *invocation, list *api.JobList) int {
	return in.document(o.yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Accounting(w, list) })
}

// writeNodes prints scontrol show node --json.
func (in *invocation) writeNodes(yaml bool, list *api.NodeList) int {
	return in.document(yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Nodes(w, list) })
}

// writePartitions prints scontrol show partition --json.
func (in *invocation) writePartitions(yaml bool, x *format.Context, list *api.PartitionList) int {
	return in.document(yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Partitions(w, x.Now, list) })
}

// writeReservations prints scontrol show reservation --json.
func (in *invocation) writeReservations(yaml bool, list *api.ReservationList) int {
	return in.document(yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Reservations(w, list) })
}

// writeLicenses prints scontrol show licenses --json.
func (in *invocation) writeLicenses(yaml bool, list *api.LicenseList) int {
	return in.document(yaml, list.Cluster, nil, func(w *tree.Writer) { tree.Licenses(w, list) })
}

// writeConfig prints scontrol show config --json.
func (in *invocation) writeConfig(yaml bool, c *api.ConfigReply) int {
	return in.document(yaml, c.Cluster, nil, func(w *tree.Writer) { tree.Config(w, c) })
}

// writePing prints scontrol ping --json.
func (in *invocation) writePing(yaml bool, p *api.PingReply, took time.Duration, err error) int {
	var errors []string
	if err != nil {
		errors = append(errors, err.Error())
	}
	return in.document(yaml, p.Cluster, errors, func(w *tree.Writer) { tree.Ping(w, p, took.Microseconds()) })
}
