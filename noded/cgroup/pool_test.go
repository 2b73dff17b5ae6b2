package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pool makes a pool of a test's own tree.
func pool(t *testing.T) *Pool {
	t.Helper()
	tree := open(t)
	if tree.v2 == "" {
		t.Skip("needs a cgroup v2 hierarchy: without one no group is used again")
	}
	p := NewPool(tree)
	t.Cleanup(p.Close)
	return p
}

// take takes a slot, which is given back when the test ends, if it was not before.
func take(t *testing.T, p *Pool, l Limits) *Slot {
	t.Helper()
	s, err := p.Take(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if exists(s.v2) {
			end(t, s.Group)
			s.Group.Remove()
		}
	})
	return s
}

// giveBack ends a job as the node daemon does.
func giveBack(t *testing.T, s *Slot) Stats {
	t.Helper()
	used := s.Final()
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	return used
}

// spin uses a fifth of a second of CPU time in a slot.
func spin(t *testing.T, s *Slot) {
	t.Helper()
	m := join(t, s.Group, "spin")
	if m.line() != "spinning" || m.line() != "spun" || m.signal() != 0 {
		t.Fatal("it does not spin")
	}
}

func TestGroupsServeTheNextJob(t *testing.T) {
	p := pool(t)
	first := take(t, p, Limits{MemoryMB: 64, PIDs: 20})
	spin(t, first)
	if used := giveBack(t, first); used.UserUS+used.SystemUS < 50_000 {
		t.Errorf("the first job used %+v", used)
	}
	second := take(t, p, Limits{MemoryMB: 128, PIDs: 10})
	second.Share()() // others started something in it, and are done
	if second.name != first.name {
		t.Fatalf("the second job has %s, want %s again", second.name, first.name)
	}
	if used := second.Final(); used != (Stats{}) {
		t.Errorf("the second job has not begun and has used %+v", used)
	}
	third := take(t, p, Limits{MemoryMB: 128, PIDs: 10})
	if third.name == second.name {
		t.Error("two jobs have one group")
	}
	giveBack(t, second)
	if fourth := take(t, p, Limits{MemoryMB: 128, PIDs: 10}); fourth.name != second.name {
		t.Error("not used again after it was shared")
	}
}

// TestLimitsAreThoseOfTheJob gives a group to jobs with more and with less memory.
func TestLimitsAreThoseOfTheJob(t *testing.T) {
	if raced {
		t.Skip("the race detector takes more memory than the limits of this test leave")
	}
	p := pool(t)
	name := ""
	for i, c := range []struct {
		limit uint64
		use   int
		dies  bool
	}{{100, 60, false}, {40, 60, true}, {200, 120, false}, {100, 60, false}} {
		s := take(t, p, Limits{MemoryMB: c.limit})
		if i > 0 && s.name != name {
			t.Fatalf("job %d has another group", i)
		}
		name = s.name
		m := join(t, s.Group, "memory "+strconv.Itoa(c.use))
		if died := m.signal() == syscall.SIGKILL; died != c.dies {
			t.Errorf("job %d with %d of %d MB: died %v", i, c.use, c.limit, died)
		}
		if used := giveBack(t, s); used.OOMKills > 0 != c.dies {
			t.Errorf("job %d: %d kills for memory, want some: %v", i, used.OOMKills, c.dies)
		}
	}
}

// TestGroupsThatAreNotUsedAgain lists what makes a group unfit for another job.
func TestGroupsThatAreNotUsedAgain(t *testing.T) {
	p := pool(t)
	device := filepath.Join(t.TempDir(), "d")
	if err := unix.Mknod(device, unix.S_IFCHR|0o600, int(unix.Mkdev(absent, 1))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		with Limits
		do   func(*Slot)
	}{
		{"is shared", Limits{MemoryMB: 64}, func(s *Slot) { s.Share() }},
		{"is shared by one of two", Limits{MemoryMB: 64}, func(s *Slot) { s.Share(); end := s.Share(); end(); end() }},
		{"was killed", Limits{MemoryMB: 64}, func(s *Slot) { s.Kill(t.Context()) }},
		{"was frozen", Limits{MemoryMB: 64}, func(s *Slot) { s.Freeze(true) }},
		{"has device rules", Limits{MemoryMB: 64, Deny: []string{device}}, func(*Slot) {}},
		{"has groups below", Limits{MemoryMB: 64}, func(s *Slot) { os.Mkdir(filepath.Join(s.v2, "below"), 0o755) }},
		{"has memory left", Limits{MemoryMB: 64}, func(s *Slot) {
			name := "/dev/shm/" + s.name + "." + strconv.Itoa(os.Getpid())
			t.Cleanup(func() { os.Remove(name) })
			m := join(t, s.Group, "-", "/bin/sh", "-c", "read go; head -c 3000000 /dev/zero >"+name)
			m.signal()
			if st, err := os.Stat(name); err != nil || st.Size() != 3_000_000 {
				t.Fatal(err)
			}
		}},
		{"other limits", Limits{MemoryMB: 64, PIDs: 5}, func(*Slot) {}},
	} {
		s := take(t, p, c.with)
		c.do(s)
		giveBack(t, s)
		next := take(t, p, Limits{MemoryMB: 64})
		if next.name == s.name {
			t.Errorf("%s: used again", c.what)
		}
		next.spend()
		giveBack(t, next)
	}
}

func TestASlotWithProcessesIsBusy(t *testing.T) {
	p := pool(t)
	s := take(t, p, Limits{MemoryMB: 64})
	m := join(t, s.Group, "sleep")
	if m.line() != "asleep" {
		t.Fatal("it does not sleep")
	}
	s.Final()
	if err := s.Remove(); !errors.Is(err, ErrBusy) {
		t.Errorf("given back with a process in it: %v", err)
	}
	end(t, s.Group)
	m.signal()
	if err := s.Remove(); err != nil {
		t.Error(err)
	}
	// What was used after the last look is not known, so nobody may count from it.
	if next := take(t, p, Limits{MemoryMB: 64}); next.name == s.name {
		t.Error("used again though its counters went on")
	}
}

func TestSlotsAreFoundByTheNextDaemon(t *testing.T) {
	p := pool(t)
	first := take(t, p, Limits{MemoryMB: 64})
	spin(t, first)
	giveBack(t, first)
	mine, free := take(t, p, Limits{MemoryMB: 64}), take(t, p, Limits{MemoryMB: 64})
	giveBack(t, free)
	lost := take(t, p, Limits{PIDs: 9})
	m := join(t, lost.Group, "sleep")

	tree, err := Open("", p.tree.Bases())
	if err != nil {
		t.Fatal(err)
	}
	later := NewPool(tree)
	found := later.Find(mine.Mark())
	if found == nil || found.name != mine.name {
		t.Fatalf("%q: found %+v", mine.Mark(), found)
	}
	if used := found.Final(); used != (Stats{}) {
		t.Errorf("of the job before it is counted: %+v", used)
	}
	for _, mark := range []string{"", "slot_999 0 0 0", "../x 0 0 0", "slot_/../../x 0 0 0", strings.Fields(mine.Mark())[0]} {
		if s := later.Find(mark); s != nil {
			t.Errorf("%q: found %s", mark, s.name)
		}
	}
	if busy := later.Sweep([]string{mine.Mark()}); len(busy) != 1 || busy[0] != lost.name {
		t.Errorf("busy %q, want %s", busy, lost.name)
	}
	if exists(free.v2) || !exists(mine.v2) {
		t.Errorf("after the sweep: free one there %v, the job's there %v", exists(free.v2), exists(mine.v2))
	}
	p.free = nil // it was another's
	fresh := take(t, later, Limits{MemoryMB: 64})
	if fresh.name == mine.name || fresh.name == lost.name {
		t.Errorf("%s is taken", fresh.name)
	}
	end(t, lost.Group)
	m.signal()
}
