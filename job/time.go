package job

import "time"

// Time is a moment of state time in milliseconds since the Unix epoch; 0 means
// not set. State never reads a clock: every Time in it came in with a command.
type Time int64

// TimeOf converts a wall clock time.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Std converts to a time.Time; the zero Time becomes the zero time.Time.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t))
}

// Unix is the time in whole seconds since the epoch, 0 if not set.
func (t Time) Unix() int64 { return int64(t) / 1000 }

// Add moves the time by d, rounded to milliseconds.
func (t Time) Add(d time.Duration) Time { return t + Time(d/time.Millisecond) }

// Sub is the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Minutes is a time limit in whole minutes, the unit of Slurm's limits.
// 0 means that none was given.
type Minutes uint32

// Unlimited is the limit that never ends a job (Slurm's INFINITE).
const Unlimited Minutes = 1<<32 - 1

// Duration converts a limit; Unlimited becomes the longest time.Duration.
func (m Minutes) Duration() time.Duration {
	if m == Unlimited {
		return 1<<63 - 1
	}
	return time.Duration(m) * time.Minute
}
