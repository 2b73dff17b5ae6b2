package slurm

import (
	"slices"
	"strings"
	"sync"
)

// Option is one line of the table of job options. The same table makes the
// grammar, the directive reader, the input variables and the help text.
type Option struct {
	Flag           // Set is nil if Refuse says something
	Env   []string // sbatch's input variables, a later one wins
	For   Program
	Each  bool      // not taken over by later components of a heterogeneous job
	Early bool      // read from the command line and the environment only
	Root  bool      // Slurm lets only root give it, and says so to others first
	Never []Refusal // single values that are refused
	Also  string    // the option that this is another name of
	Set   func(o *Options, value string) error
	Help  string // one line for --help
}

// Refusal is a value of an option that Slurm knows and that is refused here.
type Refusal struct {
	Value   string // in any case; alone or between commas
	Instead string // what to use
}

// opt, req and flag make table lines: an option with an optional value, a
// required one, or none.
func opt(name string, short byte, help string, set func(*Options, string) error, env ...string) Option {
	return Option{Flag: Flag{Name: name, Short: short, Arg: OptionalArg}, Env: env, For: allPrograms, Help: help, Set: set}
}

func req(name string, short byte, help string, set func(*Options, string) error, env ...string) Option {
	return Option{Flag: Flag{Name: name, Short: short, Arg: RequiredArg}, Env: env, For: allPrograms, Help: help, Set: set}
}

func flag(name string, short byte, help string, set func(*Options), env ...string) Option {
	return Option{Flag: Flag{Name: name, Short: short, Arg: NoArg}, Env: env, For: allPrograms, Help: help,
		Set: func(o *Options, _ string) error { set(o); return nil }}
}

// no makes the line of an option that is refused.
func no(name string, short byte, arg Arg, why string, env ...string) Option {
	return Option{Flag: Flag{Name: name, Short: short, Arg: arg, Refuse: why}, Env: env, For: allPrograms, Help: "not supported: " + why}
}

func (o Option) only(p Program) Option { o.For = p; return o }
func (o Option) each() Option          { o.Each = true; return o }
func (o Option) early() Option         { o.Early = true; return o }
func (o Option) root() Option          { o.Root = true; return o }

// also says of which option this is another name.
func (o Option) also(name string) Option { o.Also = name; return o }

// differs says how an option that works is not quite Slurm's.
func (o Option) differs(how string) Option { o.Note = how; return o }

// but names values that are refused, and what to use instead of them.
func (o Option) but(instead string, values ...string) Option {
	for _, v := range values {
		o.Never = append(o.Never, Refusal{v, instead})
	}
	return o
}

// optionTable has all long options of sbatch(1) of Slurm 26.05 by name. It is
// never changed, and made when it is first asked for: most commands do without it,
// and making it took a tenth of their start.
var optionTable = sync.OnceValue(func() []Option {
	return byName(sizeOptions(), deviceOptions(), placeOptions(), lifeOptions(), runOptions())
})

// byName puts tables together, in the order of the options' names.
func byName(tables ...[]Option) []Option {
	all := slices.Concat(tables...)
	slices.SortStableFunc(all, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return all
}
