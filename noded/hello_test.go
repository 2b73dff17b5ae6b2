package noded

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"muster/api"
)

// TestHelloSaysWhatTheMachineIs compares with uname(1), and with a later hello.
func TestHelloSaysWhatTheMachineIs(t *testing.T) {
	uname := func(option string) string {
		out, err := exec.Command("uname", option).Output()
		if err != nil {
			t.Skipf("needs uname: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	before := time.Now()
	s := newSite(t)
	h := s.hello
	if want := uname("-srv"); h.Os != want {
		t.Errorf("system %q, want %q", h.Os, want)
	}
	if want := uname("-m"); h.Arch != want {
		t.Errorf("machine %q, want %q", h.Arch, want)
	}
	if h.Version != api.SlurmVersion {
		t.Errorf("version %q, want %q", h.Version, api.SlurmVersion)
	}
	if at := time.UnixMilli(h.StartedMs); at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("started %v, want after %v", at, before)
	}
	if at := time.UnixMilli(h.BootTimeMs); at.After(before) {
		t.Errorf("booted %v, after the start of this test", at)
	}
	s.node.link.again()
	s.wait("another hello", func() bool { return s.hellos > 1 })
	if s.hello.BootTimeMs != h.BootTimeMs || s.hello.StartedMs != h.StartedMs {
		t.Errorf("booted %d, then %d; started %d, then %d", h.BootTimeMs, s.hello.BootTimeMs, h.StartedMs, s.hello.StartedMs)
	}
}
