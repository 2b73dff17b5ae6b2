package trace

import (
	"bytes"
	"slices"
	"strings"
)

// Kind tells from its first line what a text is: "swf", "sacct" or "scenario".
func Kind(data []byte) string {
	for raw := range bytes.Lines(data) {
		line := bytes.TrimSpace(raw)
		if len(line) == 0 {
			continue
		}
		var v [swfColumns]int64
		switch {
		case line[0] == ';', swfRow(line, &v) == nil:
			return "swf"
		case slices.Contains(strings.Split(string(line), "|"), "JobID"):
			return "sacct"
		}
		return "scenario"
	}
	return "scenario"
}
