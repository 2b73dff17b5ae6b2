package shepherd

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become gives the calling thread the user's identity for files: groups,
// file-system ids and umask. The kernel takes root's power over files from a
// thread whose file-system uid is not 0, and returns it with the uid.
func (t *thread) become(s *Spec) error {
	unix.Umask(int(s.Umask) & 0o777)
	if !t.root {
		if int(s.UID) != os.Geteuid() {
			return fmt.Errorf("the node daemon runs without root as uid %d and can't start a job of uid %d", os.Geteuid(), s.UID)
		}
		return nil
	}
	if err := setGroups(s.Groups); err != nil {
		return fmt.Errorf("set the groups of uid %d: %w", s.UID, err)
	}
	setFS(int(s.UID), int(s.GID))
	if uid, err := unix.SetfsuidRetUid(-1); err != nil || uid != int(s.UID) {
		return fmt.Errorf("become uid %d for files: the thread is uid %d", s.UID, uid)
	}
	return nil
}

// unbecome makes the thread root again and lets go of the job's directory.
func (t *thread) unbecome() {
	if t.root {
		setFS(0, 0)
		if err := setGroups(nil); err != nil {
			panic(fmt.Sprintf("drop a user's groups: %v", err)) // root may always
		}
	}
	unix.Umask(0o022)
	if err := unix.Chdir("/"); err != nil {
		panic(fmt.Sprintf("leave a job's directory: %v", err))
	}
}

// setFS sets the file-system ids of the calling thread only.
func setFS(uid, gid int) {
	unix.Setfsgid(gid)
	unix.Setfsuid(uid)
}

// setGroups sets the supplementary groups of the calling thread only; the
// function of the standard library would change all threads.
func setGroups(groups []uint32) error {
	var p unsafe.Pointer
	if len(groups) > 0 {
		p = unsafe.Pointer(&groups[0])
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(p), 0); errno != 0 {
		return errno
	}
	return nil
}
