package agent

import (
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// groupsMax is the most supplementary groups of a process (NGROUPS_MAX).
const groupsMax = 65536

// kernelWord is what the kernel says of the process that made a connection, as it
// was when it connected.
type kernelWord struct {
	uid, gid uint32
	pid      int32
	groups   []uint32
}

// askKernel reads SO_PEERCRED and SO_PEERGROUPS (unix(7), socket(7)).
func askKernel(conn *net.UnixConn) (kernelWord, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return kernelWord{}, err
	}
	var k kernelWord
	var inner error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); inner != nil {
			inner = os.NewSyscallError("SO_PEERCRED", inner)
			return
		}
		k.uid, k.gid, k.pid = cred.Uid, cred.Gid, cred.Pid
		k.groups, inner = peerGroups(int(fd))
	})
	if err == nil {
		err = inner
	}
	return k, err
}

func peerGroups(fd int) ([]uint32, error) {
	for room := 64; room <= groupsMax; {
		groups := make([]uint32, room)
		size := uint32(room * 4)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch errno {
		case 0:
			return groups[:size/4], nil
		case unix.ERANGE: // size says how much room it takes
			room = max(int(size/4), room+1)
		default:
			return nil, os.NewSyscallError("SO_PEERGROUPS", errno)
		}
	}
	return nil, fmt.Errorf("SO_PEERGROUPS: more than %d groups", groupsMax)
}
