package partition

import (
	"slices"
	"strings"

	"muster/job"
)

// Covers tells whether a stretch of time overlaps the reservation; end 0 means
// for ever.
func (r *Reservation) Covers(start, end job.Time) bool {
	return (r.End == 0 || start < r.End) && (end == 0 || end > r.Start)
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
