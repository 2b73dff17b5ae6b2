package service

import (
	"fmt"
	"time"

	"muster/internal/crontime"
	"muster/job"
	"muster/state"
)

// NextRun is when a recurring job runs next after a moment, in the cluster's zone
// (scrontab(1), LIMITATIONS).
func NextRun(root *state.Root, spec string, after job.Time) (job.Time, error) {
	s, err := crontime.Parse(spec)
	if err != nil {
		return 0, err
	}
	zone, err := time.LoadLocation(root.Cluster().TimeZone)
	if err != nil {
		return 0, fmt.Errorf("the cluster's time zone is not known on this controller: %w", err)
	}
	next := s.Next(after.Std().In(zone))
	if next.IsZero() {
		return 0, fmt.Errorf("%q never comes", spec)
	}
	return job.TimeOf(next), nil
}
