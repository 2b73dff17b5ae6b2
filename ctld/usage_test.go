package ctld

import (
	"testing"
	"time"

	"muster/job"
	"muster/partition"
)

func TestUseIsForgottenAtMidnightOfTheClustersZone(t *testing.T) {
	for _, c := range []struct {
		reset     partition.UsageReset
		zone      string
		now, want string
	}{
		{partition.ResetNone, "UTC", "2026-12-02T10:00:00Z", ""},
		{partition.ResetDaily, "UTC", "2026-12-02T10:00:00Z", "2026-12-02T00:00:00Z"},
		{partition.ResetDaily, "Asia/Tokyo", "2026-12-02T16:00:00Z", "2026-12-02T15:00:00Z"},
		{partition.ResetDaily, "Europe/Berlin", "2026-03-29T20:00:00Z", "2026-03-28T23:00:00Z"}, // a day of 23 hours
		{partition.ResetWeekly, "UTC", "2026-12-02T10:00:00Z", "2026-11-29T00:00:00Z"},
		{partition.ResetWeekly, "UTC", "2026-11-29T00:00:00Z", "2026-11-29T00:00:00Z"},
		{partition.ResetMonthly, "Europe/Berlin", "2026-11-01T00:00:00Z", "2026-10-31T23:00:00Z"},
		{partition.ResetQuarterly, "UTC", "2026-12-02T10:00:00Z", "2026-10-01T00:00:00Z"},
		{partition.ResetQuarterly, "UTC", "2026-03-31T10:00:00Z", "2026-01-01T00:00:00Z"},
		{partition.ResetYearly, "UTC", "2026-12-02T10:00:00Z", "2026-01-01T00:00:00Z"},
		{partition.ResetDaily, "Nowhere/Else", "2026-12-02T10:00:00Z", ""},
	} {
		at := func(text string) job.Time {
			if text == "" {
				return 0
			}
			when, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return job.TimeOf(when)
		}
		cluster := &partition.Cluster{TimeZone: c.zone}
		cluster.Policy.Priority.Reset = c.reset
		if got := lastReset(cluster, at(c.now)); got != at(c.want) {
			t.Errorf("period %d in %s at %s: got %s, want %s", c.reset, c.zone, c.now, got.Std().UTC(), c.want)
		}
	}
}
