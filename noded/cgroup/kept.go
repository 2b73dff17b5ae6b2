package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// kept keeps the files of a group open: a group that serves one job after the
// other has them looked up once. The zero value is ready.
type kept struct {
	mu    sync.Mutex
	files map[string]int // descriptor by name; -1: the kernel has no such file
	room  []byte         // for what is read
}

// read returns what a file holds, until the next read. A file that can't be read
// is empty.
func (k *kept) read(name string) []byte {
	if k.room == nil {
		k.room = make([]byte, 4096) // all files that are read this way are shorter
	}
	fd, err := k.open(name, unix.O_RDWR)
	if err != nil {
		return nil
	}
	n, err := unix.Pread(fd, k.room, 0)
	if err != nil {
		return nil
	}
	return k.room[:n]
}

// number is the one value that a file holds; 0 if it can't be read.
func (k *kept) number(name string) uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, _ := strconv.ParseUint(string(bytes.TrimSpace(k.read(name))), 10, 64)
	return n
}

// values puts the values of some lines of a file, "name value", into place. What
// the file does not say is left.
func (k *kept) values(file string, into map[string]*uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for line := range bytes.Lines(k.read(file)) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if at := into[string(name)]; at != nil {
			if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
				*at = n
			}
		}
	}
}

// write writes a file in one call.
func (k *kept) write(name, text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	fd, err := k.open(name, unix.O_RDWR)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		return fmt.Errorf("write %q to %s: %w", text, name, err)
	}
	return nil
}

// hasGroups tells whether a group's directory has others below it, or may have.
func (k *kept) hasGroups(dir string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	fd, err := k.open(dir, unix.O_PATH|unix.O_DIRECTORY)
	var st unix.Stat_t
	return err != nil || unix.Fstat(fd, &st) != nil || st.Nlink != 2 // its own, and its entry
}

// open opens a file, if it was not opened before; the caller holds the lock.
func (k *kept) open(name string, how int) (int, error) {
	if fd, ok := k.files[name]; ok {
		if fd < 0 {
			return fd, unix.ENOENT
		}
		return fd, nil
	}
	fd, err := unix.Open(name, how|unix.O_CLOEXEC, 0)
	if err == unix.EACCES { // one that is only to be read
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if k.files == nil {
		k.files = map[string]int{}
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return -1, err
	}
	k.files[name] = fd
	return fd, err
}

// close closes the files; they can be opened again.
func (k *kept) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, fd := range k.files {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	k.files = nil
}
