package slurm

import (
	"errors"
	"strconv"
	"strings"

	"muster/job"
)

// signalNumbers: the names that Slurm's commands know, with Linux's numbers.
var signalNumbers = []struct {
	name   string
	number uint8
}{
	{"HUP", 1}, {"INT", 2}, {"QUIT", 3}, {"ABRT", 6}, {"KILL", 9}, {"ALRM", 14}, {"TERM", 15}, {"CHLD", 17},
	{"USR1", 10}, {"USR2", 12}, {"PIPE", 13}, {"URG", 23}, {"CONT", 18}, {"STOP", 19}, {"TSTP", 20},
	{"TTIN", 21}, {"TTOU", 22}, {"XCPU", 24},
}

// ParseSignalName reads a signal's number or name, with or without SIG, in
// either case.
func ParseSignalName(text string) (uint8, bool) {
	text = strings.TrimSpace(text)
	if n, ok := digits(text); ok {
		return uint8(n), n >= 1 && n <= 64
	}
	if rest, ok := cutFold(text, "SIG"); ok {
		text = rest
	}
	for _, s := range signalNumbers {
		if strings.EqualFold(text, s.name) {
			return s.number, true
		}
	}
	return 0, false
}

// SignalName is the name of a signal without SIG, its number if it has none.
func SignalName(n uint8) string {
	for _, s := range signalNumbers {
		if s.number == n {
			return s.name
		}
	}
	return strconv.Itoa(int(n))
}

// ParseSignal reads --signal: [{R|B}:]signal[@seconds]; 60 s without @.
func ParseSignal(text string) (job.Signal, error) {
	bad := errors.New("use [{R|B}:]signal[@seconds] with at most 65535 seconds")
	s := job.Signal{Before: 60}
	if flags, rest, ok := strings.Cut(text, ":"); ok {
		for _, f := range strings.ToUpper(flags) {
			switch f {
			case 'B':
				if s.Shell {
					return job.Signal{}, bad
				}
				s.Shell = true
			case 'R':
				s.Resv = true
			default:
				return job.Signal{}, bad
			}
		}
		text = rest
	}
	name, before, hasTime := strings.Cut(text, "@")
	n, ok := ParseSignalName(name)
	if !ok {
		return job.Signal{}, bad
	}
	s.Number = n
	if hasTime {
		t, ok := digits(before)
		if !ok || t > 0xffff {
			return job.Signal{}, bad
		}
		s.Before = uint16(t)
	}
	return s, nil
}

// FormatSignal writes a --signal as it could be given.
func FormatSignal(s job.Signal) string {
	if s.Number == 0 {
		return ""
	}
	b := ""
	if s.Resv {
		b += "R"
	}
	if s.Shell {
		b += "B"
	}
	if b != "" {
		b += ":"
	}
	return b + SignalName(s.Number) + "@" + strconv.Itoa(int(s.Before))
}
