package noded

import (
	"testing"
	"time"
)

func TestALimitIsReckonedFromTheLeadersTimeOnce(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	const hour = int64(time.Hour / time.Millisecond)
	for _, c := range []struct {
		name   string
		passed time.Duration // on this machine, since the first time
		leader time.Duration // the leader's time then, against this machine's
		change int64         // of the limit's end
		left   time.Duration
	}{
		{"at once", 0, 0, 0, 2 * time.Hour},
		{"the leader is a day behind", time.Hour, -24 * time.Hour, 0, time.Hour},
		{"the leader is a day ahead", time.Hour, 24 * time.Hour, 0, time.Hour},
		{"an hour more", time.Hour, -24 * time.Hour, hour, 2 * time.Hour},
		{"an hour less", 30 * time.Minute, -24 * time.Hour, -hour, 30 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d countdown
			end := now.UnixMilli() + 2*hour
			d.set(end, now, now)
			later := now.Add(c.passed)
			if got := d.set(end+c.change, later.Add(c.leader), later); got != c.left {
				t.Errorf("%s are left, want %s", got, c.left)
			}
		})
	}
}

func TestALimitOfAResumedJobIsReckonedAnew(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	var d countdown
	d.set(now.UnixMilli()+60_000, now, now)
	if got := d.set(0, now, now); got != 0 {
		t.Errorf("a job without a limit has %s left", got)
	}
	later := now.Add(time.Hour)
	if got := d.set(later.UnixMilli()+30_000, later, later); got != 30*time.Second {
		t.Errorf("%s are left, want 30s", got)
	}
}
