package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Limits bound what a job may use. Zero is no limit.
type Limits struct {
	MemoryMB uint64
	PIDs     uint64
	CPUs     string   // list of the host's CPUs, as in 0-3,8
	Deny     []string // device files that the job may not open
}

// Group is the control groups of one job.
type Group struct {
	name string
	dirs map[string]string // v1, by controller
	v2   string
	pure bool

	files  kept
	memory uint64 // limit in MB, 0: none yet
}

// Create makes the groups of a job and sets their limits.
func (t *Tree) Create(name string, l Limits) (*Group, error) {
	g := &Group{name: name, dirs: map[string]string{}, pure: t.pure}
	for _, c := range controllers1 {
		if t.v1[c] == "" || !t.needed(c, l) {
			continue
		}
		g.dirs[c] = filepath.Join(t.v1[c], name)
	}
	if t.v2 != "" {
		g.v2 = filepath.Join(t.v2, name)
	}
	for _, dir := range g.all() {
		if err := unix.Mkdir(dir, 0o755); err != nil && err != unix.EEXIST {
			g.Remove()
			return nil, fmt.Errorf("make control group %s: %w", dir, err)
		}
	}
	if err := t.limit(g, l); err != nil {
		g.Remove()
		return nil, err
	}
	return g, nil
}

// needed tells whether a job needs a group of a v1 controller. The v2 hierarchy
// does the freezer's and the accountant's work for less.
func (t *Tree) needed(controller string, l Limits) bool {
	switch controller {
	case "cpuset":
		return l.CPUs != ""
	case "devices":
		return len(l.Deny) > 0
	case "pids":
		return l.PIDs != 0
	case "freezer", "cpuacct":
		return t.v2 == ""
	}
	return true
}

// Find is the groups of a job that an earlier daemon made; nil if there are none.
func (t *Tree) Find(name string) *Group {
	g := &Group{name: name, dirs: map[string]string{}, pure: t.pure}
	found := false
	for c, base := range t.v1 {
		if dir := filepath.Join(base, name); exists(dir) {
			g.dirs[c], found = dir, true
		}
	}
	if dir := filepath.Join(t.v2, name); t.v2 != "" && exists(dir) {
		g.v2, found = dir, true
	}
	if !found {
		return nil
	}
	return g
}

// List names the jobs that have groups.
func (t *Tree) List() []string {
	base := t.v2
	if base == "" {
		base = t.v1["memory"]
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func exists(dir string) bool {
	var st unix.Stat_t
	return unix.Stat(dir, &st) == nil
}

// limit writes the limits, also over those of an earlier job.
func (t *Tree) limit(g *Group, l Limits) error {
	var err error
	set := func(controller, file1, file2, value string) {
		switch {
		case err != nil:
		case g.pure && file2 != "":
			err = g.files.write(filepath.Join(g.v2, file2), value)
		case !g.pure && file1 != "" && g.dirs[controller] != "":
			err = g.files.write(filepath.Join(g.dirs[controller], file1), value)
		}
	}
	if l.MemoryMB != 0 {
		if err := g.limitMemory(l.MemoryMB); err != nil {
			return err
		}
	}
	if l.PIDs != 0 {
		set("pids", "pids.max", "pids.max", strconv.FormatUint(l.PIDs, 10))
	}
	if l.CPUs != "" {
		if dir := g.dirs["cpuset"]; dir != "" {
			mems, rerr := os.ReadFile(filepath.Join(t.v1["cpuset"], "cpuset.mems"))
			if rerr != nil {
				return fmt.Errorf("control group of %s: %w", g.name, rerr)
			}
			set("cpuset", "cpuset.mems", "", strings.TrimSpace(string(mems)))
		}
		set("cpuset", "cpuset.cpus", "cpuset.cpus", l.CPUs)
	}
	if err != nil || len(l.Deny) == 0 || t.DeviceRules() != nil {
		return err
	}
	deny := devices(l.Deny)
	if g.pure {
		return denyDevices(g.v2, deny)
	}
	for _, d := range deny {
		set("devices", "devices.deny", "", d.rule1())
	}
	return err
}

// limitMemory bounds memory, and on kernels that count it memory with swap, to
// the same. The second may never be below the first, so it is raised before it.
func (g *Group) limitMemory(mb uint64) error {
	bytes := strconv.FormatUint(mb<<20, 10)
	raised := g.memory != 0 && mb > g.memory
	g.memory = mb
	if g.pure {
		g.files.write(filepath.Join(g.v2, "memory.swap.max"), "0") // not every kernel has it
		return g.files.write(filepath.Join(g.v2, "memory.max"), bytes)
	}
	dir := g.dirs["memory"]
	if dir == "" {
		return nil
	}
	swap := filepath.Join(dir, "memory.memsw.limit_in_bytes") // not every kernel has it
	if raised {
		g.files.write(swap, bytes)
	}
	err := g.files.write(filepath.Join(dir, "memory.limit_in_bytes"), bytes)
	if !raised {
		g.files.write(swap, bytes)
	}
	return err
}

// optional writes a file that not every kernel has.
func optional(name, value string) {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	unix.Write(fd, []byte(value))
}

// Join1 lists the v1 directories that a process must be put into, and Join2 the
// v2 directory that it is born in; "" if there is none.
func (g *Group) Join1() []string {
	var out []string
	for _, c := range controllers1 {
		if d := g.dirs[c]; d != "" {
			out = append(out, d)
		}
	}
	return out
}

// Join2 is the v2 directory that a process is born in; "" if there is none.
func (g *Group) Join2() string { return g.v2 }

func (g *Group) all() []string {
	dirs := g.Join1()
	if g.v2 != "" {
		dirs = append(dirs, g.v2)
	}
	return dirs
}

// tracker is the directory that knows every process of the job.
func (g *Group) tracker() string {
	if g.v2 != "" {
		return g.v2
	}
	if d := g.dirs["freezer"]; d != "" {
		return d
	}
	return g.dirs["memory"]
}

// PIDs lists the processes of the job.
func (g *Group) PIDs() ([]int, error) {
	b, err := os.ReadFile(filepath.Join(g.tracker(), "cgroup.procs"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("processes of %s: %w", g.name, err)
	}
	var out []int
	for _, w := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(w); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	return out, nil
}

// Freeze stops all processes of the job, or lets them go on.
func (g *Group) Freeze(on bool) error {
	if g.v2 != "" {
		return write(filepath.Join(g.v2, "cgroup.freeze"), map[bool]string{true: "1", false: "0"}[on])
	}
	if d := g.dirs["freezer"]; d != "" {
		return write(filepath.Join(d, "freezer.state"), map[bool]string{true: "FROZEN", false: "THAWED"}[on])
	}
	return fmt.Errorf("%s can't be suspended: no freezer", g.name)
}

// Kill ends all processes of the job and waits until they are gone, or ctx ends.
func (g *Group) Kill(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		pids, err := g.PIDs()
		if err != nil || len(pids) == 0 {
			return err
		}
		if g.v2 == "" || write(filepath.Join(g.v2, "cgroup.kill"), "1") != nil {
			g.killEach(pids)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %d processes do not die: %w", g.name, len(pids), ctx.Err())
		case <-time.After(pause):
		}
	}
}

// killEach kills on a kernel without cgroup.kill. The group is frozen meanwhile,
// so that no process forks away from it; on v1 a frozen one dies when thawed.
func (g *Group) killEach(pids []int) {
	g.Freeze(true)
	if again, err := g.PIDs(); err == nil {
		pids = again
	}
	for _, pid := range pids {
		unix.Kill(pid, unix.SIGKILL)
	}
	g.Freeze(false)
}

// ErrBusy is returned by Remove while processes are left.
var ErrBusy = errors.New("processes are left")

// Remove takes the groups away. The v2 one goes first: while it has processes
// nothing is removed.
func (g *Group) Remove() error {
	g.files.close()
	dirs := g.all()
	for i := len(dirs) - 1; i >= 0; i-- {
		err := rmdir(dirs[i], i == len(dirs)-1)
		if err == unix.EBUSY {
			return fmt.Errorf("control group %s: %w", dirs[i], ErrBusy)
		}
		if err != nil {
			return fmt.Errorf("remove control group %s: %w", dirs[i], err)
		}
	}
	return nil
}

// rmdir removes one directory and what a job made below it. A process that has
// just ended may hold a v1 group for a moment longer.
func rmdir(dir string, first bool) error {
	for try := 0; ; try++ {
		err := unix.Rmdir(dir)
		switch {
		case err == nil || err == unix.ENOENT:
			return nil
		case err == unix.EINTR:
			continue
		case err != unix.EBUSY && err != unix.ENOTEMPTY:
			return err
		}
		removeBelow(dir)
		if first || try == 40 {
			if err := unix.Rmdir(dir); err == nil {
				return nil
			}
			return unix.EBUSY
		}
		time.Sleep(time.Duration(min(try+1, 20)) * time.Millisecond / 2)
	}
}

func removeBelow(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeBelow(filepath.Join(dir, e.Name()))
			unix.Rmdir(filepath.Join(dir, e.Name()))
		}
	}
}
