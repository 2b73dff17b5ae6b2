package slurm

import (
	"fmt"
	"strings"
	"time"

	"muster/job"
)

// TimeFormatVariable names the environment variable with the format of times.
const TimeFormatVariable = "SLURM_TIME_FORMAT"

// isoLayout is how Slurm writes a moment unless it is told otherwise.
const isoLayout = "2006-01-02T15:04:05"

// maxTimeFormat is the longest format that Slurm takes.
const maxTimeFormat = 31

// TimeFormat writes moments for people: local time, in the form that
// SLURM_TIME_FORMAT asks for (squeue(1)).
type TimeFormat struct {
	zone     *time.Location
	format   string // strftime(3); "" is ISO
	relative bool
	now      time.Time
}

// NewTimeFormat makes the format that text, the variable's value, asks for:
// "" or "standard", "relative", or a format of strftime(3). The error is for
// any other word; the format is then the standard one. now is what relative
// times are relative to; its zone is used.
func NewTimeFormat(text string, now time.Time) (*TimeFormat, error) {
	f := &TimeFormat{zone: now.Location(), now: now}
	switch {
	case text == "" || text == "standard":
	case text == "relative":
		f.relative = true
	case !strings.Contains(text, "%") || len(text) > maxTimeFormat:
		return f, fmt.Errorf("invalid %s = '%s'", TimeFormatVariable, text)
	default:
		f.format = text
	}
	return f, nil
}

// Append writes t, or none if it is not set.
func (f *TimeFormat) Append(dst []byte, t job.Time, none string) []byte {
	if t == 0 {
		return append(dst, none...)
	}
	at := time.Unix(t.Unix(), 0).In(f.zone)
	switch {
	case f.relative:
		return f.appendRelative(dst, at)
	case f.format != "":
		return AppendStrftime(dst, f.format, at)
	}
	return at.AppendFormat(dst, isoLayout)
}

// appendRelative leaves out what is clear from today's date: 14:05 today, Tomorr
// or Ystday with the time, the week day within a week, then the date.
func (f *TimeFormat) appendRelative(dst []byte, at time.Time) []byte {
	days := dayNumber(at) - dayNumber(f.now)
	switch {
	case days == -1:
		return at.AppendFormat(append(dst, "Ystday "...), "15:04")
	case days == 0:
		return at.AppendFormat(dst, "15:04:05")
	case days == 1:
		return at.AppendFormat(append(dst, "Tomorr "...), "15:04")
	case days < -365 || days > 365:
		return at.AppendFormat(dst, "2 Jan 2006")
	case days < -1 || days > 6:
		return at.AppendFormat(dst, "2 Jan 15:04")
	}
	return at.AppendFormat(dst, "Mon 15:04")
}

// dayNumber counts days of the calendar.
func dayNumber(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// AppendStrftime writes t by a format of strftime(3) in the C locale. A
// conversion that it does not know is written as it stands.
func AppendStrftime(dst []byte, format string, t time.Time) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			dst = append(dst, format[i])
			continue
		}
		i++
		if layout := goLayout(format[i]); layout != "" {
			dst = t.AppendFormat(dst, layout)
			continue
		}
		dst = appendConversion(dst, format[i], t)
	}
	return dst
}

// goLayout is the layout of package time for a conversion, "" if there is none.
func goLayout(c byte) string {
	switch c {
	case 'a':
		return "Mon"
	case 'A':
		return "Monday"
	case 'b', 'h':
		return "Jan"
	case 'B':
		return "January"
	case 'c':
		return "Mon Jan _2 15:04:05 2006"
	case 'd':
		return "02"
	case 'D', 'x':
		return "01/02/06"
	case 'e':
		return "_2"
	case 'F':
		return "2006-01-02"
	case 'H':
		return "15"
	case 'I':
		return "03"
	case 'j':
		return "002"
	case 'm':
		return "01"
	case 'M':
		return "04"
	case 'p':
		return "PM"
	case 'P':
		return "pm"
	case 'r':
		return "03:04:05 PM"
	case 'R':
		return "15:04"
	case 'S':
		return "05"
	case 'T', 'X':
		return "15:04:05"
	case 'y':
		return "06"
	case 'Y':
		return "2006"
	case 'z':
		return "-0700"
	case 'Z':
		return "MST"
	}
	return ""
}

// appendConversion writes the conversions that are no layout.
func appendConversion(dst []byte, c byte, t time.Time) []byte {
	year, week := t.ISOWeek()
	switch c {
	case 's':
		return fmt.Appendf(dst, "%d", t.Unix())
	case 'n':
		return append(dst, '\n')
	case 't':
		return append(dst, '\t')
	case '%':
		return append(dst, '%')
	case 'C':
		return fmt.Appendf(dst, "%02d", t.Year()/100)
	case 'G':
		return fmt.Appendf(dst, "%d", year)
	case 'g':
		return fmt.Appendf(dst, "%02d", year%100)
	case 'V':
		return fmt.Appendf(dst, "%02d", week)
	case 'u':
		return fmt.Appendf(dst, "%d", (int(t.Weekday())+6)%7+1)
	case 'w':
		return fmt.Appendf(dst, "%d", int(t.Weekday()))
	case 'U':
		return fmt.Appendf(dst, "%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'W':
		return fmt.Appendf(dst, "%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'k':
		return fmt.Appendf(dst, "%2d", t.Hour())
	case 'l':
		return fmt.Appendf(dst, "%2d", (t.Hour()+11)%12+1)
	}
	return append(dst, '%', c)
}
