package format

import (
	"testing"

	"muster/api"
)

// The star of the default partition stays, however narrow its column is.
func TestStarIsKept(t *testing.T) {
	g := &NodeGroup{Part: &api.PartitionRecord{Name: "debug", Default: true}}
	for format, want := range map[string]string{
		"%P|": "debug*|", "%5P|": "debu*|", "%.5P|": "debu*|", "%1P|": "*|", "%6P|": "debug*|", "%8P|": "debug*  |", "%.8P|": "  debug*|", "%3R|": "deb|",
	} {
		table := Letters(format, NodeFields())
		if got := string(table.AppendRow(nil, testContext(t), g)); got != want+"\n" {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	g.Part.Default = false
	table := Letters("%4P|", NodeFields())
	if got := string(table.AppendRow(nil, testContext(t), g)); got != "debu|\n" {
		t.Errorf("another partition: %q", got)
	}
}
