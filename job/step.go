package job

import (
	"muster/internal/bitset"
	"muster/internal/wire"
)

// StepPart is what a step holds of its job's share of one node.
type StepPart struct {
	CPUs     uint32
	Tasks    uint32
	MemoryMB uint64
	Devices  []DeviceShare
}

// Code implements wire.Message.
func (p *StepPart) Code(c *wire.Coder) {
	wire.Uint(c, 1, &p.CPUs)
	wire.Uint(c, 2, &p.Tasks)
	c.Uint64(3, &p.MemoryMB)
	wire.Slice(c, 4, &p.Devices)
}

// Active tells whether the step has not ended.
func (s *Step) Active() bool { return s.State.Active() }

// FreeForStep is what no running step holds of the job's share i: CPUs, memory
// and the numbers of its devices by name. A step with --overlap holds nothing in
// this sense.
func (j *Job) FreeForStep(i int) (cpus uint32, memoryMB uint64, devices map[string]*bitset.Set) {
	share := &j.Alloc.Nodes[i]
	cpus, memoryMB, devices = share.CPUs, share.MemoryMB, map[string]*bitset.Set{}
	for _, d := range share.Devices {
		if d.Index == nil {
			continue
		}
		if devices[d.Name] == nil {
			devices[d.Name] = bitset.Of()
		}
		for x := range d.Index.All {
			devices[d.Name].Add(x)
		}
	}
	for k := range j.Steps {
		s := &j.Steps[k]
		if !s.Active() || s.Overlap {
			continue
		}
		for n, part := range s.Parts {
			if n >= len(s.Nodes) || s.Nodes[n] != share.Node {
				continue
			}
			cpus -= min(cpus, part.CPUs)
			memoryMB -= min(memoryMB, part.MemoryMB)
			for _, d := range part.Devices {
				if have := devices[d.Name]; have != nil && d.Index != nil {
					have.Subtract(d.Index)
				}
			}
		}
	}
	return cpus, memoryMB, devices
}
