package main

import (
	"fmt"
	"slices"
	"strings"

	"muster/api/slurm"
)

// This file holds the commands around accounts for a cluster that keeps none:
// listings are empty, with Slurm's heads, and changes are refused.

// head is one column of an empty listing.
type head struct {
	name  string
	width int // negative: set left
}

// emptyTable prints the heads of a listing that has no lines. With a format, its
// names take the place of the heads.
func (in *invocation) emptyTable(heads []head, o *emptyOptions) int {
	if o.noHeader {
		return 0
	}
	if o.format != "" {
		heads = chosenHeads(heads, o.format)
	}
	names := make([]string, len(heads))
	var line, rule strings.Builder
	for i, h := range heads {
		names[i] = h.name
		w := max(h.width, -h.width)
		fmt.Fprintf(&line, "%*.*s ", h.width, w, h.name)
		rule.WriteString(strings.Repeat("-", w) + " ")
	}
	switch {
	case o.after:
		fmt.Fprintln(in.stdout, strings.Join(names, "|")+"|")
	case o.between:
		fmt.Fprintln(in.stdout, strings.Join(names, "|"))
	default:
		fmt.Fprintf(in.stdout, "%s\n%s\n", line.String(), rule.String())
	}
	return 0
}

// chosenHeads takes the heads that a format names, in its order; one that is not
// among them stands as it was written.
func chosenHeads(heads []head, format string) []head {
	var out []head
	for _, name := range words(format) {
		name, _, _ = strings.Cut(name, "%")
		i := slices.IndexFunc(heads, func(h head) bool {
			return strings.EqualFold(strings.ReplaceAll(h.name, " ", ""), name)
		})
		if i < 0 {
			out = append(out, head{name, 10})
			continue
		}
		out = append(out, heads[i])
	}
	return out
}

// emptyOptions are the options that all these commands have.
type emptyOptions struct {
	noHeader, after, between bool
	format                   string
	stop                     bool // help or version was printed
}

// emptyFlags reads the common options; what else is given must be among flags.
func (in *invocation) emptyFlags(flags []slurm.Flag, noHeader string) (o *emptyOptions, rest []string, code int) {
	flags = append(flags, slurm.Flag{Name: "help"}, slurm.Flag{Name: "usage"}, slurm.Flag{Name: "version", Short: 'V'},
		slurm.Flag{Name: "parsable", Short: 'p'}, slurm.Flag{Name: "parsable2", Short: 'P'}, slurm.Flag{Name: "noheader", Short: noHeader[0]},
		slurm.Flag{Name: "format", Short: 'o', Arg: slurm.RequiredArg})
	given, rest, ok, code := in.options(flags, 1)
	if !ok {
		return nil, nil, code
	}
	o = &emptyOptions{}
	for i := range given {
		switch g := &given[i]; g.Flag.Name {
		case "help", "usage":
			printFlags(in, in.name+" [OPTIONS...]", flags)
			o.stop = true
		case "version":
			printVersion(in)
			o.stop = true
		case "parsable":
			o.after = true
		case "parsable2":
			o.between = true
		case "noheader":
			o.noHeader = true
		case "format":
			o.format = g.Value
		case "json", "yaml":
			in.errorf("--%s: this cluster keeps no accounts, there is nothing to show", g.Flag.Name)
			return nil, nil, 1
		}
	}
	return o, rest, 0
}

// sshare shows shares: sshare(1).
func sshare(in *invocation) int {
	o, _, code := in.emptyFlags([]slurm.Flag{
		{Name: "accounts", Short: 'A', Arg: slurm.RequiredArg}, {Name: "all", Short: 'a'}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
		{Name: "long", Short: 'l'}, {Name: "partition", Short: 'm'}, {Name: "users", Short: 'u', Arg: slurm.RequiredArg}, {Name: "Users", Short: 'U'},
		{Name: "verbose", Short: 'v'}, {Name: "noheader", Short: 'n'}, {Name: "json", Arg: slurm.OptionalArg}, {Name: "yaml", Arg: slurm.OptionalArg},
	}, "h")
	if code != 0 || o.stop {
		return code
	}
	return in.emptyTable([]head{{"Account", -20}, {"User", 10}, {"RawShares", 10}, {"NormShares", 11}, {"RawUsage", 11}, {"EffectvUsage", 13}, {"FairShare", 10}}, o)
}

// managerTables are the listings of sacctmgr with their least abbreviation.
func managerTables(entity string) []head {
	tables := []struct {
		names string
		heads []head
	}{
		{"account accounts", []head{{"Account", 10}, {"Descr", 20}, {"Org", 20}}},
		{"association associations assoc", []head{{"Cluster", 10}, {"Account", 10}, {"User", 10}, {"Partition", 10}, {"Share", 9}, {"Priority", 10}, {"GrpJobs", 7},
			{"GrpTRES", 13}, {"GrpSubmit", 9}, {"GrpWall", 11}, {"GrpTRESMins", 13}, {"MaxJobs", 7}, {"MaxTRES", 13}, {"MaxTRESPerNode", 14}, {"MaxSubmit", 9},
			{"MaxWall", 11}, {"MaxTRESMins", 13}, {"QOS", 20}, {"Def QOS", 9}, {"GrpTRESRunMin", 13}}},
		{"event events", []head{{"Cluster", 10}, {"NodeName", -15}, {"TimeStart", 19}, {"TimeEnd", 19}, {"State", 6}, {"Reason", 30}, {"User", 10}}},
		{"federation federations", []head{{"Federation", 10}, {"Cluster", 10}, {"ID", 2}, {"Features", 20}, {"FedState", 12}}},
		{"problem problems", []head{{"Cluster", 10}, {"Account", 10}, {"User", 10}, {"Problem", 40}}},
		{"qos", []head{{"Name", 10}, {"Priority", 10}, {"GraceTime", 10}, {"Preempt", 10}, {"PreemptExemptTime", 19}, {"PreemptMode", 11}, {"Flags", 40}, {"UsageThres", 10}, {"UsageFactor", 11}}},
		{"reservation reservations", []head{{"Cluster", 10}, {"Name", 15}, {"TRES", 30}, {"TimeStart", 19}, {"TimeEnd", 19}, {"UnusedWall", 10}}},
		{"resource resources", []head{{"Name", 10}, {"Server", 10}, {"Type", 8}, {"Count", 6}, {"LastConsumed", 12}, {"Allocated", 9}, {"ServerType", 10}, {"Flags", 20}}},
		{"transaction transactions", []head{{"Time", 19}, {"Action", 20}, {"Actor", 10}, {"Where", 20}, {"Info", 20}}},
		{"tres", []head{{"Type", 8}, {"Name", 15}, {"ID", 6}}},
		{"user users", []head{{"User", 10}, {"Def Acct", 10}, {"Admin", 9}}},
		{"wckey wckeys", []head{{"WCKey", 10}, {"Cluster", 10}, {"User", 10}}},
	}
	for _, t := range tables {
		for name := range strings.SplitSeq(t.names, " ") {
			if strings.EqualFold(name, entity) {
				return t.heads
			}
		}
	}
	return nil
}

// sacctmgr shows and changes accounts: sacctmgr(1).
func sacctmgr(in *invocation) int {
	o, rest, code := in.emptyFlags([]slurm.Flag{
		{Name: "associations", Short: 's'}, {Name: "immediate", Short: 'i'}, {Name: "quiet", Short: 'Q'}, {Name: "oneliner"}, {Name: "readonly", Short: 'r'}, {Name: "verbose", Short: 'v'},
		{Name: "json", Arg: slurm.OptionalArg}, {Name: "yaml", Arg: slurm.OptionalArg},
	}, "n")
	if code != 0 || o.stop {
		return code
	}
	if len(rest) == 0 {
		in.errorf("a command is needed, for example: sacctmgr show user")
		return 1
	}
	if !slices.Contains([]string{"show", "list", "sho", "lis"}, strings.ToLower(rest[0])) {
		in.errorf("%s: this cluster keeps no accounts yet; nothing was changed", rest[0])
		return 1
	}
	if len(rest) > 1 {
		for _, w := range rest[2:] {
			if key, value, ok := strings.Cut(w, "="); ok && len(key) >= 2 && strings.HasPrefix("format", strings.ToLower(key)) {
				o.format = value
			}
		}
		if heads := managerTables(rest[1]); heads != nil {
			return in.emptyTable(heads, o)
		}
		if strings.EqualFold(rest[1], "runawayjobs") {
			fmt.Fprintln(in.stdout, "Runaway Jobs: No runaway jobs found")
			return 0
		}
	}
	fmt.Fprintln(in.stderr, "No valid entity in list command\nInput line must include \"Account\", \"Association\", \"Cluster\", \"Configuration\",\n"+
		"\"Event\", \"Federation\", \"Problem\", \"QOS\", \"Resource\", \"Reservation\",\n\"RunAwayJobs\", \"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"")
	return 1
}

// reportTables are the reports of sreport by their words.
func reportTables(words []string) []head {
	user, account := head{"Login", 9}, head{"Account", 15}
	cluster, name, used, energy := head{"Cluster", 9}, head{"Proper Name", 15}, head{"Used", 8}, head{"Energy", 8}
	if len(words) < 2 {
		return nil
	}
	switch strings.ToLower(words[0] + " " + words[1]) {
	case "cluster utilization":
		return []head{cluster, {"Allocated", 8}, {"Down", 8}, {"PLND Down", 8}, {"Idle", 8}, {"Planned", 8}, {"Reported", 8}}
	case "cluster accountutilizationbyuser":
		return []head{cluster, account, user, name, used, energy}
	case "cluster userutilizationbyaccount":
		return []head{cluster, user, name, account, used, energy}
	case "user topusage", "user top":
		return []head{cluster, user, name, account, used, energy}
	}
	return nil
}

// sreport reports usage: sreport(1). There are no usage records yet, and it says
// so beside the empty report.
func sreport(in *invocation) int {
	o, rest, code := in.emptyFlags([]slurm.Flag{
		{Name: "all_clusters", Short: 'a'}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "quiet", Short: 'Q'}, {Name: "time", Short: 't', Arg: slurm.RequiredArg},
		{Name: "tres", Short: 'T', Arg: slurm.RequiredArg}, {Name: "verbose", Short: 'v'},
	}, "n")
	if code != 0 || o.stop {
		return code
	}
	heads := reportTables(rest)
	if heads == nil {
		in.errorf("%s: not a report of this build", strings.Join(rest, " "))
		return 1
	}
	for _, w := range rest[2:] {
		if key, value, ok := strings.Cut(w, "="); ok && strings.EqualFold(key, "format") {
			o.format = value
		}
	}
	fmt.Fprintln(in.stderr, "sreport: this cluster keeps no usage records yet: the report is empty; sacct lists the jobs")
	return in.emptyTable(heads, o)
}
