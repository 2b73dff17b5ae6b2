package main

import (
	"fmt"
	"testing"
)

func TestHetGroups(t *testing.T) {
	for text, want := range map[string]string{
		"0": "[0]", "0,1": "[0 1]", "2,0-1": "[0 1 2]", "1,1": "[1]", "x": "error", "": "error", "1-": "error", "70000": "error",
	} {
		got := "error"
		if list, err := hetGroups(text); err == nil {
			got = fmt.Sprint(list)
		}
		if got != want {
			t.Errorf("--het-group=%s: %s, want %s", text, got, want)
		}
	}
}
