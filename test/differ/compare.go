package differ

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is one thing in which two answers to a case are not the same.
type Difference struct {
	Case      *Case
	Where     string // code, stdout, stderr, record:FIELD, env:NAME
	Want, Got string // Slurm's and ours
}

// String is the difference on a few lines.
func (d *Difference) String() string {
	return fmt.Sprintf("%s\n  %s\n    slurm %q\n    ours  %q", d.Case.Key(), d.Where, d.Want, d.Got)
}

// Compare lists the differences of our answer from Slurm's. Where one of the
// two made no job, the records are not compared.
func Compare(c *Case, want, got *Answer) []Difference {
	var out []Difference
	differ := func(where, want, got string) {
		if want != got {
			out = append(out, Difference{c, where, want, got})
		}
	}
	differ("code", fmt.Sprint(want.Code), fmt.Sprint(got.Code))
	if !saysHelp(c) {
		differ("stdout", want.Stdout, got.Stdout)
	}
	differ("stderr", want.Stderr, got.Stderr)
	for _, m := range []struct {
		what      string
		want, got map[string]string
	}{{"record:", want.Record, got.Record}, {"env:", want.Env, got.Env}} {
		if len(m.want) == 0 || len(m.got) == 0 {
			continue
		}
		all := maps.Clone(m.want)
		maps.Copy(all, m.got)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			differ(m.what+key, value(m.want, key), value(m.got, key))
		}
	}
	return out
}

func value(m map[string]string, key string) string {
	if v, ok := m[key]; ok {
		return v
	}
	return "(not there)"
}

// saysHelp tells whether the answer is a text in our own words.
func saysHelp(c *Case) bool {
	for _, o := range c.Options {
		if o == "help" || o == "hint" && slices.Contains(c.Args, "--hint=help") || o == "usage" || o == "version" || o == "verbose" {
			return true
		}
	}
	return false
}

// Summary counts differences by where they are and what they are.
func Summary(all []Difference) string {
	count := make(map[string]int)
	for _, d := range all {
		count[d.Where]++
	}
	keys := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%6d %s\n", count[k], k)
	}
	return b.String()
}
