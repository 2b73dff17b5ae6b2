package sched

import (
	"math"
	"slices"

	"muster/job"
	"muster/partition"
)

// never is later than all times.
const never = job.Time(math.MaxInt64)

// line is what is free on one node over time: segments, each from its time to
// the next one's, the last for ever.
type line struct {
	at   []job.Time
	free []int64 // width numbers for each segment: cores, MB, then each kind of device
}

// newLine starts a line at now with the room that is there without any hold.
func newLine(now job.Time, all *partition.Room) line {
	l := line{at: []job.Time{now}, free: make([]int64, 0, 4*(2+len(all.Devices)))}
	l.free = append(append(l.free, int64(all.Cores), all.MemoryMB), all.Devices...)
	return l
}

// width is how many numbers a segment has.
func (l *line) width() int { return len(l.free) / len(l.at) }

// clone copies a line with all its segments.
func (l *line) clone() line { return line{at: slices.Clone(l.at), free: slices.Clone(l.free)} }

// segment is the place of the segment that t lies in.
func (l *line) segment(t job.Time) int {
	i, found := slices.BinarySearch(l.at, t)
	if !found {
		i--
	}
	return max(0, i)
}

// split makes a segment start at t and returns its place; never is the end.
func (l *line) split(t job.Time) int {
	if t == never {
		return len(l.at)
	}
	i, found := slices.BinarySearch(l.at, t)
	if found || i == 0 {
		return i
	}
	w := l.width()
	n := len(l.free)
	l.free = slices.Grow(l.free, w)[:n+w]
	copy(l.free[i*w:], l.free[(i-1)*w:n])
	l.at = slices.Insert(l.at, i, t)
	return i
}

// change adds r (sign 1) to what is free from one time to another, or takes it
// off (sign -1).
func (l *line) change(from, to job.Time, r *partition.Room, sign int) {
	w := l.width()
	i := l.split(from)
	for end := l.split(to); i < end; i++ {
		s := l.free[i*w : (i+1)*w]
		s[0] += int64(sign * r.Cores)
		s[1] += int64(sign) * r.MemoryMB
		for k, n := range r.Devices {
			s[2+k] += int64(sign) * n
		}
	}
}

// room sets out to what is free in a segment.
func (l *line) room(i int, out *partition.Room) {
	w := l.width()
	s := l.free[i*w : (i+1)*w]
	out.Cores, out.MemoryMB = int(s[0]), s[1]
	out.Devices = append(out.Devices[:0], s[2:]...)
}

// least sets out to what is free during the whole of a stretch of time.
func (l *line) least(from, to job.Time, out *partition.Room) {
	i, w := l.segment(from), l.width()
	l.room(i, out)
	for i++; i < len(l.at) && l.at[i] < to; i++ {
		s := l.free[i*w : (i+1)*w]
		out.Cores = min(out.Cores, int(s[0]))
		out.MemoryMB = min(out.MemoryMB, s[1])
		for k, n := range s[2:] {
			out.Devices[k] = min(out.Devices[k], n)
		}
	}
}

// after is the first time past t at which something changes, or never.
func (l *line) after(t job.Time) job.Time {
	if i := l.segment(t) + 1; i < len(l.at) {
		return l.at[i]
	}
	return never
}

// first is the earliest start, not before t, of a stretch of time of which each
// segment passes fit, or never.
func (l *line) first(t, length job.Time, fit func(*partition.Room) bool) (job.Time, int) {
	var room partition.Room
	start, looks := t, 0
	for i := l.segment(t); i < len(l.at); i++ {
		if l.at[i] >= plus(start, length) {
			break
		}
		looks++
		l.room(i, &room)
		if !fit(&room) {
			if start = never; i+1 == len(l.at) {
				return never, looks
			}
			start = max(t, l.at[i+1])
		}
	}
	return start, looks
}

// least is an amount that a node must have free: cores, MB, and GPUs of some kinds
// together.
type least struct {
	cores, memory, gpus int64
	kinds               []int // places of GPUs among the devices
}

// has tells whether a segment has an amount free.
func (l *line) has(i, width int, a *least) bool {
	s := l.free[i*width : (i+1)*width]
	if s[0] < a.cores || s[1] < a.memory {
		return false
	}
	if a.gpus == 0 {
		return true
	}
	sum := int64(0)
	for _, k := range a.kinds {
		sum += s[2+k]
	}
	return sum >= a.gpus
}

// opens is the earliest start, not before t, of a stretch of time with an amount
// free, or never.
func (l *line) opens(t, length job.Time, a *least) job.Time {
	w := l.width()
	start := t
	for i := l.segment(t); i < len(l.at) && l.at[i] < plus(start, length); i++ {
		if l.has(i, w, a) {
			continue
		}
		if i+1 == len(l.at) {
			return never
		}
		start = max(t, l.at[i+1])
	}
	return start
}

// plus adds a length to a time; what is too long is never.
func plus(t, length job.Time) job.Time {
	if length >= never-t {
		return never
	}
	return t + length
}

// second rounds a time up to a full second, so that ends that are close together
// make one segment.
func second(t job.Time) job.Time {
	if t >= never-1000 {
		return never
	}
	return (t + 999) / 1000 * 1000
}
