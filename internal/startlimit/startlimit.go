// Package startlimit knows the limit of open files that this process was
// started with. Go's syscall package raises it to the hard limit at start, so
// whoever wants to pass the user's limit on has to look before that. This
// package imports nothing, and its path sorts before syscall: the language
// initialises it first.
package startlimit

// OpenFiles is the soft limit of open files at the start of the process; false
// if it is not known.
func OpenFiles() (uint64, bool) { return atStart.soft, atStart.known }

type limit struct {
	soft  uint64
	known bool
}

// atStart is set once, before main and before syscall's own initialisation.
var atStart = look()

func look() limit {
	const openFiles = 7 // RLIMIT_NOFILE
	var l [2]uint64
	if getrlimit(openFiles, &l) != 0 {
		return limit{}
	}
	return limit{l[0], true}
}
