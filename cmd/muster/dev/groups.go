package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// removeGroups removes the control groups of a node on which nothing runs any
// more. The node's daemon left a list of them, a line each: kind, blank, directory.
func (c *Cluster) removeGroups(d *Daemon) error {
	list, err := os.ReadFile(filepath.Join(c.home(d), "data", "cgroups"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // not root, or it never came up
	}
	if err != nil {
		return fmt.Errorf("control groups of node %s: %w", d.Name, err)
	}
	var errs []error
	for line := range strings.Lines(string(list)) {
		if _, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			errs = append(errs, removeGroup(dir))
		}
	}
	return errors.Join(errs...)
}

// removeGroup removes a group and all below it. A process that was killed holds
// its group until its parent has waited for it, so one that is busy is tried again.
func removeGroup(dir string) error {
	var below []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			below = append(below, name)
		}
		return nil // what has just gone need not be removed
	})
	if err != nil {
		return fmt.Errorf("control group %s: %w", dir, err)
	}
	for i := len(below) - 1; i >= 0; i-- { // the deepest first
		if err := removeBusy(below[i]); err != nil {
			return fmt.Errorf("remove control group %s: %w", below[i], err)
		}
	}
	return nil
}

func removeBusy(dir string) error {
	for deadline := time.Now().Add(deathWait); ; time.Sleep(2 * time.Millisecond) {
		err := unix.Rmdir(dir)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(deadline) {
			return err
		}
	}
}
