package slurm

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/job"
)

func TestParseTimeLimit(t *testing.T) {
	for text, want := range map[string]string{
		"30": "30", "10:30": "11", "1:00:00": "60", "0-5": "300", "0-2:3": "123", "0-02:03:04": "124", "00:00:20": "1", "0": "4294967295",
		"UNLIMITED": "4294967295", "-1": "4294967295", "Infinite": "4294967295", "": "bad", "abc": "bad", "1:2:3:4": "bad", "5m": "bad",
		"1-2-3": "bad", "1-": "bad", "-5": "bad", ":": "bad", "9999999999": "bad", "999999999-0": "bad", "2-00:00:00.5": "bad",
	} {
		m, err := ParseTimeLimit(text)
		got := fmt.Sprint(uint32(m))
		if err != nil {
			got = "bad"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestParseMegabytes(t *testing.T) {
	for text, want := range map[string]string{
		"300": "300", "2048K": "2", "1K": "1", "300M": "300", "1g": "1024", "3G": "3072", "2gb": "2048", "1T": "1048576", "0": "0",
		"": "bad", "ab": "bad", "5X": "bad", "-1": "bad", "12Q": "bad", "4GiB": "bad", "G": "bad", "99999999999999999999": "bad", "999999999999T": "bad",
	} {
		n, err := ParseMegabytes(text)
		got := fmt.Sprint(n)
		if err != nil {
			got = "bad"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	now := noon(t)
	const layout = "2006-01-02T15:04:05"
	for text, want := range map[string]string{
		"now": "2026-11-30T22:24:17", "now+600": "2026-11-30T22:34:17", "now+5minutes": "2026-11-30T22:29:17", "now + 2 hours": "2026-12-01T00:24:17",
		"now+1day": "2026-12-01T22:24:17", "now+1week": "2026-12-07T22:24:17", "now-1hour": "2026-11-30T21:24:17", "today": "2026-11-30T00:00:00",
		"tomorrow": "2026-12-01T00:00:00", "noon": "2026-12-01T12:00:00", "noon tomorrow": "2026-12-01T12:00:00", "elevenses": "2026-12-01T11:00:00",
		"teatime": "2026-12-01T16:00:00", "23:00": "2026-11-30T23:00:00", "22:24": "2026-12-01T22:24:00", "1:30pm": "2026-12-01T13:30:00",
		"12:00 AM": "2026-12-01T00:00:00", "11:59 pm": "2026-11-30T23:59:00", "2030-01-20": "2030-01-20T00:00:00",
		"2031-02-03T04:05:06": "2031-02-03T04:05:06", "2030-01-20T12:34": "2030-01-20T12:34:00", "01/20/30": "2030-01-20T00:00:00",
		"012030": "2030-01-20T00:00:00", "01.20.30": "2030-01-20T00:00:00", "12/25": "2026-12-25T00:00:00", "0101": "2027-01-01T00:00:00",
		"12/25-08:15": "2026-12-25T08:15:00", "uts1796082368": "2026-12-01T00:46:08", "": "none",
	} {
		got := "none"
		at, err := ParseTime(text, now, Future)
		if err != nil {
			got = err.Error()
		} else if !at.IsZero() {
			got = at.Format(layout)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"25:00", "2030-13-01", "yesterdayish", "now+5parsecs", "now+", "now*3", "12:60", "1:2:3", "13:00pm", "2030-1", "99", "uts12"} {
		if at, err := ParseTime(text, now, Future); err == nil {
			t.Errorf("%q was read as %v", text, at)
		}
	}
	if at, err := ParseTime("23:00", now, Past); err != nil || at.Day() != 30 {
		t.Errorf("23:00 in the past: %v, %v", at, err)
	}
	if at, err := ParseTime("12/25", now, Past); err != nil || at.Year() != 2025 {
		t.Errorf("12/25 in the past: %v, %v", at, err)
	}
	var e *TimeError
	if _, err := ParseTime("yesterdayish", now, Future); !errors.As(err, &e) || e.Error() != "Invalid time specification (pos=0): yesterdayish" {
		t.Errorf("got %v", err)
	}
}

func TestParseArray(t *testing.T) {
	for text, want := range map[string]string{
		"0-15:4": "0,4,8,12 limit 0 of 4 0-12/4", "1,3,5-7": "1,3,5-7 limit 0 of 5 1-7/1", "0-15%4": "0-15 limit 4 of 16 0-15/1",
		"7": "7 limit 0 of 1 7-7/1", "5,5": "5 limit 0 of 1 5-5/1", "3,1,2": "1-3 limit 0 of 3 1-3/1", "%2": "0 limit 2 of 1 0-0/1",
		"1-7:3": "1,4,7 limit 0 of 3 1-7/3", "0-1000": "0-1000 limit 0 of 1001 0-1000/1", "[1-2]": "1-2 limit 0 of 2 1-2/1",
		"1%0": "1 limit 0 of 1 1-1/1", "1%x": "1 limit 0 of 1 1-1/1", "1-3%2%1": "1-3 limit 2 of 3 1-3/1",
	} {
		a, err := ParseArray(text, 1001)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		b := a.Bounds
		if got := fmt.Sprintf("%s limit %d of %d %d-%d/%d", FormatIndices(a.Tasks), a.Limit, b.Count, b.Min, b.Max, b.Step); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "3-1", "1-3:0", "1-2-3", "a-b", "1,,2x", "1-1001", "5-1", "a", "0-99999999", "0-4000000", "3:2", "-1", "1-", strings.Repeat("0-1000,", 20000)} {
		if _, err := ParseArray(text, 1001); !errors.Is(err, ErrArray) {
			t.Errorf("%q: got %v, want %v", text, err, ErrArray)
		}
	}
	if a, err := ParseArray("0-4000000", MaxArrayIndex+1); err != nil || a.Bounds.Count != 4000001 {
		t.Errorf("the largest array: %v", err)
	}
}

func TestParseDependency(t *testing.T) {
	array := func(id job.ID) bool { return id == 7 }
	for text, want := range map[string]string{
		"": "", "0": "", "singleton": "singleton(unfulfilled)", "after:1+5": "after:1+5(unfulfilled)",
		"afterok:1:2": "afterok:1(unfulfilled),afterok:2(unfulfilled)", "afterok:1?afterok:2": "afterok:1(unfulfilled)?afterok:2(unfulfilled)",
		"aftercorr:1": "aftercorr:1(unfulfilled)", "afterany:7": "afterany:7_*(unfulfilled)", "afternotok:7_3": "afternotok:7_3(unfulfilled)",
		"12": "afterany:12(unfulfilled)", "afterok:1(failed)": "afterok:1(failed)", "AfterOK:5,singleton": "afterok:5(unfulfilled),singleton(unfulfilled)",
		"afterok:7_[1-2]": "afterok:7_1(unfulfilled),afterok:7_2(unfulfilled)",
	} {
		list, anyOf, err := ParseDependency(text)
		if got := FormatDependency(list, anyOf, array); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"expandx:5", "afterok:", "afterok:abc", "sometime:1", "afterok:1,afterany:2?after:3", "afterok:0", "after:1+0", "afterok:1,", "singletonx", "afterok:1(failed"} {
		if list, _, err := ParseDependency(text); !errors.Is(err, ErrDependency) {
			t.Errorf("%q: got %v, %v", text, list, err)
		}
	}
	if _, _, err := ParseDependency("expand:1"); !errors.Is(err, ErrExpand) {
		t.Errorf("expand: got %v", err)
	}
}

func TestExpandPattern(t *testing.T) {
	plain := &Names{Job: 128, ArrayTask: job.NoTask, Name: "nm", User: "alice", Node: "n3", Step: "batch", SLUID: "s2EHM"}
	task := &Names{Job: 130, ArrayJob: 128, ArrayTask: 25, Name: "nm", User: "alice", Node: "n3", Step: "0", Rank: 1, NodeIndex: 2, Restarts: 3}
	for _, test := range []struct {
		names         *Names
		pattern, want string
	}{
		{plain, "slurm-%j.out", "slurm-128.out"}, {plain, "%j-%A-%x-%u-%n-%t-%s-%%", "128-128-nm-alice-0-0-batch-%"},
		{plain, "%x-%A_%a", "nm-128_4294967294"}, {plain, "o-%6j", "o-000128"}, {plain, "%99j", "0000000128"}, {plain, "%4x", "nm"},
		{plain, `a\%j`, "a%j"}, {plain, "%q%", "%q%"}, {plain, "%J", "128"}, {plain, "%N.%S", "n3.s2EHM"}, {plain, "100%%", "100%"},
		{task, "x.%A.%4a", "x.128.0025"}, {task, "b%b", "b5"}, {task, "%J", "130.0"}, {task, "%2j-%2t-%n-%r-%s", "130-01-2-3-0"},
	} {
		if got := ExpandPattern(test.pattern, test.names); got != test.want {
			t.Errorf("%q: got %q, want %q", test.pattern, got, test.want)
		}
	}
}

func TestParseJobName(t *testing.T) {
	for text, want := range map[string]JobName{
		"12": {ID: 12}, "12_*": {ID: 12}, "12+1": {ID: 12, Offset: 1, HasHet: true}, "12.0": {ID: 12, HasStep: true},
		"12.batch": {ID: 12, Step: job.BatchStep, HasStep: true}, "4294967293": {ID: 4294967293},
	} {
		if got, err := ParseJobName(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"12_3": "3", "12_[1-3,7]": "1-3,7"} {
		if got, err := ParseJobName(text); err != nil || FormatIndices(got.Tasks) != want {
			t.Errorf("%q: got %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "abc", "0", "12_", "12_x", "12+", "12.", "-1", "4294967294", "99999999999", "12_[3-1]"} {
		if got, err := ParseJobName(text); err == nil || err.Error() != "Invalid job id "+text {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
}

func TestExport(t *testing.T) {
	environ := []string{"A=1", "B=2", "SLURM_CONF=/x", "SLURM_JOB_ID=9", "SLURM_ARRAY_TASK_ID=3", "SLURM_JWT=secret", "PATH=/bin", "=odd"}
	for text, want := range map[string]string{
		"": "A=1 B=2 SLURM_CONF=/x PATH=/bin", "all": "A=1 B=2 SLURM_CONF=/x PATH=/bin", "NONE": "SLURM_CONF=/x", "nil": "SLURM_CONF=/x",
		"A,C=hi": "A=1 SLURM_CONF=/x C=hi", "ALL,B=new": "A=1 SLURM_CONF=/x PATH=/bin B=new", `A="x,y",B`: "B=2 SLURM_CONF=/x A=x,y",
		"SLURM_JWT": "SLURM_CONF=/x SLURM_JWT=secret", "NOSUCH": "SLURM_CONF=/x",
	} {
		e, err := ParseExport(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := strings.Join(SplitEnvironment(e.Environment(environ)), " "); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if e, _ := ParseExport("NONE"); !e.UserEnv {
		t.Error("NONE does not load the user's environment")
	}
	if _, err := ParseExport("=x"); err == nil {
		t.Error("a variable without a name was accepted")
	}
}

func TestPropagatedLimits(t *testing.T) {
	for text, want := range map[string]int{"": 10, "ALL": 10, "NONE": 0, "NOFILE,STACK": 2, "RLIMIT_CORE": 1} {
		if got, err := PropagatedLimits(text); err != nil || len(got) != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"NOFILE,BOGUS", "none", "core"} {
		if _, err := PropagatedLimits(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"1-2:3", "0-15:4%2", "afterok:1_[1-3]+5(failed)?singleton", "now+1hour", "USR1@90", "12_[1-3]+1.batch", "a\\%10j", "4GB", "ALL,A=\"x,y\""} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 30, 22, 24, 17, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			return
		}
		if m, err := ParseTimeLimit(s); err == nil && m == 0 {
			t.Errorf("limit %q is 0", s)
		}
		if n, err := ParseMegabytes(s); err == nil && n > maxMegabytes {
			t.Errorf("size %q is %d", s, n)
		}
		if a, err := ParseArray(s, 1001); err == nil && (a.Tasks.Empty() || a.Tasks.Max() > 1000) {
			t.Errorf("array %q is %v", s, a.Tasks.Slice())
		}
		if list, anyOf, err := ParseDependency(s); err == nil {
			again, _, err := ParseDependency(FormatDependency(list, anyOf, nil))
			if err != nil || len(again) != len(list) {
				t.Errorf("dependency %q does not survive being written", s)
			}
		}
		if c, err := ParseNodeCount(s); err == nil && c.Max != 0 && c.Max < c.Min {
			t.Errorf("node count %q is %v", s, c)
		}
		if at, err := ParseTime(s, now, Future); err == nil && at.Year() > 9999 {
			t.Errorf("time %q is %v", s, at)
		}
		if sig, err := ParseSignal(s); err == nil {
			if again, err := ParseSignal(FormatSignal(sig)); err != nil || again != sig {
				t.Errorf("signal %q does not survive being written", s)
			}
		}
		ParseJobName(s)
		ParseMailTypes(s)
		if e, err := ParseExport(s); err == nil {
			e.Environment([]string{"A=1"})
		}
		ExpandPattern(s, &Names{Job: 1})
	})
}
