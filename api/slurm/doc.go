// Package slurm holds Slurm's outward forms: the option table, the getopt
// grammar, directives, the written forms of times, sizes, arrays and
// dependencies, the SLURM_* variables and file name patterns. It knows no
// socket and no daemon.
package slurm
