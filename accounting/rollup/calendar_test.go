package rollup

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// zones have every oddity: half hours, changes by half an hour (Lord Howe), changes
// at midnight (Havana, Beirut, Santiago), a day left out (Apia), no changes (UTC).
func zones() []string {
	return []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe",
		"America/Havana", "Asia/Beirut", "America/Santiago", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca"}
}

// Whatever the moment: it is in the stretch that begins at Start and ends at Next,
// the next one begins there, and finer stretches do not cross the ends of longer ones.
func TestStretchesFollowEachOther(t *testing.T) {
	for _, name := range zones() {
		c := Calendar{zone(t, name)}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			at := rapid.Int64Range(946684800, 2208988800).Draw(t, "at") // 2000 to 2039
			if rapid.Bool().Draw(t, "near a change") {
				if _, to := time.Unix(at, 0).In(c.Zone).ZoneBounds(); !to.IsZero() {
					at = to.Unix() + rapid.Int64Range(-90000, 90000).Draw(t, "by")
				}
			}
			for _, g := range Grains() {
				start := c.Start(g, at)
				next := c.Next(g, start)
				if start > at || next <= at {
					t.Fatalf("grain %d: %s is not in %s to %s", g, show(c, at), show(c, start), show(c, next))
				}
				if c.Start(g, start) != start || c.Start(g, next) != next || c.Start(g, next-1) != start {
					t.Fatalf("grain %d: %s to %s: neighbours overlap or leave a gap", g, show(c, start), show(c, next))
				}
				if g > Month {
					longer := c.Start(g-1, at)
					if start < longer || next > c.Next(g-1, longer) {
						t.Fatalf("grain %d: %s to %s crosses the end of a longer one", g, show(c, start), show(c, next))
					}
				}
			}
		}))
	}
}

func show(c Calendar, t int64) string { return time.Unix(t, 0).In(c.Zone).Format(time.RFC3339) }

func TestDaysOfChangedClocks(t *testing.T) {
	for _, c := range []struct {
		zone, day string
		hours     int64
	}{
		{"Europe/Berlin", "2026-03-29", 23}, {"Europe/Berlin", "2026-10-25", 25}, {"Europe/Berlin", "2026-10-26", 24},
		{"America/New_York", "2026-03-08", 23}, {"America/New_York", "2026-11-01", 25}, {"UTC", "2026-03-29", 24},
		{"America/Havana", "2026-03-08", 23}, {"America/Havana", "2026-11-01", 25},
	} {
		cal := Calendar{zone(t, c.zone)}
		noon, err := time.ParseInLocation("2006-01-02 15", c.day+" 12", cal.Zone)
		if err != nil {
			t.Fatal(err)
		}
		start := cal.Start(Day, noon.Unix())
		if got := cal.Next(Day, start) - start; got != c.hours*3600 {
			t.Errorf("%s in %s has %d s, want %d h", c.day, c.zone, got, c.hours)
		}
		n := int64(0)
		for h := start; h < cal.Next(Day, start); h = cal.Next(Hour, h) {
			n++
		}
		if n != c.hours {
			t.Errorf("%s in %s has %d hours, want %d", c.day, c.zone, n, c.hours)
		}
	}
}
