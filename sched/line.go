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
	room []partition.Room
}

// newLine starts a line at now with the room that is there without any hold.
func newLine(now job.Time, all partition.Room) line {
	all.Devices = slices.Clone(all.Devices)
	return line{at: []job.Time{now}, room: []partition.Room{all}}
}

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
	room := l.room[i-1]
	room.Devices = slices.Clone(room.Devices)
	l.at = slices.Insert(l.at, i, t)
	l.room = slices.Insert(l.room, i, room)
	return i
}

// change adds r (sign 1) to what is free from one time to another, or takes it
// off (sign -1).
func (l *line) change(from, to job.Time, r *partition.Room, sign int) {
	i := l.split(from)
	for end := l.split(to); i < end; i++ {
		s := &l.room[i]
		s.Cores += sign * r.Cores
		s.MemoryMB += int64(sign) * r.MemoryMB
		for k, n := range r.Devices {
			s.Devices[k] += int64(sign) * n
		}
	}
}

// least sets out to what is free during the whole of a stretch of time.
func (l *line) least(from, to job.Time, out *partition.Room) {
	i := l.segment(from)
	out.Cores, out.MemoryMB = l.room[i].Cores, l.room[i].MemoryMB
	out.Devices = append(out.Devices[:0], l.room[i].Devices...)
	for i++; i < len(l.at) && l.at[i] < to; i++ {
		s := &l.room[i]
		out.Cores = min(out.Cores, s.Cores)
		out.MemoryMB = min(out.MemoryMB, s.MemoryMB)
		for k, n := range s.Devices {
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
	start, looks := t, 0
	for i := l.segment(t); i < len(l.at); i++ {
		if l.at[i] >= plus(start, length) {
			break
		}
		looks++
		if !fit(&l.room[i]) {
			if start = never; i+1 == len(l.at) {
				return never, looks
			}
			start = max(t, l.at[i+1])
		}
	}
	return start, looks
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
