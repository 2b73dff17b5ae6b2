package noded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// memoryDir is where Linux systems have a file system in memory that all may
// write to.
const memoryDir = "/dev/shm"

// chooseSpool makes the directory of the jobs' scripts: in memory if it can be,
// since a new file on disk costs up to half a millisecond of CPU, more than all
// the rest of a launch, and a crash of the machine makes the scripts void anyway.
func chooseSpool(dataDir, id string) (string, error) {
	dir := filepath.Join(memoryDir, "muster-"+id)
	if mayRun(memoryDir) && ownDir(dir) == nil {
		return dir, nil
	}
	dir = filepath.Join(dataDir, "spool")
	if err := ownDir(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// mayRun tells whether a directory is in memory and programs in it may be run.
func mayRun(dir string) bool {
	var st unix.Statfs_t
	const room = 256 << 20
	return unix.Statfs(dir, &st) == nil && st.Type == unix.TMPFS_MAGIC && st.Flags&unix.ST_NOEXEC == 0 &&
		st.Bavail*uint64(st.Bsize) > room
}

// ownDir makes a directory through which users pass to their scripts. One that
// somebody else has made is not taken.
func ownDir(dir string) error {
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("spool directory: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("spool directory %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("spool directory %s is not this daemon's own; remove it", dir)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("spool directory: %w", err)
	}
	return nil
}
