package topo

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"muster/gres"
	"muster/internal/bitset"
)

// The XML of hwloc 2 and 3 (www-lb.open-mpi.org/projects/hwloc, "Importing and
// exporting topologies from/to XML files").

type hwTopology struct {
	Objects   []hwObject    `xml:"object"`
	Distances []hwDistances `xml:"distances2hetero"`
	Same      []hwDistances `xml:"distances2"`
}

type hwObject struct {
	Type    string     `xml:"type,attr"`
	GP      string     `xml:"gp_index,attr"`
	CPUs    string     `xml:"cpuset,attr"`
	Nodes   string     `xml:"nodeset,attr"`
	Name    string     `xml:"name,attr"`
	Sub     string     `xml:"subtype,attr"`
	Bus     string     `xml:"pci_busid,attr"`
	Class   string     `xml:"pci_type,attr"`
	Bridge  string     `xml:"bridge_type,attr"`
	Info    []hwInfo   `xml:"info"`
	Objects []hwObject `xml:"object"`
}

type hwInfo struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type hwDistances struct {
	Name    string   `xml:"name,attr"`
	Indexes []string `xml:"indexes"`
	Values  []string `xml:"u64values"`
}

// laneMBps is the bandwidth of one NVLink by which hwloc's sums are counted; those
// of the first generation have 20,000, so counts are rounded up.
const laneMBps = 25_000

type hwReader struct {
	tree
	next     int
	gpuOf    map[string]int // GPU by the number of the object or of its OS device
	switches map[string]bool
}

// where is what objects are below.
type where struct {
	above []int
	cpus  *bitset.Set
	numa  int
}

func readHwloc(text []byte) (*Machine, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false // the document type names a file of hwloc's
	var top hwTopology
	if err := d.Decode(&top); err != nil {
		return nil, fmt.Errorf("hwloc's XML: %w", err)
	}
	r := &hwReader{gpuOf: map[string]int{}, switches: map[string]bool{}}
	r.host = true
	r.walk(top.Objects, where{numa: -1}, 0)
	for _, d := range append(top.Distances, top.Same...) {
		if d.Name == "NVLinkBandwidth" {
			r.distances(&d)
		}
	}
	m, err := r.described()
	if err != nil {
		return nil, fmt.Errorf("hwloc's XML: %w", err)
	}
	return m, nil
}

func (r *hwReader) walk(list []hwObject, w where, depth int) {
	if depth > 64 {
		return
	}
	for i := range list {
		o := &list[i]
		in := w
		if o.CPUs != "" && o.Type != "PU" {
			in.cpus = mask(o.CPUs)
		}
		if nodes := mask(o.Nodes); nodes != nil && nodes.Len() == 1 {
			in.numa = nodes.Max()
			in.above = []int{-1 - nodes.Max()}
		}
		switch o.Type {
		case "Bridge":
			if len(in.above) == 0 {
				in.above = []int{0} // below the whole machine
			}
			r.next++
			in.above = append(append([]int(nil), in.above...), r.next)
		case "PCIDev":
			r.device(o, in)
			continue
		}
		r.walk(o.Objects, in, depth+1)
	}
}

// device notes a GPU or a network card.
func (r *hwReader) device(o *hwObject, w where) {
	c := card{bus: strings.ToLower(o.Bus), above: w.above, cpus: w.cpus, numa: w.numa}
	class, _, _ := strings.Cut(o.Class, " ")
	gpu := isGPU(class)
	for i := range o.Objects {
		s := &o.Objects[i]
		for _, prefix := range []string{"nvml", "cuda", "rsmi", "ze"} {
			gpu = gpu || s.Type == "OSDev" && strings.HasPrefix(s.Name, prefix)
		}
	}
	switch {
	case o.Sub == "NVSwitch":
		r.switches["PCIDev:"+o.GP] = true
	case gpu:
		at := len(r.gpus)
		r.gpuOf["PCIDev:"+o.GP] = at
		for i := range o.Objects {
			s := &o.Objects[i]
			r.gpuOf["OSDev:"+s.GP] = at
			for _, info := range s.Info {
				if info.Name == "NVIDIAUUID" {
					c.uuid = info.Value
				}
			}
		}
		r.gpus = append(r.gpus, c)
	case strings.HasPrefix(class, "02"):
		c.name = "NIC" + strconv.Itoa(len(r.nics))
		for i := range o.Objects {
			s := &o.Objects[i]
			if rdma := strings.Contains(s.Sub, "OpenFabrics") || strings.HasPrefix(s.Name, "mlx") || strings.HasPrefix(s.Name, "hfi"); rdma || !c.rdma && s.Name != "" {
				c.name, c.rdma = s.Name, rdma
			}
		}
		r.nics = append(r.nics, c)
	}
}

// distances reads hwloc's NVLink bandwidths, those to switches included.
func (r *hwReader) distances(d *hwDistances) {
	names := strings.Fields(strings.Join(d.Indexes, " "))
	values := strings.Fields(strings.Join(d.Values, " "))
	if len(names) > most || len(values) != len(names)*len(names) {
		return
	}
	switched := make([]int, len(r.gpus))
	for i, from := range names {
		g, ok := r.gpuOf[from]
		if !ok {
			continue
		}
		for k, to := range names {
			v, err := strconv.ParseUint(values[i*len(names)+k], 10, 32)
			if err != nil || v == 0 || i == k {
				continue
			}
			lanes := int(min((v+laneMBps-1)/laneMBps, 255))
			if other, ok := r.gpuOf[to]; ok && other != g {
				r.link(g, other, gres.LinkOf(gres.NV, uint8(lanes)))
			} else if r.switches[to] {
				switched[g] += lanes
			}
		}
	}
	r.tree.switched(switched)
}
