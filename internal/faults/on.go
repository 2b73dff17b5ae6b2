//go:build faults

package faults

import (
	"os"
	"slices"
	"strings"
)

// On tells whether something is to go wrong.
func On(name string) bool { return slices.Contains(strings.Split(os.Getenv("FAULTS"), ","), name) }
