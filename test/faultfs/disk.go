// Package faultfs is a file system in memory, mounted with FUSE, that has power
// losses: what was not synced is gone, names in directories included. It may also
// refuse or delay syncs, and be full.
//
// It is stricter than common file systems, as POSIX allows: a sync of a file does
// not make its name durable, only a sync of the directory does.
package faultfs

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// sector is how many bytes reach the disk together.
const sector = 512

// rootID is FUSE's number of the root directory.
const rootID = fuse.FUSE_ROOT_ID

// Event is an operation that is about to change the disk.
type Event struct {
	Op   string // write, sync, syncdir, create, mkdir, rename, unlink, rmdir, truncate
	Path string // below the mount point; of a rename the new one
}

// Faults are what the disk does wrong while it has power.
type Faults struct {
	SyncError syscall.Errno // each sync fails with it; 0: none does
	SyncDelay time.Duration // each sync takes longer by this
	Full      bool          // nothing new fits: ENOSPC
}

// Disk is one disk. What it holds survives a PowerLoss as far as it was synced.
type Disk struct {
	dir    string
	server *fuse.Server

	mu      sync.Mutex
	nodes   map[uint64]*node
	next    uint64
	pending [][]entry // changes of directories not synced yet, in order
	faults  Faults
	trap    func(Event) bool
	sprung  chan struct{} // closed when trap has said yes
	stopped bool          // no change is done any more
	off     chan struct{} // closed when the power is off
}

// node is a file or a directory.
type node struct {
	id    uint64
	path  string // the last it had
	attr  attr
	data  []byte            // of a file; of a symbolic link where it leads
	names map[string]uint64 // of a directory
	dirty map[int]bool      // sectors not synced
	safe  image             // what is on the disk
}

// attr is what chmod, chown and so on set. It is always durable: nothing of Muster
// depends on it.
type attr struct {
	mode, uid, gid uint32
	changed        time.Time
}

// image is what is on the disk of a node.
type image struct {
	data  []byte
	names map[string]uint64
}

// entry is a name in a directory that was set, or removed if id is 0.
type entry struct {
	dir  uint64
	name string
	id   uint64
}

func newDisk(dir string) *Disk {
	d := &Disk{dir: dir, nodes: map[uint64]*node{}, next: rootID + 1}
	d.nodes[rootID] = &node{id: rootID, attr: attr{mode: syscall.S_IFDIR | 0o755, changed: time.Now()},
		names: map[string]uint64{}, safe: image{names: map[string]uint64{}}}
	return d
}

// Set sets what the disk does wrong from now on.
func (d *Disk) Set(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = f
}

// Stop lets nothing reach the disk any more. Who tries waits until he is killed or
// the power is off.
func (d *Disk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Trap stops the disk in the middle of the first change for which f says yes. The
// channel is closed when that happens.
func (d *Disk) Trap(f func(Event) bool) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trap, d.sprung = f, make(chan struct{})
	return d.sprung
}

// begin is called with the lock held before each change; it says whether the change
// may be done. If not it has waited for the end, without the lock. half is done
// to the disk when the power fails in the middle of the change.
func (d *Disk) begin(cancel <-chan struct{}, e Event, half func()) fuse.Status {
	if !d.stopped && d.trap != nil && d.trap(e) {
		d.trap, d.stopped = nil, true
		if half != nil {
			half()
		}
		close(d.sprung)
	}
	if !d.stopped {
		return fuse.OK
	}
	off := d.off
	d.mu.Unlock()
	defer d.mu.Lock()
	select {
	case <-off:
		return fuse.EIO
	case <-cancel: // by a signal: one that does not kill has the kernel or the program try again
		return fuse.EINTR
	}
}

// write changes a file's data in memory. The lock is held.
func (n *node) write(data []byte, at int) {
	n.resize(max(len(n.data), at+len(data)))
	copy(n.data[at:], data)
	for s := at / sector; s*sector < at+len(data); s++ {
		n.dirty[s] = true
	}
	n.attr.changed = time.Now()
}

// resize cuts a file or fills it up with zeros.
func (n *node) resize(size int) {
	if size <= len(n.data) {
		n.data = n.data[:size]
		return
	}
	for s := len(n.data) / sector; s*sector < size; s++ {
		n.dirty[s] = true
	}
	n.data = append(n.data, make([]byte, size-len(n.data))...)
}

// sync puts a file's data on the disk. The lock is held.
func (n *node) sync() { n.keep(len(n.data), func() bool { return true }) }

// keep puts a size and some of the sectors that are not synced on the disk.
func (n *node) keep(size int, chosen func() bool) {
	if size <= len(n.safe.data) {
		n.safe.data = n.safe.data[:size]
	} else {
		n.safe.data = append(n.safe.data, make([]byte, size-len(n.safe.data))...)
	}
	for _, s := range slices.Sorted(maps.Keys(n.dirty)) {
		if from, to := s*sector, min((s+1)*sector, size, len(n.data)); from < to && chosen() {
			copy(n.safe.data[from:to], n.data[from:to])
		}
	}
	n.dirty = map[int]bool{}
}

// change sets names in directories, all or none of them. The lock is held.
func (d *Disk) change(list ...entry) {
	for _, e := range list {
		dir := d.nodes[e.dir]
		if e.id == 0 {
			delete(dir.names, e.name)
			continue
		}
		dir.names[e.name] = e.id
		d.nodes[e.id].path = join(dir.path, e.name)
	}
	d.pending = append(d.pending, list)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// syncDir puts all changes on the disk that touch a directory. The lock is held.
func (d *Disk) syncDir(id uint64) {
	var left [][]entry
	for _, c := range d.pending {
		if slices.ContainsFunc(c, func(e entry) bool { return e.dir == id }) {
			d.commit(c)
		} else {
			left = append(left, c)
		}
	}
	d.pending = left
}

func (d *Disk) commit(list []entry) {
	for _, e := range list {
		if names := d.nodes[e.dir].safe.names; e.id == 0 {
			delete(names, e.name)
		} else {
			names[e.name] = e.id
		}
	}
}

// forget goes back to what is on the disk. With chance a disk may have written more
// than it was asked for: some of the sectors, and the first of the names.
func (d *Disk) forget(chance *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if chance != nil {
		for _, id := range slices.Sorted(maps.Keys(d.nodes)) {
			if n := d.nodes[id]; len(n.dirty) > 0 || len(n.data) != len(n.safe.data) {
				size := len(n.safe.data)
				if chance.IntN(2) == 0 {
					size = len(n.data)
				}
				n.keep(size, func() bool { return chance.IntN(2) == 0 })
			}
		}
		for _, c := range d.pending[:chance.IntN(len(d.pending)+1)] {
			d.commit(c)
		}
	}
	d.pending = nil
	d.restore()
}

// restore makes what is on the disk what is seen, without what has no name.
func (d *Disk) restore() {
	found := map[uint64]*node{}
	var visit func(id uint64, path string)
	visit = func(id uint64, path string) {
		n := d.nodes[id]
		n.path, n.data, n.names, n.dirty = path, slices.Clone(n.safe.data), maps.Clone(n.safe.names), map[int]bool{}
		found[id] = n
		for name, child := range n.names {
			visit(child, join(path, name))
		}
	}
	visit(rootID, "")
	d.nodes = found
}
