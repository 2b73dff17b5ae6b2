package timerslack

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// child makes the test program a program that calls Exec.
const child = "TIMERSLACK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	if err := Exec(Daemon); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	// The runtime makes this thread from another one, as it does its own.
	slack := make(chan time.Duration)
	go func() {
		runtime.LockOSThread() // never unlocked: main has another thread
		d, _ := Get()
		slack <- d
	}()
	fmt.Print(<-slack, " ", os.Getpid(), " ", os.Args[1:])
}

func TestExecGivesAllThreadsTheSlack(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.v=false", "an argument")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprint(Daemon, " ", cmd.Process.Pid, " ", []string{"-test.v=false", "an argument"})
	if string(out) != want {
		t.Errorf("slack, process id and arguments: %s, want %s", out, want)
	}
}

func TestSet(t *testing.T) {
	runtime.LockOSThread() // ends with the goroutine, so that no other test has the thread
	if err := Set(7 * time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if d, err := Get(); err != nil || d != 7*time.Microsecond {
		t.Errorf("slack %v, %v", d, err)
	}
}
