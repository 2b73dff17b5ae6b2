package topo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"muster/gres"
)

// Sysfs looks at the PCI devices of a machine; sys is its /sys. Links between
// NVIDIA's devices are not there (NVML knows them); those between AMD's are, in the
// topology of the kfd driver (kernel documentation, Documentation/gpu/amdgpu). It
// is nil without an error when the machine has neither GPUs nor network cards.
func Sysfs(sys fs.FS) (*Machine, error) {
	entries, err := fs.ReadDir(sys, "bus/pci/devices")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("PCI devices: %w", err)
	}
	r := &sysReader{sys: sys, number: map[string]int{}, made: map[string]int{}}
	r.host = true
	for _, e := range entries { // in the order of bus ids
		r.device(e.Name())
	}
	if len(r.gpus)+len(r.nics) == 0 {
		return nil, nil
	}
	r.xgmi()
	return r.machine()
}

type sysReader struct {
	tree
	sys    fs.FS
	number map[string]int // of NUMA domains and bridges, by name
	made   map[string]int // devices of each vendor so far
}

// text is the content of a small file, "" if it cannot be read.
func (r *sysReader) text(name string) string {
	b, err := fs.ReadFile(r.sys, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (r *sysReader) device(bus string) {
	dir := "bus/pci/devices/" + bus
	class := strings.TrimPrefix(r.text(dir+"/class"), "0x")
	vendor := r.text(dir + "/vendor")
	gpu := isGPU(class) || strings.HasPrefix(class, "0300") && vendor == "0x10de" // cards for desks
	if !gpu && !strings.HasPrefix(class, "02") {
		return
	}
	c := card{bus: strings.ToLower(bus), cpus: cpuList(r.text(dir + "/local_cpulist")), numa: -1}
	if n, err := strconv.Atoi(r.text(dir + "/numa_node")); err == nil && n >= 0 {
		c.numa = n
	}
	c.above = append(c.above, r.named("numa "+strconv.Itoa(c.numa)))
	for _, bridge := range r.bridges(dir, bus) {
		c.above = append(c.above, r.named(bridge))
	}
	if gpu {
		r.maker(&c, dir, vendor)
		r.gpus = append(r.gpus, c)
		return
	}
	for _, kind := range []string{"infiniband", "net"} {
		if list, err := fs.ReadDir(r.sys, dir+"/"+kind); err == nil && len(list) > 0 {
			c.name, c.rdma = list[0].Name(), kind == "infiniband"
			break
		}
	}
	if c.name != "" { // else no driver has it
		r.nics = append(r.nics, c)
	}
}

// maker fills in what is known of the devices of each maker, by PCI vendor: the
// device file, which is numbered in the order of the bus or is the render node that
// the driver shows, and the variable that its library reads.
func (r *sysReader) maker(c *card, dir, vendor string) {
	makers := map[string]struct{ file, variable string }{
		"0x10de": {"/dev/nvidia%d", "CUDA_VISIBLE_DEVICES"},
		"0x1002": {"", "ROCR_VISIBLE_DEVICES"},
		"0x1d94": {"", "HIP_VISIBLE_DEVICES"}, // Hygon
		"0x8086": {"", "ZE_AFFINITY_MASK"},
		"0x19e5": {"/dev/davinci%d", "ASCEND_RT_VISIBLE_DEVICES"},
		"0xcabc": {"/dev/cambricon_dev%d", "MLU_VISIBLE_DEVICES"},
	}
	m, known := makers[vendor]
	if !known {
		return
	}
	c.seen = m.variable
	if m.file != "" {
		c.file = fmt.Sprintf(m.file, r.made[vendor])
		r.made[vendor]++
		return
	}
	list, err := fs.ReadDir(r.sys, dir+"/drm")
	if err != nil {
		return
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "renderD") {
			c.file = "/dev/dri/" + e.Name()
		}
	}
}

// named numbers domains and bridges.
func (r *sysReader) named(name string) int {
	if r.number[name] == 0 {
		r.number[name] = len(r.number) + 1
	}
	return r.number[name]
}

// bridges are the host bridge and the bridges above a device, which stand in the
// name of the folder that its link names: pci0000:00/0000:00:01.0/0000:01:00.0.
func (r *sysReader) bridges(dir, bus string) []string {
	link, err := fs.ReadLink(r.sys, dir)
	if err != nil {
		return []string{"pci" + bus[:min(7, len(bus))]}
	}
	var out []string
	for _, part := range strings.Split(path.Dir(link), "/") {
		if strings.HasPrefix(part, "pci") || len(out) > 0 {
			out = append(out, part)
		}
	}
	return out
}

// kfdXGMI is the type of an XGMI link in the kfd driver's topology
// (HSA_IOLINKTYPE_XGMI of the kernel's kfd_crat.h).
const kfdXGMI = "11"

// xgmi reads the links between AMD's devices.
func (r *sysReader) xgmi() {
	const nodes = "class/kfd/kfd/topology/nodes"
	list, err := fs.ReadDir(r.sys, nodes)
	if err != nil {
		return
	}
	gpu := map[string]int{} // by the number of the kfd node
	for _, e := range list {
		p := properties(r.text(nodes + "/" + e.Name() + "/properties"))
		domain, _ := strconv.ParseUint(p["domain"], 10, 32)
		loc, err := strconv.ParseUint(p["location_id"], 10, 32)
		if err != nil || loc == 0 {
			continue
		}
		bus := fmt.Sprintf("%04x:%02x:%02x.%x", domain, loc>>8&255, loc>>3&31, loc&7)
		if at := slices.IndexFunc(r.gpus, func(c card) bool { return c.bus == bus }); at >= 0 {
			gpu[e.Name()] = at
		}
	}
	for _, e := range list {
		from, ok := gpu[e.Name()]
		links, err := fs.ReadDir(r.sys, nodes+"/"+e.Name()+"/io_links")
		if !ok || err != nil {
			continue
		}
		for _, l := range links {
			p := properties(r.text(nodes + "/" + e.Name() + "/io_links/" + l.Name() + "/properties"))
			if to, ok := gpu[p["node_to"]]; ok && to != from && p["type"] == kfdXGMI {
				r.link(from, to, gres.LinkOf(gres.XGMI, 1))
			}
		}
	}
}

// properties are lines of a name and a value.
func properties(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[name] = value
		}
	}
	return out
}
