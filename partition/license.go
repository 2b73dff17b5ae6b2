package partition

import (
	"fmt"
	"strconv"
	"strings"

	"muster/job"
)

// Licenses is a request for licences (sbatch(1), --licenses).
type Licenses struct {
	List []job.License
	Any  bool // one of List is enough, the first that is free
}

// LicenseError is a request that cannot be read or met.
type LicenseError struct{ Text, Why string }

// Error gives Slurm's wording first.
func (e *LicenseError) Error() string {
	return fmt.Sprintf("Invalid license specification: %q: %s", e.Text, e.Why)
}

// ParseLicenses reads name[:count] items joined by commas (all are needed) or by
// | (one is enough); both in one request is an error. A count is 1 if it is left
// out and at least 1. "" asks for nothing.
func ParseLicenses(text string) (Licenses, error) {
	var out Licenses
	if text == "" {
		return out, nil
	}
	out.Any = strings.Contains(text, "|")
	sep := ","
	if out.Any {
		sep = "|"
		if strings.ContainsAny(text, ",;") {
			return out, &LicenseError{text, "use either , or |, not both"}
		}
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ";", ","), sep) {
		name, count, given := strings.Cut(part, ":")
		if !given {
			name, count, given = strings.Cut(part, "=")
		}
		n := uint64(1)
		if given {
			var err error
			if n, err = strconv.ParseUint(count, 10, 32); err != nil || n == 0 {
				return out, &LicenseError{text, fmt.Sprintf("%q is no count", count)}
			}
		}
		if name == "" || strings.ContainsAny(name, " \t*") {
			return out, &LicenseError{text, "a licence name is missing"}
		}
		if !out.add(name, n) {
			return out, &LicenseError{text, "the counts add up to too much"}
		}
	}
	return out, nil
}

func (l *Licenses) add(name string, n uint64) bool {
	for i := range l.List {
		if !l.Any && l.List[i].Name == name {
			sum := uint64(l.List[i].Count) + n
			l.List[i].Count = uint32(sum)
			return sum < 1<<32
		}
	}
	l.List = append(l.List, job.License{Name: name, Count: uint32(n)})
	return true
}

// Check tells whether the cluster could ever give what is asked; total finds how
// many there are of a licence, 0 if it is unknown.
func (l *Licenses) Check(text string, total func(name string) uint32) error {
	var bad error
	for _, x := range l.List {
		has := total(x.Name)
		switch {
		case has == 0:
			bad = &LicenseError{text, fmt.Sprintf("the cluster has no licence %s", x.Name)}
		case x.Count > has:
			bad = &LicenseError{text, fmt.Sprintf("the cluster has %d of %s, %d are asked for", has, x.Name, x.Count)}
		case l.Any:
			return nil
		}
		if bad != nil && !l.Any {
			return bad
		}
	}
	return bad
}
