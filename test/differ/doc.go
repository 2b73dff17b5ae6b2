// Package differ finds differences from Slurm by a generator instead of by hand:
// it makes every job option in every form of value, every pair of options, and
// listing commands with every letter and selector, runs them on a cluster, and
// compares the answers with those that Slurm 26.05 gave to the same cases.
//
// Slurm's answers lie in testdata, so that the comparison needs no Slurm. They
// are made anew with
//
//	DIFFER_PEER=DIR go test ./test/differ -run TestRecord
//
// where DIR holds Slurm's commands and SLURM_CONF names a cluster of the shape of
// test/conformance/cluster.toml with the name conform. A difference that is not
// in known.go or judged.go, with its reason, fails the test, unless testdata/open.txt has it:
// those nobody has judged yet. DIFFER_OPEN=1 and MUSTER_FULL=1 make that list anew;
// it should only become shorter.
//
// TestChanges does the same for commands that change things: each case finds
// what its family makes (a job, an account, a reservation), runs one command, and
// what is there afterwards is compared too.
package differ
