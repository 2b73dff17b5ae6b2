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

func TestExitLine(t *testing.T) {
	for _, c := range []struct {
		tasks []uint32
		want  string
	}{
		{[]uint32{3}, "n1: task 3: Killed"},
		{[]uint32{3, 0, 1}, "n1: tasks 0-1,3: Killed"},
		{[]uint32{10, 9, 2}, "n1: tasks 2,9-10: Killed"},
	} {
		l := exitLine{node: "n1", text: "Killed", tasks: c.tasks}
		if got := l.String(); got != c.want {
			t.Errorf("tasks %v: %q, want %q", c.tasks, got, c.want)
		}
	}
}
