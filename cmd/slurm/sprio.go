package main

import (
	"cmp"
	"fmt"
	"math"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/api/slurm/format"
)

// prioColumn is one of sprio's columns: the letter of -o, the default width, its
// head, and its place in the controller's tables.
type prioColumn struct {
	letter byte
	head   string
	field  string
}

func prioColumns() []prioColumn {
	return []prioColumn{
		{'i', "JOBID", "jobid"}, {'r', "PARTITION", "partition"}, {'u', "USER", "user"}, {'o', "ACCOUNT", "account"}, {'Y', "PRIORITY", "priority"}, {'S', "SITE", "site"},
		{'A', "AGE", "age"}, {'B', "ASSOC", "assoc"}, {'F', "FAIRSHARE", "fairshare"}, {'J', "JOBSIZE", "jobsize"}, {'P', "PARTITION", "partitionprio"}, {'n', "QOSNAME", "qosname"},
		{'Q', "QOS", "qos"}, {'N', "NICE", "nice"}, {'a', "AGE", "nage"}, {'b', "ASSOC", "nassoc"}, {'f', "FAIRSHARE", "nfairshare"}, {'j', "JOBSIZE", "njobsize"},
		{'p', "PARTITION", "npartition"}, {'q', "QOS", "nqos"}, {'T', "TRES", ""}, {'t', "TRES", ""}, {'c', "CLUSTER", "cluster"}, {'s', "SLUID", "sluid"},
		{'y', "PRIORITY", "priority"},
	}
}

// value is the column's text in a row, "" where the table has nothing of it.
func (c prioColumn) value(t *api.Table, r api.TableRow) string {
	at := column(t, c.field)
	if at < 0 {
		return ""
	}
	if c.letter != 'y' && c.letter != 's' {
		return r.Values[at]
	}
	n, err := strconv.ParseUint(r.Values[at], 10, 64)
	switch {
	case err != nil:
		return ""
	case c.letter == 's':
		return string(format.AppendSLUID(nil, n))
	}
	return strconv.FormatFloat(float64(n)/math.MaxUint32, 'f', 14, 64)
}

const (
	prioWeights = "%.15i %9r %.10Y %.10S"
	prioLong    = "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T"
)

func sprioFlags() []slurm.Flag {
	const r, n, o = slurm.RequiredArg, slurm.NoArg, slurm.OptionalArg
	return []slurm.Flag{
		{Name: "cluster", Short: 'M', Arg: r}, {Name: "clusters", Short: 'M', Arg: r}, {Name: "federation", Note: oneCluster}, {Name: "format", Short: 'o', Arg: r}, {Name: "help"},
		{Name: "helpformat"}, {Name: "jobs", Short: 'j', Arg: o}, {Name: "local", Note: oneCluster}, {Name: "long", Short: 'l', Arg: n}, {Name: "noheader", Short: 'h'},
		{Name: "norm", Short: 'n', Arg: n}, {Name: "partition", Short: 'p', Arg: r}, {Name: "sibling", Note: oneCluster}, {Name: "sort", Short: 'S', Arg: r}, {Name: "usage"},
		{Name: "user", Short: 'u', Arg: r}, {Name: "users", Short: 'u', Arg: r}, {Name: "verbose", Short: 'v', Note: wordy}, {Name: "version", Short: 'V'},
		{Name: "weights", Short: 'w', Arg: n},
	}
}

// prioOptions is a command line of sprio.
type prioOptions struct {
	clusterChoice
	format, sort                  string
	jobs, users, partitions       []string
	long, norm, weights, noHeader bool
	jobsApart                     bool   // -j without a value: it may be the next word
	help                          string // what to print instead
}

// take acts on one option.
func (o *prioOptions) take(g *slurm.Given) {
	switch g.Flag.Name {
	case "cluster", "clusters":
		o.setClusters(g.Value)
	case "format":
		o.format = g.Value
	case "help", "usage", "version", "helpformat":
		o.help = g.Flag.Name
	case "jobs":
		o.jobs, o.jobsApart = words(g.Value), !g.HasValue
	case "long":
		o.long = true
	case "noheader":
		o.noHeader = true
	case "norm":
		o.norm = true
	case "partition":
		o.partitions = words(g.Value)
	case "sort":
		o.sort = g.Value
	case "user", "users":
		o.users = words(g.Value)
	case "weights":
		o.weights = true
	}
}

// sprio shows what the priorities of waiting jobs are made of: sprio(1).
func sprio(in *invocation) int {
	given, rest, ok, code := in.options(sprioFlags(), 1)
	if !ok {
		return code
	}
	o := &prioOptions{format: in.env("SPRIO_FORMAT"), sort: "i"}
	o.fromEnv(in)
	for i := range given {
		o.take(&given[i])
	}
	if o.jobsApart && len(rest) > 0 {
		o.jobs, rest = words(rest[0]), rest[1:]
	}
	for _, u := range o.users {
		if !userExists(u) {
			in.errorf("Invalid user: %s\n", u)
		}
	}
	if len(rest) > 0 {
		in.errorf("Unrecognized option: %s", rest[0])
		return 1
	}
	switch o.help {
	case "help", "usage":
		printFlags(in, "sprio [OPTIONS]", sprioFlags())
		return 0
	case "helpformat":
		for _, c := range prioColumns() {
			fmt.Fprintf(in.stdout, "%%%c ", c.letter)
		}
		fmt.Fprintln(in.stdout)
		return 0
	case "version":
		return printVersion(in)
	}
	if code := o.reach(in); code != 0 {
		return code
	}
	return o.list(in)
}

// list prints the weights, or the jobs that wait.
func (o *prioOptions) list(in *invocation) int {
	weights, ok, code := in.fetchTable("weight")
	if !ok {
		return code
	}
	text := o.format
	switch {
	case text != "":
	case o.long:
		text = prioLong
	default:
		text = prioWeights + usedFactors(weights, o.norm)
		if len(o.users) > 0 {
			text = strings.Replace(text, "%9r", "%9r %.8u", 1)
		}
	}
	t := weights
	if o.weights {
		if len(weights.Rows) > 0 {
			weights.Fields, weights.Rows[0].Values = append(weights.Fields, "jobid"), append(weights.Rows[0].Values, "Weights")
		}
	} else {
		if t, ok, code = in.fetchTable("priority"); !ok {
			return code
		}
		keepRows(t, "jobid", o.jobs)
		keepRows(t, "user", userNames(o.users))
		keepRows(t, "partition", o.partitions)
		if bad, ok := sortPriorities(t, o.sort); !ok {
			in.errorf("Invalid sort specification: %c", bad)
			return 1
		}
	}
	return in.printPriorities(text, t, o.noHeader)
}

// userNames puts names in the place of numbers of users.
func userNames(users []string) []string {
	out := make([]string, len(users))
	for i, u := range users {
		out[i] = u
		if found, err := user.LookupId(u); err == nil {
			out[i] = found.Username
		}
	}
	return out
}

// usedFactors are the columns of the factors that have a weight.
func usedFactors(weights *api.Table, norm bool) string {
	var b strings.Builder
	for _, f := range []struct{ field, plain, norm string }{
		{"age", "A", "a"}, {"assoc", "B", "b"}, {"fairshare", "F", "f"}, {"jobsize", "J", "j"}, {"partitionprio", "P", "p"}, {"qos", "Q", "q"},
	} {
		at := column(weights, f.field)
		if len(weights.Rows) == 0 || at < 0 || weights.Rows[0].Values[at] == "0" {
			continue
		}
		letter := f.plain
		if norm {
			letter = f.norm
		}
		b.WriteString(" %.10" + letter)
	}
	return b.String()
}

// sortPriorities orders by letters of the format, each with a sign in front if it
// likes; ok is false, with the letter, for one that there is not.
func sortPriorities(t *api.Table, order string) (bad byte, ok bool) {
	keys := words(order)
	for i := len(keys) - 1; i >= 0; i-- { // stable, so that the last one is sorted by first
		key := strings.TrimLeft(keys[i], "+-")
		at := slices.IndexFunc(prioColumns(), func(c prioColumn) bool { return key == string(c.letter) })
		if at < 0 {
			return (key + "?")[0], false
		}
		c, down := prioColumns()[at], strings.HasPrefix(keys[i], "-")
		slices.SortStableFunc(t.Rows, func(a, b api.TableRow) int {
			n := compareParts(c.value(t, a), c.value(t, b))
			if down {
				return -n
			}
			return n
		})
	}
	return 0, true
}

// compareParts compares texts that may be numbers, or the number of a job with
// that of a task.
func compareParts(a, b string) int {
	for {
		x, restA, _ := strings.Cut(a, "_")
		y, restB, _ := strings.Cut(b, "_")
		n, errA := strconv.ParseFloat(x, 64)
		m, errB := strconv.ParseFloat(y, 64)
		if errA != nil || errB != nil {
			return strings.Compare(a, b)
		}
		if n != m || restA == "" && restB == "" {
			return cmp.Compare(n, m)
		}
		a, b = restA, restB
	}
}

// printPriorities prints the rows by a format such as "%.15i %9r".
func (in *invocation) printPriorities(text string, t *api.Table, noHeader bool) int {
	type piece struct {
		text  string // before the column
		width int    // negative: set left
		col   prioColumn
	}
	var pieces []piece
	tail := ""
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		if !found {
			tail = before
			break
		}
		p, right := piece{text: before}, false
		if strings.HasPrefix(after, ".") {
			right, after = true, after[1:]
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		p.width, _ = strconv.Atoi(after[:digits])
		p.width = min(p.width, 4096)
		after = after[digits:]
		at := -1
		if after != "" {
			at = slices.IndexFunc(prioColumns(), func(c prioColumn) bool { return c.letter == after[0] })
		}
		if at < 0 {
			in.errorf("Invalid job format specification: %s", text)
			return 1
		}
		if !right {
			p.width = -p.width
		}
		p.col, rest = prioColumns()[at], after[1:]
		pieces = append(pieces, p)
	}
	line := func(value func(prioColumn) string) {
		for _, p := range pieces {
			v := value(p.col)
			if w := max(p.width, -p.width); w > 0 && len(v) > w {
				v = v[:w]
			}
			fmt.Fprintf(in.stdout, "%s%*s", p.text, p.width, v)
		}
		fmt.Fprintln(in.stdout, tail)
	}
	if !noHeader {
		line(func(c prioColumn) string { return c.head })
	}
	for _, r := range t.Rows {
		line(func(c prioColumn) string { return c.value(t, r) })
	}
	return 0
}
