package accounting

// A limit of one job, or of one user, that an association does not have is that of
// the nearest association above it which has it (sacctmgr(1), GENERAL
// SPECIFICATIONS FOR ASSOCIATION BASED ENTITIES). Grp limits hold for all below and
// are not handed down.

// Effective are the limits of an association with those that it inherits.
func (b *Book) Effective(a *Association) Limits {
	l := a.Limits
	for up := b.Above(a); up != nil; up = b.Above(up) {
		inherit(&l.MaxJobs, up.Limits.MaxJobs)
		inherit(&l.MaxSubmit, up.Limits.MaxSubmit)
		inherit(&l.MaxWall, up.Limits.MaxWall)
		l.MaxTRES = l.MaxTRES.or(up.Limits.MaxTRES)
		l.MaxTRESMins = l.MaxTRESMins.or(up.Limits.MaxTRESMins)
	}
	return l
}

func inherit(b *Bound, above Bound) {
	if _, ok := b.Get(); !ok {
		*b = above
	}
}

// or adds the resources of another list that this one lacks.
func (l Amounts) or(above Amounts) Amounts {
	for _, a := range above {
		if _, ok := l.Get(a.Name); !ok {
			l = l.With(a.Name, a.Count)
		}
	}
	return l
}

// Inherited tells of a change of limits from old to next which other limits it
// reaches: those that lack one which was changed. Asked with nil it tells whether
// anything is handed down at all.
func Inherited(old, next *Limits) func(below *Limits) bool {
	lacks := func(b Bound) bool { _, ok := b.Get(); return !ok }
	jobs, submit, wall := old.MaxJobs != next.MaxJobs, old.MaxSubmit != next.MaxSubmit, old.MaxWall != next.MaxWall
	tres, mins := differ(old.MaxTRES, next.MaxTRES), differ(old.MaxTRESMins, next.MaxTRESMins)
	return func(below *Limits) bool {
		if below == nil {
			return jobs || submit || wall || len(tres)+len(mins) > 0
		}
		return jobs && lacks(below.MaxJobs) || submit && lacks(below.MaxSubmit) || wall && lacks(below.MaxWall) ||
			tres.lacking(below.MaxTRES) || mins.lacking(below.MaxTRESMins)
	}
}

// differ lists the resources of which two lists say different things.
func differ(a, b Amounts) Amounts {
	var out Amounts
	for _, pair := range [][2]Amounts{{a, b}, {b, a}} {
		for _, x := range pair[0] {
			if n, ok := pair[1].Get(x.Name); !ok || n != x.Count {
				out = out.With(x.Name, x.Count)
			}
		}
	}
	return out
}

// lacking tells whether another list lacks any of the resources of this one.
func (l Amounts) lacking(other Amounts) bool {
	for _, a := range l {
		if _, ok := other.Get(a.Name); !ok {
			return true
		}
	}
	return false
}
