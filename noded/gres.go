package noded

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"muster/api/pb"
	"muster/api/slurm"
	"muster/gres"
	"muster/gres/topo"
	"muster/internal/bitset"
)

// device is one device of the node.
type device struct {
	Name, Type string
	Index      uint32
	File       string // "" if it is only counted
	UUID       string
	Visible    string      // variables that name it to programs; "": the usual ones
	Cores      *bitset.Set // near it; nil: all
}

// inventory is what the node has, as far as it is known now.
func (n *Node) inventory() *inventory { return n.found.Load() }

// learn takes in what a controller says of this node's devices.
func (n *Node) learn(w *pb.Welcome) { n.found.Store(n.inventory().learn(w)) }

// nicsVariable always names the cards near a job's GPUs.
const nicsVariable = "MUSTER_JOB_NICS"

// visible are the variables for the devices that a job, or given one of its tasks,
// is to use; the job's are those that it can open. given tells a task's devices;
// nil is all of the job's.
func (n *Node) visible(held []*pb.PartDevice, given func(name string, index int) bool) []string {
	v := n.inventory()
	constrained := !v.Open && n.tree != nil && n.tree.DeviceRules() == nil
	var open []slurm.Device
	gpus := &bitset.Set{}
	for i := range v.Devices {
		d := &v.Devices[i]
		if !holds(held, d) {
			continue
		}
		constrained = constrained && d.File != ""
		mine := given == nil || given(d.Name, int(d.Index))
		if mine && d.Name == "gpu" {
			gpus.Add(int(d.Index))
		}
		open = append(open, slurm.Device{Name: d.Name, Type: d.Type, Index: int(d.Index), UUID: d.UUID, File: d.File, Variables: d.Visible, Given: mine})
	}
	out := slurm.VisibleDevices(open, constrained)
	nics := strings.Join(v.nicsNear(gpus), ",")
	if nics == "" {
		return out
	}
	for _, name := range append([]string{nicsVariable}, v.NICVariables...) {
		value := nics
		if name == "UCX_NET_DEVICES" { // UCX wants the port too
			value = strings.ReplaceAll(nics, ",", ":1,") + ":1"
		}
		out = append(out, name+"="+value)
	}
	return out
}

// describe adds what a description of the machine says of GPUs, network cards and
// links. The GPUs of the description are those of the node, by their numbers.
func (v *inventory) describe(m *topo.Machine) {
	v.NICs = m.NICs
	if len(m.Devices) != v.count("gpu") {
		v.NICs = nil // a matrix with other rows says nothing of these
		return
	}
	v.Links = m.Links
	for i := range v.Devices {
		d := &v.Devices[i]
		if d.Name != "gpu" || int(d.Index) >= len(m.Devices) {
			continue
		}
		d.Cores = v.coresNear(m, int(d.Index))
		if d.UUID == "" {
			d.UUID = m.Devices[d.Index].UUID
		}
	}
}

// count is the number of devices of a name.
func (v *inventory) count(name string) int {
	n := 0
	for i := range v.Devices {
		if v.Devices[i].Name == name {
			n++
		}
	}
	return n
}

// coresNear are the node's cores near a GPU: those of the CPUs that the
// description names, or, where the node is declared and has other CPUs, the share
// of its cores that the GPU's NUMA domain has in the machine.
func (v *inventory) coresNear(m *topo.Machine, gpu int) *bitset.Set {
	out := &bitset.Set{}
	if v.Cores != nil {
		cpus := m.Devices[gpu].Cores
		for core, list := range v.Cores {
			if slices.ContainsFunc(list, func(cpu int) bool { return cpus.Has(cpu) }) {
				out.Add(core)
			}
		}
	} else {
		domains := slices.Clone(m.NUMA)
		slices.Sort(domains)
		domains = slices.Compact(domains)
		at := slices.Index(domains, m.NUMA[gpu])
		cores := int(v.Sockets * v.CoresPerSocket)
		if m.NUMA[gpu] >= 0 {
			out.AddRange(at*cores/len(domains), (at+1)*cores/len(domains))
		}
	}
	if out.Empty() {
		return nil
	}
	return out
}

// describedBy reads a description from a file.
func describedBy(file string) (*topo.Machine, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("description of the node's devices: %w", err)
	}
	m, err := topo.Read(text)
	if err != nil {
		return nil, fmt.Errorf("description of the node's devices: %s: %w", file, err)
	}
	return m, nil
}

// look finds the GPUs that the machine itself shows.
func (v *inventory) look(sys fs.FS) error {
	m, err := topo.Sysfs(sys)
	if m == nil || err != nil {
		return err
	}
	for i := range m.Devices {
		d := &m.Devices[i]
		v.Devices = append(v.Devices, device{Name: d.Name, Index: uint32(d.Index), File: d.File, Visible: d.Visible})
	}
	v.describe(m)
	return nil
}

// learn takes in devices that the cluster file declares for the node: what was
// found stays, files and variables come from the file. It returns a copy, since
// launches read the inventory meanwhile.
func (v *inventory) learn(w *pb.Welcome) *inventory {
	out := *v
	out.Open, out.NICVariables = w.OpenDevices, w.NicVariables
	out.Devices = slices.Clone(v.Devices)
	for _, d := range w.Devices {
		at := slices.IndexFunc(out.Devices, func(x device) bool { return x.Name == d.Name && x.Index == d.Index })
		if at < 0 {
			at = len(out.Devices)
			out.Devices = append(out.Devices, device{Name: d.Name, Index: d.Index})
		}
		x := &out.Devices[at]
		if d.Visible != "" {
			x.Visible = d.Visible
		}
		if x.File == "" {
			x.File = d.File
		}
		if d.Type != "" {
			x.Type = d.Type
		}
		if x.UUID == "" {
			x.UUID = d.Uuid
		}
	}
	return &out
}

// denied are the device files that a job with some devices may not open.
func (v *inventory) denied(held []*pb.PartDevice) []string {
	if v.Open {
		return nil
	}
	var out []string
	for i := range v.Devices {
		if d := &v.Devices[i]; d.File != "" && !holds(held, d) {
			out = append(out, d.File)
		}
	}
	return out
}

func holds(held []*pb.PartDevice, d *device) bool {
	return slices.ContainsFunc(held, func(p *pb.PartDevice) bool { return p.Name == d.Name && slices.Contains(p.Index, d.Index) })
}

// devicesMessage is what the controllers are told of the devices.
func (v *inventory) devicesMessage(m *pb.Inventory) {
	for i := range v.Devices {
		d := &v.Devices[i]
		p := &pb.Device{Name: d.Name, Type: d.Type, Index: d.Index, File: d.File, Uuid: d.UUID}
		for c := range d.Cores.All {
			p.Cores = append(p.Cores, uint32(c))
		}
		m.Devices = append(m.Devices, p)
	}
	for _, n := range v.NICs {
		m.Nics = append(m.Nics, &pb.NIC{Name: n.Name, Role: uint32(n.Role), Rdma: n.RDMA})
	}
	for _, l := range v.Links {
		m.Links = append(m.Links, uint32(l))
	}
}

// nicsNear are the fabric cards near the GPUs that a job has on this node.
func (v *inventory) nicsNear(gpus *bitset.Set) []string {
	g := gres.Inventory{NICs: v.NICs, Links: v.Links}
	for i := range v.Devices {
		if d := &v.Devices[i]; d.Name == "gpu" {
			g.Devices = append(g.Devices, gres.Device{Name: d.Name, Index: int(d.Index)})
		}
	}
	return g.NICsNear(gpus.Has)
}
