package main

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"muster/api"
	"muster/job"
)

// sizes reports jobs by the number of their CPUs: sreport(1), job SizesByAccount. It
// looks at each job of the period.
func (in *invocation) sizes(r *useReport, from, to time.Time, o *tableOptions) int {
	limits, err := sizeLimits(r.words["grouping"])
	if err != nil {
		in.errorf("%v", err)
		return 1
	}
	if r.byTRES && !slices.Equal(r.tres, []string{"cpu"}) {
		in.errorf("-T %s: this report is by CPUs only", o.flags["tres"])
		return 1
	}
	c, err := in.connect()
	if err != nil {
		return in.loadFailed(in.name, err)
	}
	defer c.Close()
	q := &api.UseQuery{From: job.TimeOf(from), To: job.TimeOf(to)}
	if err := read(c, api.MethodUse, q, &r.use); err != nil { // the period in whole hours, and the tree
		return in.loadFailed(in.name, err)
	}
	jobs := &api.JobList{}
	if err := read(c, api.MethodAccounting, &api.AcctQuery{From: r.use.From, To: r.use.To, Duplicates: true}, jobs); err != nil {
		return in.loadFailed(in.name, err)
	}
	second := "Time reported in " + r.unit.words()
	if _, count := r.words["printjobcount"]; count {
		second, r.unit = "Units are in number of jobs ran", timeUnit{per: 1}
	}
	heads := sizeHeads(limits)
	if o.format != "" {
		if heads, err = chooseHeads(heads, o.format); err != nil {
			in.errorf("%v", err)
			return 1
		}
	}
	t := r.sizeTable(jobs, limits)
	if !o.noHeader {
		in.reportTitle(r, second)
	}
	in.printTable(heads, t, o)
	return 0
}

func sizeHeads(limits []uint32) []head {
	heads := []head{{"Cluster", 9, "cluster", ""}, {"Account", 9, "account", ""}}
	last := uint32(0)
	for i, n := range limits {
		heads = append(heads, head{fmt.Sprintf("%d-%d CPUs", last, n-1), 13, fmt.Sprint("size", i), ""})
		last = n
	}
	return append(heads, head{fmt.Sprintf(">= %d CPUs", last), 13, fmt.Sprint("size", len(limits)), ""},
		head{"Total Count", 11, "total", ""}, head{"% of cluster", 12, "part", ""})
}

// sizeTable has a line for each account, or for those right below the root unless
// flatview is asked for.
func (r *useReport) sizeTable(jobs *api.JobList, limits []uint32) *api.Table {
	_, flat := r.words["flatview"]
	_, count := r.words["printjobcount"]
	sums, whole := map[string][]uint64{}, uint64(0)
	for i := range jobs.Jobs {
		j := &jobs.Jobs[i]
		over := jobs.Now
		if j.State.Ended() {
			over = j.Times.End
		}
		start, end := max(j.Times.Start, r.use.From).Unix(), min(over, r.use.To).Unix()
		if j.Times.Start == 0 || start >= end || !r.chosen("users", j.Owner.User) {
			continue
		}
		amount := uint64(end-start) * uint64(j.Count.CPUs)
		if count {
			amount = 1
		}
		whole += amount
		at := sort.Search(len(limits), func(i int) bool { return j.Count.CPUs < limits[i] })
		for _, account := range r.sizeLines(j.Account, flat) {
			if sums[account] == nil {
				sums[account] = make([]uint64, len(limits)+1)
			}
			sums[account][at] += amount
		}
	}
	t := &api.Table{Fields: []string{"cluster", "account"}}
	for i := range len(limits) + 1 {
		t.Fields = append(t.Fields, fmt.Sprint("size", i))
	}
	t.Fields = append(t.Fields, "total", "part")
	for _, account := range slices.Sorted(maps.Keys(sums)) {
		row, total := []string{r.use.Cluster, account}, uint64(0)
		for _, n := range sums[account] {
			row, total = append(row, r.unit.text(n, whole)), total+n
		}
		row = append(row, r.unit.text(total, whole), timeUnit{percent: true}.text(total, whole))
		t.Rows = append(t.Rows, api.TableRow{Values: row})
	}
	return t
}

// sizeLines are the lines that a job of an account counts in: without flatview those
// of the accounts asked for, root if none are, with all that is below them.
func (r *useReport) sizeLines(account string, flat bool) []string {
	if flat {
		if r.chosen("accounts", account) {
			return []string{account}
		}
		return nil
	}
	tops := words(r.words["accounts"])
	if len(tops) == 0 {
		return []string{"root"}
	}
	parent := map[string]string{}
	for _, a := range r.use.Accounts {
		parent[a.Name] = a.Parent
	}
	var out []string
	for name := account; name != ""; name = parent[name] {
		if slices.Contains(tops, name) {
			out = append(out, name)
		}
	}
	return out
}
