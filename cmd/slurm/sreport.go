package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

// report is one of sreport's: its head line and its columns.
type report struct {
	title string
	heads []head
	top   int  // most lines, 0: all
	order bool // by use, highest first
}

// reportOf finds a report by its words; nil if this version has not got it.
func reportOf(words []string) *report {
	user, account := head{"Login", 9, "login", ""}, head{"Account", 15, "account", ""}
	cluster, name, used, energy := head{"Cluster", 9, "cluster", ""}, head{"Proper Name", 15, "proper", ""}, head{"Used", 8, "used", ""}, head{"Energy", 8, "energy", ""}
	if len(words) < 2 {
		return nil
	}
	switch strings.ToLower(words[0] + " " + words[1]) {
	case "cluster accountutilizationbyuser":
		return &report{title: "Cluster/Account/User Utilization", heads: []head{cluster, account, user, name, used, energy}}
	case "cluster userutilizationbyaccount":
		return &report{title: "Cluster/User/Account Utilization", heads: []head{cluster, user, name, account, used, energy}, order: true}
	case "user topusage", "user top":
		return &report{title: "Top 10 Users", heads: []head{cluster, user, name, account, used, energy}, order: true, top: 10}
	}
	return nil
}

func sreportFlags() []slurm.Flag {
	return []slurm.Flag{
		{Name: "all_clusters", Short: 'a', Note: oneCluster}, {Name: "cluster", Short: 'M', Arg: slurm.RequiredArg}, {Name: "clusters", Short: 'M', Arg: slurm.RequiredArg},
		{Name: "federation", Note: oneCluster}, {Name: "local", Note: oneCluster}, {Name: "quiet", Short: 'Q'}, {Name: "time", Short: 't', Arg: slurm.RequiredArg},
		{Name: "tres", Short: 'T', Arg: slurm.RequiredArg}, {Name: "verbose", Short: 'v', Note: wordy},
	}
}

// sreport reports use: sreport(1), from the record of jobs. Of the reports of the
// cluster's own time it only has the heads, and says so.
func sreport(in *invocation) int {
	o, rest, code := in.tableFlags(sreportFlags(), "n")
	if code != 0 || o.stop {
		return code
	}
	if len(rest) >= 2 {
		if strings.EqualFold(rest[0]+" "+rest[1], "cluster utilization") {
			fmt.Fprintln(in.stderr, "sreport: the time of nodes is not gathered by this version: the report is empty")
			in.printHeads([]head{{"Cluster", 9, "", ""}, {"Allocated", 8, "", ""}, {"Down", 8, "", ""}, {"PLND Down", 8, "", ""}, {"Idle", 8, "", ""}, {"Planned", 8, "", ""}, {"Reported", 8, "", ""}}, o)
			return 0
		}
	}
	rep := reportOf(rest)
	if rep == nil {
		in.errorf("%s: not a report of this version", strings.Join(rest, " "))
		return 1
	}
	if o.has("tres") || o.has("time") {
		in.errorf("-T and -t: not offered by this version: use is reported in CPU minutes")
		return 1
	}
	from, to, chosen, err := in.reportRange(rep, rest[2:], o)
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	t, code := in.reportUse(rep, from, to)
	if code != 0 {
		return code
	}
	if !o.noHeader {
		rule := strings.Repeat("-", 80)
		const layout = "2006-01-02T15:04:05"
		fmt.Fprintf(in.stdout, "%s\n%s %s - %s (%d secs)\nUsage reported in CPU Minutes\n%s\n", rule, rep.title, from.Format(layout), to.Add(-time.Second).Format(layout), int64(to.Sub(from).Seconds()), rule)
	}
	in.printTable(chosen, t, o)
	return 0
}

// reportRange reads start=, end= and format=. The default is yesterday.
func (in *invocation) reportRange(rep *report, list []string, o *tableOptions) (from, to time.Time, chosen []head, err error) {
	now := in.now()
	y, m, d := now.Date()
	from, to = time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	for _, w := range list {
		key, value, ok := strings.Cut(w, "=")
		key = strings.ToLower(key)
		switch {
		case !ok || key == "":
			return from, to, nil, fmt.Errorf("Unknown condition: %s", w)
		case isPrefix("start", key):
			if from, err = slurm.ParseTime(value, now, slurm.Past); err != nil {
				return from, to, nil, err
			}
		case isPrefix("end", key):
			if to, err = slurm.ParseTime(value, now, slurm.Past); err != nil {
				return from, to, nil, err
			}
		case isPrefix("format", key):
			o.format = value
		default:
			return from, to, nil, fmt.Errorf("Unknown condition: %s", w)
		}
	}
	chosen = rep.heads
	if o.format != "" {
		chosen, err = chooseHeads(rep.heads, o.format)
	}
	return from, to, chosen, err
}

func isPrefix(name, word string) bool { return word != "" && strings.HasPrefix(name, word) }

// usedBy is the CPU time of one user in one account.
type usedBy struct {
	account, user string
	seconds       uint64
}

// reportUse sums what jobs held in a stretch of time.
func (in *invocation) reportUse(rep *report, from, to time.Time) (*api.Table, int) {
	c, err := in.connect()
	if err != nil {
		return nil, in.loadFailed(in.name, err)
	}
	defer c.Close()
	q := &api.AcctQuery{From: job.TimeOf(from), To: job.TimeOf(to), Duplicates: true}
	list := &api.JobList{}
	if err := read(c, api.MethodAccounting, q, list); err != nil {
		return nil, in.loadFailed(in.name, err)
	}
	sums := map[[2]string]uint64{}
	for i := range list.Jobs {
		j := &list.Jobs[i]
		end := min(j.Times.End, list.Now)
		if !j.State.Ended() {
			end = list.Now
		}
		start, end := max(j.Times.Start, q.From), min(end, q.To)
		if j.Times.Start != 0 && end > start {
			sums[[2]string{j.Account, j.Owner.User}] += uint64(end-start) / 1000 * uint64(j.Count.CPUs)
		}
	}
	var used []usedBy
	for k, s := range sums {
		used = append(used, usedBy{k[0], k[1], s})
	}
	slices.SortFunc(used, func(a, b usedBy) int {
		if rep.order && a.seconds != b.seconds {
			return cmp.Compare(b.seconds, a.seconds)
		}
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.user, b.user))
	})
	if rep.top > 0 && len(used) > rep.top {
		used = used[:rep.top]
	}
	t := &api.Table{Fields: []string{"cluster", "account", "login", "proper", "used", "energy"}}
	for i, u := range used {
		if !rep.order && (i == 0 || used[i-1].account != u.account) {
			sum := uint64(0)
			for _, x := range used {
				if x.account == u.account {
					sum += x.seconds
				}
			}
			t.Rows = append(t.Rows, usedRow(list.Cluster, u.account, "", sum))
		}
		t.Rows = append(t.Rows, usedRow(list.Cluster, u.account, u.user, u.seconds))
	}
	return t, 0
}

func usedRow(cluster, account, user string, seconds uint64) api.TableRow {
	return api.TableRow{Values: []string{cluster, account, user, "", strconv.FormatUint((seconds+30)/60, 10), "0"}}
}
