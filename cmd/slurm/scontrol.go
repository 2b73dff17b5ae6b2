package main

import (
	"fmt"
	"strings"

	"muster/api/slurm"
)

// scontrolFlags is the grammar of scontrol(1).
var scontrolFlags = []slurm.Flag{
	{Name: "all", Short: 'a'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
	{Name: "details", Short: 'd'}, {Name: "federation"}, {Name: "future", Short: 'F'}, {Name: "help", Short: 'h'}, {Name: "hide"},
	{Name: "json", Arg: slurm.OptionalArg}, {Name: "local"}, {Name: "oneliner", Short: 'o'}, {Name: "quiet", Short: 'Q'}, {Name: "sibling"},
	{Name: "uid", Short: 'u', Arg: slurm.RequiredArg}, {Name: "usage"}, {Name: "verbose", Short: 'v'}, {Name: "version", Short: 'V'},
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
	given, words, err := slurm.Getopt(in.args, scontrolFlags, false)
	if err != nil {
		fmt.Fprintf(in.stderr, "scontrol: %v\nTry \"scontrol --help\" for more information\n", err)
		return 1
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
			if !o.set(g.Flag.Name) {
				in.errorf("option --%s is not supported", g.Flag.Name)
				return 1
			}
		}
	}
	if len(words) == 0 {
		fmt.Fprintln(in.stderr, "scontrol: a command is needed, for example: scontrol show job 12")
		return 1
	}
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

// set takes one option over; false if it has no meaning here.
func (o *scontrolOptions) set(name string) bool {
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
	case "hide", "local", "verbose": // what is done anyway
	default:
		return false
	}
	return true
}

// verb is one command of scontrol: it may be cut to min bytes and takes from
// least to most words (most < 0: any number).
type verb struct {
	name        string
	min         int
	least, most int
	run         func(in *invocation, o *scontrolOptions, words []string) int
}

// verbs lists the commands in the order in which scontrol looks them up.
func verbs() []verb {
	return append([]verb{
		{"cancel_reboot", 3, 1, 1, elsewhere("nodes are not booted here; use the tools of the node")},
		{"create", 2, 1, -1, scontrolCreate},
		{"delete", 1, 1, -1, scontrolDelete},
		{"hold", 4, 1, -1, jobVerb("hold")},
		{"holdu", 5, 1, -1, jobVerb("uhold")},
		{"uhold", 5, 1, -1, jobVerb("uhold")},
		{"notify", 1, 2, -1, elsewhere("write into the job's output file, or send a signal with scancel")},
		{"reboot_nodes", 3, 0, -1, elsewhere("nodes are not booted here; use the tools of the node")},
		{"reconfigure", 3, 0, 0, elsewhere("use muster conf apply")},
		{"release", 3, 1, -1, jobVerb("release")},
		{"requeue", 3, 1, -1, jobVerb("requeue")},
		{"requeuehold", 11, 1, -1, jobVerb("requeuehold")},
		{"resume", 3, 1, -1, jobVerb("resume")},
		{"setdebug", 2, 0, -1, elsewhere("the log level is set where the daemon is started")},
		{"setdebugflags", 9, 0, -1, elsewhere("the log level is set where the daemon is started")},
		{"shutdown", 8, 0, -1, elsewhere("stop the daemons with the service manager of their host")},
		{"suspend", 2, 1, -1, jobVerb("suspend")},
		{"takeover", 8, 0, -1, elsewhere("the controllers elect their leader themselves")},
		{"top", 3, 1, 1, jobVerb("top")},
		{"update", 1, 1, -1, scontrolUpdate},
		{"version", 4, 0, 0, func(in *invocation, _ *scontrolOptions, _ []string) int { return printVersion(in) }},
		{"wait_job", 2, 1, 1, scontrolWaitJob},
		{"write", 5, 1, 3, scontrolWrite},
	}, showingVerbs()...)
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
	case len(words) < v.least:
		fmt.Fprintf(in.stderr, "too few arguments for keyword:%s\n", tag)
		return 1
	case v.most >= 0 && len(words) > v.most:
		fmt.Fprintf(in.stderr, "too many arguments for keyword:%s\n", tag)
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

// elsewhere makes the answer of a command that has no meaning here.
func elsewhere(what string) func(*invocation, *scontrolOptions, []string) int {
	return func(in *invocation, _ *scontrolOptions, _ []string) int {
		fmt.Fprintf(in.stderr, "scontrol: this command has no meaning here: %s\n", what)
		return 1
	}
}
