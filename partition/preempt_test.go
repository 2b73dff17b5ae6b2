package partition

import "testing"

func TestPreemptModeWords(t *testing.T) {
	for word, want := range map[string]PreemptMode{"": PreemptUnset, "cluster": PreemptUnset, "Off": PreemptOff, "CANCEL": PreemptCancel, "requeue": PreemptRequeue} {
		if m, ok := ParsePreemptMode(word); !ok || m != want {
			t.Errorf("%q is mode %v, %v", word, m, ok)
		}
	}
	for _, word := range []string{"suspend", "gang", "suspend,gang", "x"} {
		if _, ok := ParsePreemptMode(word); ok {
			t.Errorf("%q is taken", word)
		}
	}
	for m := PreemptOff; m <= PreemptRequeue; m++ {
		if back, ok := ParsePreemptMode(m.String()); !ok || back != m {
			t.Errorf("%v does not read back", m)
		}
	}
}
