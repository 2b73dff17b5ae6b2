package conf

import (
	"fmt"
	"strings"
)

// suggest names the known word nearest to a wrong one, or, when none is near,
// lists what there is.
func suggest(wrong string, known []string) string {
	best, least := "", 1+max(2, len(wrong)/3)
	for _, k := range known {
		if n := distance(wrong, k); n < least {
			best, least = k, n
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	const most = 12
	if len(known) > most {
		return fmt.Sprintf("; the %d known ones are in docs/cluster-toml.md", len(known))
	}
	return "; known are " + strings.Join(known, ", ")
}

// distance is how many bytes must be put in, taken out or replaced to make b
// out of a (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// tableName is a path as the file writes it: node#0 is [[node]].
func tableName(path string) string {
	name, _, array := strings.Cut(path, "#")
	if array {
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}
