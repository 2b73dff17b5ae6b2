package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"muster/api"
	"muster/internal/hostlist"
)

// hostNames is scontrol show hostnames; without a list it is the job's own.
func (in *invocation) hostNames(list string) int {
	if list == "" {
		if list = in.env("SLURM_JOB_NODELIST"); list == "" {
			list = in.env("SLURM_NODELIST")
		}
	}
	names, code := in.expandHosts(list)
	for _, n := range names {
		fmt.Fprintln(in.stdout, n)
	}
	return code
}

// expandHosts expands a host list; a failure is printed.
func (in *invocation) expandHosts(list string) (names []string, code int) {
	if list == "" {
		fmt.Fprintln(in.stderr, "host list is empty")
		return nil, 1
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		fmt.Fprintf(in.stderr, "Invalid hostlist: %s: %v\n", list, err)
		return nil, 1
	}
	return names, 0
}

// hostList is scontrol show hostlist and hostlistsorted; a word with a slash is a
// file of names.
func (in *invocation) hostList(list string, sorted bool) int {
	if strings.Contains(list, "/") {
		data, err := os.ReadFile(list)
		if err != nil {
			fmt.Fprintf(in.stderr, "unable to read %s: %v\n", list, err)
			return 1
		}
		list = strings.Join(strings.Fields(string(data)), ",")
	}
	names, code := in.expandHosts(list)
	if code != 0 {
		return code
	}
	if sorted {
		hostlist.Sort(names)
		names = slices.Compact(names)
	}
	fmt.Fprintln(in.stdout, hostlist.Compress(names))
	return 0
}

// showAliases is scontrol show aliases: the nodes of a host.
func (in *invocation) showAliases(host string) int {
	if host == "" {
		host, _ = os.Hostname()
	}
	var list api.NodeList
	if code := in.ask("slurm_load_node", api.MethodNodes, &api.NodeQuery{}, &list); code != 0 {
		return code
	}
	var names []string
	for i := range list.Nodes {
		if n := &list.Nodes[i]; n.HostName == host || n.Name == host {
			names = append(names, n.Name)
		}
	}
	fmt.Fprintln(in.stdout, strings.Join(names, " "))
	return 0
}
