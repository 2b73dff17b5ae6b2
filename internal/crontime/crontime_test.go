package crontime

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.ParseInLocation("2006-01-02 15:04", text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ spec, from, want string }{
		{"* * * * *", "2026-12-01 12:00", "2026-12-01 12:01"},
		{"*/15 * * * *", "2026-12-01 12:45", "2026-12-01 13:00"},
		{"5/20 * * * *", "2026-12-01 12:06", "2026-12-01 12:25"},
		{"0 5 * * *", "2026-12-01 05:00", "2026-12-02 05:00"},
		{"1-5,30 8-17/2 * * wed", "2026-12-01 12:00", "2026-12-02 08:01"},
		{"1-5,30 8-17/2 * * wed", "2026-12-02 08:05", "2026-12-02 08:30"},
		{"1-5,30 8-17/2 * * wed", "2026-12-02 16:30", "2026-12-09 08:01"},
		{"0 0 13 * fri", "2026-12-01 00:00", "2026-12-04 00:00"}, // a Friday, or the 13th
		{"0 0 13 * *", "2026-12-01 00:00", "2026-12-13 00:00"},
		{"0 0 31 * *", "2026-11-01 00:00", "2026-12-31 00:00"},
		{"0 0 29 feb *", "2026-03-01 00:00", "2028-02-29 00:00"},
		{"0 0 * * 7", "2026-12-01 00:00", "2026-12-06 00:00"},
		{"0 0 * * 5-7", "2026-12-05 00:00", "2026-12-06 00:00"},
		{"@yearly", "2026-12-01 00:00", "2027-01-01 00:00"},
		{"@monthly", "2026-12-01 00:00", "2027-01-01 00:00"},
		{"@weekly", "2026-12-01 00:00", "2026-12-06 00:00"},
		{"@midnight", "2026-12-01 00:00", "2026-12-02 00:00"},
		{"@hourly", "2026-12-01 23:30", "2026-12-02 00:00"},
		{"@elevenses", "2026-12-01 00:00", "2026-12-01 11:00"},
		{"@fika", "2026-12-01 00:00", "2026-12-01 15:00"},
		{"@teatime", "2026-12-01 00:00", "2026-12-01 16:00"},
	} {
		s, err := Parse(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if got := s.Next(at(t, c.from)); !got.Equal(at(t, c.want)) {
			t.Errorf("%s after %s: %s, want %s", c.spec, c.from, got, c.want)
		}
	}
}

// Clocks that are set: nothing comes twice, nothing is left out.
func TestNextOverClockChanges(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this host: ", err)
	}
	s, _ := Parse("30 2 * * *")
	var got []string
	for _, from := range []time.Time{time.Date(2026, 3, 28, 3, 0, 0, 0, zone), time.Date(2026, 10, 24, 3, 0, 0, 0, zone)} {
		for range 3 {
			from = s.Next(from)
			got = append(got, from.Format("02T15:04-07"))
		}
	}
	if want := "29T03:30+02 30T02:30+02 31T02:30+02 25T02:30+01 26T02:30+01 27T02:30+01"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"": "0 fields", "* * * *": "4 fields", "@often": "not known", "60 * * * *": "minute", "* 24 * * *": "hour", "* * 0 * *": "day of month", "* * * 13 *": "month",
		"* * * * 8": "day of week", "5-1 * * * *": "goes down", "*/0 * * * *": "step", "*/x * * * *": "step", "a * * * *": "minute", "0 0 30 feb *": "never comes", "0 0 31 4,6 *": "never comes",
		"1,,2 * * * *": "minute", "+1 * * * *": "minute", "-1 * * * *": "minute", "1- * * * *": "minute", "* * * mon *": "month",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", spec, err, want)
		}
	}
}

func TestCut(t *testing.T) {
	for line, want := range map[string]string{
		"0 5 * * * /my/script arg": "0 5 * * *|/my/script arg|true", "  @hourly\t run  it ": "@hourly|run  it |true", "0 5 * * *": "||false", "@hourly": "||false", "": "||false",
	} {
		times, rest, ok := Cut(line)
		if got := times + "|" + rest + "|" + map[bool]string{true: "true", false: "false"}[ok]; got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// What Next gives is in the schedule, and no minute between is.
func TestNextIsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.StringMatching(`(\*|[0-5]?[0-9]|\*/[1-9]) (\*|1?[0-9]|2-5) (\*|[1-9]) (\*|[1-9]) (\*|[0-7])`).Draw(t, "spec")
		s, err := Parse(spec)
		if err != nil {
			t.Skip(err)
		}
		from := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "from"), 0).UTC()
		next := s.Next(from)
		has := func(at time.Time) bool {
			return s.hasDay(at) && s.hour>>at.Hour()&1 != 0 && s.minute>>at.Minute()&1 != 0
		}
		if !next.After(from) || !has(next) || next.Second() != 0 {
			t.Fatalf("%s after %s: %s", spec, from, next)
		}
		back := next.Add(-time.Duration(rapid.IntRange(1, 100_000).Draw(t, "minutes before")) * time.Minute)
		if back.After(from) && has(back) {
			t.Fatalf("%s after %s: %s comes before %s", spec, from, back, next)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("1-5,30 8-17/2 * jan-mar wed")
	f.Add("@hourly")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); err == nil && s.Next(time.Unix(0, 0).UTC()).IsZero() {
			t.Errorf("%q was taken and never comes", text)
		}
	})
}
