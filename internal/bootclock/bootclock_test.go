package bootclock

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// Two processes of one boot read the same boot and the same clock.
func TestProcessesShareIt(t *testing.T) {
	if os.Getenv("BOOTCLOCK_CHILD") != "" {
		id, err := ID()
		at, err2 := Now()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		os.Stdout.WriteString(id + " " + at.String() + "\n")
		os.Exit(0)
	}
	before, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestProcessesShareIt")
	cmd.Env = append(os.Environ(), "BOOTCLOCK_CHILD=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	after, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	id, err := ID()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if len(text) < len(id)+2 || text[:len(id)] != id {
		t.Fatalf("another process is in boot %q, this one in %q", text, id)
	}
	at, err := time.ParseDuration(text[len(id)+1 : len(text)-1])
	if err != nil || at < before || at > after {
		t.Errorf("another process read %s between %s and %s, %v", at, before, after, err)
	}
}
