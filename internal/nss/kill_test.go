package nss

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// kill ends the process whose id a script wrote to a file.
func kill(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Error(err)
	}
}
