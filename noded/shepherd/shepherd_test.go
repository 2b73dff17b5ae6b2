package shepherd

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// serve runs a server in this process and connects to it.
func serve(t *testing.T) (*Client, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := NewServer(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	c, _, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, dir
}

func spec(dir string, id uint32, script string) *Spec {
	return &Spec{Key: Key{Job: id}, Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []byte("A=1\x00B=two words"),
		Dir: dir, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Stdout: filepath.Join(dir, "out")}
}

// exit waits for the exit record of a job.
func exit(t *testing.T, c *Client, id uint32) *Exit {
	t.Helper()
	for {
		e, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Failed != nil && e.Failed.Key.Job == id {
			t.Fatal(e.Failed)
		}
		if e.Exited != nil && e.Exited.Key.Job == id {
			return e.Exited
		}
	}
}

func TestExitRecordStaysUntilItIsTaken(t *testing.T) {
	c, dir := serve(t)
	c.Launch(spec(dir, 1, `echo "$A $B"; exit 9`))
	if e := exit(t, c, 1); e.Status != 9 || e.Signal != 0 {
		t.Errorf("exit record %+v", e)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != "1 two words\n" {
		t.Errorf("output %q (%v)", b, err)
	}
	again, w, err := Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(w.Exits) != 1 || w.Exits[0].Status != 9 {
		t.Fatalf("a second daemon finds %+v", w)
	}
	again.Launch(spec(dir, 1, "exit 0")) // the same attempt: not started again
	if e := exit(t, again, 1); e.Status != 9 {
		t.Errorf("asked for once more: %+v", e)
	}
	again.Taken(Key{Job: 1})
	again.Launch(spec(dir, 2, "true"))
	exit(t, again, 2)
	_, w, err = Connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Exits) != 1 || w.Exits[0].Key.Job != 2 {
		t.Errorf("after the first record was taken: %+v", w.Exits)
	}
}

func TestSignalReachesTheProcess(t *testing.T) {
	c, dir := serve(t)
	c.Launch(spec(dir, 1, "exec sleep 300"))
	for {
		e, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Started != nil {
			break
		}
	}
	c.Signal(&Signal{Key: Key{Job: 1}, Number: uint32(unix.SIGUSR1)})
	if e := exit(t, c, 1); e.Signal != uint32(unix.SIGUSR1) {
		t.Errorf("exit record %+v", e)
	}
}

func TestSocketInALongDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := os.Stat(filepath.Join(dir, socketName)); err != nil {
		t.Error(err)
	}
}

func TestLimitThatCannotBeSetIsNamed(t *testing.T) {
	c, dir := serve(t)
	s := spec(dir, 1, "ulimit -Sn")
	s.Limits = []Limit{{"NONE", 99, 12}, {"NOFILE", unix.RLIMIT_NOFILE, 99}}
	c.Launch(s)
	exit(t, c, 1)
	b, err := os.ReadFile(filepath.Join(dir, "out"))
	want := "slurmstepd: error: Can't propagate RLIMIT_NONE of 12 from submit host: Invalid argument\n99\n"
	if err != nil || string(b) != want {
		t.Errorf("output %q (%v), want %q", b, err, want)
	}
}
