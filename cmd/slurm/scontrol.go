package main

import (
	"fmt"
	"slices"
	"strings"

	"muster/api/slurm"
)

// scontrolFlags is the grammar of scontrol(1).
var scontrolFlags = []slurm.Flag{
	{Name: "all", Short: 'a'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
	{Name: "details", Short: 'd'}, {Name: "federation", Note: oneCluster}, {Name: "future", Short: 'F'}, {Name: "help", Short: 'h'}, {Name: "hide", Note: "what is done without --all"},
	{Name: "json", Arg: slurm.OptionalArg}, {Name: "local", Note: oneCluster}, {Name: "oneliner", Short: 'o'}, {Name: "quiet", Short: 'Q'}, {Name: "sibling", Note: oneCluster},
	{Name: "uid", Short: 'u', Arg: slurm.RequiredArg, Refuse: "run scontrol as that user, for example with setpriv or su"}, {Name: "usage"}, {Name: "verbose", Short: 'v', Note: wordy}, {Name: "version", Short: 'V'},
	{Name: "yaml", Arg: slurm.OptionalArg},
}

// scontrolOptions is what the options came to.
type scontrolOptions struct {
	clusterChoice
	all, details, future, oneliner, quiet bool
	json, yaml                            bool
}

// scontrol shows and changes everything: scontrol(1).
func scontrol(in *invocation) int {
	given, words, ok, code := in.options(scontrolFlags, 1)
	if !ok {
		return code
	}
	o := &scontrolOptions{}
	o.fromEnv(in)
	for _, g := range given {
		switch g.Flag.Name {
		case "help", "usage":
			printFlags(in, "scontrol [OPTIONS...] COMMAND [ARGUMENTS...]", scontrolFlags)
			return 0
		case "version":
			return printVersion(in)
		case "cluster", "clusters":
			o.setClusters(g.Value)
		default:
			o.set(g.Flag.Name)
		}
	}
	if len(words) == 0 {
		return scontrolPrompt(in, o)
	}
	return scontrolOnline(in, o, words)
}

// scontrolOnline runs one command.
func scontrolOnline(in *invocation, o *scontrolOptions, words []string) int {
	if !offline(words) {
		if code := o.reach(in); code != 0 {
			return code
		}
	}
	return scontrolCommand(in, o, words)
}

// offline tells whether a command works without a controller.
func offline(words []string) bool {
	return words[0] == "version" || len(words) > 1 && strings.HasPrefix(strings.ToLower(words[1]), "host")
}

// set takes one option over.
func (o *scontrolOptions) set(name string) {
	switch name {
	case "all":
		o.all = true
	case "details":
		o.details = true
	case "future":
		o.future = true
	case "oneliner":
		o.oneliner = true
	case "quiet":
		o.quiet = true
	case "json":
		o.json = true
	case "yaml":
		o.yaml = true
	}
}

// verb is one command of scontrol: it may be cut to min bytes and takes from
// least to most words (most < 0: any number).
type verb struct {
	name        string
	min         int
	least, most int
	run         func(in *invocation, o *scontrolOptions, words []string) int // nil: it has no meaning here
	instead     string                                                       // what to do then
}

// verbs lists the commands in the order in which scontrol looks them up.
func verbs() []verb {
	return slices.Concat([]verb{
		{"create", 2, 1, -1, scontrolCreate, ""},
		{"delete", 1, 1, -1, scontrolDelete, ""},
		{"hold", 4, 1, -1, jobVerb("hold"), ""},
		{"holdu", 5, 1, -1, jobVerb("uhold"), ""},
		{"uhold", 5, 1, -1, jobVerb("uhold"), ""},
		{"release", 3, 1, -1, jobVerb("release"), ""},
		{"requeue", 3, 1, -1, jobVerb("requeue"), ""},
		{"reconfigure", 3, 0, 0, scontrolReconfigure, ""},
		{"requeuehold", 11, 1, -1, jobVerb("requeuehold"), ""},
		{"resume", 3, 1, -1, jobVerb("resume"), ""},
		{"suspend", 2, 1, -1, jobVerb("suspend"), ""},
		{"top", 3, 1, 1, jobVerb("top"), ""},
		{"update", 1, 1, -1, scontrolUpdate, ""},
		{"version", 4, 0, 0, func(in *invocation, _ *scontrolOptions, _ []string) int { return printVersion(in) }, ""},
		{"wait_job", 2, 1, 1, scontrolWaitJob, ""},
		{"write", 5, 1, 3, scontrolWrite, ""},
	}, showingVerbs(), absentVerbs())
}

// absentVerbs are the commands that have no meaning here.
func absentVerbs() []verb {
	const (
		boot    = "nodes are not booted here; use the tools of the node"
		levels  = "the log level is set where the daemon is started"
		process = "it looks at the processes of a compute node, which this version does not do; log in there"
	)
	return []verb{
		{"cancel_reboot", 3, 1, 1, nil, boot},
		{"errnumstr", 2, 1, 1, nil, "errors are not numbered; each command prints its text"},
		{"fsdampeningfactor", 2, 1, 1, nil, "set fair_share_damping in cluster.toml"},
		{"getent", 6, 0, 1, nil, "users are looked up by the name service of each node; use getent there"},
		{"listpids", 5, 0, 2, nil, process},
		{"liststeps", 5, 0, 1, nil, process},
		{"notify", 1, 2, -1, nil, "write into the job's output file, or send a signal with scancel"},
		{"pidinfo", 3, 1, 1, nil, process},
		{"power", 2, 0, -1, nil, boot},
		{"reboot_nodes", 3, 0, -1, nil, boot},
		{"schedloglevel", 3, 1, 1, nil, levels},
		{"setdebug", 2, 0, -1, nil, levels},
		{"setdebugflags", 9, 0, -1, nil, levels},
		{"shutdown", 8, 0, -1, nil, "stop the daemons with the service manager of their host"},
		{"takeover", 8, 0, -1, nil, "the controllers elect their leader themselves"},
		{"token", 5, 0, -1, nil, "callers are known by their user id on the host, and need no token"},
	}
}

// scontrolCommand finds and runs a command.
func scontrolCommand(in *invocation, o *scontrolOptions, words []string) int {
	tag := words[0]
	words = words[1:]
	v, ok := findVerb(tag)
	switch {
	case !ok:
		fmt.Fprintf(in.stderr, "invalid keyword: %s\n", tag)
		return 1
	case len(words) < v.least && (v.name == "update" || v.name == "delete" || v.name == "create"):
		fmt.Fprintf(in.stderr, "too few arguments for %s keyword\n", tag)
		return 1
	case len(words) < v.least:
		fmt.Fprintf(in.stderr, "too few arguments for keyword:%s\n", tag)
		return 1
	case v.most >= 0 && len(words) > v.most:
		fmt.Fprintf(in.stderr, "too many arguments for keyword:%s\n", tag)
		return 1
	}
	if v.run == nil {
		fmt.Fprintf(in.stderr, "scontrol: %s has no meaning here: %s\n", v.name, v.instead)
		return 1
	}
	return v.run(in, o, words)
}

// findVerb finds a command by its name, before it looks for an abbreviation.
func findVerb(tag string) (verb, bool) {
	all := verbs()
	for _, v := range all {
		if strings.EqualFold(tag, v.name) {
			return v, true
		}
	}
	for _, v := range all {
		if len(tag) >= v.min && len(tag) < len(v.name) && strings.EqualFold(tag, v.name[:len(tag)]) {
			return v, true
		}
	}
	return verb{}, false
}
