package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// userExists tells whether the host knows a user, by name or number. A number
// always counts, so that jobs of users that were deleted can be found.
func userExists(name string) bool {
	if _, err := strconv.ParseUint(name, 10, 32); err == nil {
		return true
	}
	data, err := os.ReadFile("/etc/passwd")
	if err == nil && (strings.HasPrefix(string(data), name+":") || strings.Contains(string(data), "\n"+name+":")) {
		return true
	}
	return exec.Command("getent", "passwd", "--", name).Run() == nil
}
