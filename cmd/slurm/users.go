package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// userExists tells whether the host knows a user, by name or number. A number
// always counts, so that jobs of users that were deleted can be found.
func userExists(name string) bool {
	if _, err := strconv.ParseUint(name, 10, 32); err == nil {
		return true
	}
	data, err := os.ReadFile("/etc/passwd")
	if err == nil && (strings.HasPrefix(string(data), name+":") || strings.Contains(string(data), "\n"+name+":")) {
		return true
	}
	return exec.Command("getent", "passwd", "--", name).Run() == nil
}

// account is what the host knows of a user.
type account struct {
	name, home string
	uid, gid   uint32
}

// lookupAccount finds a user by name or number, own if name is empty.
func lookupAccount(name string, own uint32) (*account, error) {
	if name == "" {
		name = strconv.FormatUint(uint64(own), 10)
	}
	line, err := exec.Command("getent", "passwd", "--", name).Output()
	f := strings.Split(strings.TrimSpace(string(line)), ":")
	if err != nil || len(f) < 7 {
		return nil, fmt.Errorf("Could not find user %s", name)
	}
	uid, err := strconv.ParseUint(f[2], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the entry of user %s has no number: %w", name, err)
	}
	gid, err := strconv.ParseUint(f[3], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the entry of user %s has no group: %w", name, err)
	}
	return &account{name: f[0], home: f[5], uid: uint32(uid), gid: uint32(gid)}, nil
}

// become makes the rest of the command that of another user, for good: the agent
// and the files that are opened then see that user. Only root may.
func (in *invocation) become(who *account) error {
	if in.uid != 0 {
		return fmt.Errorf("only root may act for user %s", who.name)
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(int(who.gid)), syscall.Setuid(int(who.uid))); err != nil {
		return fmt.Errorf("becoming user %s: %w", who.name, err)
	}
	in.uid = who.uid
	return nil
}
