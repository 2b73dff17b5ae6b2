//go:build !race

package cgroup

const raced = false
