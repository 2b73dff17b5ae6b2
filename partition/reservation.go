package partition

import (
	"math"
	"slices"
	"strings"

	"muster/job"
)

// The flags of reservations that have a meaning here (scontrol(1), Flags=).
const (
	Daily           = "DAILY"
	Flex            = "FLEX" // its jobs may run outside of it, too, before it and after it
	Hourly          = "HOURLY"
	IgnoreJobs      = "IGNORE_JOBS"
	Magnetic        = "MAGNETIC" // draws jobs that may use it and do not ask for it
	Maint           = "MAINT"
	NoHoldJobsAfter = "NO_HOLD_JOBS_AFTER" // jobs that still wait for it when it is gone run anywhere
	Overlap         = "OVERLAP"
	PurgeComp       = "PURGE_COMP"   // it goes when it has had no jobs for a while: PURGE_COMP=hh:mm:ss
	Replace         = "REPLACE"      // nodes that are lost or in use are replaced by idle ones
	ReplaceDown     = "REPLACE_DOWN" // nodes that are lost are
	StaticAlloc     = "STATIC_ALLOC" // none are: what is done without REPLACE
	UserDelete      = "USER_DELETE"  // those who may use it may delete it
	Weekday         = "WEEKDAY"
	Weekend         = "WEEKEND"
	Weekly          = "WEEKLY"
)

// Has tells whether the reservation has a flag.
func (r *Reservation) Has(flag string) bool { return slices.Contains(r.Flags, flag) }

// Binds tells whether jobs in the reservation may use nothing but its nodes and its
// time. It is false without a reservation.
func (r *Reservation) Binds() bool { return r != nil && !r.Has(Flex) }

// Covers tells whether a stretch of time overlaps an occurrence of the reservation;
// end 0 means for ever.
func (r *Reservation) Covers(start, end job.Time) bool {
	if end == 0 {
		end = math.MaxInt64
	}
	_, _, ok := r.Occurrence(start, end)
	return ok
}

// Occurrence is the first occurrence of the reservation that the time from one
// moment to another overlaps; its end is 0 if it has none. The next occurrence is as
// the record has it. Those after it are reckoned at the same distance, so that they
// are an hour off beyond a change to or from daylight saving, until they are next.
func (r *Reservation) Occurrence(from, to job.Time) (start, end job.Time, ok bool) {
	if r.Start < to && (r.End == 0 || from < r.End) {
		return r.Start, r.End, true
	}
	if r.Every <= 0 || r.End == 0 || from < r.End {
		return 0, 0, false
	}
	ahead := ((from-r.End)/r.Every + 1) * r.Every // the first that ends after from
	start, end = r.Start+ahead, r.End+ahead
	return start, end, start < to
}

// Active tells whether the reservation holds at a time.
func (r *Reservation) Active(now job.Time) bool {
	return r.Start <= now && (r.End == 0 || now < r.End)
}

// MayUse tells whether a user with an account may use the reservation: named by
// Users or Accounts, and not excluded by a - before the name (scontrol(1),
// Users=, Accounts=). If both lists are given, both must allow it.
func (r *Reservation) MayUse(user, account string) bool {
	if len(r.Users) == 0 && len(r.Accounts) == 0 {
		return false
	}
	return allows(r.Users, user) && allows(r.Accounts, account)
}

// allows judges a list of names that all either carry a - or do not. An empty
// list allows everybody.
func allows(list []string, name string) bool {
	deny := false
	for _, x := range list {
		if rest, not := strings.CutPrefix(x, "-"); not {
			if rest == name {
				return false
			}
			deny = true
		}
	}
	return len(list) == 0 || deny || slices.Contains(list, name)
}

// Maintenance tells whether the reservation is for work on the nodes.
func (r *Reservation) Maintenance() bool {
	return slices.ContainsFunc(r.Flags, func(f string) bool { return strings.EqualFold(f, "MAINT") })
}
