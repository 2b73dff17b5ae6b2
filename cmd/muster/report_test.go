package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A report that fails half way leaves the file as it was, and nothing beside it; its
// error is one line that names the file.
func TestAFailedReportLeavesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.txt")
	if err := replaceFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "first"); return err }); err != nil {
		t.Fatal(err)
	}
	err := replaceFile(path, func(w io.Writer) error {
		io.WriteString(w, "half of the sec")
		return errors.Join(errors.New("no space left on device"), errors.New("and more"))
	})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
		t.Errorf("the error: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "first" {
		t.Errorf("the file holds %q", b)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
}

// A full device is an error, not a short file.
func TestAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	path := filepath.Join(t.TempDir(), "report.txt")
	err = replaceFile(path, func(io.Writer) error { _, err := io.WriteString(full, "x"); return err })
	if err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

// Reports to one file at once do not mix.
func TestReportsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.txt")
	var all sync.WaitGroup
	for _, text := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			err := replaceFile(path, func(w io.Writer) error {
				for range 1000 {
					if _, err := io.WriteString(w, text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, _ := os.ReadFile(path)
	if len(b) != 1000 || strings.Trim(string(b), string(b[:1])) != "" {
		t.Errorf("%d bytes that are not of one report", len(b))
	}
}
