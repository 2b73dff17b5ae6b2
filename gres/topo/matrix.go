package topo

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"muster/gres"
	"muster/internal/bitset"
)

// escapes are the underlines that nvidia-smi writes even into files.
const escapes = "\x1b\\[[0-9;]*m"

// readMatrix reads the output of nvidia-smi topo -m: a line of names, a line of
// cells for each, then for GPUs the CPUs and the NUMA domain near them, then a
// legend with the names of network cards. Rows of cards may be missing.
func readMatrix(text string) (*Machine, error) {
	text = regexp.MustCompile(escapes).ReplaceAllString(text, "")
	var names []string
	rows := map[string][]string{}
	legend, roles := map[string]string{}, map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case names == nil && f[0] == "GPU0":
			for _, n := range f {
				if n == "CPU" || n == "NUMA" {
					break
				}
				names = append(names, n)
			}
		case len(f) == 2 && strings.HasSuffix(f[0], ":"):
			legend[strings.TrimSuffix(f[0], ":")] = f[1]
		case len(f) == 3 && f[1] == "=" && strings.HasPrefix(f[0], "NIC"):
			roles[f[0]] = f[2]
		case rows[f[0]] == nil:
			rows[f[0]] = f[1:]
		}
	}
	if len(names) > most {
		return nil, fmt.Errorf("matrix: %d devices, want at most %d", len(names), most)
	}
	m := &Machine{}
	links := make(gres.Links, len(names)*len(names))
	for i, name := range names {
		row := rows[name]
		gpu := strings.HasPrefix(name, "GPU") && len(m.NICs) == 0
		if gpu && len(row) < len(names) {
			return nil, fmt.Errorf("matrix: %s has %d cells, want one for each of %d devices", name, len(row), len(names))
		}
		for k := range min(len(row), len(names)) {
			l, ok := gres.ParseLink(row[k])
			if !ok {
				return nil, fmt.Errorf("matrix: %s to %s: %q is no link", name, names[k], row[k])
			}
			links[i*len(names)+k] = l
			if links[k*len(names)+i] == 0 {
				links[k*len(names)+i] = l
			}
		}
		links[i*len(names)+i] = gres.LinkOf(gres.Self, 0)
		if gpu {
			m.addGPU(row[len(names):])
			continue
		}
		nic := gres.NIC{Name: name, Role: gres.ParseRole(roles[name]), RDMA: true} // only such are listed
		if real := legend[name]; real != "" {
			nic.Name = real
		}
		m.NICs = append(m.NICs, nic)
	}
	m.Links = links
	m.GiveRoles()
	return m, nil
}

// addGPU adds a GPU with what stands behind the cells of its row.
func (m *Machine) addGPU(rest []string) {
	d := gres.Device{Name: "gpu", Index: len(m.Devices)}
	numa := -1
	if len(rest) > 0 {
		d.Cores = cpuList(rest[0])
	}
	if len(rest) > 1 {
		if n, err := strconv.Atoi(rest[1]); err == nil {
			numa = n
		}
	}
	m.Devices = append(m.Devices, d)
	m.NUMA = append(m.NUMA, numa)
}

// cpuList reads 0-23,48-71; nil for what is no list.
func cpuList(text string) *bitset.Set {
	out := &bitset.Set{}
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.ParseUint(lo, 10, 14)
		b, err2 := strconv.ParseUint(hi, 10, 14)
		if err1 != nil || err2 != nil || a > b {
			return nil
		}
		out.AddRange(int(a), int(b)+1)
	}
	return out
}

// Write prints a machine as nvidia-smi topo -m does. Other names than NIC0 and so
// on stand in the legend, with the role of each card.
func (m *Machine) Write(w io.Writer) error {
	var b strings.Builder
	n := len(m.Devices) + len(m.NICs)
	name := func(i int) string {
		if i < len(m.Devices) {
			return "GPU" + strconv.Itoa(m.Devices[i].Index)
		}
		return "NIC" + strconv.Itoa(i-len(m.Devices))
	}
	for i := range n {
		b.WriteString("\t" + name(i))
	}
	b.WriteString("\tCPU Affinity\tNUMA Affinity\n")
	for i := range n {
		b.WriteString(name(i))
		for k := range n {
			cell := gres.Link(0)
			if len(m.Links) == n*n {
				cell = m.Links[i*n+k]
			}
			b.WriteString("\t" + cell.String())
		}
		if i < len(m.Devices) {
			numa := "N/A"
			if i < len(m.NUMA) && m.NUMA[i] >= 0 {
				numa = strconv.Itoa(m.NUMA[i])
			}
			b.WriteString("\t" + gres.FormatIndex(m.Devices[i].Cores) + "\t" + numa)
		}
		b.WriteByte('\n')
	}
	m.legend(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Machine) legend(b *strings.Builder) {
	b.WriteString(`
Legend:

  X    = Self
  SYS  = Between NUMA domains
  NODE = Between host bridges of a NUMA domain
  PHB  = Through one host bridge
  PXB  = Through several PCIe bridges
  PIX  = Through one PCIe bridge
  NV#  = # bonded NVLinks
  XGMI# = # bonded XGMI links
`)
	if len(m.NICs) == 0 {
		return
	}
	b.WriteString("\nNIC Legend:\n\n")
	for i, c := range m.NICs {
		fmt.Fprintf(b, "  NIC%d: %s\n", i, c.Name)
	}
	b.WriteString("\nNIC Roles:\n\n")
	for i, c := range m.NICs {
		fmt.Fprintf(b, "  NIC%d = %s\n", i, c.Role)
	}
}
