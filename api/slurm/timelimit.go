package slurm

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"muster/job"
)

// errTimeLimit is what ParseTimeLimit and ParseSeconds return; the caller names
// the option.
var errTimeLimit = errors.New("not a time: use minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or UNLIMITED")

// forever is what ParseSeconds gives for UNLIMITED.
const forever = math.MaxInt64

// ParseTimeLimit reads a time limit as --time takes it (sbatch(1)): rounded up
// to whole minutes; 0, -1, INFINITE and UNLIMITED are job.Unlimited.
func ParseTimeLimit(text string) (job.Minutes, error) {
	s, err := ParseSeconds(text)
	switch {
	case err != nil:
		return 0, err
	case s == forever || s == 0:
		return job.Unlimited, nil
	}
	m := (s + 59) / 60
	if m >= int64(job.Unlimited) {
		return 0, errTimeLimit
	}
	return job.Minutes(m), nil
}

// ParseSeconds reads a span of time in the forms of --time, in seconds;
// math.MaxInt64 stands for UNLIMITED.
func ParseSeconds(text string) (int64, error) {
	switch strings.ToUpper(text) {
	case "-1", "INFINITE", "UNLIMITED":
		return forever, nil
	}
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		clock, days = text, "0"
	}
	d, ok := digits(days)
	if !ok {
		return 0, errTimeLimit
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 {
		return 0, errTimeLimit
	}
	var n [3]int64
	for i, p := range parts {
		if n[i], ok = digits(p); !ok {
			return 0, errTimeLimit
		}
	}
	switch {
	case hasDays, len(parts) == 3:
		return d*86400 + n[0]*3600 + n[1]*60 + n[2], nil
	default:
		return n[0]*60 + n[1], nil
	}
}

// blanks are what numbers may have before them, as strtol(3) passes over them.
const blanks = " \t"

// longDigits reads a decimal number of at most 18 digits.
func longDigits(s string) (int64, bool) {
	if s == "" || len(s) > 18 || !allDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// digits reads a decimal number of at most nine digits, so that no sum of a few
// of them can overflow.
func digits(s string) (int64, bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}
