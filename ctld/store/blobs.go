package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"

	"muster/internal/durable"
	"muster/job"
)

// blobs keeps scripts and environments, found by their hash, in a few large
// files (packs): to create a file for each costs half a millisecond on some file
// systems, to append to one costs a twentieth of it.
//
// What is written is not synced at once, since until the next snapshot the raft
// log has its content too; flush syncs it before a snapshot makes raft forget.
type blobs struct {
	dir string

	mu     sync.Mutex
	packs  map[uint64]*pack
	last   *pack // the one that is appended to; nil before the first put
	where  map[job.Hash]place
	recent map[job.Hash]bool // written since the last sweep by this process
	free   map[job.Hash]bool // named by no job at the last sweep
	cache  blobCache
}

// place is where a blob's data is.
type place struct {
	pack   *pack
	offset int64
	size   int
}

// hashOf names a blob: see job.Hash.
func hashOf(data []byte) (h job.Hash) {
	sum := sha256.Sum256(data)
	copy(h[:], sum[:])
	return h
}

func openBlobs(dir string) (*blobs, error) {
	b := &blobs{dir: dir, packs: map[uint64]*pack{}, where: map[job.Hash]place{},
		recent: map[job.Hash]bool{}, free: map[job.Hash]bool{}}
	list, err := openPacks(dir)
	if err != nil {
		return nil, fmt.Errorf("scripts and environments in %s: %w", dir, err)
	}
	for _, p := range list {
		b.packs[p.number], b.last = p, p
		err := p.scan(func(h job.Hash, offset int64, size int) {
			b.drop(h)
			b.where[h] = place{p, offset, size}
			p.live += int64(size)
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("scripts and environments in %s: %w", dir, err), b.close())
		}
	}
	return b, nil
}

func (b *blobs) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, p := range b.packs {
		errs = append(errs, p.file.Close())
	}
	clear(b.packs)
	return errors.Join(errs...)
}

// put writes one blob. One that an earlier process wrote is read first: after a
// power cut it may hold anything.
func (b *blobs) put(h job.Hash, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.where[h]; ok {
		if b.recent[h] || b.intact(at, h) {
			b.recent[h] = true
			return nil
		}
	}
	if err := b.append(h, data); err != nil {
		return fmt.Errorf("write script or environment %x: %w", h, err)
	}
	b.recent[h] = true
	b.cache.add(h, data)
	return nil
}

func (b *blobs) intact(at place, h job.Hash) bool {
	data, err := at.pack.read(at.offset, at.size)
	return err == nil && hashOf(data) == h
}

// append writes a blob to the last pack, or to a new one if that is full.
func (b *blobs) append(h job.Hash, data []byte) error {
	if b.last == nil || b.last.size >= packBytes {
		number := uint64(1)
		if b.last != nil {
			number = b.last.number + 1
		}
		p, err := createPack(b.dir, number)
		if err != nil {
			return err
		}
		b.packs[number], b.last = p, p
	}
	offset, err := b.last.append(h, data)
	if err != nil {
		return err
	}
	b.drop(h)
	b.where[h] = place{b.last, offset, len(data)}
	b.last.live += int64(len(data))
	return nil
}

// drop forgets where a blob is, if it is anywhere.
func (b *blobs) drop(h job.Hash) {
	if at, ok := b.where[h]; ok {
		at.pack.live -= int64(at.size)
		delete(b.where, h)
	}
}

// get reads a blob and checks it. A missing or damaged one is fs.ErrNotExist.
func (b *blobs) get(h job.Hash) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if data := b.cache.get(h); data != nil {
		return data, nil
	}
	at, ok := b.where[h]
	if !ok {
		return nil, fmt.Errorf("script or environment %x: %w", h, fs.ErrNotExist)
	}
	data, err := at.pack.read(at.offset, at.size)
	if err != nil {
		return nil, fmt.Errorf("script or environment %x: %w", h, err)
	}
	if hashOf(data) != h {
		return nil, fmt.Errorf("script or environment %x is damaged: %w", h, fs.ErrNotExist)
	}
	b.cache.add(h, data)
	return data, nil
}

// has tells whether a blob is here.
func (b *blobs) has(h job.Hash) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.where[h]
	return ok
}

// flush makes all that was written durable. Writers do not wait for it.
func (b *blobs) flush() error {
	b.mu.Lock()
	var dirty []*pack
	for _, p := range b.packs {
		if p.dirty {
			p.dirty = false
			dirty = append(dirty, p)
		}
	}
	b.mu.Unlock()
	for i, p := range dirty {
		if err := p.file.Sync(); err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, q := range dirty[i:] {
				q.dirty = true
			}
			return fmt.Errorf("sync %s: %w", p.path, err)
		}
	}
	if len(dirty) == 0 {
		return nil
	}
	return durable.SyncDir(b.dir)
}

// sweepStretch is how many blobs are looked at before others get their turn.
const sweepStretch = 256

// sweep forgets blobs that no job names, by the count in refs, and gives back the space of
// packs that hold little else. A blob must be found free by two sweeps, so that
// one which an entry on its way names is not taken away. One sweep runs at a time.
func (b *blobs) sweep(refs func(job.Hash) int) (removed int, err error) {
	b.mu.Lock()
	recent, wasFree, free := b.recent, b.free, map[job.Hash]bool{}
	b.recent = map[job.Hash]bool{}
	b.each(func(h job.Hash, _ place) {
		switch {
		case recent[h] || b.recent[h] || refs(h) > 0: // b.recent: written while this sweep runs
		case !wasFree[h]:
			free[h] = true
		default:
			b.drop(h)
			b.cache.drop(h)
			removed++
		}
	})
	b.free = free
	var sparse []*pack
	for _, p := range b.packs {
		if p != b.last && p.live*2 < p.size {
			sparse = append(sparse, p)
		}
	}
	b.mu.Unlock()
	for _, p := range sparse {
		err = errors.Join(err, b.clear(p))
	}
	return removed, err
}

// each calls f for each blob, with the lock held, as it must be when each is
// called. After each stretch the lock is free for a moment, so blobs may come
// meanwhile: such a one may be passed over.
func (b *blobs) each(f func(h job.Hash, at place)) {
	n := 0
	for h, at := range b.where { // goes on well after a change: it is made with the lock held
		if n++; n%sweepStretch == 0 {
			b.mu.Unlock()
			runtime.Gosched()
			b.mu.Lock()
			var still bool
			if at, still = b.where[h]; !still {
				continue
			}
		}
		f(h, at)
	}
}

// clear moves what is left in a pack to the last one and removes it.
func (b *blobs) clear(p *pack) error {
	for _, h := range b.in(p) {
		if err := b.move(h, p); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.live > 0 {
		return nil
	}
	delete(b.packs, p.number)
	return p.remove()
}

func (b *blobs) in(p *pack) []job.Hash {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []job.Hash
	b.each(func(h job.Hash, at place) {
		if at.pack == p {
			list = append(list, h)
		}
	})
	return list
}

func (b *blobs) move(h job.Hash, from *pack) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.where[h]
	if !ok || at.pack != from {
		return nil
	}
	data, err := from.read(at.offset, at.size)
	if err != nil || hashOf(data) != h {
		b.drop(h) // damaged: it is fetched from another controller when it is asked for
		return err
	}
	return b.append(h, data)
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

// drop empties a blob's place; its turn in the order stays and is passed over.
func (c *blobCache) drop(h job.Hash) {
	c.bytes -= len(c.data[h])
	delete(c.data, h)
}
