package slurm

import (
	"testing"
	"time"

	"muster/api"
	"muster/gres"
	"muster/internal/bitset"
	"muster/job"
)

// The values are those that Slurm 26.05 printed for the same numbers.
func TestAppendSize(t *testing.T) {
	for _, c := range []struct {
		n      uint64
		in, to Unit
		want   string
	}{
		{0, Mega, Exact, "0"}, {100, Mega, Exact, "100M"}, {1024, Mega, Exact, "1G"}, {2000, Mega, Exact, "2000M"},
		{64000, Mega, Exact, "62.50G"}, {128000, Mega, Exact, "125G"}, {384000, Mega, Exact, "375G"}, {2048, Mega, Exact, "2G"},
		{1536, Mega, Exact, "1.50G"}, {2876, Kilo, Exact, "2876K"}, {64000, Mega, Keep, "64000M"}, {64000, Mega, Giga, "62.50G"},
		{100, Mega, Giga, "0.10G"}, {1, Giga, Mega, "1024M"}, {1 << 20, Mega, Exact, "1T"}, {5, Plain, Exact, "5"}, {1500, Kilo, Short, "1.46M"},
	} {
		if got := string(AppendSize(nil, c.n, c.in, c.to)); got != c.want {
			t.Errorf("AppendSize(%d, %d, %d) = %q, want %q", c.n, c.in, c.to, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		s           int64
		short, long string
	}{
		{0, "0:00", "00:00:00"}, {43, "0:43", "00:00:43"}, {60, "1:00", "00:01:00"}, {3557, "59:17", "00:59:17"},
		{7200, "2:00:00", "02:00:00"}, {86400, "1-00:00:00", "1-00:00:00"}, {604800, "7-00:00:00", "7-00:00:00"},
		{90061, "1-01:01:01", "1-01:01:01"}, {-1, "INVALID", "INVALID"}, {366 * 86400, "INVALID", "366-00:00:00"},
	} {
		if got := string(AppendShortSpan(nil, c.s)); got != c.short {
			t.Errorf("AppendShortSpan(%d) = %q, want %q", c.s, got, c.short)
		}
		if got := string(AppendSpan(nil, c.s)); got != c.long {
			t.Errorf("AppendSpan(%d) = %q, want %q", c.s, got, c.long)
		}
	}
	for us, want := range map[uint64]string{0: "00:00:00", 16_000: "00:00.016", 999: "00:00:00", 61_250_000: "01:01.250", 3_600_000_000: "01:00:00"} {
		if got := string(AppendCPUTime(nil, us)); got != want {
			t.Errorf("AppendCPUTime(%d) = %q, want %q", us, got, want)
		}
	}
	if got := string(AppendShortLimit(nil, job.Unlimited)); got != "UNLIMITED" {
		t.Errorf("unlimited is %q", got)
	}
}

func TestTimeFormat(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, c := range []struct {
		format, want string
		at           time.Time
	}{
		{"", "2031-05-06T07:08:09", at}, {"standard", "2031-05-06T07:08:09", at}, {"%Y/%j %H", "2031/126 07", at},
		{"%s", "1935817689", at}, {"%e %b %y%%", " 6 May 31%", at}, {"%Q", "%Q", at}, {"%V %G %u %U", "19 2031 2 18", at},
		{"relative", "6 May 2031", at}, {"relative", "09:30:00", now.Add(-30 * time.Minute)}, {"relative", "Tomorr 10:00", now.Add(24 * time.Hour)},
		{"relative", "Ystday 10:00", now.Add(-24 * time.Hour)}, {"relative", "Fri 10:00", now.Add(72 * time.Hour)}, {"relative", "20 Dec 10:00", now.Add(19 * 24 * time.Hour)},
	} {
		f, err := NewTimeFormat(c.format, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(f.Append(nil, job.TimeOf(c.at), "N/A")); got != c.want {
			t.Errorf("%q: got %q, want %q", c.format, got, c.want)
		}
	}
	f, err := NewTimeFormat("nonsense", now)
	if err == nil {
		t.Error("a format without % was taken")
	}
	if got := string(f.Append(nil, 0, "N/A")); got != "N/A" {
		t.Errorf("no time is %q", got)
	}
}

func TestTRES(t *testing.T) {
	r := &api.Resources{CPUs: 2, MemoryMB: 200, Nodes: 1, Billing: 2, Gres: []gres.Item{{Name: "gpu", Count: 1}}}
	if got, want := string(AppendTRES([]byte("x"), r, Exact)), "xcpu=2,mem=200M,node=1,billing=2,gres/gpu=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(AppendSortedTRES(nil, r, Exact)), "billing=2,cpu=2,gres/gpu=1,mem=200M,node=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJobRefs(t *testing.T) {
	refs, err := ParseJobRefs("12_[1-3,7]")
	if err != nil || len(refs) != 4 || refs[3].Task != 7 || !refs[3].HasTask || refs[3].ID != 12 {
		t.Errorf("got %+v, %v", refs, err)
	}
	for text, want := range map[string]api.JobRef{
		"12": {ID: 12}, "12_3": {ID: 12, Task: 3, HasTask: true}, "12+1": {ID: 12, Offset: 1, HasHet: true},
		"12.batch": {ID: 12, Step: job.BatchStep, HasStep: true}, "12.0": {ID: 12, HasStep: true},
	} {
		got, err := ParseJobRefs(text)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "abc", "0", "1_", "1+", "1_x", "-1", "99999999999", "1_[0-4000000]"} {
		if refs, err := ParseJobRefs(bad); err == nil {
			t.Errorf("%q was taken as %d references", bad, len(refs))
		}
	}
}

func TestJobStates(t *testing.T) {
	var s JobStates
	for _, w := range []string{"pd", "RUNNING", "Oom", "completing", "SE", "expediting"} {
		if !s.Add(w) {
			t.Errorf("%s was refused", w)
		}
	}
	if s.States != 1<<job.Pending|1<<job.Running|1<<job.OutOfMemory || s.Flags != job.Completing|job.SpecialExit {
		t.Errorf("got %+v", s)
	}
	for _, w := range []string{"", "BOGUS", "?", "pending,"} {
		if s.Add(w) {
			t.Errorf("%q was taken", w)
		}
	}
}

func TestFormatIndices(t *testing.T) {
	if got := FormatIndices(bitset.Of(1, 2, 3, 5, 9, 10)); got != "1-3,5,9-10" {
		t.Errorf("got %q", got)
	}
}
