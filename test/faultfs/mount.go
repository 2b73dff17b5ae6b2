package faultfs

import (
	"fmt"
	"math/rand/v2"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount makes an empty disk and mounts it at a directory that is there. It needs
// /dev/fuse and root.
func Mount(dir string) (*Disk, error) {
	d := newDisk(dir)
	return d, d.mount()
}

func (d *Disk) mount() error {
	d.mu.Lock()
	d.stopped, d.trap, d.faults, d.off = false, nil, Faults{}, make(chan struct{})
	d.mu.Unlock()
	server, err := fuse.NewServer(&files{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d, lists: map[uint64][]fuse.DirEntry{}}, d.dir,
		&fuse.MountOptions{AllowOther: true, DirectMount: true, FsName: "faultfs", Name: "faultfs",
			DisableXAttrs: true, DisableReadDirPlus: true, MaxWrite: 1 << 20, Options: []string{"default_permissions"}})
	if err != nil {
		return fmt.Errorf("mount a disk at %s: %w", d.dir, err)
	}
	d.server = server
	go server.Serve() // ends when the disk is unmounted
	if err := server.WaitMount(); err != nil {
		return fmt.Errorf("mount a disk at %s: %w", d.dir, err)
	}
	return nil
}

// PowerLoss forgets what was not synced and mounts the disk again. Those who had
// files on it must be dead. With chance some of what was not synced is there all
// the same, as on a real disk.
func (d *Disk) PowerLoss(chance *rand.Rand) error {
	d.Stop()
	if err := d.Close(); err != nil {
		return err
	}
	d.forget(chance)
	return d.mount()
}

// Close unmounts the disk.
func (d *Disk) Close() error {
	close(d.off)
	if err := d.server.Unmount(); err != nil {
		return fmt.Errorf("unmount the disk at %s: %w", d.dir, err)
	}
	d.server.Wait()
	return nil
}
