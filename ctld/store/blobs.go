package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"muster/job"
	"muster/state"
)

// blobs keeps scripts and environments in files named by their hash. A file is
// written without fsync, since until the next snapshot the raft log has its
// content too; flush syncs what is new before a snapshot makes raft forget it.
type blobs struct {
	dir string

	mu    sync.Mutex
	dirty map[job.Hash]bool // written since the last take
	dirs  map[string]bool   // subdirectories that are known to exist
	free  map[job.Hash]bool // named by no job at the last sweep
	cache blobCache
}

func openBlobs(dir string) (*blobs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob directory: %w", err)
	}
	return &blobs{dir: dir, dirty: map[job.Hash]bool{}, dirs: map[string]bool{}, free: map[job.Hash]bool{}}, nil
}

// hashOf names a blob: see job.Hash.
func hashOf(data []byte) (h job.Hash) {
	sum := sha256.Sum256(data)
	copy(h[:], sum[:])
	return h
}

func (b *blobs) path(h job.Hash) (dir, path string) {
	name := hex.EncodeToString(h[:])
	dir = filepath.Join(b.dir, name[:2])
	return dir, filepath.Join(dir, name[2:])
}

// put writes one blob, unless it was written since the last take. An old file
// is written again: after a power cut it may hold anything.
func (b *blobs) put(h job.Hash, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dirty[h] {
		return nil
	}
	dir, path := b.path(h)
	if !b.dirs[dir] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("blob %x: %w", h, err)
		}
		b.dirs[dir] = true
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("blob %x: %w", h, err)
	}
	b.dirty[h] = true
	b.cache.add(h, data)
	return nil
}

// get reads a blob and checks it. A missing or damaged one is fs.ErrNotExist.
func (b *blobs) get(h job.Hash) ([]byte, error) {
	if data := b.cached(h); data != nil {
		return data, nil
	}
	_, path := b.path(h)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("blob %x: %w", h, err)
	}
	if hashOf(data) != h {
		return nil, fmt.Errorf("blob %x is damaged: %w", h, fs.ErrNotExist)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cache.add(h, data)
	return data, nil
}

func (b *blobs) cached(h job.Hash) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cache.get(h)
}

// has tells whether there is a file of that name.
func (b *blobs) has(h job.Hash) bool {
	_, path := b.path(h)
	_, err := os.Stat(path)
	return err == nil
}

// take returns the blobs written since the last take. The caller flushes them
// or gives them back.
func (b *blobs) take() map[job.Hash]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.dirty
	b.dirty = map[job.Hash]bool{}
	return taken
}

// giveBack undoes take, after a snapshot that failed.
func (b *blobs) giveBack(taken map[job.Hash]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for h := range taken {
		b.dirty[h] = true
	}
}

// flush makes blobs durable. One that is gone was freed meanwhile.
func (b *blobs) flush(taken map[job.Hash]bool) error {
	dirs := map[string]bool{b.dir: true}
	for h := range taken {
		dir, path := b.path(h)
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("blob %x: %w", h, err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("blob %x: %w", h, err)
		}
		dirs[dir] = true
	}
	for dir := range dirs {
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("blob directory: %w", err)
		}
	}
	return nil
}

// sweep removes files that no job of root names. A blob must be found free by
// two sweeps, so that one which an entry on its way names is not taken away.
func (b *blobs) sweep(root func() *state.Root) (removed int, err error) {
	free := map[job.Hash]bool{}
	err = filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var h job.Hash
		name := filepath.Base(filepath.Dir(path)) + d.Name()
		if n, err := hex.Decode(h[:], []byte(name)); err != nil || n != len(h) {
			return nil // not ours
		}
		gone, err := b.dropIfFree(root, h, path, free)
		if gone {
			removed++
		}
		return err
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = free
	return removed, err
}

func (b *blobs) dropIfFree(root func() *state.Root, h job.Hash, path string, free map[job.Hash]bool) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dirty[h] || root().Blob(h) > 0 {
		return false, nil
	}
	if !b.free[h] {
		free[h] = true
		return false, nil
	}
	b.cache.drop(h)
	return true, os.Remove(path)
}

// blobCache holds the last blobs used, up to cacheBytes. The oldest go first.
type blobCache struct {
	data  map[job.Hash][]byte
	order []job.Hash
	bytes int
}

const cacheBytes = 16 << 20

func (c *blobCache) get(h job.Hash) []byte { return c.data[h] }

func (c *blobCache) add(h job.Hash, data []byte) {
	if c.data == nil {
		c.data = map[job.Hash][]byte{}
	}
	if c.data[h] != nil || len(data) > cacheBytes/4 || len(data) == 0 {
		return
	}
	c.data[h] = data
	c.order = append(c.order, h)
	c.bytes += len(data)
	for c.bytes > cacheBytes {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= len(c.data[oldest])
		delete(c.data, oldest)
	}
}

func (c *blobCache) drop(h job.Hash) {
	if old, ok := c.data[h]; ok {
		c.bytes -= len(old)
		delete(c.data, h)
		for i, x := range c.order {
			if x == h {
				c.order = append(c.order[:i], c.order[i+1:]...)
				break
			}
		}
	}
}
