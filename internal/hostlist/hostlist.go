// Package hostlist reads and writes host-list expressions: n[1-3,7],
// rack[0-1]_node[01-16], and plain names separated by commas.
package hostlist

// Max is the most names that one expression may stand for; a larger one is an
// error, so that n[0-999999999] costs nothing.
const Max = 65536

// Expand lists the names of an expression in the order written, repeats kept.
func Expand(expr string) ([]string, error) { panic("contract") }

// Compress writes names as a short expression; order is kept, neighbours that
// count up are joined. It is what Slurm prints for a node list.
func Compress(names []string) string { panic("contract") }

// Sort orders names with their numbers by value, in place: n2 before n10.
func Sort(names []string) { panic("contract") }
