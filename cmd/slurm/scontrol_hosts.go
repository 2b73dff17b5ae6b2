package main

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
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
	names, _ := in.expandHosts(list)
	for _, n := range names {
		fmt.Fprintln(in.stdout, n)
	}
	return 0 // whatever was wrong with the list, as in Slurm
}

// expandHosts expands a host list; a failure is printed.
func (in *invocation) expandHosts(list string) (names []string, code int) {
	if list == "" {
		in.errorf("host list is empty")
		return nil, 1
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		fmt.Fprintf(in.stderr, "Invalid hostlist: %s\nscontrol: %v\n", list, err)
		return nil, 1
	}
	return names, 0
}

// hostList is scontrol show hostlist and hostlistsorted; a word with a slash is a
// file of names.
func (in *invocation) hostList(list string, sorted bool) int {
	if list == "" {
		fmt.Fprintln(in.stderr, "invalid encode argument")
		return 1
	}
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

// scontrolAddresses is scontrol getaddrs: where the controllers reach nodes.
func scontrolAddresses(in *invocation, _ *scontrolOptions, words []string) int {
	names, err := hostlist.Expand(words[0])
	if err != nil {
		in.errorf("Invalid node list %s: %v", words[0], err)
		return 1
	}
	var list api.NodeList
	if code := in.ask("slurm_load_node", api.MethodNodes, &api.NodeQuery{}, &list); code != 0 {
		return code
	}
	code := 0
	for _, name := range names {
		i := slices.IndexFunc(list.Nodes, func(n api.NodeRecord) bool { return n.Name == name })
		if i < 0 {
			in.errorf("%s is not a node of this cluster", name)
			code = 1
			continue
		}
		n := &list.Nodes[i]
		fmt.Fprintf(in.stdout, "%s: %s\n", name, net.JoinHostPort(cmp.Or(n.Address, n.Name), strconv.Itoa(int(n.Port))))
	}
	return code
}

// scontrolHelp is scontrol help: the options, and the commands that there are.
func scontrolHelp(in *invocation, _ *scontrolOptions, _ []string) int {
	printFlags(in, "scontrol [OPTIONS...] COMMAND [ARGUMENTS...]", scontrolFlags)
	fmt.Fprintln(in.stdout, "\nCommands:")
	for _, v := range verbs() {
		if v.run != nil {
			fmt.Fprintln(in.stdout, "  "+v.name)
		}
	}
	return 0
}
