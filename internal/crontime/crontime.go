// Package crontime reads the times of crontab(5) entries and works out when one
// comes next. The clock is an argument.
package crontime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Schedule is a set of minutes. The zero value has none.
type Schedule struct {
	minute, hour, day, month, weekday uint64 // bits of the numbers
	anyDay, anyWeekday                bool   // the field is *
}

// field is one of the five of an entry.
type field struct {
	name     string
	min, max int
	words    string // names of the numbers from min on, separated by blanks
}

func fields() [5]field {
	return [5]field{
		{"minute", 0, 59, ""}, {"hour", 0, 23, ""}, {"day of month", 1, 31, ""},
		{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{"day of week", 0, 7, "sun mon tue wed thu fri sat"},
	}
}

// shorthand is what @hourly and alike stand for; "" if it is not known. The last
// three are Slurm's (scrontab(1)).
func shorthand(word string) string {
	switch strings.ToLower(word) {
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@monthly":
		return "0 0 1 * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@hourly":
		return "0 * * * *"
	case "@elevenses":
		return "0 11 * * *"
	case "@fika":
		return "0 15 * * *"
	case "@teatime":
		return "0 16 * * *"
	}
	return ""
}

// Cut splits a line into the times of an entry and the rest: the first word of a
// line that begins with @, else the first five. ok is false if there are too few.
func Cut(line string) (times, rest string, ok bool) {
	count := 5
	if line = strings.TrimLeft(line, " \t"); strings.HasPrefix(line, "@") {
		count = 1
	}
	left := line
	for range count {
		i := strings.IndexAny(left, " \t")
		if i < 0 {
			return "", "", false
		}
		left = strings.TrimLeft(left[i:], " \t")
	}
	return strings.TrimRight(line[:len(line)-len(left)], " \t"), left, left != ""
}

// Parse reads the five fields, or a word such as @hourly. Numbers, names of months
// and days, ranges, lists, steps and * may stand in a field. The error names the
// field and what is wrong with it. Times that never come, such as 30 February,
// are an error too.
func Parse(text string) (Schedule, error) {
	if strings.HasPrefix(text, "@") {
		full := shorthand(text)
		if full == "" {
			return Schedule{}, fmt.Errorf("%q is not known; use @yearly, @monthly, @weekly, @daily, @hourly, @elevenses, @fika, @teatime or five fields", text)
		}
		text = full
	}
	words := strings.Fields(text)
	if len(words) != 5 {
		return Schedule{}, fmt.Errorf("%q has %d fields, want minute, hour, day of month, month and day of week", text, len(words))
	}
	var sets [5]uint64
	for i, f := range fields() {
		set, err := f.parse(words[i])
		if err != nil {
			return Schedule{}, err
		}
		sets[i] = set
	}
	s := Schedule{minute: sets[0], hour: sets[1], day: sets[2], month: sets[3], weekday: sets[4], anyDay: words[2] == "*", anyWeekday: words[4] == "*"}
	if s.weekday>>7&1 != 0 { // 7 is Sunday, too
		s.weekday |= 1
	}
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, fmt.Errorf("%q never comes: no such day in these months", text)
	}
	return s, nil
}

// parse reads one field into a set.
func (f *field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		low, high, err := f.span(span)
		if err != nil {
			return 0, err
		}
		by := 1
		if stepped {
			if by, err = strconv.Atoi(step); err != nil || by < 1 || by > 60 {
				return 0, fmt.Errorf("%s: the step of %q is no number from 1 to 60", f.name, part)
			}
			if high == low && span != "*" { // 5/10: from 5 on
				high = f.max
			}
		}
		for n := low; n <= high; n += by {
			set |= 1 << n
		}
	}
	return set, nil
}

// span reads *, a number or a range.
func (f *field) span(text string) (low, high int, err error) {
	if text == "*" {
		top := f.max
		if f.max == 7 {
			top = 6
		}
		return f.min, top, nil
	}
	a, b, ranged := strings.Cut(text, "-")
	if low, err = f.number(a); err != nil {
		return 0, 0, err
	}
	if high = low; ranged {
		if high, err = f.number(b); err != nil {
			return 0, 0, err
		}
	}
	if high < low {
		return 0, 0, fmt.Errorf("%s: the range %q goes down", f.name, text)
	}
	return low, high, nil
}

func (f *field) number(text string) (int, error) {
	for i, w := range strings.Fields(f.words) {
		if strings.EqualFold(w, text) {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.min || n > f.max || text[0] == '+' {
		return 0, fmt.Errorf("%s: %q is none from %d to %d", f.name, text, f.min, f.max)
	}
	return n, nil
}

// horizon is how far Next looks, in days: 29 February may be eight years off.
const horizon = 9 * 366

// Next is the first minute of the schedule after t, in t's zone; the zero time if
// there is none. Where clocks are set forward, a time that does not exist comes an
// hour later; where they are set back, one that exists twice comes once.
func (s *Schedule) Next(t time.Time) time.Time {
	year, month, day := t.Date()
	for d := range horizon {
		date := time.Date(year, month, day+d, 12, 0, 0, 0, t.Location()) // noon exists everywhere
		if !s.hasDay(date) {
			continue
		}
		y, m, dd := date.Date()
		for h := range 24 {
			if s.hour>>h&1 == 0 {
				continue
			}
			for minute := range 60 {
				if s.minute>>minute&1 == 0 {
					continue
				}
				if at := time.Date(y, m, dd, h, minute, 0, 0, t.Location()); at.After(t) {
					return at
				}
			}
		}
	}
	return time.Time{}
}

// hasDay: if both the day of the month and that of the week are given, one of them
// is enough (crontab(5)).
func (s *Schedule) hasDay(t time.Time) bool {
	if s.month>>int(t.Month())&1 == 0 {
		return false
	}
	day, weekday := s.day>>t.Day()&1 != 0, s.weekday>>int(t.Weekday())&1 != 0
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}
