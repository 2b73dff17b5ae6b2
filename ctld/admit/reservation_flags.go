package admit

import (
	"fmt"
	"slices"
	"strings"

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
