package main

import (
	"fmt"

	"muster/api/slurm"
)

// printOptions is --help of a command that takes job options.
func printOptions(in *invocation, p slurm.Program) int {
	fmt.Fprintf(in.stdout, "Usage: %s [OPTIONS...] executable [args...]\n\n", in.name)
	for _, o := range slurm.OptionHelp(p) {
		fmt.Fprintf(in.stdout, "%s %s\n", flagText(o.Flag), o.Help)
	}
	return 0
}

// printFlags is --help of a command with options of its own.
func printFlags(in *invocation, usage string, flags []slurm.Flag) {
	fmt.Fprintf(in.stdout, "Usage: %s\n\n", usage)
	for _, f := range flags {
		fmt.Fprintln(in.stdout, flagText(f))
	}
}

// flagText is one option as help shows it.
func flagText(f slurm.Flag) string {
	short := "    "
	if f.Short != 0 {
		short = fmt.Sprintf("-%c, ", f.Short)
	}
	value := ""
	switch f.Arg {
	case slurm.RequiredArg:
		value = "=value"
	case slurm.OptionalArg:
		value = "[=value]"
	}
	return fmt.Sprintf("  %s--%-30s", short, f.Name+value)
}
