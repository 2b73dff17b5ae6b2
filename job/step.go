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
	Cores    *bitset.Set // of the share's; nil where they do not matter
}

// Code implements wire.Message.
func (p *StepPart) Code(c *wire.Coder) {
	wire.Uint(c, 1, &p.CPUs)
	wire.Uint(c, 2, &p.Tasks)
	c.Uint64(3, &p.MemoryMB)
	wire.Slice(c, 4, &p.Devices)
	wire.Pointer(c, 5, &p.Cores)
}

// Active tells whether the step has not ended.
func (s *Step) Active() bool { return s.State.Active() }

// StepRoom is what no running step holds of a job's share of a node.
type StepRoom struct {
	CPUs     uint32
	MemoryMB uint64
	Devices  map[string]*bitset.Set // numbers by name
	Cores    *bitset.Set
}

// RoomForStep is what no running step holds of the job's share i. A step with
// --overlap holds nothing in this sense.
func (j *Job) RoomForStep(i int) StepRoom {
	share := &j.Alloc.Nodes[i]
	room := StepRoom{CPUs: share.CPUs, MemoryMB: share.MemoryMB, Devices: map[string]*bitset.Set{}, Cores: &bitset.Set{}}
	room.Cores.Union(share.Cores)
	for _, d := range share.Devices {
		if d.Index == nil {
			continue
		}
		if room.Devices[d.Name] == nil {
			room.Devices[d.Name] = bitset.Of()
		}
		room.Devices[d.Name].Union(d.Index)
	}
	for k := range j.Steps {
		s := &j.Steps[k]
		if !s.Active() || s.Overlap {
			continue
		}
		for n := range s.Parts {
			if n < len(s.Nodes) && s.Nodes[n] == share.Node {
				room.take(&s.Parts[n])
			}
		}
	}
	return room
}

// take takes away what a step holds.
func (r *StepRoom) take(p *StepPart) {
	r.CPUs -= min(r.CPUs, p.CPUs)
	r.MemoryMB -= min(r.MemoryMB, p.MemoryMB)
	r.Cores.Subtract(p.Cores)
	for _, d := range p.Devices {
		if have := r.Devices[d.Name]; have != nil && d.Index != nil {
			have.Subtract(d.Index)
		}
	}
}
