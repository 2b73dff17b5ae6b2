package format

import "testing"

// TestPartitionWord: the states in sinfo's words, whole.
func TestPartitionWord(t *testing.T) {
	for state, want := range map[string]string{"UP": "up", "DOWN": "down", "DRAIN": "drain", "INACTIVE": "inactive"} {
		if got := PartitionWord(state); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
