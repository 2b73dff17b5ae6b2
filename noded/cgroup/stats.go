package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stats is what a job has used until now; what can't be measured is 0.
type Stats struct {
	UserUS, SystemUS uint64 // CPU time in microseconds
	RSSKB            uint64 // memory of its processes now, file cache not counted
	OOMKills         uint64 // processes that the kernel killed for memory
}

// Stats reads what a running job uses.
func (g *Group) Stats() Stats {
	s := g.Final()
	if g.pure {
		s.RSSKB = field(filepath.Join(g.v2, "memory.stat"), "anon") / 1024
	} else if d := g.dirs["memory"]; d != "" {
		s.RSSKB = field(filepath.Join(d, "memory.stat"), "total_rss") / 1024
	}
	return s
}

// Final is Stats without the memory that is in use now.
func (g *Group) Final() Stats {
	var s Stats
	if g.v2 != "" {
		f := fields(filepath.Join(g.v2, "cpu.stat"))
		s.UserUS, s.SystemUS = f["user_usec"], f["system_usec"]
	} else if d := g.dirs["cpuacct"]; d != "" {
		s.UserUS = number(filepath.Join(d, "cpuacct.usage_user")) / 1000
		s.SystemUS = number(filepath.Join(d, "cpuacct.usage_sys")) / 1000
	}
	if g.pure {
		s.OOMKills = field(filepath.Join(g.v2, "memory.events"), "oom_kill")
	} else if d := g.dirs["memory"]; d != "" {
		s.OOMKills = field(filepath.Join(d, "memory.oom_control"), "oom_kill")
	}
	return s
}

// field reads one value of a kernel file of "name value" lines.
func field(file, name string) uint64 { return fields(file)[name] }

func fields(file string) map[string]uint64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	out := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); err == nil {
			out[name] = n
		}
	}
	return out
}

func number(file string) uint64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n
}
