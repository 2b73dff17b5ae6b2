package slurm

import (
	"strconv"

	"muster/job"
)

// yearSeconds bounds what squeue takes for a span of time.
const yearSeconds = 365 * 86400

// AppendShortSpan writes seconds as squeue and sinfo do: M:SS, H:MM:SS,
// D-HH:MM:SS; a negative span, or one of more than a year, is INVALID.
func AppendShortSpan(dst []byte, s int64) []byte {
	if s < 0 || s > yearSeconds {
		return append(dst, "INVALID"...)
	}
	d, h, m := s/86400, s/3600%24, s/60%60
	switch {
	case d > 0:
		dst = append(strconv.AppendInt(dst, d, 10), '-')
		dst = append(appendTwo(dst, h), ':')
		dst = appendTwo(dst, m)
	case h > 0:
		dst = append(strconv.AppendInt(dst, h, 10), ':')
		dst = appendTwo(dst, m)
	default:
		dst = strconv.AppendInt(dst, m, 10)
	}
	return appendTwo(append(dst, ':'), s%60)
}

// AppendSpan writes seconds as scontrol and sacct do: HH:MM:SS or D-HH:MM:SS.
func AppendSpan(dst []byte, s int64) []byte {
	if s < 0 {
		return append(dst, "INVALID"...)
	}
	if d := s / 86400; d > 0 {
		dst = append(strconv.AppendInt(dst, d, 10), '-')
	}
	dst = append(appendTwo(dst, s/3600%24), ':')
	dst = append(appendTwo(dst, s/60%60), ':')
	return appendTwo(dst, s%60)
}

// AppendShortLimit writes a time limit as squeue does.
func AppendShortLimit(dst []byte, m job.Minutes) []byte {
	switch m {
	case job.Unlimited:
		return append(dst, "UNLIMITED"...)
	case 0:
		return append(dst, "NOT_SET"...)
	}
	return AppendShortSpan(dst, int64(m)*60)
}

// AppendLimit writes a time limit as scontrol and sacct do.
func AppendLimit(dst []byte, m job.Minutes) []byte {
	if m == job.Unlimited {
		return append(dst, "UNLIMITED"...)
	}
	return AppendSpan(dst, int64(m)*60)
}

// AppendCPUTime writes processor time as sacct's TotalCPU and its like do: with
// milliseconds below an hour (MM:SS.mmm), without from there on.
func AppendCPUTime(dst []byte, us uint64) []byte {
	s, ms := int64(us/1e6), int64(us/1000%1000)
	if s >= 3600 || s == 0 && ms == 0 {
		return AppendSpan(dst, s)
	}
	dst = append(appendTwo(dst, s/60), ':')
	dst = append(appendTwo(dst, s%60), '.')
	return appendTwo(append(dst, '0'+byte(ms/100)), ms%100)
}

func appendTwo(dst []byte, n int64) []byte {
	if n < 100 {
		return append(dst, '0'+byte(n/10), '0'+byte(n%10))
	}
	return strconv.AppendInt(dst, n, 10)
}
