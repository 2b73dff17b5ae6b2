package main

import (
	"fmt"
	"strings"

	"muster/api"
	"muster/api/slurm"
)

// clusterChoice is what -M (--clusters) or SLURM_CLUSTERS names. There is one
// cluster here: its own name and "all" mean it.
type clusterChoice struct {
	list string // names separated by commas; "": the one here, without being named
}

// setClusters takes the value of the option.
func (c *clusterChoice) setClusters(list string) { c.list = list }

// fromEnv takes the default that the environment gives.
func (c *clusterChoice) fromEnv(in *invocation) {
	c.list = in.env("SLURM_CLUSTERS")
}

// check complains of each cluster that is not the one that answered, own, and tells
// whether that was among those named.
func (c *clusterChoice) check(in *invocation, own string) bool {
	found := c.list == ""
	for _, name := range words(c.list) {
		if strings.EqualFold(name, "all") || strings.EqualFold(name, own) {
			found = true
		} else {
			in.errorf("No cluster '%s' known by database.", name)
		}
	}
	if !found {
		in.errorf("%s", slurm.TextCluster(c.list))
		fmt.Fprintf(in.stderr, "%s: fatal: Could not get cluster information\n", in.name)
	}
	return found
}

// head prints the line that names the cluster above a table of its own.
func (c *clusterChoice) head(in *invocation, own string) {
	if c.list != "" {
		fmt.Fprintf(in.stdout, "CLUSTER: %s\n", own)
	}
}

// reach asks for the cluster's name where a command that changes something was
// told one, and checks it. The exit code is 0 if it is right.
func (c *clusterChoice) reach(in *invocation) int {
	if c.list == "" || strings.EqualFold(c.list, "all") {
		return 0
	}
	var reply api.PingReply
	if code := in.ask("slurm_load_ctl_conf", api.MethodPing, &api.NameQuery{}, &reply); code != 0 {
		return code
	}
	if !c.check(in, reply.Cluster) {
		return 1
	}
	return 0
}
