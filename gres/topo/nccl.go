package topo

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"muster/gres"
)

// The format of NCCL_TOPO_FILE is that of NCCL's own dumps
// (docs.nvidia.com, NCCL_TOPO_DUMP_FILE); RCCL's has xmgi elements besides.

type ncclSystem struct {
	CPUs []ncclCPU `xml:"cpu"`
}

type ncclCPU struct {
	NUMA     string    `xml:"numaid,attr"`
	Affinity string    `xml:"affinity,attr"`
	PCI      []ncclPCI `xml:"pci"`
}

type ncclPCI struct {
	Bus   string    `xml:"busid,attr"`
	Class string    `xml:"class,attr"`
	PCI   []ncclPCI `xml:"pci"`
	GPU   *ncclGPU  `xml:"gpu"`
	Nets  []ncclNet `xml:"nic>net"`
}

type ncclGPU struct {
	Dev    string     `xml:"dev,attr"`
	NVLink []ncclLink `xml:"nvlink"`
	XGMI   []ncclLink `xml:"xgmi"`
}

type ncclLink struct {
	Target string `xml:"target,attr"`
	Count  uint8  `xml:"count,attr"`
	Class  string `xml:"tclass,attr"`
}

type ncclNet struct {
	Name string `xml:"name,attr"`
}

// ncclReader walks through the elements.
type ncclReader struct {
	tree
	next int // number of the next domain or bridge
	gpu  []*ncclGPU
	dev  []int
}

func readNCCL(text []byte) (*Machine, error) {
	var s ncclSystem
	if err := xml.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return nil, fmt.Errorf("NCCL topology: %w", err)
	}
	var r ncclReader
	for i := range s.CPUs {
		c := &s.CPUs[i]
		numa, err := strconv.Atoi(c.NUMA)
		if err != nil {
			numa = -1
		}
		r.next++
		if err := r.walk(c.PCI, []int{r.next}, &card{cpus: mask(c.Affinity), numa: numa}); err != nil {
			return nil, err
		}
	}
	r.number()
	r.links()
	m, err := r.described()
	if err != nil {
		return nil, fmt.Errorf("NCCL topology: %w", err)
	}
	return m, nil
}

func (r *ncclReader) walk(list []ncclPCI, above []int, domain *card) error {
	if len(above) > 64 {
		return fmt.Errorf("NCCL topology: bridges are more than 64 deep")
	}
	for i := range list {
		p := &list[i]
		c := card{bus: strings.ToLower(p.Bus), above: above, cpus: domain.cpus, numa: domain.numa}
		class := strings.TrimPrefix(strings.ToLower(p.Class), "0x")
		switch {
		case p.GPU != nil, isGPU(class):
			r.gpus = append(r.gpus, c)
			r.gpu = append(r.gpu, p.GPU)
			dev := len(r.dev)
			if p.GPU != nil {
				if n, err := strconv.Atoi(p.GPU.Dev); err == nil {
					dev = n
				}
			}
			r.dev = append(r.dev, dev)
		case strings.HasPrefix(class, "02"):
			// What a topology file names is used for RDMA, whatever its class.
			c.name, c.rdma = "NIC"+strconv.Itoa(len(r.nics)), true
			if len(p.Nets) > 0 && p.Nets[0].Name != "" {
				c.name = p.Nets[0].Name
			}
			r.nics = append(r.nics, c)
		}
		if len(p.PCI) > 0 {
			r.next++
			below := append(append([]int(nil), above...), r.next)
			if err := r.walk(p.PCI, below, domain); err != nil {
				return err
			}
		}
	}
	return nil
}

// isGPU tells whether a PCI class is one of GPUs: 3D controllers, display
// controllers that are not VGA, and processing accelerators.
func isGPU(class string) bool {
	return strings.HasPrefix(class, "0302") || strings.HasPrefix(class, "0380") || strings.HasPrefix(class, "12")
}

// number puts the GPUs in the order of their device numbers.
func (r *ncclReader) number() {
	sort.Stable(byDev{r})
}

type byDev struct{ *ncclReader }

func (b byDev) Len() int           { return len(b.dev) }
func (b byDev) Less(i, k int) bool { return b.dev[i] < b.dev[k] }
func (b byDev) Swap(i, k int) {
	b.gpus[i], b.gpus[k] = b.gpus[k], b.gpus[i]
	b.gpu[i], b.gpu[k] = b.gpu[k], b.gpu[i]
	b.dev[i], b.dev[k] = b.dev[k], b.dev[i]
}

// links notes NVLinks and XGMI. Two GPUs with links to a switch (class 0680) reach
// each other with as many lanes as the one with fewer has.
func (r *ncclReader) links() {
	at := map[string]int{}
	for i := range r.gpus {
		at[r.gpus[i].bus] = i
	}
	switched := make([]int, len(r.gpus))
	for i, g := range r.gpu {
		if g == nil {
			continue
		}
		for _, l := range g.NVLink {
			if k, ok := at[strings.ToLower(l.Target)]; ok && k != i {
				r.link(i, k, gres.LinkOf(gres.NV, l.Count))
			} else if strings.HasPrefix(strings.TrimPrefix(l.Class, "0x"), "0680") {
				switched[i] += int(l.Count)
			}
		}
		for _, l := range g.XGMI {
			if k, ok := at[strings.ToLower(l.Target)]; ok && k != i {
				r.link(i, k, gres.LinkOf(gres.XGMI, l.Count))
			}
		}
	}
	r.tree.switched(switched)
}

// switched links all GPUs that have lanes to switches with each other.
func (t *tree) switched(lanes []int) {
	for i := range lanes {
		for k := range i {
			if n := min(lanes[i], lanes[k], 255); n > 0 {
				t.link(i, k, gres.LinkOf(gres.NV, uint8(n)))
			}
		}
	}
}
