// Package rollup sums up what jobs used and what the cluster had, by hour, day and
// month of the cluster's time zone.
package rollup

import "time"

// Grain is the length of a stretch that sums are kept for.
type Grain uint8

// The grains, from the longest.
const (
	Month Grain = iota
	Day
	Hour
)

// Grains are all of them.
func Grains() []Grain { return []Grain{Month, Day, Hour} }

// Calendar cuts time into hours, days and months of a time zone. Times are whole
// seconds since the Unix epoch. The stretches of a grain follow each other without
// gap or overlap, and each is cut by the finer ones, also where clocks are moved: a
// day then has 23 or 25 hours, and where they are moved by a part of an hour, or
// where a midnight does not exist or comes twice, some hours are shorter.
type Calendar struct{ Zone *time.Location }

// Start is the beginning of the stretch that a moment is in.
func (c Calendar) Start(g Grain, t int64) int64 {
	at := time.Unix(t, 0).In(c.Zone)
	y, m, d := at.Date()
	switch g {
	case Month:
		return c.midnight(y, m, 1)
	case Day:
		day := c.midnight(y, m, d)
		if next := c.midnight(y, m, d+1); t >= next {
			return next // the evening was repeated: it belongs to the day that had begun
		}
		return day
	}
	_, offset := at.Zone()
	start := t - mod(t+int64(offset), 3600)
	if from, _ := at.ZoneBounds(); !from.IsZero() {
		start = max(start, from.Unix())
	}
	return max(start, c.Start(Day, t))
}

// Next is the beginning of the stretch after the one that begins at start.
func (c Calendar) Next(g Grain, start int64) int64 {
	at := time.Unix(start, 0).In(c.Zone)
	y, m, d := at.Date()
	switch g {
	case Month:
		return c.midnight(y, m+1, 1)
	case Day:
		return c.midnight(y, m, d+1)
	}
	_, offset := at.Zone()
	next := start - mod(start+int64(offset), 3600) + 3600
	if _, to := at.ZoneBounds(); !to.IsZero() {
		next = min(next, to.Unix())
	}
	return min(next, c.Next(Day, c.Start(Day, start)))
}

// midnight is the first moment of a day; months and days beyond their range count
// on, as in time.Date.
func (c Calendar) midnight(y int, m time.Month, d int) int64 {
	want := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	t := time.Date(y, m, d, 0, 0, 0, 0, c.Zone)
	if before(t, want) { // a midnight that is left out: the day begins with what follows
		if _, to := t.ZoneBounds(); !to.IsZero() {
			t = to
		}
	}
	if from, _ := t.ZoneBounds(); !from.IsZero() && !before(from, want) && before(from.Add(-time.Second), want) {
		t = from
	}
	return t.Unix()
}

// before tells whether a moment's date is before that of another, as each one's
// zone shows it.
func before(t, u time.Time) bool {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Before(u)
}

func mod(a, b int64) int64 { return ((a % b) + b) % b }
