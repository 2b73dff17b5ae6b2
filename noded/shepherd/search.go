package shepherd

import (
	"bytes"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// search finds a program as execvp(3) does, in the PATH of the process's own
// environment and with the identity that the thread has. A file that is there but
// is not to be run is returned, so that the kernel says what is wrong; false if
// there is none.
func search(name string, env []byte) (string, bool) {
	if strings.Contains(name, "/") || name == "" {
		return name, true
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte("PATH=")); ok {
			path = string(value)
		}
	}
	found := ""
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		file := filepath.Join(dir, name)
		var st unix.Stat_t
		if unix.Stat(file, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, 0) == nil && st.Mode&0o111 != 0 {
			return file, true
		}
		if found == "" {
			found = file // there, but not to be run: that is what the kernel will say
		}
	}
	if found != "" {
		return found, true
	}
	return "", false
}
