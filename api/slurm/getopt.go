package slurm

import (
	"fmt"
	"strings"
)

// Arg says whether an option takes a value.
type Arg uint8

// The kinds of value.
const (
	NoArg       Arg = iota
	RequiredArg     // --name=value or --name value, -x value or -xvalue
	OptionalArg     // --name or --name=value, -x or -xvalue
)

// Flag is one option of a command: what the grammar must know of it, and whether
// it is Slurm's own meaning that it has here.
type Flag struct {
	Name   string // without dashes; "" if there is only a letter
	Short  byte   // 0 if there is only a name
	Arg    Arg
	Refuse string // why it is refused and what to use instead; "" for one that works
	Note   string // how one that works differs from Slurm's; "" for not at all
}

// Given is one option as it was given.
type Given struct {
	Flag     *Flag
	Value    string
	HasValue bool
}

// UsageError is a command line or directive that the grammar refuses; the text
// is glibc's, which programs read.
type UsageError struct{ Text string }

// Error is the line without the command's name.
func (e *UsageError) Error() string { return e.Text }

// Getopt splits a command line as getopt_long(3) does when it stops at the first
// word that is no option: short options bundled or with their value attached,
// long ones cut to any unambiguous start. It returns the options in order and
// the words that are left. With inOrder false, options may also stand between
// other words, as glibc does by default.
func Getopt(args []string, flags []Flag, inOrder bool) (given []Given, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return given, append(rest, args[i+1:]...), nil
		case len(a) < 2 || a[0] != '-':
			if inOrder {
				return given, args[i:], nil
			}
			rest = append(rest, a)
		case a[1] == '-':
			g, used, err := longOption(args[i:], flags)
			if err != nil {
				return nil, nil, err
			}
			given = append(given, g)
			i += used - 1
		default:
			more, used, err := shortOptions(args[i:], flags)
			if err != nil {
				return nil, nil, err
			}
			given = append(given, more...)
			i += used - 1
		}
	}
	return given, rest, nil
}

// longOption reads --name[=value]; used counts the words that it took.
func longOption(args []string, flags []Flag) (Given, int, error) {
	name, value, hasValue := strings.Cut(args[0][2:], "=")
	f, err := findLong(args[0], name, flags)
	if err != nil {
		return Given{}, 0, err
	}
	switch {
	case f.Arg == NoArg && hasValue:
		return Given{}, 0, &UsageError{fmt.Sprintf("option '--%s' doesn't allow an argument", f.Name)}
	case f.Arg == RequiredArg && !hasValue:
		if len(args) < 2 {
			return Given{}, 0, &UsageError{fmt.Sprintf("option '--%s' requires an argument", f.Name)}
		}
		return Given{f, args[1], true}, 2, nil
	}
	return Given{f, value, hasValue}, 1, nil
}

// findLong finds the flag that name is, or is the only start of.
func findLong(word, name string, flags []Flag) (*Flag, error) {
	var starts []*Flag
	for i := range flags {
		f := &flags[i]
		if f.Name == "" || !strings.HasPrefix(f.Name, name) {
			continue
		}
		if f.Name == name {
			return f, nil
		}
		starts = append(starts, f)
	}
	switch {
	case len(starts) == 0:
		return nil, &UsageError{fmt.Sprintf("unrecognized option '%s'", word)}
	case len(starts) == 1:
		return starts[0], nil
	}
	var names []string
	for _, f := range starts {
		names = append(names, " '--"+f.Name+"'")
	}
	return nil, &UsageError{fmt.Sprintf("option '%s' is ambiguous; possibilities:%s", word, strings.Join(names, ""))}
}

// shortOptions reads -abc, where the last may take a value.
func shortOptions(args []string, flags []Flag) (given []Given, used int, err error) {
	word := args[0]
	for i := 1; i < len(word); i++ {
		f := findShort(word[i], flags)
		if f == nil {
			return nil, 0, &UsageError{fmt.Sprintf("invalid option -- '%c'", word[i])}
		}
		switch rest := word[i+1:]; {
		case f.Arg == NoArg:
			given = append(given, Given{Flag: f})
		case rest != "":
			return append(given, Given{f, rest, true}), 1, nil
		case f.Arg == OptionalArg:
			return append(given, Given{Flag: f}), 1, nil
		case len(args) < 2:
			return nil, 0, &UsageError{fmt.Sprintf("option requires an argument -- '%c'", word[i])}
		default:
			return append(given, Given{f, args[1], true}), 2, nil
		}
	}
	return given, 1, nil
}

func findShort(c byte, flags []Flag) *Flag {
	for i := range flags {
		if flags[i].Short == c {
			return &flags[i]
		}
	}
	return nil
}
