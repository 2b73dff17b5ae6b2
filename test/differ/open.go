package differ

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Open is the list of differences that nobody has judged or mended yet. It may
// only become shorter: a new difference fails, one in the list that is gone is
// logged.
type Open map[string]bool

// place names a difference in the list: where it is and the key of its case.
func (d *Difference) place() string {
	return d.Where + "\t" + strings.ReplaceAll(d.Case.Key(), "\n", "\\n")
}

// ReadOpen reads the list: a line each, its place and the case's key with a tab
// between them.
func ReadOpen(name string) (Open, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the open differences: %w", err)
	}
	out := make(Open)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			out[line] = true
		}
	}
	return out, nil
}

// WriteOpen makes the list anew.
func WriteOpen(name string, all []Difference) error {
	var lines []string
	for i := range all {
		lines = append(lines, all[i].place())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
