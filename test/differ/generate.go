package differ

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"muster/api/slurm"
)

// DefaultSeed makes the cases of the recording. The seed picks the values and
// spellings of pairs.
const DefaultSeed = 26053

// Submits makes the cases of sbatch: each option in every form of value, each
// spelling of an option, every pair of options, and jobs that run.
func Submits(seed uint64) []Case {
	table := options()
	var out []Case
	for _, o := range table {
		out = append(out, valueCases(o)...)
		out = append(out, spellingCases(o, table)...)
		out = append(out, twiceCases(o)...)
	}
	out = append(out, pairCases(table, seed)...)
	return distinct(append(out, runCases()...))
}

// options are the lines of sbatch's table that a case can be made of.
func options() []slurm.Option {
	var out []slurm.Option
	for _, o := range slurm.OptionHelp(slurm.Sbatch) {
		if o.Name != "wait" { // it would wait for the end of a job that never starts
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b slurm.Option) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// distinct drops cases that were made twice.
func distinct(cases []Case) []Case {
	seen := make(map[string]bool, len(cases))
	var out []Case
	for _, c := range cases {
		if k := c.Key(); !seen[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	return out
}

// newCase is a job that waits for years, so that its record stays as it was made.
func newCase(names []string, args ...string) Case {
	c := Case{Options: names, Command: "sbatch", Args: args}
	wait := "--begin=2035-01-01T00:00:00"
	if slices.Contains(names, "begin") || slices.Contains(names, "deadline") {
		wait = "--hold"
	}
	if slices.Contains(names, "wrap") { // then no directive is read
		c.Args = append([]string{wait}, args...)
	} else {
		c.Directives = []string{wait}
	}
	return c
}

// valueCases gives an option every form of value by --name=value.
func valueCases(o slurm.Option) []Case {
	names := []string{o.Name}
	if o.Arg == slurm.NoArg {
		return []Case{newCase(names, "--"+o.Name), newCase(names, "--"+o.Name+"=yes"), newCase(names, "--"+o.Name, "yes")}
	}
	var out []Case
	for _, v := range values(o.Name) {
		out = append(out, newCase(names, "--"+o.Name+"="+v))
	}
	out = append(out, newCase(names, "--"+o.Name+"="))
	if o.Arg == slurm.OptionalArg {
		out = append(out, newCase(names, "--"+o.Name))
	}
	if o.Refuse == "" {
		out = append(out, newCase(names, "--"+o.Name+"="+strings.Repeat("x", 3000)))
	}
	return out
}

// spellingCases writes an option in every way: long, short, cut short, as a
// directive and as a variable.
func spellingCases(o slurm.Option, table []slurm.Option) []Case {
	var out []Case
	names := []string{o.Name}
	for _, v := range someValues(o) {
		for s := range spellings {
			if c, ok := spelled(names, o, v, s, table); ok {
				out = append(out, c)
			}
		}
		for _, name := range o.Env {
			c := newCase(names)
			c.Env = []string{name + "=" + v}
			out = append(out, c)
		}
	}
	for _, name := range o.Env { // the command line wins over a variable, that over a directive
		v := someValues(o)
		if o.Arg == slurm.NoArg || len(v) < 2 {
			continue
		}
		c := newCase(names, "--"+o.Name+"="+v[1])
		c.Env = []string{name + "=" + v[0]}
		d := newCase(names)
		d.Env, d.Directives = c.Env, append(d.Directives, "--"+o.Name+"="+v[1])
		out = append(out, c, d)
	}
	return out
}

// twiceCases gives an option two values.
func twiceCases(o slurm.Option) []Case {
	names := []string{o.Name}
	v := someValues(o)
	if o.Arg == slurm.NoArg {
		return []Case{newCase(names, "--"+o.Name, "--"+o.Name)}
	}
	last := v[len(v)-1]
	return []Case{
		newCase(names, "--"+o.Name+"="+v[0], "--"+o.Name+"="+last),
		newCase(names, "--"+o.Name+"="+last, "--"+o.Name+"="+v[0]),
		newCase(names, "--"+o.Name+"="+v[0], "--"+o.Name+"="+v[0]),
	}
}

// The ways to write an option.
const (
	longEqual = iota
	longBlank
	longCut
	shortGlued
	shortBlank
	inDirective
	inDirectiveShort
	spellings
)

// spelled writes one option in one way; false if it has no such way.
func spelled(names []string, o slurm.Option, value string, how int, table []slurm.Option) (Case, bool) {
	words := spell(o, value, how, table)
	if words == nil {
		return Case{}, false
	}
	if how < inDirective {
		return newCase(names, words...), true
	}
	c := newCase(names)
	c.Directives = append(c.Directives, directive(words))
	return c, true
}

func directive(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " \t#\"'\\") || w == "" {
			w = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// spell gives the words of one option in one way, nil if it has no such way.
func spell(o slurm.Option, value string, how int, table []slurm.Option) []string {
	switch how {
	case shortGlued, shortBlank, inDirectiveShort:
		if o.Short == 0 {
			return nil
		}
		letter := "-" + string(o.Short)
		switch {
		case o.Arg == slurm.NoArg || o.Arg == slurm.OptionalArg && value == "":
			return []string{letter}
		case how == shortBlank && o.Arg == slurm.RequiredArg:
			return []string{letter, value}
		}
		return []string{letter + value}
	}
	name := "--" + o.Name
	if how == longCut {
		name = "--" + cutShort(o.Name, table)
	}
	switch {
	case o.Arg == slurm.NoArg || o.Arg == slurm.OptionalArg && value == "":
		return []string{name}
	case how == longBlank && o.Arg == slurm.RequiredArg:
		return []string{name, value}
	}
	return []string{name + "=" + value}
}

// cutShort is the shortest start of a name that no other option has.
func cutShort(name string, table []slurm.Option) string {
	for n := 1; n < len(name); n++ {
		alone := true
		for _, o := range table {
			if o.Name != name && strings.HasPrefix(o.Name, name[:n]) || strings.HasPrefix("wait", name[:n]) {
				alone = false
			}
		}
		if alone {
			return name[:n]
		}
	}
	return name
}

// pairCases joins each option with each other one once, in values and spellings
// that the seed picks. Options that are refused by name have one pair each.
func pairCases(table []slurm.Option, seed uint64) []Case {
	var out []Case
	for i, a := range table {
		for k := i + 1; k < len(table); k++ {
			b := table[k]
			if solitary(a.Name) || solitary(b.Name) || a.Refuse != "" && k != i+1 || b.Refuse != "" {
				continue
			}
			h := fnv.New64a()
			fmt.Fprint(h, a.Name, " ", b.Name) // so that a new option changes no other pair
			out = append(out, pairCase(a, b, table, rand.New(rand.NewPCG(seed, h.Sum64()))))
		}
	}
	return out
}

// solitary are options that keep sbatch from submitting at all.
func solitary(name string) bool {
	return slices.Contains([]string{"help", "usage", "version", "uid", "gid"}, name)
}

func pairCase(a, b slurm.Option, table []slurm.Option, random *rand.Rand) Case {
	c := newCase([]string{a.Name, b.Name})
	for _, o := range []slurm.Option{a, b} {
		good := pairValues(o)
		value := good[random.IntN(len(good))]
		how := random.IntN(spellings + 1)
		if how == spellings && len(o.Env) > 0 && o.Arg != slurm.NoArg {
			c.Env = append(c.Env, o.Env[random.IntN(len(o.Env))]+"="+value)
			continue
		}
		words := spell(o, value, how, table)
		if words == nil {
			how, words = longEqual, spell(o, value, longEqual, table)
		}
		if how == inDirective || how == inDirectiveShort {
			c.Directives = append(c.Directives, directive(words))
		} else {
			c.Args = append(c.Args, words...)
		}
	}
	return c
}
