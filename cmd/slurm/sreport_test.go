package main

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/api"
	"muster/job"
)

// recordedUse is what lay behind output that Slurm 26.05 printed: 18 CPU-hours of two
// users, in a tree of accounts, on nodes that were down for a part of four hours.
func recordedUse() api.UseReply {
	cpu := func(minutes uint64) []api.UseAmount { return []api.UseAmount{{Name: "cpu", Seconds: minutes * 60}} }
	from := job.TimeOf(time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC))
	return api.UseReply{
		Cluster: "peer", Zone: "UTC", From: from, To: from + 14_400_000,
		Rows: []api.UseRow{{Account: "chem", User: "bob", QOS: "a", Held: cpu(300)}, {Account: "chem", User: "bob", QOS: "b", Held: cpu(90)},
			{Account: "optics", User: "alice", WCKey: "w", Held: cpu(694)}},
		Parts: []api.UseParts{
			{Resource: "cpu", Allocated: 1084 * 60, Down: 1158 * 60, Idle: 726 * 60, Planned: 1796 * 60, Reported: 4764 * 60},
			{Resource: "gres/gpu", Allocated: 4 * 3600, Down: 5 * 3600, Idle: 3600, Reported: 10 * 3600},
			{Resource: "mem", Down: 154_418 * 3600, Idle: 321_956 * 3600, Reported: 476_373 * 3600},
		},
		Accounts: []api.UseAccount{{Name: "root"}, {Name: "chem", Parent: "root"}, {Name: "physics", Parent: "root"}, {Name: "optics", Parent: "physics"}},
	}
}

// reported is what a report prints of recordedUse, the head lines left out.
func reported(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	in := &invocation{name: "sreport", args: strings.Fields(line), stdout: bufio.NewWriter(&out), stderr: &errs, now: time.Now,
		getenv: func(string) (string, bool) { return "", false }}
	o, rest, code := in.tableFlags(sreportFlags(), "n")
	if code != 0 {
		t.Fatalf("%s: %s", line, errs.String())
	}
	rep, err := reportOf(rest)
	if err != nil {
		t.Fatal(err)
	}
	r := &useReport{report: rep, words: map[string]string{}, widths: map[string]uint64{}, use: recordedUse()}
	if _, _, err := r.read(in, rest[2:], o); err != nil {
		t.Fatal(err)
	}
	if code := in.printReport(r, rep.rows(r), o); code != 0 {
		t.Fatalf("%s: exit code %d: %s", line, code, errs.String())
	}
	in.stdout.Flush()
	return out.String()
}

// The form of reports. The default AccountUtilizationByUser, TopUsage and
// utilization by hours are what Slurm printed of the same use; the others have its
// columns, and numbers that follow from these (Slurm's sample of the tree by hours
// is 22.76% and 7 where this use, known in whole minutes only, gives 22.75% and 6).
func TestReportsInTheFormOfSlurm(t *testing.T) {
	for line, want := range map[string][]string{
		"cluster AccountUtilizationByUser": {
			"--------------------------------------------------------------------------------",
			"Cluster/Account/User Utilization 2026-11-30T20:00:00 - 2026-11-30T23:59:59 (14400 secs)",
			"Usage reported in CPU Minutes",
			"--------------------------------------------------------------------------------",
			"  Cluster         Account     Login     Proper Name     Used   Energy ",
			"--------- --------------- --------- --------------- -------- -------- ",
			"     peer            root                               1084        0 ",
			"     peer            chem                                390        0 ",
			"     peer            chem       bob                      390        0 ",
			"     peer         physics                                694        0 ",
			"     peer          optics                                694        0 ",
			"     peer          optics     alice                      694        0 ",
		},
		"-n cluster AccountUtilizationByUser tree -t hourper": {
			"     peer root                                                  18(22.75%)          0(0.00%) ",
			"     peer  chem                                                   6(8.19%)          0(0.00%) ",
			"     peer   chem                     bob                          6(8.19%)          0(0.00%) ",
			"     peer  physics                                              12(14.57%)          0(0.00%) ",
			"     peer   optics                                              12(14.57%)          0(0.00%) ",
			"     peer    optics                alice                        12(14.57%)          0(0.00%) ",
		},
		"-P -n user top":                             {"peer|alice||optics|694|0", "peer|bob||chem|390|0"},
		"-P -n user top topcount=1":                  {"peer|alice||optics|694|0"},
		"-P -n cluster userutil users=bob":           {"peer|bob||chem|390|0"},
		"-P -n cluster userutilizationbywckey":       {"peer|alice||w|694", "peer|bob|||390"},
		"-P -n cluster wckeyutil wckeys=w":           {"peer|w|||694", "peer|w|alice||694"},
		"-P -n -t percent cluster utilization":       {"peer|22.75%|24.31%|0.00%|15.24%|37.70%|100.00%"},
		"-P cluster utilization format=cluster,down": {"--------------------------------------------------------------------------------", "Cluster Utilization 2026-11-30T20:00:00 - 2026-11-30T23:59:59", "Usage reported in CPU Minutes", "--------------------------------------------------------------------------------", "Cluster|Down", "peer|1158"},
		"-T cpu,mem,gres/gpu -t hours cluster utilization": {
			"--------------------------------------------------------------------------------",
			"Cluster Utilization 2026-11-30T20:00:00 - 2026-11-30T23:59:59",
			"Usage reported in TRES Hours",
			"--------------------------------------------------------------------------------",
			"  Cluster      TRES Name Allocate      Down PLND Dow       Idle  Planned   Reported ",
			"--------- -------------- -------- --------- -------- ---------- -------- ---------- ",
			"     peer            cpu       18        19        0         12       30         79 ",
			"     peer            mem        0    154418        0     321956        0     476373 ",
			"     peer       gres/gpu        4         5        0          1        0         10 ",
		},
	} {
		got := strings.Split(strings.TrimSuffix(reported(t, line), "\n"), "\n")
		if !slices.Equal(got, want) {
			t.Errorf("sreport %s:\n%s\nwant\n%s", line, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Jobs are put into columns by their CPUs; the sums of accounts have all below them.
func TestWordsOfReports(t *testing.T) {
	for word, want := range map[string]string{
		"topcount=3":   "",
		"topcount=0":   "Invalid topcount",
		"topcount=-1":  "Invalid topcount",
		"topcount=ten": "Invalid topcount",
		"topcount=":    "Invalid topcount",
		"bottom=3":     "Unknown condition: bottom=3",
	} {
		rep, err := reportOf([]string{"user", "top"})
		if err != nil {
			t.Fatal(err)
		}
		in := &invocation{name: "sreport", now: time.Now}
		r := &useReport{report: rep, words: map[string]string{}, widths: map[string]uint64{}}
		_, _, err = r.read(in, []string{word}, &tableOptions{})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", word, err, want)
		}
	}
}

func TestSizesOfJobs(t *testing.T) {
	use := recordedUse()
	size := func(account string, cpus uint32, start, end job.Time, s job.State) api.JobRecord {
		return api.JobRecord{Account: account, State: s, Count: api.JobCount{CPUs: cpus}, Times: job.Times{Start: use.From + start*60_000, End: use.From + end*60_000}}
	}
	jobs := &api.JobList{Now: use.To, Jobs: []api.JobRecord{
		size("chem", 49, 0, 10, job.Completed), size("chem", 50, -5, 2, job.Failed), size("optics", 1000, 239, 500, job.Running), size("optics", 1, 240, 500, job.Running),
	}}
	for _, c := range []struct {
		words map[string]string
		want  []string
	}{
		{map[string]string{}, []string{"peer|root|490|100|0|0|1000|1590|100.00%"}},
		{map[string]string{"flatview": ""}, []string{"peer|chem|490|100|0|0|0|590|37.11%", "peer|optics|0|0|0|0|1000|1000|62.89%"}},
		{map[string]string{"accounts": "physics"}, []string{"peer|physics|0|0|0|0|1000|1000|62.89%"}},
		{map[string]string{"printjobcount": ""}, []string{"peer|root|1|1|0|0|1|3|100.00%"}},
	} {
		r := &useReport{use: use, words: c.words, unit: timeUnit{per: 60}}
		if _, ok := c.words["printjobcount"]; ok {
			r.unit.per = 1
		}
		var got []string
		for _, row := range r.sizeTable(jobs, []uint32{50, 250, 500, 1000}).Rows {
			got = append(got, strings.Join(row.Values, "|"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.words, got, c.want)
		}
	}
}
