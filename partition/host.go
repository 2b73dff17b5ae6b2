package partition

import (
	"cmp"
	"encoding/binary"

	"muster/gres"
	"muster/job"
)

// unavailable are the flags that keep new work off a node.
const unavailable = NodeDrain | NodeFail | NodeNotResponding | NodeMaint | NodeRebootRequested | NodeInvalidReg | NodeBehind

// Available tells whether a node may get new work.
func (n *Node) Available() bool { return n.State == NodeUp && n.Admin&unavailable == 0 }

// Size is the node's size for placement: what the cluster file declares, and
// where it is silent what the node reported.
func (n *Node) Size() Shape {
	s, f := n.Declared, n.Found
	if s.CPUs == 0 && s.Sockets == 0 && s.CoresPerSocket == 0 {
		s.Boards, s.Sockets, s.CoresPerSocket, s.ThreadsPerCore, s.CPUs =
			f.Boards, f.Sockets, f.CoresPerSocket, f.ThreadsPerCore, f.CPUs
	}
	s.MemoryMB = cmp.Or(s.MemoryMB, f.MemoryMB)
	s.TmpDiskMB = cmp.Or(s.TmpDiskMB, f.TmpDiskMB)
	s.Boards = max(s.Boards, 1)
	s.ThreadsPerCore = max(s.ThreadsPerCore, 1)
	s.Sockets = max(s.Sockets, 1)
	if s.CPUs == 0 {
		s.CPUs = uint32(s.Cores()) * uint32(s.ThreadsPerCore)
	}
	if s.CoresPerSocket == 0 { // only CPUs were declared: each is a core
		s.CoresPerSocket = uint16(max(1, s.CPUs/uint32(s.Sockets)/uint32(s.ThreadsPerCore)))
	}
	if s.CPUs <= uint32(s.Cores()) {
		s.ThreadsPerCore = 1 // a CPU of this node is a core
	}
	return s
}

// Host is a node as placement sees it: worked out once when its record changes.
type Host struct {
	Node    *Node
	Size    Shape
	Cores   int // cores for jobs: those numbered 0 up to this
	Threads int // CPUs of a core
	Kinds   []gres.Kind
	all     Room
}

// NewHost works out what placement needs of a node.
func NewHost(n *Node) *Host {
	h := &Host{Node: n, Size: n.Size(), Kinds: n.Gres.Kinds()}
	h.Cores = max(0, h.Size.Cores()-int(h.Size.CoreSpec))
	h.Threads = int(h.Size.ThreadsPerCore)
	h.all = Room{Cores: h.Cores, MemoryMB: int64(h.Size.MemoryMB) - int64(h.Size.MemSpecMB)}
	for _, k := range h.Kinds {
		h.all.Devices = append(h.all.Devices, int64(k.Total))
	}
	return h
}

// Likeness is equal for hosts that a request cannot tell apart but by their
// names: it writes down size, devices, features and whether they take work.
func (h *Host) Likeness() string {
	s := &h.Size
	b := make([]byte, 0, 96)
	for _, n := range [...]uint64{
		uint64(s.Sockets), uint64(s.CoresPerSocket), uint64(s.ThreadsPerCore), uint64(s.CPUs), uint64(s.CoreSpec),
		s.MemoryMB, s.MemSpecMB, s.TmpDiskMB,
	} {
		b = binary.AppendUvarint(b, n)
	}
	if h.Node.Available() {
		b = append(b, '+')
	}
	for _, k := range h.Kinds {
		b = binary.AppendUvarint(append(append(append(append(b, k.Name...), ':'), k.Type...), ':'), k.Total)
	}
	for _, f := range h.Node.FeaturesOf() {
		b = append(append(b, '&'), f...)
	}
	return string(b)
}

// All is the room of the node without jobs. The caller must not change it.
func (h *Host) All() Room { return h.all }

// Room is an amount of resources of one node. Devices are counted by position in
// the node's Kinds.
type Room struct {
	Cores    int
	MemoryMB int64
	Devices  []int64
}

// Of counts what a share of an allocation holds on the node.
func (h *Host) Of(s *job.Share) Room {
	r := Room{Cores: s.Cores.Len(), MemoryMB: int64(s.MemoryMB)}
	if s.Whole {
		r.Cores = h.Cores
	}
	if len(h.Kinds) == 0 {
		return r
	}
	r.Devices = make([]int64, len(h.Kinds))
	for _, d := range s.Devices {
		for i := range h.Kinds {
			if h.Kinds[i].Name == d.Name && h.Kinds[i].Type == d.Type {
				r.Devices[i] += int64(d.Count)
			}
		}
	}
	return r
}
