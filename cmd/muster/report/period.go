// Package report makes reports of what was used in a period, as text, CSV, JSON or a
// page of HTML.
package report

import (
	"fmt"
	"time"
)

// Period is a stretch of time with the word that it was asked for by.
type Period struct {
	Word     string
	From, To time.Time // in the cluster's zone
}

// ParsePeriod reads a period as of a moment in the cluster's zone. Weeks begin on
// Monday.
func ParsePeriod(word string, now time.Time) (Period, error) {
	y, m, d := now.Date()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, now.Location()) }
	monday := d - (int(now.Weekday())+6)%7
	named := map[string][2]time.Time{
		"today":      {day(y, m, d), day(y, m, d+1)},
		"yesterday":  {day(y, m, d-1), day(y, m, d)},
		"this-week":  {day(y, m, monday), day(y, m, monday+7)},
		"last-week":  {day(y, m, monday-7), day(y, m, monday)},
		"this-month": {day(y, m, 1), day(y, m+1, 1)},
		"last-month": {day(y, m-1, 1), day(y, m, 1)},
	}
	if p, ok := named[word]; ok {
		return Period{word, p[0], p[1]}, nil
	}
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.ParseInLocation(form.layout, word, now.Location()); err == nil {
			return Period{word, t, t.AddDate(form.years, form.months, form.days)}, nil
		}
	}
	return Period{}, fmt.Errorf("period %q: want today, yesterday, this-week, last-week, this-month, last-month, a day (2026-10-31), a month (2026-10) or a year (2026)", word)
}
