package cgroup

import (
	"path/filepath"
)

// Stats is what a job has used until now; what can't be measured is 0.
type Stats struct {
	UserUS, SystemUS uint64 // CPU time in microseconds
	RSSKB            uint64 // memory of its processes now, file cache not counted
	OOMKills         uint64 // processes that the kernel killed for memory
}

// less is what came after an earlier look at the same group.
func (s Stats) less(before Stats) Stats {
	s.UserUS -= min(before.UserUS, s.UserUS)
	s.SystemUS -= min(before.SystemUS, s.SystemUS)
	s.OOMKills -= min(before.OOMKills, s.OOMKills)
	return s
}

// Stats reads what a running job uses.
func (g *Group) Stats() Stats {
	s := g.Final()
	s.RSSKB = g.rssKB()
	return s
}

// rssKB is the memory that the processes have now.
func (g *Group) rssKB() uint64 {
	var bytes uint64
	if g.pure {
		g.files.values(filepath.Join(g.v2, "memory.stat"), map[string]*uint64{"anon": &bytes})
	} else if d := g.dirs["memory"]; d != "" {
		g.files.values(filepath.Join(d, "memory.stat"), map[string]*uint64{"total_rss": &bytes})
	}
	return bytes / 1024
}

// Final is Stats without the memory that is in use now.
func (g *Group) Final() Stats {
	var s Stats
	if g.v2 != "" {
		g.files.values(filepath.Join(g.v2, "cpu.stat"), map[string]*uint64{"user_usec": &s.UserUS, "system_usec": &s.SystemUS})
	} else if d := g.dirs["cpuacct"]; d != "" {
		s.UserUS = g.files.number(filepath.Join(d, "cpuacct.usage_user")) / 1000
		s.SystemUS = g.files.number(filepath.Join(d, "cpuacct.usage_sys")) / 1000
	}
	if g.pure {
		g.files.values(filepath.Join(g.v2, "memory.events"), map[string]*uint64{"oom_kill": &s.OOMKills})
	} else if d := g.dirs["memory"]; d != "" {
		g.files.values(filepath.Join(d, "memory.oom_control"), map[string]*uint64{"oom_kill": &s.OOMKills})
	}
	return s
}
