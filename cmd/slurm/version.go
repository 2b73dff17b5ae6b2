package main

import "fmt"

// slurmVersion is the Slurm whose command language this is; tools look for
// "slurm NN.NN". ownVersion is ours.
const (
	slurmVersion = "26.05.3"
	ownVersion   = "0.1.0"
)

// printVersion is what every command prints for --version.
func printVersion(in *invocation) int {
	fmt.Fprintf(in.stdout, "slurm %s-muster-%s\n", slurmVersion, ownVersion)
	return 0
}
