package noded

import "time"

// countdown is when a time limit ends an attempt, on this machine's monotonic
// clock. It is reckoned from the leader's time once. After that only what the limit
// itself is changed by moves it: a leader's time that is behind, as it is after a
// pause of all controllers, gives no job more time than it asked for.
type countdown struct {
	end int64 // the limit as the leader names it, in ms of its time; 0: none
	due time.Time
}

// set takes the limit's end by the leader's time, and returns how long is left.
func (c *countdown) set(end int64, leader, now time.Time) time.Duration {
	switch {
	case end == 0:
		*c = countdown{}
		return 0
	case c.end == 0:
		c.due = now.Add(time.UnixMilli(end).Sub(leader))
	default:
		c.due = c.due.Add(time.Duration(end-c.end) * time.Millisecond)
	}
	c.end = end
	return c.due.Sub(now)
}
