// Package topo reads descriptions of a node's GPUs, network cards and the links
// between them, and writes them as the matrix of nvidia-smi topo -m.
package topo

import (
	"bytes"
	"errors"
	"fmt"

	"muster/gres"
	"muster/internal/bitset"
)

// most bounds the GPUs and cards of one description.
const most = 256

// Machine is what a description says. The Cores of its devices are the CPUs near
// them, by the machine's own numbers; nil if it does not say.
type Machine struct {
	gres.Inventory
	NUMA []int // domain of each GPU, -1 if not known
}

// Read finds out which kind of description it is given: the output of nvidia-smi
// topo -m (or the same as tab-separated values), an NCCL or RCCL topology file, or
// hwloc's XML.
func Read(text []byte) (*Machine, error) {
	head := text[:min(len(text), 4096)]
	switch {
	case bytes.Contains(head, []byte("<system")):
		return readNCCL(text)
	case bytes.Contains(head, []byte("<topology")):
		return readHwloc(text)
	case bytes.Contains(text, []byte("GPU0")):
		return readMatrix(string(text))
	}
	return nil, errors.New("neither nvidia-smi's matrix, nor an NCCL topology, nor hwloc's XML")
}

// card is a GPU or a network card in a tree of bridges.
type card struct {
	name  string
	bus   string // PCI bus id, lower case
	above []int  // numbers of what it is below, from the NUMA domain to the last bridge
	cpus  *bitset.Set
	numa  int
	model string
	uuid  string
	file  string // device file
	seen  string // variables that name the device to programs
	rdma  bool
}

// tree is what the XML formats have in common. above[0] of a card is its NUMA
// domain; where host is true, above[1] is its host bridge.
type tree struct {
	gpus, nics []card
	host       bool
	peer       map[[2]int]gres.Link // links between GPUs, both ways
}

// machine makes the matrix out of the places in the tree.
func (t *tree) machine() (*Machine, error) {
	if len(t.gpus)+len(t.nics) > most {
		return nil, fmt.Errorf("more than %d devices are described", most)
	}
	m := &Machine{}
	for i := range t.gpus {
		g := &t.gpus[i]
		m.Devices = append(m.Devices, gres.Device{Name: "gpu", Type: g.model, Index: i, UUID: g.uuid, Cores: g.cpus, File: g.file, Visible: g.seen})
		m.NUMA = append(m.NUMA, g.numa)
	}
	for i := range t.nics {
		c := &t.nics[i]
		m.NICs = append(m.NICs, gres.NIC{Name: c.name, RDMA: c.rdma})
	}
	all := append(append([]card(nil), t.gpus...), t.nics...)
	for i := range all {
		for k := range all {
			l, known := t.peer[[2]int{i, k}]
			if !known {
				l = gres.LinkOf(t.path(&all[i], &all[k], i == k), 0)
			}
			m.Links = append(m.Links, l)
		}
	}
	m.GiveRoles()
	return m, nil
}

// path is the way between two cards, by the lowest thing that both are below. A
// switch is one bridge up and one bridge down, so cards that are at most one
// bridge below a common one are on one switch.
func (t *tree) path(a, b *card, same bool) gres.Path {
	common := 0
	for common < len(a.above) && common < len(b.above) && a.above[common] == b.above[common] {
		common++
	}
	switch {
	case same:
		return gres.Self
	case common == 0:
		return gres.SYS
	case common == 1 && t.host:
		return gres.NODE
	case common == 1, common == 2 && t.host:
		return gres.PHB
	case len(a.above)-common <= 1 && len(b.above)-common <= 1:
		return gres.PIX
	}
	return gres.PXB
}

// described is machine, for texts that are there to describe GPUs.
func (t *tree) described() (*Machine, error) {
	if len(t.gpus) == 0 {
		return nil, errors.New("no GPU is described; a device needs its PCI class")
	}
	return t.machine()
}

// link notes a link between two GPUs.
func (t *tree) link(a, b int, l gres.Link) {
	if t.peer == nil {
		t.peer = map[[2]int]gres.Link{}
	}
	t.peer[[2]int{a, b}], t.peer[[2]int{b, a}] = l, l
}

// mask reads a set of CPUs as the kernel writes it: words of 32 bits in hex,
// separated by commas, the highest first. It is nil for what is none.
func mask(text string) *bitset.Set {
	out := &bitset.Set{}
	words := bytes.Split([]byte(text), []byte(","))
	if len(words) > 512 {
		return nil
	}
	for i, w := range words {
		w = bytes.TrimPrefix(bytes.TrimSpace(w), []byte("0x"))
		if len(w) > 8 {
			return nil
		}
		var v uint32
		if len(w) > 0 {
			if _, err := fmt.Sscanf(string(w), "%x", &v); err != nil {
				return nil
			}
		}
		for b := range 32 {
			if v>>b&1 == 1 {
				out.Add(32*(len(words)-1-i) + b)
			}
		}
	}
	if out.Empty() {
		return nil
	}
	return out
}
