package dev

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is one entry of /proc.
type process struct {
	pid, parent int
	start       uint64 // clock ticks since boot
	state       byte   // R, S, D, T, Z, … of its first thread
	threads     int    // the first one included until the whole process has ended
}

// readProcess reads /proc/PID/stat (proc_pid_stat(5)).
func readProcess(pid int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	return parseStat(pid, text)
}

func parseStat(pid int, text []byte) (process, error) {
	// The command in parentheses may hold anything; what follows is in columns.
	at := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[at+1:]))
	if at < 0 || len(fields) < 20 {
		return process{}, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	parent, err := strconv.Atoi(fields[1])
	threads, err2 := strconv.Atoi(fields[17])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	return process{pid: pid, parent: parent, start: start, state: fields[0][0], threads: threads}, errors.Join(err, err2, err3)
}

// alive tells whether it runs. A zombie does not, once all its threads have ended:
// until then one that waits for the disk, say, keeps the process's ports.
func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' || p.threads > 1 }

// processes lists all that run.
func processes() ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil && p.alive() {
			out = append(out, p) // one that ended meanwhile is passed over
		}
	}
	return out, nil
}

// environ tells whether a process was started with one of the given variables,
// written NAME=VALUE.
func (p process) environ(variables ...string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	if err != nil {
		return false
	}
	for have := range bytes.SplitSeq(text, []byte{0}) {
		for _, want := range variables {
			if string(have) == want {
				return true
			}
		}
	}
	return false
}

// same tells whether two looks were at one process; numbers are given again.
func (p process) same(other process) bool { return p.pid == other.pid && p.start == other.start }

// signal sends a signal to this process and no other that got its number later.
func (p process) signal(s unix.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return gone(err)
	}
	defer unix.Close(fd)
	now, err := readProcess(p.pid)
	if err != nil || now.start != p.start {
		return nil
	}
	return gone(unix.PidfdSendSignal(fd, s, nil, 0))
}

// gone turns the error for a process that has ended into none.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// hostBoot is the boot id of this host.
func hostBoot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// process returns the daemon's process if it runs.
func (c *Cluster) process(d *Daemon) (process, bool) {
	if d.PID == 0 || c.Boot != hostBoot() {
		return process{}, false
	}
	p, err := readProcess(d.PID)
	return p, err == nil && p.start == d.Start && p.alive()
}

// tail is the end of a daemon's log.
func (c *Cluster) tail(d *Daemon) string {
	text, err := os.ReadFile(c.log(d))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

func (c *Cluster) log(d *Daemon) string { return filepath.Join(c.Dir, "log", d.Name+".log") }
