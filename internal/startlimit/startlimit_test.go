package startlimit_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/internal/startlimit"
)

// TestOpenFiles starts this test again below a shell that has lowered the limit.
func TestOpenFiles(t *testing.T) {
	if os.Getenv("STARTLIMIT_CHILD") != "" {
		n, known := startlimit.OpenFiles()
		fmt.Printf("limit=%d known=%v\n", n, known)
		return
	}
	cmd := exec.Command("sh", "-c", `ulimit -S -n 123 && exec "$0" -test.run=TestOpenFiles -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), "STARTLIMIT_CHILD=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "limit=123 known=true") {
		t.Errorf("got %s, want the shell's limit of 123", out)
	}
}
