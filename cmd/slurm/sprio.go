package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
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
		{'p', "PARTITION", "npartition"}, {'q', "QOS", "nqos"}, {'T', "TRES", ""},
	}
}

const (
	prioWeights = "%.15i %9r %.10Y %.10S"
	prioLong    = "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T"
)

// sprio shows what the priorities of waiting jobs are made of: sprio(1).
func sprio(in *invocation) int {
	given, rest, ok, code := in.options([]slurm.Flag{
		{Name: "jobs", Short: 'j', Arg: slurm.RequiredArg}, {Name: "users", Short: 'u', Arg: slurm.RequiredArg}, {Name: "noheader", Short: 'h'}, {Name: "long", Short: 'l'},
		{Name: "partition", Short: 'p', Arg: slurm.RequiredArg}, {Name: "format", Short: 'o', Arg: slurm.RequiredArg}, {Name: "weights", Short: 'w'}, {Name: "norm", Short: 'n'},
		{Name: "help"}, {Name: "usage"}, {Name: "version", Short: 'V'}, {Name: "verbose", Short: 'v'},
	}, 1)
	if !ok {
		return code
	}
	if len(rest) > 0 {
		in.errorf("Unrecognized option: %s", rest[0])
		return 1
	}
	o := map[string]string{}
	for i := range given {
		o[given[i].Flag.Name] = given[i].Value
	}
	has := func(name string) bool { _, ok := o[name]; return ok }
	switch {
	case has("help"), has("usage"):
		fmt.Fprintln(in.stdout, "Usage: sprio [-h] [-l] [-n] [-w] [-j JOBS] [-u USERS] [-p PARTITIONS] [-o FORMAT]")
		return 0
	case has("version"):
		return printVersion(in)
	}
	weights, ok, code := in.fetchTable("weight")
	if !ok {
		return code
	}
	format := o["format"]
	switch {
	case has("format"):
	case has("long"):
		format = prioLong
	default:
		format = prioWeights + usedFactors(weights, has("norm"))
	}
	t := weights
	if has("weights") {
		weights.Fields, weights.Rows[0].Values = append(weights.Fields, "jobid"), append(weights.Rows[0].Values, "Weights")
	} else {
		if t, ok, code = in.fetchTable("priority"); !ok {
			return code
		}
		keepRows(t, "jobid", words(o["jobs"]))
		keepRows(t, "user", words(o["users"]))
		keepRows(t, "partition", words(o["partition"]))
		sortByJob(t)
	}
	return in.printPriorities(format, t, has("noheader"))
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

// sortByJob orders by number and task.
func sortByJob(t *api.Table) {
	at := column(t, "jobid")
	number := func(r api.TableRow) (id, task int) {
		a, b, _ := strings.Cut(r.Values[at], "_")
		id, _ = strconv.Atoi(a)
		task, _ = strconv.Atoi(b)
		return id, task
	}
	slices.SortStableFunc(t.Rows, func(a, b api.TableRow) int {
		i, k := number(a)
		j, l := number(b)
		if i != j {
			return i - j
		}
		return k - l
	})
}

// printPriorities prints the rows by a format such as "%.15i %9r".
func (in *invocation) printPriorities(format string, t *api.Table, noHeader bool) int {
	type piece struct {
		text  string // before the column
		width int    // negative: set left
		col   prioColumn
	}
	var pieces []piece
	tail := ""
	for rest := format; rest != ""; {
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
			in.errorf("Invalid job format specification: %s", format)
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
		line(func(c prioColumn) string {
			if at := column(t, c.field); at >= 0 {
				return r.Values[at]
			}
			return ""
		})
	}
	return 0
}
