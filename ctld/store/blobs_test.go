package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"muster/job"
)

// content is the n-th of a row of different blobs.
func content(n, size int) (job.Hash, []byte) {
	data := bytes.Repeat(fmt.Appendf(nil, "%d,", n), size/2)[:size]
	return hashOf(data), data
}

func openTestBlobs(t *testing.T, dir string) *blobs {
	t.Helper()
	b, err := openBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.close() })
	return b
}

// uncached forgets what is in memory, so that get reads the file.
func uncached(b *blobs) *blobs {
	b.cache = blobCache{}
	return b
}

func putAll(t *testing.T, b *blobs, from, to, size int) {
	t.Helper()
	for n := from; n < to; n++ {
		h, data := content(n, size)
		if err := b.put(h, data); err != nil {
			t.Fatal(err)
		}
	}
}

func wantAll(t *testing.T, b *blobs, from, to, size int) {
	t.Helper()
	for n := from; n < to; n++ {
		h, data := content(n, size)
		if got, err := b.get(h); err != nil || !bytes.Equal(got, data) {
			t.Errorf("blob %d: %v", n, err)
		}
	}
}

func TestBlobsAreReadBack(t *testing.T) {
	dir := t.TempDir()
	b := openTestBlobs(t, dir)
	putAll(t, b, 0, 50, 3000)
	putAll(t, b, 0, 50, 3000) // again: nothing is written twice
	if want := int64(50 * (3000 + headerBytes)); b.last.size != want {
		t.Errorf("the pack has %d bytes, want %d", b.last.size, want)
	}
	wantAll(t, uncached(b), 0, 50, 3000)
	h, _ := content(99, 3000)
	if _, err := b.get(h); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a blob that was never put: %v, want fs.ErrNotExist", err)
	}
	if err := errors.Join(b.flush(), b.close()); err != nil {
		t.Fatal(err)
	}
	b = openTestBlobs(t, dir)
	wantAll(t, b, 0, 50, 3000)
	putAll(t, b, 50, 60, 100)
	wantAll(t, uncached(b), 50, 60, 100)
}

func TestBlobsAfterACrash(t *testing.T) {
	const size = 1000
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, f *os.File, size int64)
		whole int // blobs that are still there
	}{
		{"cut off in the last blob", func(t *testing.T, f *os.File, size int64) { truncate(t, f, size-10) }, 9},
		{"cut off in the last header", func(t *testing.T, f *os.File, end int64) { truncate(t, f, end-size-10) }, 9},
		{"a hole in the middle", func(t *testing.T, f *os.File, end int64) { zero(t, f, end/2, 2*size) }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			b := openTestBlobs(t, dir)
			putAll(t, b, 0, 10, size)
			c.spoil(t, b.last.file, b.last.size)
			b.close()
			b = openTestBlobs(t, dir)
			wantAll(t, b, 0, c.whole-1, size)
			if h, _ := content(9, size); b.has(h) {
				if _, err := b.get(h); err == nil {
					t.Error("the last blob survived: the test proves nothing")
				}
			}
			// The raft log brings them all again.
			putAll(t, b, 0, 10, size)
			wantAll(t, uncached(b), 0, 10, size)
			b.close()
			wantAll(t, openTestBlobs(t, dir), 0, 10, size)
		})
	}
}

func truncate(t *testing.T, f *os.File, size int64) {
	t.Helper()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
}

func zero(t *testing.T, f *os.File, at int64, n int) {
	t.Helper()
	if _, err := f.WriteAt(make([]byte, n), at); err != nil {
		t.Fatal(err)
	}
}

func TestFreedBlobsAndTheirSpaceAreGivenBack(t *testing.T) {
	const big = packBytes / 8
	dir := t.TempDir()
	b := openTestBlobs(t, dir)
	putAll(t, b, 0, 20, big) // three packs
	if len(b.packs) != 3 {
		t.Fatalf("%d packs, want 3", len(b.packs))
	}
	kept := map[job.Hash]bool{}
	for n := 6; n < 20; n++ {
		h, _ := content(n, big)
		kept[h] = true
	}
	refs := func(h job.Hash) int {
		if kept[h] {
			return 1
		}
		return 0
	}
	for i, want := range []int{0, 0, 6} { // just written; found free once; twice
		if n, err := b.sweep(refs); err != nil || n != want {
			t.Fatalf("sweep %d removed %d (%v), want %d", i+1, n, err, want)
		}
	}
	if _, err := os.Stat(packPath(dir, 1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first pack, almost empty, is still there: %v", err)
	}
	wantAll(t, uncached(b), 6, 20, big)
	h, data := content(0, big)
	if b.has(h) {
		t.Error("a blob that no job names is still there")
	}
	if err := b.put(h, data); err != nil {
		t.Fatal(err)
	}
	if n, _ := b.sweep(refs); n != 0 {
		t.Error("a blob was removed right after it was written")
	}
	b.close()
	wantAll(t, openTestBlobs(t, dir), 6, 20, big)
}

// Blobs are written while a sweep is on its way, and none of them is lost: not
// even those that the sweep was about to take away.
func TestWritersDoNotWaitForASweep(t *testing.T) {
	const count = 8 * sweepStretch
	b := openTestBlobs(t, t.TempDir())
	nobody := func(job.Hash) int { return 0 }
	between := false
	for try := 0; !between && try < 200; try++ {
		putAll(t, b, 0, count, 20)
		for range 2 { // just written; found free
			if _, err := b.sweep(nobody); err != nil {
				t.Fatal(err)
			}
		}
		var once sync.Once
		var first atomic.Bool
		done := make(chan error, 1)
		_, err := b.sweep(func(job.Hash) int {
			once.Do(func() {
				go func() {
					var errs []error
					for n := range count {
						h, data := content(n, 20)
						errs = append(errs, b.put(h, data))
						first.Store(true)
					}
					done <- errors.Join(errs...)
				}()
			})
			between = between || first.Load()
			return 0
		})
		if err := errors.Join(err, <-done); err != nil {
			t.Fatal(err)
		}
		wantAll(t, uncached(b), 0, count, 20)
	}
	if !between {
		t.Error("no blob was written before the sweep had come to its end")
	}
}
