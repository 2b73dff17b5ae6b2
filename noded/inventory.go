package noded

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/api/pb"
	"muster/conf"
	"muster/gres"
)

// inventory is what the node has.
type inventory struct {
	Sockets, CoresPerSocket, ThreadsPerCore uint32
	MemoryMB, TmpDiskMB                     uint64
	Devices                                 []device
	NICs                                    []gres.NIC
	Links                                   gres.Links // of GPUs and cards
	Open                                    bool       // jobs may open all devices
	NICVariables                            []string   // for the cards near a job's GPUs
	HostName                                string     // declared; "" if none is
	Cores                                   [][]int    // CPU numbers of each core; nil where the declaration is not the machine
	Booted                                  time.Time
}

// takeInventory reads the declaration, or looks at the machine.
func takeInventory(declare, dataDir string) (*inventory, error) {
	machine, err := lookAround("/sys/devices/system/cpu", dataDir)
	if err != nil {
		return nil, err
	}
	machine.Booted = bootTime()
	if declare == "" {
		err := machine.look(os.DirFS("/sys"))
		return machine, err
	}
	return machine.declared(declare)
}

// declared is what a node of a throw-away cluster says it has.
func (machine *inventory) declared(declare string) (*inventory, error) {
	d, err := conf.LoadDeclaration(declare)
	if err != nil {
		return nil, err
	}
	v := &inventory{
		Sockets: max(d.Sockets, 1), CoresPerSocket: max(d.CoresPerSocket, 1), ThreadsPerCore: max(d.Threads, 1),
		MemoryMB: cmp.Or(d.MemoryMB, machine.MemoryMB), TmpDiskMB: cmp.Or(d.TmpDiskMB, machine.TmpDiskMB),
		HostName: d.HostName, Booted: machine.Booted,
	}
	if d.Real {
		if n := v.Sockets * v.CoresPerSocket; int(n) > len(machine.Cores) {
			return nil, fmt.Errorf("declaration of the node %s: real, with %d cores, but the machine has %d", declare, n, len(machine.Cores))
		}
		v.Cores = machine.Cores
	}
	for _, g := range d.Gres {
		if len(g.Files) > 0 && g.Count != 0 && int(g.Count) != len(g.Files) {
			return nil, fmt.Errorf("declaration of the node %s: %d devices %s but %d files", declare, g.Count, g.Name, len(g.Files))
		}
		v.add(g)
	}
	if d.Topology != "" {
		m, err := describedBy(d.Topology)
		if err != nil {
			return nil, err
		}
		v.describe(m)
	}
	return v, nil
}

// add adds the devices of one kind, numbered after those of the same name.
func (v *inventory) add(g conf.DeclaredGres) {
	var next uint32
	for _, d := range v.Devices {
		if d.Name == g.Name {
			next++
		}
	}
	for i := range max(g.Count, uint32(len(g.Files))) {
		d := device{Name: g.Name, Type: g.Type, Index: next + i}
		if int(i) < len(g.Files) {
			d.File = g.Files[i]
		}
		v.Devices = append(v.Devices, d)
	}
}

// hasDeviceFiles tells whether there is any device to keep from jobs.
func (v *inventory) hasDeviceFiles() bool {
	return slices.ContainsFunc(v.Devices, func(d device) bool { return d.File != "" })
}

// lookAround finds out what the machine has. CPUs that are off are left out.
func lookAround(cpus, dataDir string) (*inventory, error) {
	online, err := os.ReadFile(filepath.Join(cpus, "online"))
	if err != nil {
		return nil, fmt.Errorf("processors of this machine: %w", err)
	}
	list, err := parseCPUs(strings.TrimSpace(string(online)))
	if err != nil {
		return nil, fmt.Errorf("processors of this machine: %w", err)
	}
	type coreID struct{ socket, core int }
	byCore := map[coreID][]int{}
	sockets := map[int]bool{}
	for _, c := range list {
		dir := filepath.Join(cpus, "cpu"+strconv.Itoa(c), "topology")
		id := coreID{readInt(filepath.Join(dir, "physical_package_id"), 0), readInt(filepath.Join(dir, "core_id"), c)}
		sockets[id.socket] = true
		byCore[id] = append(byCore[id], c)
	}
	ids := make([]coreID, 0, len(byCore))
	for id := range byCore {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b coreID) int {
		return cmp.Or(cmp.Compare(a.socket, b.socket), cmp.Compare(a.core, b.core))
	})
	v := &inventory{Sockets: uint32(len(sockets)), ThreadsPerCore: 1, MemoryMB: memInfoKB("MemTotal") / 1024}
	for _, id := range ids {
		v.Cores = append(v.Cores, byCore[id])
		v.ThreadsPerCore = max(v.ThreadsPerCore, uint32(len(byCore[id])))
	}
	v.CoresPerSocket = uint32(len(ids)) / v.Sockets
	var st unix.Statfs_t
	if err := unix.Statfs("/tmp", &st); err == nil {
		v.TmpDiskMB = st.Blocks * uint64(st.Bsize) >> 20
	}
	return v, nil
}

func readInt(file string, otherwise int) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// parseCPUs reads a list such as 0-3,8.
func parseCPUs(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(part, "-")
		if !span {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err := errors.Join(err1, err2); err != nil || a > b {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		for c := a; c <= b; c++ {
			out = append(out, c)
		}
	}
	return out, nil
}

// cpuList is the machine's CPUs for cores of the node, as a cpuset wants them;
// "" where jobs are not bound.
func (v *inventory) cpuList(cores []uint32) string {
	if v.Cores == nil {
		return ""
	}
	var out []string
	for _, c := range cores {
		if int(c) >= len(v.Cores) {
			return ""
		}
		for _, cpu := range v.Cores[c] {
			out = append(out, strconv.Itoa(cpu))
		}
	}
	return strings.Join(out, ",")
}

// message is the inventory for the controllers.
func (v *inventory) message() *pb.Inventory {
	m := &pb.Inventory{
		Boards: 1, Sockets: v.Sockets, CoresPerSocket: v.CoresPerSocket, ThreadsPerCore: v.ThreadsPerCore,
		Cpus: v.Sockets * v.CoresPerSocket * v.ThreadsPerCore, MemoryMb: v.MemoryMB, TmpDiskMb: v.TmpDiskMB,
	}
	v.devicesMessage(m)
	return m
}

// bootTime is when the machine was started.
func bootTime() time.Time {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return time.Now()
	}
	first, _, _ := strings.Cut(string(b), " ")
	up, err := time.ParseDuration(first + "s")
	if err != nil {
		return time.Now()
	}
	return time.Now().Add(-up)
}

// system is the operating system as Slurm shows it, name, release and version, and
// the machine's kind as the kernel calls it.
func system() (os, arch string) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "Linux", runtime.GOARCH
	}
	word := func(b [65]byte) string { return unix.ByteSliceToString(b[:]) }
	return word(u.Sysname) + " " + word(u.Release) + " " + word(u.Version), word(u.Machine)
}
