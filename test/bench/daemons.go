package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// daemon is one process whose CPU time is counted.
type daemon struct {
	name string
	pid  int
}

// parsePIDs reads a list such as slurmctld:123,slurmd:124.
func parsePIDs(list string) ([]daemon, error) {
	var out []daemon
	for item := range strings.SplitSeq(list, ",") {
		if item == "" {
			continue
		}
		name, number, _ := strings.Cut(item, ":")
		pid, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("daemon %q: want name:pid", item)
		}
		out = append(out, daemon{name, pid})
	}
	return out, nil
}

// daemons finds the processes of the programs in a directory.
func (b *bench) daemons() []daemon {
	list := slices.Clone(b.more)
	if b.programs == "" {
		return list
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, dir := range dirs {
		exe, err := os.Readlink(dir + "/exe")
		if err != nil || filepath.Dir(exe) != b.programs {
			continue
		}
		line, err := os.ReadFile(dir + "/cmdline")
		args := strings.Split(string(line), "\x00")
		if err != nil || len(args) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		switch name := filepath.Base(exe); {
		case name == "muster-shepherd":
			list = append(list, daemon{"shepherds", pid})
		case name == "musterd" && slices.Contains(args, "--login"):
			list = append(list, daemon{"login agent", pid})
		case name == "musterd":
			list = append(list, daemon{args[1] + "s", pid})
		}
	}
	return list
}

// used is the CPU time of all daemons until now, by name, in milliseconds.
func (b *bench) used() map[string]int {
	sum := map[string]int{}
	for _, d := range b.daemons() {
		sum[d.name] += cpu(d.pid)
	}
	return sum
}

// cpu is a process's user and system time in milliseconds; 0 if it is gone.
func cpu(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// proc(5): utime and stime are fields 14 and 15, in hundredths of a second;
	// the name, field 2, may hold anything.
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return 10 * (user + system)
}

// cost is the CPU time of a job in all daemons, and in each kind.
func cost(before, after map[string]int, jobs int) string {
	var parts []string
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		ms := after[name] - before[name]
		sum += ms
		parts = append(parts, fmt.Sprintf("%s %.2f", name, float64(ms)/float64(jobs)))
	}
	return fmt.Sprintf("%.2f ms CPU a job in all daemons (%s)", float64(sum)/float64(jobs), strings.Join(parts, ", "))
}
