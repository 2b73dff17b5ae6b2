package faultfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mounted is a disk for a test, which is skipped where there can be none.
func mounted(t *testing.T) *Disk {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Getuid() != 0 {
		t.Skip("needs /dev/fuse and root")
	}
	d, err := Mount(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file writes a file, with a sync if wanted.
func file(t *testing.T, path, text string, flags int, sync bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	if sync {
		must(t, f.Sync())
	}
	must(t, f.Close())
}

func syncDir(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

func TestAPowerLossTakesWhatWasNotSynced(t *testing.T) {
	d := mounted(t)
	in := func(name string) string { return filepath.Join(d.dir, name) }
	file(t, in("name and data"), "whole", 0, true)
	file(t, in("name only"), "lost", 0, false)
	file(t, in("by flag"), "whole", syscall.O_DSYNC, false)
	must(t, os.Mkdir(in("dir"), 0o755))
	file(t, in("moved.new"), "moved", 0, true)
	syncDir(t, d.dir)
	file(t, in("data only"), "no name", 0, true)
	file(t, in("dir/inside"), "no name", 0, true)
	must(t, os.Rename(in("moved.new"), in("moved")))
	must(t, os.Remove(in("by flag")))
	file(t, in("name and data"), " and more", os.O_APPEND, false)
	must(t, d.PowerLoss(nil))
	want := map[string]string{"name and data": "whole", "name only": "", "by flag": "whole", "dir": "", "moved.new": "moved"}
	list, err := os.ReadDir(d.dir)
	must(t, err)
	for _, e := range list {
		text, ok := want[e.Name()]
		if !ok {
			t.Errorf("%s is there", e.Name())
		}
		delete(want, e.Name())
		if e.IsDir() {
			inside, err := os.ReadDir(in(e.Name()))
			if err != nil || len(inside) > 0 {
				t.Errorf("%s holds %v, %v", e.Name(), inside, err)
			}
			continue
		}
		if got, err := os.ReadFile(in(e.Name())); err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v, want %q", e.Name(), got, err, text)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// With luck sectors are there that were not synced, but each only as a whole.
func TestWithChanceSomeSectorsSurvive(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.dir, "f")
	file(t, path, strings.Repeat("a", 64*sector), 0, true)
	syncDir(t, d.dir)
	file(t, path, strings.Repeat("b", 64*sector), 0, false)
	must(t, d.PowerLoss(rand.New(rand.NewPCG(1, 2))))
	got, err := os.ReadFile(path)
	must(t, err)
	count := map[byte]int{}
	for s := range 64 {
		part := got[s*sector:][:sector]
		if !bytes.Equal(part, bytes.Repeat(part[:1], sector)) {
			t.Fatalf("sector %d is torn", s)
		}
		count[part[0]]++
	}
	if count['a'] == 0 || count['b'] == 0 || count['a']+count['b'] != 64 {
		t.Errorf("sectors: %v, want some old and some new ones", count)
	}
}

func TestFaults(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.dir, "f")
	file(t, path, "text", 0, true)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	d.Set(Faults{SyncError: syscall.EIO})
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v, want EIO", err)
	}
	d.Set(Faults{Full: true})
	if _, err := f.WriteAt([]byte("more"), 100); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write: %v, want ENOSPC", err)
	}
	if _, err := os.Create(path + "2"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("create: %v, want ENOSPC", err)
	}
	d.Set(Faults{})
	if _, err := f.WriteAt([]byte("more"), 100); err != nil {
		t.Error(err)
	}
}

// A trap stops the disk at the operation that was named.
func TestATrapStopsTheDisk(t *testing.T) {
	d := mounted(t)
	file(t, filepath.Join(d.dir, "f"), "text", 0, true)
	syncDir(t, d.dir)
	sprung := d.Trap(func(e Event) bool { return e == Event{"sync", "f"} })
	done := make(chan error)
	go func() {
		f, err := os.OpenFile(filepath.Join(d.dir, "f"), os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteString("TEXT")
			err = errors.Join(err, f.Sync(), f.Close())
		}
		done <- err
	}()
	<-sprung
	close(d.off) // as PowerLoss does, which first wants those dead who have files open
	if err := <-done; err == nil {
		t.Error("a sync on a stopped disk succeeds")
	}
	d.off = make(chan struct{})
	must(t, d.PowerLoss(nil))
	got, err := os.ReadFile(filepath.Join(d.dir, "f"))
	if err != nil || string(got) != "text" {
		t.Errorf("the file holds %q, %v, want what was synced", got, err)
	}
}
