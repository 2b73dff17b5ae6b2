package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
)

// head is one column of a listing around accounts.
type head struct {
	name  string // as it is printed above
	width int    // negative: set left
	field string // of the table that the controller sends; "" if this cluster keeps none
	also  string // other names by which a format may choose it, separated by blanks
}

// is tells whether a format's word means the column.
func (h *head) is(word string) bool {
	word = strings.ToLower(word)
	return word == h.field || strings.EqualFold(strings.ReplaceAll(h.name, " ", ""), word) || slices.Contains(strings.Fields(h.also), word)
}

// chooseHeads takes the columns that a format names, in its order, with the widths
// that it may give (name%20, name%-20). The error is Slurm's.
func chooseHeads(heads []head, format string) ([]head, error) {
	var out []head
	for _, word := range words(format) {
		name, width, sized := strings.Cut(word, "%")
		at := slices.IndexFunc(heads, func(h head) bool { return h.is(name) })
		if at < 0 && len(name) >= 4 {
			at = slices.IndexFunc(heads, func(h head) bool {
				return strings.HasPrefix(strings.ToLower(strings.ReplaceAll(h.name, " ", "")), strings.ToLower(name))
			})
		}
		if at < 0 {
			return nil, fmt.Errorf("Unknown field '%s'", name)
		}
		h := heads[at]
		if sized {
			n, err := strconv.Atoi(width)
			if err != nil || n == 0 {
				return nil, fmt.Errorf(" Invalid width in '%s'", word)
			}
			h.width = n
		}
		out = append(out, h)
	}
	return out, nil
}

// tableOptions are the options that all commands around accounts have.
type tableOptions struct {
	noHeader, after, between bool
	format                   string
	stop                     bool // help or version was printed
	flags                    map[string]string
}

// has tells whether a switch was given.
func (o *tableOptions) has(name string) bool {
	_, ok := o.flags[name]
	return ok
}

// printTable prints rows under their heads.
func (in *invocation) printTable(heads []head, t *api.Table, o *tableOptions) {
	at := make([]int, len(heads))
	for i, h := range heads {
		at[i] = slices.Index(t.Fields, h.field)
	}
	if !o.noHeader {
		in.printHeads(heads, o)
	}
	for _, r := range t.Rows {
		values := make([]string, len(heads))
		for i := range heads {
			if at[i] >= 0 && at[i] < len(r.Values) {
				values[i] = r.Values[at[i]]
			}
		}
		in.printRow(heads, values, o)
	}
}

func (in *invocation) printHeads(heads []head, o *tableOptions) {
	names := make([]string, len(heads))
	var line, rule strings.Builder
	for i, h := range heads {
		names[i] = h.name
		w := max(h.width, -h.width)
		fmt.Fprintf(&line, "%*.*s ", h.width, w, h.name)
		rule.WriteString(strings.Repeat("-", w) + " ")
	}
	switch {
	case o.after:
		fmt.Fprintln(in.stdout, strings.Join(names, "|")+"|")
	case o.between:
		fmt.Fprintln(in.stdout, strings.Join(names, "|"))
	default:
		fmt.Fprintf(in.stdout, "%s\n%s\n", line.String(), rule.String())
	}
}

// printRow prints one record; what is too long for its column ends in a plus sign.
func (in *invocation) printRow(heads []head, values []string, o *tableOptions) {
	switch {
	case o.after:
		fmt.Fprintln(in.stdout, strings.Join(values, "|")+"|")
		return
	case o.between:
		fmt.Fprintln(in.stdout, strings.Join(values, "|"))
		return
	}
	for i, h := range heads {
		w, v := max(h.width, -h.width), values[i]
		switch {
		case len(v) <= w, h.field == "rawusage" || h.field == "rawshares":
		case slices.Contains([]string{"normshares", "normusage", "effectvusage", "fairshare", "levelfs"}, h.field):
			v = exponent(v, w)
		default:
			v = v[:w-1] + "+"
		}
		fmt.Fprintf(in.stdout, "%*s ", h.width, v)
	}
	fmt.Fprintln(in.stdout)
}

// exponent writes a number that is too long for its column as Slurm does: with an
// exponent, and as many digits as make it fit.
func exponent(v string, width int) string {
	x, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	digits := width
	if n := len(fmt.Sprintf("%.*e", width, x)); n > width {
		digits = max(0, width-(n-width))
	}
	return fmt.Sprintf("%.*e", digits, x)
}

// fetchTable asks for a table; ok is false, with the exit code, if it can't be had.
func (in *invocation) fetchTable(entity string) (t *api.Table, ok bool, code int) {
	c, err := in.connect()
	if err != nil {
		return nil, false, in.loadFailed(in.name, err)
	}
	defer c.Close()
	t = &api.Table{}
	if err := read(c, api.MethodBookList, &api.TableQuery{Entity: entity}, t); err != nil {
		return nil, false, in.loadFailed(in.name, err)
	}
	return t, true, 0
}

// column is the place of a column in a table, -1 if it has none.
func column(t *api.Table, field string) int { return slices.Index(t.Fields, field) }

// keepRows drops the rows whose value of a field is none of some; no values keep all.
func keepRows(t *api.Table, field string, values []string) {
	at := column(t, field)
	if len(values) == 0 || at < 0 {
		return
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(r api.TableRow) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, r.Values[at]) })
	})
}
