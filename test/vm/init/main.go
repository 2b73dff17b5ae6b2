// Command init is the first process of the virtual machine that the tests boot:
// it mounts what a program expects, runs the test programs that it finds in
// /tests, and switches the machine off.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	if err := mounts(); err != nil {
		fmt.Println("init:", err)
	} else {
		tests()
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// mounts makes the machine one of pure cgroup v2, with its loopback device up.
func mounts() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/dev/shm"},
		{"tmpfs", "/run"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	if err := os.Chmod("/tmp", 0o1777); err != nil {
		return err
	}
	return loopback()
}

// loopback is `ip link set lo up`.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// tests runs each program of /tests with the arguments in the file beside it, and
// says how it ended. It is in a group of its own, as a daemon is under systemd.
func tests() {
	programs, err := filepath.Glob("/tests/*.test")
	if err != nil || len(programs) == 0 {
		fmt.Println("init: no test program:", err)
		return
	}
	for _, p := range programs {
		args, err := os.ReadFile(strings.TrimSuffix(p, ".test") + ".args")
		if err != nil {
			fmt.Println("init:", err)
			return
		}
		name := filepath.Base(p)
		group := filepath.Join("/sys/fs/cgroup", name)
		if err := os.Mkdir(group, 0o755); err != nil {
			fmt.Println("init:", err)
			return
		}
		cmd := exec.Command(p, strings.Split(string(bytes.TrimSpace(args)), "\n")...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/", "TMPDIR=/tmp"}
		cmd.Stdout, cmd.Stderr, cmd.Dir = os.Stdout, os.Stdout, "/tmp"
		dir, err := os.Open(group)
		if err != nil {
			fmt.Println("init:", err)
			return
		}
		cmd.SysProcAttr = &unix.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
		err = cmd.Run()
		dir.Close()
		fmt.Printf("init: %s ended: %v\n", name, err)
	}
	fmt.Println("init: done")
}
