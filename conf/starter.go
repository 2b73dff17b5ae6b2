package conf

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"muster/internal/hostlist"
)

// Starter is what a new cluster file is made from.
type Starter struct {
	Name        string // of the cluster; "" is "cluster"
	TimeZone    string // IANA name; "" is UTC
	Controllers []Daemon
	Nodes       []StarterNodes // at least one
	Order       string         // of the queue, as in the file; "": that of a file that does not say
	// Administrators are users, beside root.
	Administrators []string
}

// StarterNodes are nodes of one shape.
type StarterNodes struct {
	Names                   string // host-list expression
	Sockets, Cores, Threads uint32 // cores of a socket, threads of a core; 0 is 1
	MemoryMB                uint64
	Gres                    []string // as in the file: gpu:a100:8
	Devices                 map[string]string
	Features                []string
	Addresses               []string // host-list expressions; none: the names
	Bind                    string
	Ports                   []uint16 // none: the default; one; or one for each node
	DataDir                 string
}

func (n StarterNodes) cpus() uint64 {
	return uint64(max(n.Sockets, 1)) * uint64(max(n.Cores, 1)) * uint64(max(n.Threads, 1))
}

// Init writes a commented cluster file to start from. The file gives a job that
// asks for no memory its share of the node, and does not carry the limit on
// locked memory from the submitting shell; both say why. What it writes passes
// Parse, or Init fails.
func Init(w io.Writer, s Starter) error {
	var b strings.Builder
	b.WriteString("# A cluster of Muster. docs/cluster-toml.md describes every key;\n" +
		"# muster conf check reads this file, muster conf show --defaults prints what is not set.\n")
	setText(&b, "name", s.Name)
	setText(&b, "time_zone", s.TimeZone)
	for _, c := range s.Controllers {
		starterController(&b, c)
	}
	for _, n := range s.Nodes {
		starterNodes(&b, n)
	}
	b.WriteString("\n[[partition]]\nname = \"main\"\nnodes = \"ALL\"\ndefault = true\n")
	starterPolicy(&b, s.Nodes, s.Order, s.Administrators)
	if _, err := Parse("new cluster file", []byte(b.String())); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func starterController(b *strings.Builder, c Daemon) {
	b.WriteString("\n[[controller]]\n")
	setText(b, "name", c.Name)
	setList(b, "addresses", c.Addresses)
	setText(b, "bind", c.Bind)
	if c.Port != 0 {
		fmt.Fprintf(b, "port = %d\n", c.Port)
	}
	setText(b, "data_dir", c.DataDir)
}

func starterNodes(b *strings.Builder, n StarterNodes) {
	b.WriteString("\n[[node]]\n")
	setText(b, "names", n.Names)
	fmt.Fprintf(b, "sockets = %d\ncores = %d # of a socket\nthreads = %d # of a core\nmemory = \"%dM\"\n",
		max(n.Sockets, 1), max(n.Cores, 1), max(n.Threads, 1), n.MemoryMB)
	setList(b, "gres", n.Gres)
	setList(b, "features", n.Features)
	setList(b, "addresses", n.Addresses)
	setText(b, "bind", n.Bind)
	switch texts := portTexts(n.Ports); len(texts) {
	case 0:
	case 1:
		b.WriteString("port = " + texts[0] + "\n")
	default:
		setText(b, "port", hostlist.Compress(texts))
	}
	setText(b, "data_dir", n.DataDir)
	for i, kind := range sortedKeys(n.Devices) {
		if i == 0 {
			b.WriteString("[node.devices]\n")
		}
		setText(b, kind, n.Devices[kind])
	}
}

func starterPolicy(b *strings.Builder, nodes []StarterNodes, order string, admins []string) {
	share := uint64(0)
	for _, n := range nodes {
		if s := n.MemoryMB / n.cpus(); share == 0 || s < share {
			share = s
		}
	}
	fmt.Fprintf(b, `
[policy]
# The memory of a job that asks for none, for each of its CPUs: a CPU's share of
# the node (of the node with least). Without it such a job gets all memory of
# the node, and nothing else runs beside it.
def_mem_per_cpu = "%dM"
# The limit on locked memory is not carried from the submitting shell to jobs:
# a login shell's is low, and InfiniBand and GPU libraries lock more.
propagate_except = ["MEMLOCK"]
`, max(share, 1))
	if len(admins) > 0 {
		b.WriteString("# Who may change accounts and the configuration, beside root.\n")
		setList(b, "administrators", admins)
	}
	if order != "" {
		b.WriteString("# Of jobs of equal priority, short ones start first; the others are kept from\n" +
			"# starving. slurm orders them by time of submission.\n")
		setText(b, "order", order)
	}
}

func portTexts(ports []uint16) []string {
	var texts []string
	for _, p := range ports {
		texts = append(texts, strconv.Itoa(int(p)))
	}
	return texts
}

// setText writes a key, or nothing if the value is empty.
func setText(b *strings.Builder, key, value string) {
	if value != "" {
		fmt.Fprintf(b, "%s = %s\n", key, quote(value))
	}
}

func setList(b *strings.Builder, key string, values []string) {
	var quoted []string
	for _, v := range values {
		quoted = append(quoted, quote(v))
	}
	if len(quoted) > 0 {
		fmt.Fprintf(b, "%s = [%s]\n", key, strings.Join(quoted, ", "))
	}
}

// quote writes a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// HostZone is the IANA name of this host's time zone, "UTC" if it can't be told:
// TZ, /etc/timezone, or what /etc/localtime points to.
func HostZone() string {
	if tz := strings.TrimPrefix(os.Getenv("TZ"), ":"); zoneExists(tz) {
		return tz
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil && zoneExists(strings.TrimSpace(string(text))) {
		return strings.TrimSpace(string(text))
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "/zoneinfo/"); ok && zoneExists(name) {
			return name
		}
	}
	return "UTC"
}
