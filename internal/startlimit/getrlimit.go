//go:build linux && (amd64 || arm64)

package startlimit

// getrlimit is the system call, without the syscall package.
//
//go:noescape
func getrlimit(resource uintptr, l *[2]uint64) (errno uintptr)
