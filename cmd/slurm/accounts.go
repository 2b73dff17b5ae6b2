package main

import (
	"cmp"
	"fmt"
	"os/user"
	"slices"
	"strings"

	"muster/api"
	"muster/api/slurm"
)

// tableOptionFlags are the options that all commands around accounts have.
func tableOptionFlags(noHeader string) []slurm.Flag {
	return []slurm.Flag{
		{Name: "help"}, {Name: "usage"}, {Name: "version", Short: 'V'}, {Name: "parsable", Short: 'p'}, {Name: "parsable2", Short: 'P'},
		{Name: "noheader", Short: noHeader[0]}, {Name: "format", Short: 'o', Arg: slurm.RequiredArg},
	}
}

// structuredNot is why json and yaml are refused by commands around accounts.
const structuredNot = "use -P"

// tableFlags reads the options that all commands around accounts have; what else
// is given must be among flags.
func (in *invocation) tableFlags(flags []slurm.Flag, noHeader string) (o *tableOptions, rest []string, code int) {
	flags = append(flags, tableOptionFlags(noHeader)...)
	given, rest, ok, code := in.options(flags, 1)
	if !ok {
		return nil, nil, code
	}
	o = &tableOptions{flags: map[string]string{}}
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
		default:
			o.flags[g.Flag.Name] = g.Value
		}
	}
	if o.stop {
		return o, rest, 0
	}
	return o, rest, in.ownCluster(cmp.Or(o.flags["clusters"], o.flags["cluster"]))
}

// ownCluster checks a list of clusters (-M): there is only the one here. The exit
// code is 0 if all names mean it.
func (in *invocation) ownCluster(list string) int {
	var c clusterChoice
	c.setClusters(list)
	return c.reach(in)
}

func sshareFlags() []slurm.Flag {
	return []slurm.Flag{
		{Name: "accounts", Short: 'A', Arg: slurm.RequiredArg}, {Name: "all", Short: 'a'}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
		{Name: "long", Short: 'l'}, {Name: "partition", Short: 'm'},
		{Name: "users", Short: 'u', Arg: slurm.RequiredArg}, {Name: "Users", Short: 'U'}, {Name: "verbose", Short: 'v', Note: wordy}, {Name: "noheader", Short: 'n'},
		{Name: "json", Arg: slurm.OptionalArg, Refuse: structuredNot}, {Name: "yaml", Arg: slurm.OptionalArg, Refuse: structuredNot},
	}
}

// shareHeads are the columns of sshare(1).
func shareHeads() []head {
	return []head{
		{"Account", -20, "account", ""}, {"User", 10, "user", ""}, {"Partition", 12, "partition", ""}, {"RawShares", 10, "rawshares", ""}, {"NormShares", 11, "normshares", ""},
		{"RawUsage", 11, "rawusage", ""}, {"NormUsage", 11, "normusage", ""}, {"EffectvUsage", 13, "effectvusage", ""}, {"FairShare", 10, "fairshare", ""}, {"LevelFS", 10, "levelfs", ""},
		{"GrpTRESMins", 30, "grptresmins", ""}, {"TRESRunMins", 30, "tresrunmins", ""}, {"Cluster", 10, "cluster", ""}, {"GrpTRESRaw", 30, "grptresraw", ""},
	}
}

// sshare shows fair shares and what they follow from: sshare(1).
func sshare(in *invocation) int {
	o, rest, code := in.tableFlags(sshareFlags(), "h")
	if code != 0 || o.stop {
		return code
	}
	if len(rest) > 0 {
		in.errorf("unrecognized argument %s", rest[0])
		return 1
	}
	t, ok, code := in.fetchTable("share")
	if !ok {
		return code
	}
	heads := shareHeads()
	chosen := slices.DeleteFunc(slices.Clone(heads), func(h head) bool {
		switch h.field {
		case "partition":
			return !o.has("partition")
		case "normusage", "grptresmins", "tresrunmins":
			return !o.has("long")
		case "levelfs": // no row has one with the classic rule
			at := column(t, h.field)
			return !o.has("long") || !slices.ContainsFunc(t.Rows, func(r api.TableRow) bool { return r.Values[at] != "" })
		}
		return h.field == "cluster" || h.field == "grptresraw"
	})
	if o.format != "" {
		var err error
		if chosen, err = chooseHeads(heads, o.format); err != nil {
			in.errorf("%s", strings.TrimSpace(err.Error()))
			return 1
		}
	}
	in.chooseShares(t, o)
	indent(t)
	in.printTable(chosen, t, o)
	return 0
}

// chooseShares keeps what is asked for: without -a or -u the accounts and the
// caller's own associations.
func (in *invocation) chooseShares(t *api.Table, o *tableOptions) {
	users := words(o.flags["users"])
	if len(users) == 0 && !o.has("all") {
		if u, err := user.LookupId(fmt.Sprint(in.uid)); err == nil {
			users = []string{u.Username}
		}
	}
	at := column(t, "user")
	accounts := words(o.flags["accounts"])
	t.Rows = slices.DeleteFunc(t.Rows, func(r api.TableRow) bool {
		name := r.Values[at]
		return name != "" && len(users) > 0 && !slices.Contains(users, name) || name == "" && o.has("Users")
	})
	keepRows(t, "account", accounts)
}
