package faultfs

import (
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// files answers the kernel for a disk.
type files struct {
	fuse.RawFileSystem
	disk *Disk

	mu    sync.Mutex
	lists map[uint64][]fuse.DirEntry // by handle: what an open directory held
	next  uint64
}

// kept is how long the kernel may keep what it was told, in seconds: nobody else
// changes anything.
const kept = 3600

func (n *node) fill(a *fuse.Attr) {
	a.Ino, a.Mode, a.Nlink = n.id, n.attr.mode, 1
	a.Uid, a.Gid = n.attr.uid, n.attr.gid
	a.Size, a.Blksize = uint64(len(n.data)), 4096
	a.Blocks = (a.Size + 511) / 512
	a.SetTimes(&n.attr.changed, &n.attr.changed, &n.attr.changed)
}

func (n *node) entry(out *fuse.EntryOut) {
	out.NodeId, out.EntryValid, out.AttrValid = n.id, kept, kept
	n.fill(&out.Attr)
}

// lookup finds a name in a directory. The lock is held.
func (d *Disk) lookup(dir uint64, name string) *node {
	parent := d.nodes[dir]
	if parent == nil || parent.names[name] == 0 {
		return nil
	}
	return d.nodes[parent.names[name]]
}

func (f *files) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n := f.disk.lookup(in.NodeId, name)
	if n == nil {
		return fuse.ENOENT
	}
	n.entry(out)
	return fuse.OK
}

func (f *files) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	out.AttrValid = kept
	f.disk.nodes[in.NodeId].fill(&out.Attr)
	return fuse.OK
}

func (f *files) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[in.NodeId]
	if size, ok := in.GetSize(); ok {
		if s := d.begin(cancel, Event{"truncate", n.path}, nil); s != fuse.OK {
			return s
		}
		if d.faults.Full && size > uint64(len(n.data)) {
			return fuse.Status(syscall.ENOSPC)
		}
		n.resize(int(size))
	}
	if mode, ok := in.GetMode(); ok {
		n.attr.mode = n.attr.mode&syscall.S_IFMT | mode&0o7777
	}
	if uid, ok := in.GetUID(); ok {
		n.attr.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.attr.gid = gid
	}
	if t, ok := in.GetMTime(); ok {
		n.attr.changed = t
	}
	out.AttrValid = kept
	n.fill(&out.Attr)
	return fuse.OK
}

// make adds a node to a directory. The lock is held.
func (f *files) make(cancel <-chan struct{}, op string, in *fuse.InHeader, name string, mode uint32, out *fuse.EntryOut) (*node, fuse.Status) {
	d := f.disk
	if s := d.begin(cancel, Event{op, join(d.nodes[in.NodeId].path, name)}, nil); s != fuse.OK {
		return nil, s
	}
	if d.lookup(in.NodeId, name) != nil {
		return nil, fuse.Status(syscall.EEXIST)
	}
	if d.faults.Full {
		return nil, fuse.Status(syscall.ENOSPC)
	}
	n := &node{id: d.next, attr: attr{mode: mode, uid: in.Uid, gid: in.Gid, changed: time.Now()}, dirty: map[int]bool{}}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		n.names, n.safe.names = map[string]uint64{}, map[string]uint64{}
	}
	d.next++
	d.nodes[n.id] = n
	d.change(entry{in.NodeId, name, n.id})
	n.entry(out)
	return n, fuse.OK
}

func (f *files) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	_, s := f.make(cancel, "mkdir", &in.InHeader, name, syscall.S_IFDIR|in.Mode&0o7777, out)
	return s
}

func (f *files) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	_, s := f.make(cancel, "create", &in.InHeader, name, in.Mode, out)
	return s
}

func (f *files) Symlink(cancel <-chan struct{}, in *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n, s := f.make(cancel, "create", in, name, syscall.S_IFLNK|0o777, out)
	if s == fuse.OK {
		n.data, n.safe.data = []byte(to), []byte(to)
		n.entry(out)
	}
	return s
}

func (f *files) Readlink(_ <-chan struct{}, in *fuse.InHeader) ([]byte, fuse.Status) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return slices.Clone(f.disk.nodes[in.NodeId].data), fuse.OK
}

func (f *files) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	_, s := f.make(cancel, "create", &in.InHeader, name, syscall.S_IFREG|in.Mode&0o7777, &out.EntryOut)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return s
}

func (f *files) remove(cancel <-chan struct{}, op string, in *fuse.InHeader, name string) fuse.Status {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.lookup(in.NodeId, name)
	if n == nil {
		return fuse.ENOENT
	}
	if s := d.begin(cancel, Event{op, n.path}, nil); s != fuse.OK {
		return s
	}
	if len(n.names) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	d.change(entry{in.NodeId, name, 0})
	return fuse.OK
}

func (f *files) Unlink(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.remove(cancel, "unlink", in, name)
}

func (f *files) Rmdir(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.remove(cancel, "rmdir", in, name)
}

func (f *files) Rename(cancel <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.lookup(in.NodeId, from)
	if n == nil {
		return fuse.ENOENT
	}
	if in.Flags != 0 {
		return fuse.Status(syscall.EINVAL)
	}
	if s := d.begin(cancel, Event{"rename", join(d.nodes[in.Newdir].path, to)}, nil); s != fuse.OK {
		return s
	}
	if old := d.lookup(in.Newdir, to); old != nil && len(old.names) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	d.change(entry{in.NodeId, from, 0}, entry{in.Newdir, to, n.id})
	return fuse.OK
}

func (f *files) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (f *files) Read(_ <-chan struct{}, in *fuse.ReadIn, _ []byte) (fuse.ReadResult, fuse.Status) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	data := f.disk.nodes[in.NodeId].data
	from := min(int(in.Offset), len(data))
	return fuse.ReadResultData(slices.Clone(data[from:min(from+int(in.Size), len(data))])), fuse.OK
}

func (f *files) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[in.NodeId]
	do := func() { n.write(data, int(in.Offset)) }
	if s := d.begin(cancel, Event{"write", n.path}, do); s != fuse.OK {
		return 0, s
	}
	if d.faults.Full && int(in.Offset)+len(data) > len(n.data) {
		return 0, fuse.Status(syscall.ENOSPC)
	}
	do()
	if in.Flags&syscall.O_DSYNC != 0 {
		if s := f.sync(n); s != fuse.OK {
			return 0, s
		}
	}
	return uint32(len(data)), fuse.OK
}

// sync puts a file on the disk, if it does not refuse that. The lock is held, but
// not during the delay.
func (f *files) sync(n *node) fuse.Status {
	d := f.disk
	if delay := d.faults.SyncDelay; delay > 0 {
		d.mu.Unlock()
		time.Sleep(delay) // the fault itself
		d.mu.Lock()
	}
	if d.faults.SyncError != 0 {
		return fuse.Status(d.faults.SyncError)
	}
	if n.names != nil {
		d.syncDir(n.id)
	} else {
		n.sync()
	}
	return fuse.OK
}

func (f *files) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.synced(cancel, "sync", in.NodeId)
}

func (f *files) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.synced(cancel, "syncdir", in.NodeId)
}

func (f *files) synced(cancel <-chan struct{}, op string, id uint64) fuse.Status {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.nodes[id]
	if s := d.begin(cancel, Event{op, n.path}, nil); s != fuse.OK {
		return s
	}
	return f.sync(n)
}

func (f *files) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *files) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.disk.mu.Lock()
	var list []fuse.DirEntry
	names := f.disk.nodes[in.NodeId].names
	for i, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, fuse.DirEntry{Name: name, Ino: names[name], Mode: f.disk.nodes[names[name]].attr.mode, Off: uint64(i) + 1})
	}
	f.disk.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	f.lists[f.next], out.Fh = list, f.next
	return fuse.OK
}

func (f *files) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.mu.Lock()
	list := f.lists[in.Fh]
	f.mu.Unlock()
	for _, e := range list[min(int(in.Offset), len(list)):] {
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (f *files) ReleaseDir(in *fuse.ReleaseIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.lists, in.Fh)
}

func (f *files) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	out.Blocks, out.Bfree, out.Bavail = 1<<28, 1<<28, 1<<28
	return fuse.OK
}
