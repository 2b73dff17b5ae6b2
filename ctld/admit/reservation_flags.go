package admit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
	"muster/partition"
)

// reservationFlags are the flags with a meaning here.
var reservationFlags = []string{partition.Daily, partition.Flex, partition.Hourly, partition.IgnoreJobs, partition.Magnetic, partition.Maint,
	partition.NoHoldJobsAfter, partition.Overlap, partition.PurgeComp, partition.Replace, partition.ReplaceDown, "SPEC_NODES", "ALL_NODES", partition.StaticAlloc,
	"PART_NODES", "ANY_NODES", "LICENSE_ONLY", partition.UserDelete, partition.Weekday, partition.Weekend, partition.Weekly}

// periods are the distances of the occurrences that the flags ask for; 0: not always
// the same.
var periods = map[string]job.Time{partition.Hourly: 3_600_000, partition.Daily: 24 * 3_600_000, partition.Weekly: 7 * 24 * 3_600_000,
	partition.Weekday: 0, partition.Weekend: 0}

func (u *reservationUpdate) setFlags(f api.Pair) error {
	typed := f.Value
	f.Value = strings.ToUpper(f.Value)
	for w := range strings.SplitSeq(f.Value, ",") {
		name, span, timed := strings.Cut(w, "=")
		_, err := slurm.ParseSeconds(span)
		if w != "" && !slices.Contains(reservationFlags, name) || timed && (name != partition.PurgeComp || err != nil) {
			done := "update"
			if u.create {
				done = "created"
			}
			return &api.Error{Kind: api.ErrInvalid, Text: "scontrol: error: Error parsing flags " + typed + ".  No reservation " + done + ".",
				Hint: fmt.Sprintf("the flag %s is not known here; there are %s", w, strings.Join(reservationFlags, ", "))}
		}
	}
	f.Value = strings.ReplaceAll(f.Value, "LICENSE_ONLY", "ANY_NODES") // its older name
	return change(&u.value.Flags, f)
}

// settleFlags checks the flags together and works out the distance of occurrences.
func (u *reservationUpdate) settleFlags() error {
	v := &u.value
	v.Every = 0
	recurs := 0
	for _, f := range v.Flags {
		if every, ok := periods[f]; ok {
			recurs++
			v.Every = every
		}
	}
	switch {
	case recurs > 1, recurs == 1 && v.End == 0, v.Has(partition.Replace) && v.Has(partition.StaticAlloc), v.Has("ANY_NODES") && len(v.Licenses) == 0:
		return invalid(u.prefix + slurm.TextReservation)
	case v.Every != 0 && v.End-v.Start > v.Every:
		return invalid(u.prefix + textOverlap)
	}
	return nil
}

// NextOccurrence is when a recurring reservation begins after a start, at the same
// time of day in the cluster's zone; false: it does not recur.
func NextOccurrence(r *partition.Reservation, start job.Time, zone *time.Location) (job.Time, bool) {
	t := start.Std().In(zone)
	weekend := func(d time.Weekday) bool { return d == time.Saturday || d == time.Sunday }
	switch {
	case r.Has(partition.Hourly):
		return start.Add(time.Hour), true
	case r.Has(partition.Daily):
		t = t.AddDate(0, 0, 1)
	case r.Has(partition.Weekly):
		t = t.AddDate(0, 0, 7)
	case r.Has(partition.Weekday):
		for t = t.AddDate(0, 0, 1); weekend(t.Weekday()); {
			t = t.AddDate(0, 0, 1)
		}
	case r.Has(partition.Weekend):
		for t = t.AddDate(0, 0, 1); !weekend(t.Weekday()); {
			t = t.AddDate(0, 0, 1)
		}
	default:
		return 0, false
	}
	return job.TimeOf(t), true
}

// skip passes over the next occurrence of a recurring reservation, or over what is
// left of the present one.
func (u *reservationUpdate) skip() error {
	zone, err := time.LoadLocation(u.root.Cluster().TimeZone)
	if err != nil {
		return api.Errorf(api.ErrUnavailable, "the cluster's time zone is not known on this controller: %v", err)
	}
	v := &u.value
	start, ok := NextOccurrence(v, v.Start, zone)
	if !ok {
		return invalid(u.prefix + "Reservation given is not skipable, try deleting instead")
	}
	v.Start, v.End = start, start+(v.End-v.Start)
	return nil
}
