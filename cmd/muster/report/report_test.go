package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/api"
	"muster/job"
)

func TestParsePeriod(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, 10, 26, 9, 0, 0, 0, berlin) // clocks were put back the day before
	newYear := time.Date(2026, 1, 1, 0, 0, 0, 0, berlin)  // a Thursday
	for _, c := range []struct {
		word     string
		now      time.Time
		from, to string
	}{
		{"yesterday", monday, "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{"today", monday, "2026-10-26T00:00:00+01:00", "2026-10-27T00:00:00+01:00"},
		{"last-week", monday, "2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{"last-week", monday.AddDate(0, 0, -1), "2026-10-12T00:00:00+02:00", "2026-10-19T00:00:00+02:00"},
		{"this-week", newYear, "2025-12-29T00:00:00+01:00", "2026-01-05T00:00:00+01:00"},
		{"last-month", newYear, "2025-12-01T00:00:00+01:00", "2026-01-01T00:00:00+01:00"},
		{"this-month", monday, "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"},
		{"2026-10", newYear, "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"},
		{"2026-03-29", newYear, "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"2024", newYear, "2024-01-01T00:00:00+01:00", "2025-01-01T00:00:00+01:00"},
	} {
		p, err := ParsePeriod(c.word, c.now)
		if err != nil || p.From.Format(time.RFC3339) != c.from || p.To.Format(time.RFC3339) != c.to {
			t.Errorf("%s as of %s: %s to %s (%v), want %s to %s", c.word, c.now, p.From, p.To, err, c.from, c.to)
		}
	}
	for _, word := range []string{"", "soon", "2026-13", "2026-02-30", "last week"} {
		if p, err := ParsePeriod(word, monday); err == nil {
			t.Errorf("%q is %v", word, p)
		}
	}
}

// sample is some use: names that must be quoted in CSV and HTML, two partitions of one
// user, a user without finished jobs.
func sample() (Period, *api.UseReply) {
	from := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	held := func(cpu, mem, gpu uint64) []api.UseAmount {
		l := []api.UseAmount{{Name: "cpu", Seconds: cpu}, {Name: "mem", Seconds: mem}}
		if gpu > 0 {
			l = append(l, api.UseAmount{Name: "gres/gpu", Seconds: gpu}, api.UseAmount{Name: "gres/gpu:a100", Seconds: gpu})
		}
		return l
	}
	use := &api.UseReply{Cluster: "c", Zone: "UTC", From: job.TimeOf(from), To: job.TimeOf(from.AddDate(0, 1, 0)), Now: job.TimeOf(from.AddDate(0, 2, 0)),
		Rows: []api.UseRow{
			{Account: "lab", User: "<b>,\"x\"", Partition: "main", QOS: "normal", Held: held(3600, 3600*1024, 7200), Done: api.UseDone{Jobs: 2, Failed: 1, Waited: 240, CPUHeld: 3600, CPUUsed: 900, MemHeld: 3600 * 1024, MemUsed: 1800 * 1024}},
			{Account: "lab", User: "ann", Partition: "main", QOS: "normal", Held: held(7200, 0, 0), Done: api.UseDone{Jobs: 1, CPUHeld: 7200, CPUUsed: 9000}},
			{Account: "lab", User: "ann", Partition: "long", QOS: "normal", Held: held(1800, 0, 0)},
		},
		Parts: []api.UseParts{{Resource: "cpu", Allocated: 12600, Down: 3600, Idle: 1800, Reported: 18000}, {Resource: "billing", Allocated: 5}},
	}
	return Period{"2026-10", from, from.AddDate(0, 1, 0)}, use
}

func TestWhatReportsSay(t *testing.T) {
	for name, want := range map[string][]string{
		"usage":       {`lab|<b>,"x"|1.00|1.00|0.00|0.00|2.00|2.00`, "lab|ann|2.50|0.00|0.00|0.00|0.00|0.00"},
		"efficiency":  {`lab|<b>,"x"|2|1|1.00|0.25|25.0|1.00|0.50|50.0`, "lab|ann|1|0|2.00|2.50|125.0|0.00|0.00|0.0"},
		"waste":       {`lab|<b>,"x"|2|0.75|0.50`, "lab|ann|1|0.00|0.00"},
		"waits":       {"main|normal|3|1.3"},
		"utilization": {"cpu|3.50|1.00|0.00|0.50|0.00|5.00|70.0|80.0"},
	} {
		p, use := sample()
		r := New(name, p, use)
		var got []string
		for _, row := range r.Rows {
			got = append(got, strings.Join(row, "|"))
			if len(row) != len(r.Columns) {
				t.Errorf("%s: %d values in %d columns", name, len(row), len(r.Columns))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// All forms hold the same rows, whatever is in names, and are the same each time.
func TestForms(t *testing.T) {
	p, use := sample()
	for _, name := range Names() {
		r := New(name, p, use)
		forms := map[string]string{}
		for _, format := range Formats() {
			var a, b bytes.Buffer
			if err := r.Write(&a, format); err != nil {
				t.Fatal(err)
			}
			use.Now += 1000 // a period that is over looks the same later
			if err := New(name, p, use).Write(&b, format); err != nil || a.String() != b.String() {
				t.Errorf("%s as %s differs the second time (%v)", name, format, err)
			}
			forms[format] = a.String()
		}
		rows, err := csv.NewReader(strings.NewReader(forms["csv"])).ReadAll()
		if err != nil || len(rows) != len(r.Rows)+1 || !slices.Equal(rows[len(rows)-1], r.Rows[len(r.Rows)-1]) {
			t.Errorf("%s as csv: %q (%v)", name, rows, err)
		}
		var doc struct{ Rows []map[string]any }
		if err := json.Unmarshal([]byte(forms["json"]), &doc); err != nil || len(doc.Rows) != len(r.Rows) {
			t.Errorf("%s as json: %v (%v)", name, doc, err)
		}
		page := forms["html"]
		if strings.Contains(page, "<b>") || strings.Contains(page, "ZgotmplZ") || !strings.Contains(page, `style="width:100.0%"`) {
			t.Errorf("%s as html: %s", name, page)
		}
		for _, outside := range []string{"http", "src=", "<script", "<link"} {
			if strings.Contains(page, outside) {
				t.Errorf("%s as html has %q: it must need no other file", name, outside)
			}
		}
	}
	use.Now = use.To - 1
	if r := New("usage", p, use); !r.Open || !strings.Contains(r.Title(), "not over") {
		t.Errorf("a period that is not over: %q", r.Title())
	}
}
