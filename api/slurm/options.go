package slurm

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"muster/job"
)

// Program is a set of the commands that read job options.
type Program uint8

// The commands that read job options.
const (
	Sbatch Program = 1 << iota
	Salloc
	Srun
	allPrograms = Sbatch | Salloc | Srun
)

// Source says where an option was set; a later one wins.
type Source uint8

// Where options are set.
const (
	Unset Source = iota
	FromDirective
	FromEnvironment
	FromCommandLine
)

// Input is what option values are read against.
type Input struct {
	Program  Program
	Now      time.Time // in the user's zone
	Dir      string    // working directory of the command
	UID      uint32
	ReadFile func(name string) ([]byte, error) // for --nodefile and --export-file
}

// Options is what the options of one job component came to.
type Options struct {
	Job        job.Request
	Array      string // --array, as given
	Dependency string // --dependency, as given
	Hold       bool
	Priority   *uint32
	TaskCount  bool // --ntasks was given
	NodeFile   string
	Act        Act
	Run        Run      // srun's and salloc's own
	Warnings   []string // for stderr

	in                 *Input
	set                map[string]Source
	memory             map[string]job.Memory // of the three memory options
	gresGPU            bool                  // --gres names gpu
	perGPU             uint64                // MB for each GPU, if memory is asked for so
	taskCPUs, taskGPUs bool                  // --tres-per-task names cpu, gres/gpu
}

// Act is what only the command itself acts on.
type Act struct {
	Wrap       string
	Wrapped    bool
	Parsable   bool
	TestOnly   bool
	Wait       bool
	Quiet      bool
	Verbose    int
	IgnorePBS  bool
	Help       bool
	Usage      bool
	Version    bool
	ExportFile string
	Propagate  string
}

// HelpError is an option that asks for its own help, such as --hint=help: in place of
// a job there is a text. Slurm's exit code is 1.
type HelpError struct{ Text string }

// Error is the text.
func (e *HelpError) Error() string { return e.Text }

// OptionError is a value that an option does not take.
type OptionError struct {
	Before  string // a line printed as it is, before the message
	Hint    string // what to do, printed after the message
	Explain string // a message printed before the one of Text
	Text    string // Slurm's text
	Fatal   bool   // the parser ends the program: the line says fatal in place of error
	Code    int    // exit code: 1 where Slurm's number parser ends the program, else 255
}

// Error is Slurm's text.
func (e *OptionError) Error() string {
	if e.Explain != "" {
		return e.Explain + "; " + e.Text
	}
	return e.Text
}

// NewOptions returns the options of a component before any is set.
func NewOptions(in *Input) *Options {
	return &Options{in: in, Run: Run{Relative: -1, Immediate: -1}, set: make(map[string]Source), memory: make(map[string]job.Memory)}
}

// WasSet tells where an option was set last, by its long name.
func (o *Options) WasSet(name string) Source { return o.set[name] }

// Apply sets the options in order. Options that only the early pass of Slurm
// reads count from the command line and the environment alone.
func (o *Options) Apply(given []Given, from Source) error {
	for _, g := range given {
		opt := lookupOption(g.Flag.Name, o.in.Program)
		if opt == nil {
			return fmt.Errorf("option --%s is not in the table of job options", g.Flag.Name)
		}
		if opt.Early && from == FromDirective {
			continue
		}
		if err := o.apply(opt, g.Value, from); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) apply(opt *Option, value string, from Source) error {
	if err := opt.refusal(value, o.in.UID); err != nil {
		return err
	}
	if err := opt.Set(o, value); err != nil {
		return err
	}
	o.set[opt.Name] = from
	if opt.Also != "" {
		o.set[opt.Also] = from
	}
	return nil
}

// refusal is the error of an option or a value that the table refuses, nil if it
// takes it.
func (opt *Option) refusal(value string, uid uint32) error {
	switch {
	case opt.Root && uid != 0:
		return &OptionError{Text: "--" + opt.Name + " only permitted by root user", Code: 255}
	case opt.Refuse != "":
		return &OptionError{Text: "Option --" + opt.Name + " is not supported: " + opt.Refuse, Code: 1}
	}
	for _, r := range opt.Never {
		for word := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(word, r.Value) {
				return &OptionError{Text: "Option --" + opt.Name + "=" + word + " is not supported: " + r.Instead, Code: 1}
			}
		}
	}
	return nil
}

// ApplyEnvironment sets the options that input variables stand for (sbatch(1),
// INPUT ENVIRONMENT VARIABLES).
func (o *Options) ApplyEnvironment(lookup func(string) (string, bool)) error {
	for opt := range optionsOf(o.in.Program) {
		for _, name := range inputVariables(opt, o.in.Program) {
			value, ok := lookup(name)
			if !ok || opt.Arg == NoArg && !envFlag(value) {
				continue
			}
			if err := o.apply(opt, value, FromEnvironment); err != nil {
				return err
			}
		}
	}
	return nil
}

// envFlag tells whether the value of a variable sets an option without value:
// empty, yes, or a number other than 0.
func envFlag(value string) bool {
	if value == "" || strings.EqualFold(value, "yes") {
		return true
	}
	n, ok := digits(strings.TrimPrefix(value, "-"))
	return ok && n != 0
}

// Flags is the grammar of one command's options.
func Flags(p Program) []Flag {
	flags := make([]Flag, 0, len(optionTable()))
	for o := range optionsOf(p) {
		flags = append(flags, o.Flag)
	}
	return flags
}

// Sticky keeps the options that hold for all later components of a
// heterogeneous job, too.
func Sticky(given []Given) []Given {
	var out []Given
	for _, g := range given {
		if o := lookupOption(g.Flag.Name, allPrograms); o != nil && !o.Each {
			out = append(out, g)
		}
	}
	return out
}

func lookupOption(name string, p Program) *Option {
	for o := range optionsOf(p) {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// optionsOf yields the options that some of the programs have.
func optionsOf(p Program) iter.Seq[*Option] {
	return func(yield func(*Option) bool) {
		for _, table := range [][]Option{optionTable(), stepTable} {
			for i := range table {
				if table[i].For&p != 0 && !yield(&table[i]) {
					return
				}
			}
		}
	}
}

// refuse makes the error of a value that an option does not take.
func refuse(option string) error {
	return &OptionError{Text: "Invalid --" + option + " specification", Code: 255}
}

// number reads the value of an option that counts something, as Slurm does: a
// wrong one ends the program with 1.
func number(option, value string, min, max int64) (int64, error) {
	plain := strings.TrimPrefix(strings.TrimLeft(value, blanks), "+") // as strtol(3) reads it
	n, err := strconv.ParseInt(plain, 10, 64)
	ok := plain != "" && (err == nil || errors.Is(err, strconv.ErrRange)) && allDigits(plain)
	switch {
	case ok && n > max:
		return 0, &OptionError{Text: fmt.Sprintf("Numeric argument (%d) too large for --%s.", n, option), Code: 1}
	case !ok || n < min:
		return 0, &OptionError{Text: fmt.Sprintf("Invalid numeric value \"%s\" for --%s.", value, option), Code: 1}
	}
	return n, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// OptionHelp lists the options of a command with a line on each.
func OptionHelp(p Program) []Option {
	var out []Option
	for o := range optionsOf(p) {
		out = append(out, *o)
	}
	return out
}
