package main

import "fmt"

// scontrol shows and changes everything: scontrol(1).
func scontrol(in *invocation) int {
	fmt.Fprintln(in.stderr, "invalid keyword: not there yet")
	return 1
}
