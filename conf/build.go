package conf

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a node may have no zone files

	"muster/internal/hostlist"
	"muster/job"
	"muster/partition"
)

// builder makes the cluster out of the schema and checks what needs more than
// one value.
type builder struct {
	*decoder
	schema *schema
	file   File
	nodes  []string // names, in the order of the file
	// where says which path brought a name in, by kind and name.
	where map[string]string
}

// build always returns a file; it is only of use without problems.
func (b *builder) build() *File {
	s := b.schema
	b.where = map[string]string{}
	b.file.Cluster = partition.Cluster{
		Name:     s.Name,
		TimeZone: s.TimeZone,
		Timers: partition.Timers{
			KillWait: uint32(s.Timers.KillWait), MinJobAge: uint32(s.Timers.MinJobAge),
			NodeTimeout: uint32(s.Timers.NodeTimeout), Silent: uint32(s.Timers.Silent),
			Heartbeat: uint32(s.Timers.Heartbeat), OverTime: s.Timers.OverTime,
			Sampling: uint32(s.Timers.Sampling), BatchStart: uint32(s.Timers.BatchStart),
		},
		Programs: partition.Programs{Prolog: b.program("programs", "prolog", s.Programs.Prolog), Epilog: b.program("programs", "epilog", s.Programs.Epilog), Time: uint32(s.Programs.Time)},
	}
	b.checkName("name", "cluster", s.Name)
	// "Local" would mean another zone on each controller.
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "Local" || s.TimeZone == "" {
		b.fail("time_zone", "time_zone: %s is no time zone; write an IANA name such as Europe/Berlin", kindOf(s.TimeZone))
	}
	b.checkTimers()
	b.checkPrograms()
	b.limits()
	b.policy()
	b.controllers()
	for i := range s.Nodes {
		b.nodeTable(tableAt("node", i), &s.Nodes[i])
	}
	if len(s.Nodes) == 0 {
		b.fail("", `no [[node]]: a cluster needs one, such as names = "n[1-4]", cpus = 8, memory = "16G"`)
	}
	b.topologies()
	b.partitions()
	b.licenses()
	b.rules()
	return &b.file
}

// first notes that a name is taken; it fails if it was.
func (b *builder) first(path, kind, name string) bool {
	if before, taken := b.where[kind+" "+name]; taken {
		b.fail(path, "%s %s is there twice; the first is in line %d", kind, name, b.lines.of(before))
		return false
	}
	b.where[kind+" "+name] = path
	return true
}

// checkName holds names to what stands in lists, files and host names.
func (b *builder) checkName(path, kind, name string) bool {
	if name == "" {
		b.fail(path, "the %s has no name", kind)
		return false
	}
	for _, c := range []byte(name) {
		plain := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.'
		if !plain || len(name) > 64 || name[0] == '-' || name[0] == '.' {
			b.fail(path, "%s name %s: want up to 64 letters, digits, - _ and ., the first a letter or digit", kind, kindOf(name))
			return false
		}
	}
	return true
}

func (b *builder) checkTimers() {
	t := b.file.Cluster.Timers
	if uint64(t.Silent)*1000 < 2*uint64(t.Heartbeat) {
		b.fail("timers.silent", "silent: %d s is less than two heartbeats of %d ms; every node would seem silent", t.Silent, t.Heartbeat)
	}
	if t.NodeTimeout < t.Silent {
		b.fail("timers.node_timeout", "node_timeout: %d s is less than silent, %d s", t.NodeTimeout, t.Silent)
	}
}

// checkPrograms: a program without time would fail for every job, and so drain all
// nodes.
func (b *builder) checkPrograms() {
	if p := b.file.Cluster.Programs; p.Time == 0 && p.Prolog+p.Epilog != "" {
		b.fail("programs.time", "time: want at least 1s for prolog and epilog")
	}
}

func (b *builder) limits() {
	l := b.schema.Limits
	const most = 64 // MB: one raft entry carries a blob
	for key, v := range map[string]megabytes{"max_script": l.MaxScript, "max_environment": l.MaxEnv} {
		if v < 1 || v > most {
			b.fail("limits."+key, "%s: want 1M to %dM", key, most)
		}
	}
	// Slurm's own bound of MaxArraySize (slurm.conf(5)).
	if l.MaxArraySize > 4000001 {
		b.fail("limits.max_array_size", "max_array_size: want at most 4000001")
	}
	b.file.Cluster.Limits = partition.Limits{
		MaxArraySize: uint32(l.MaxArraySize), MaxJobs: uint32(l.MaxJobs),
		MaxScript: uint32(l.MaxScript << 20), MaxEnv: uint32(l.MaxEnv << 20),
	}
}

// controllers takes the controllers, or makes the one of a file without any.
func (b *builder) controllers() {
	tables := b.schema.Controllers
	if len(tables) == 0 {
		var c controllerTable
		b.table("controller", nil, &c)
		c.Name, c.Addresses = "localhost", []string{"127.0.0.1"}
		tables = []controllerTable{c}
	}
	votes := 0
	for _, c := range tables {
		if c.Votes {
			votes++
		}
	}
	if votes == 0 {
		b.fail(tableAt("controller", 0), "no controller votes, so none can lead")
	} else if votes%2 == 0 {
		b.fail(tableAt("controller", len(tables)-1), "%d controllers survive the loss of no more than %d would; write an odd number", votes, votes-1)
	}
	for i, c := range tables {
		path := tableAt("controller", i)
		if !b.checkName(path, "controller", c.Name) || !b.first(path, "controller", c.Name) {
			continue
		}
		if len(c.Addresses) == 0 {
			c.Addresses = []string{c.Name}
		}
		if len(c.Port) > 1 {
			b.fail(path+".port", "port: a controller has one")
			continue
		}
		b.file.Controllers = append(b.file.Controllers, Daemon{
			Name: c.Name, Addresses: c.Addresses, Bind: c.Bind, Port: portOf(c.Port, 0), DataDir: c.DataDir, Votes: c.Votes,
		})
	}
}

// portOf is the port of the i-th daemon of a list; a single port is everyone's.
func portOf(p ports, i int) uint16 {
	if i < len(p) {
		return p[i]
	}
	if len(p) == 1 {
		return p[0]
	}
	return 0
}

func (b *builder) licenses() {
	for i, l := range b.schema.Licenses {
		path := tableAt("license", i)
		if !b.checkName(path, "license", l.Name) || !b.first(path, "license", l.Name) {
			continue
		}
		if l.Total == 0 {
			b.fail(path, "license %s has no total", l.Name)
		}
		b.file.Cluster.Licenses = append(b.file.Cluster.Licenses, partition.License{Name: l.Name, Total: uint32(l.Total)})
	}
}

// memory makes the memory of a pair of settings of which one may be set.
func (b *builder) memory(path, which string, perCPU, perNode megabytes) job.Memory {
	switch {
	case perCPU > 0 && perNode > 0:
		b.fail(path+"."+which+"_per_node", "%s_per_cpu and %s_per_node are both set; keep one", which, which)
	case perCPU > 0:
		return job.Memory{Per: job.MemoryPerCPU, MB: uint64(perCPU)}
	case perNode > 0:
		return job.Memory{Per: job.MemoryPerNode, MB: uint64(perNode)}
	}
	return job.Memory{}
}

// oneOf checks a word against the ones known, in any case of letters, and
// returns it as known.
func (b *builder) oneOf(path, key, word string, known ...string) string {
	i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, word) })
	if i >= 0 {
		return known[i]
	}
	b.fail(path+"."+key, "%s: %s is not known%s", key, kindOf(word), suggest(word, known))
	return ""
}

// expand reads a host list of the file.
func (b *builder) expand(path, key, expr string) []string {
	names, err := hostlist.Expand(expr)
	if err != nil {
		b.fail(path+"."+key, "%s: %v", key, err)
	}
	return names
}
