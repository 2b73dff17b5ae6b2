package conf

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/hostlist"
	"muster/job"
)

// count is a number of which there must be at least one. 0 is not given.
type count uint32

func (c *count) set(v any) error {
	n, ok := v.(int64)
	if !ok || n < 1 || n > 1<<31 {
		return fmt.Errorf("want a number from 1, got %s", kindOf(v))
	}
	*c = count(n)
	return nil
}

// seconds is a time of whole seconds: 30, "30s", "5m", "2h", "7d".
type seconds uint32

func (s *seconds) set(v any) error {
	ms, err := milli(v, 1000)
	if err != nil {
		return err
	}
	if ms%1000 != 0 || ms/1000 >= 1<<32-1 {
		return fmt.Errorf("want whole seconds below 2^32, got %s", kindOf(v))
	}
	*s = seconds(ms / 1000)
	return nil
}

// millis is a short time: "250ms", "1s"; a bare number is milliseconds.
type millis uint32

func (m *millis) set(v any) error {
	ms, err := milli(v, 1)
	if err != nil {
		return err
	}
	if ms < 1 || ms >= 1<<32 {
		return fmt.Errorf("want 1 millisecond to 49 days, got %s", kindOf(v))
	}
	*m = millis(ms)
	return nil
}

// milli reads a time in milliseconds; unit is what a bare number counts.
func milli(v any, unit int64) (int64, error) {
	const most = int64(1) << 42 // well over a century, far from overflow
	text, isText := v.(string)
	n, ok := v.(int64)
	if isText {
		digits := strings.TrimRight(text, "mshd")
		parsed, err := strconv.ParseInt(digits, 10, 64)
		units := map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
		n, unit, ok = parsed, units[text[len(digits):]], err == nil
	}
	if !ok || unit == 0 || n < 0 || n > most/unit {
		return 0, fmt.Errorf(`want a time such as "30s", "5m", "2h" or "7d", got %s`, kindOf(v))
	}
	return n * unit, nil
}

// timeLimit is a limit of jobs in Slurm's forms: 30 (minutes), "5:00",
// "1:30:00", "2-12", "1-00:00:00", "UNLIMITED". Seconds are rounded up.
type timeLimit job.Minutes

func (l *timeLimit) set(v any) error {
	switch v := v.(type) {
	case int64:
		if v > 0 && v < 1<<31 {
			*l = timeLimit(v)
			return nil
		}
	case string:
		if strings.EqualFold(v, "UNLIMITED") || strings.EqualFold(v, "INFINITE") {
			*l = timeLimit(job.Unlimited)
			return nil
		}
		if s, ok := limitSeconds(v); ok && s > 0 && s < 1<<36 {
			*l = timeLimit((s + 59) / 60)
			return nil
		}
	}
	return fmt.Errorf(`want minutes, or a time such as "1:30:00", "1-00:00:00" or "UNLIMITED", got %s`, kindOf(v))
}

// limitSeconds reads the forms of timeLimit that are no word.
func limitSeconds(text string) (int64, bool) {
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	total, ok := whole(days)
	fields := strings.Split(clock, ":")
	// What the first field counts: hours behind days, else minutes, or hours
	// when there are three.
	units := []int64{60, 1}
	if hasDays || len(fields) == 3 {
		units = []int64{3600, 60, 1}
	}
	if !ok || len(fields) > len(units) {
		return 0, false
	}
	total *= 86400
	for i, f := range fields {
		n, ok := whole(f)
		if !ok {
			return 0, false
		}
		total += n * units[i]
	}
	return total, true
}

func whole(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int64(n), err == nil
}

// megabytes is an amount of memory or disk in MB of 2^20 bytes: 4000, "4000M",
// "64G", "1T".
type megabytes uint64

func (m *megabytes) set(v any) error {
	const most = 1 << 43 // 2^63 bytes
	switch v := v.(type) {
	case int64:
		if v >= 0 && v < most {
			*m = megabytes(v)
			return nil
		}
	case string:
		digits := strings.TrimRight(v, "MGTP")
		n, err := strconv.ParseUint(digits, 10, 43)
		shift, ok := map[string]uint{"": 0, "M": 0, "G": 10, "T": 20, "P": 30}[v[len(digits):]]
		if err == nil && ok && n < most>>shift {
			*m = megabytes(n << shift)
			return nil
		}
	}
	return fmt.Errorf(`want MB, or a size such as "4000M" or "64G", got %s`, kindOf(v))
}

// ports are one port for all, or one for each of several daemons: 6818,
// "[7001-7004]".
type ports []uint16

func (p *ports) set(v any) error {
	names := []string{}
	switch v := v.(type) {
	case int64:
		names = append(names, strconv.FormatInt(v, 10))
	case string:
		var err error
		if names, err = hostlist.Expand(v); err != nil {
			return err
		}
	}
	*p = nil
	for _, name := range names {
		n, err := strconv.ParseUint(name, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("%s is no port; want 1 to 65535", name)
		}
		*p = append(*p, uint16(n))
	}
	if len(*p) == 0 {
		return fmt.Errorf(`want a port from 1 to 65535 or a list such as "[7001-7004]", got %s`, kindOf(v))
	}
	return nil
}

// milliths is a weight with up to three decimals in thousandths: "2.5" is 2500.
func milliths(text string) (uint64, bool) {
	before, after, _ := strings.Cut(text, ".")
	if len(after) > 3 {
		return 0, false
	}
	n, err := strconv.ParseUint(before+(after + "000")[:3], 10, 48)
	return n, err == nil
}
