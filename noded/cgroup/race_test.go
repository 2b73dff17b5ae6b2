//go:build race

package cgroup

// raced: the race detector multiplies the memory of the test programs.
const raced = true
