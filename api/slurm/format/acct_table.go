package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AcctTable is a format of sacct.
type AcctTable struct {
	Columns   []AcctField
	Parsable  Parsable
	Delimiter string
}

// Parsable says how columns are put apart.
type Parsable uint8

// The kinds of table: padded columns, a delimiter after each (-p), or between
// them (-P).
const (
	Padded Parsable = iota
	DelimiterAfter
	DelimiterBetween
)

// AcctColumns reads what sacct --format takes: names separated by commas, each
// with an optional %[-]width; a name may be cut short. "ALL" is all of them.
// The error has Slurm's text.
func AcctColumns(format string) ([]AcctField, error) {
	fields := AcctFields()
	var columns []AcctField
	for entry := range strings.SplitSeq(format, ",") {
		if entry == "" {
			continue
		}
		name, size, sized := strings.Cut(entry, "%")
		if strings.EqualFold(name, "ALL") {
			columns = append(columns, sortedFields(fields)...)
			continue
		}
		i := slices.IndexFunc(fields, func(f AcctField) bool { return strings.EqualFold(f.Name, name) })
		if i < 0 && name != "" {
			i = shortName(fields, name)
		}
		if i < 0 {
			return nil, fmt.Errorf("Invalid field requested: \"%s\"", entry) //lint:ignore ST1005 Slurm's text
		}
		f := fields[i]
		if sized {
			n, err := strconv.Atoi(size)
			if err != nil || n > maxWidth || n < -maxWidth {
				return nil, fmt.Errorf("Invalid field requested: \"%s\"", entry) //lint:ignore ST1005 Slurm's text
			}
			f.Width = n
		}
		columns = append(columns, f)
	}
	return columns, nil
}

// shortName finds the first field, by name, that begins with name.
func shortName(fields []AcctField, name string) int {
	best := -1
	for i := range fields {
		f := &fields[i]
		if len(f.Name) > len(name) && strings.EqualFold(f.Name[:len(name)], name) &&
			(best < 0 || strings.ToLower(f.Name) < strings.ToLower(fields[best].Name)) {
			best = i
		}
	}
	return best
}

// sortedFields are fields by name, as --helpformat and ALL have them; there one
// stands behind its kin.
func sortedFields(fields []AcctField) []AcctField {
	key := func(f *AcctField) string {
		if f.Name == "ReqReservation" {
			return "reservationid req"
		}
		return strings.ToLower(f.Name)
	}
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b AcctField) int { return strings.Compare(key(&a), key(&b)) })
	return sorted
}

// AcctHelp lists the names of sacct's fields as --helpformat does.
func AcctHelp() []byte { return acctHelp(AcctFields()) }

// StepUseHelp lists the fields that sstat has: what running steps use (sstat(1)).
func StepUseHelp() []byte {
	return acctHelp(slices.DeleteFunc(AcctFields(), func(f AcctField) bool {
		for _, prefix := range []string{"Ave", "ConsumedEnergy", "Max", "Min", "ReqCPUFreq", "TRESUsage"} {
			if strings.HasPrefix(f.Name, prefix) {
				return false
			}
		}
		return !slices.Contains([]string{"AllocTRES", "JobID", "NodeList", "NTasks", "SLUID"}, f.Name)
	}))
}

func acctHelp(fields []AcctField) []byte {
	var dst []byte
	for i, f := range sortedFields(fields) {
		if i > 0 {
			if i%4 == 0 {
				dst = append(dst, '\n')
			} else {
				dst = append(dst, ' ')
			}
		}
		dst = fmt.Appendf(dst, "%-19s", f.Name)
	}
	return append(dst, '\n')
}

// AppendHead writes the line of names and, in a padded table, the dashes below.
func (t *AcctTable) AppendHead(dst []byte) []byte {
	for i := range t.Columns {
		at := len(dst)
		dst = append(dst, t.Columns[i].Name...)
		dst = t.finish(dst, at, i, true)
	}
	dst = append(dst, '\n')
	if t.Parsable != Padded {
		return dst
	}
	for i := range t.Columns {
		dst = append(dst, strings.Repeat("-", abs(t.Columns[i].Width))...)
		dst = append(dst, ' ')
	}
	return append(dst, '\n')
}

// AppendRow writes one job or step.
func (t *AcctTable) AppendRow(dst []byte, x *Context, a *AcctRow) []byte {
	for i := range t.Columns {
		at := len(dst)
		dst = t.Columns[i].Text(dst, x, a)
		dst = t.finish(dst, at, i, t.Columns[i].Cut)
	}
	return append(dst, '\n')
}

// finish pads or delimits the column that begins at.
func (t *AcctTable) finish(dst []byte, at, i int, cut bool) []byte {
	switch {
	case t.Parsable == DelimiterAfter, t.Parsable == DelimiterBetween && i < len(t.Columns)-1:
		return append(dst, t.Delimiter...)
	case t.Parsable == DelimiterBetween:
		return dst
	}
	width := abs(t.Columns[i].Width)
	if cut && len(dst)-at > width && width > 0 {
		dst = append(dst[:at+width-1], '+')
	}
	return append(fit(dst, at, width, t.Columns[i].Width > 0, true), ' ')
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
