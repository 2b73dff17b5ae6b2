package accounting

import (
	"slices"
	"strings"
)

// Bound is a limit that may be absent: 0 is none, and n+1 is a limit of n, so
// that a limit of 0, which lets nothing start, can be told from none.
type Bound uint64

// AtMost is the bound of n.
func AtMost(n uint64) Bound { return Bound(n) + 1 }

// Get is the limit; ok is false if there is none.
func (b Bound) Get() (n uint64, ok bool) { return uint64(b) - 1, b != 0 }

// Passed tells whether n is above the limit.
func (b Bound) Passed(n uint64) bool { return b != 0 && n > uint64(b)-1 }

// Amount is a count of one trackable resource: cpu, mem (in MB), node, billing,
// gres/NAME, gres/NAME:TYPE or license/NAME.
type Amount struct {
	Name  string
	Count uint64
}

// Amounts is a list of resources, by name, each once.
type Amounts []Amount

// Get is the amount of a resource; ok is false if it is not in the list.
func (l Amounts) Get(name string) (n uint64, ok bool) {
	i, ok := slices.BinarySearchFunc(l, name, func(a Amount, s string) int { return strings.Compare(a.Name, s) })
	if !ok {
		return 0, false
	}
	return l[i].Count, true
}

// With returns the list with an amount set.
func (l Amounts) With(name string, n uint64) Amounts {
	i, ok := slices.BinarySearchFunc(l, name, func(a Amount, s string) int { return strings.Compare(a.Name, s) })
	if ok {
		l = slices.Clone(l)
		l[i].Count = n
		return l
	}
	return slices.Insert(slices.Clone(l), i, Amount{name, n})
}

// Without returns the list without a resource.
func (l Amounts) Without(name string) Amounts {
	return slices.DeleteFunc(slices.Clone(l), func(a Amount) bool { return a.Name == name })
}

// Limits are those that an association and a QOS both have. Grp limits hold for
// all jobs of the association, or of the QOS, together. Max limits of an
// association hold for it alone and are inherited from above where it has none;
// those of a QOS hold for one job.
type Limits struct {
	GrpJobs, GrpSubmit Bound
	GrpTRES            Amounts
	MaxJobs, MaxSubmit Bound   // associations only
	MaxTRES            Amounts // of one job
	MaxWall            Bound   // minutes, of one job

	GrpTRESMins Amounts // resource-minutes used so far
	GrpWall     Bound   // minutes that jobs ran so far
	MaxTRESMins Amounts // resource-minutes of one job, by its time limit
}
