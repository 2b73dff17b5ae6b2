package gres

import (
	"math/bits"
	"strconv"
)

// Path is the way between two devices of a node, from the longest to the
// shortest, under the names of nvidia-smi topo -m.
type Path uint8

// The ways between devices.
const (
	Unknown Path = iota
	SYS          // between NUMA domains
	NODE         // between host bridges of a NUMA domain
	PHB          // through one host bridge
	PXB          // through several PCIe bridges
	PIX          // through one PCIe bridge
	XGMI         // links between AMD's devices
	NV           // NVLinks
	Self         // the device itself
)

// Link is how two devices reach each other: a path, and for XGMI and NV the number
// of bonded links.
type Link uint16

// LinkOf makes a link; lanes is 0 but for XGMI and NV.
func LinkOf(p Path, lanes uint8) Link { return Link(p)<<8 | Link(lanes) }

// Path is the way of the link.
func (l Link) Path() Path { return Path(l >> 8) }

// Lanes is the number of bonded links of XGMI and NV, else 0.
func (l Link) Lanes() int { return int(l & 255) }

// String writes a link as nvidia-smi topo -m does; X is the device itself.
func (l Link) String() string {
	switch l.Path() {
	case Self:
		return "X"
	case NV:
		return "NV" + strconv.Itoa(l.Lanes())
	case XGMI:
		return "XGMI" + strconv.Itoa(l.Lanes())
	}
	if int(l.Path()) < len(pathNames) {
		return pathNames[l.Path()]
	}
	return "N/A"
}

// pathNames are the names of ways without lanes.
var pathNames = [...]string{SYS: "SYS", NODE: "NODE", PHB: "PHB", PXB: "PXB", PIX: "PIX", Unknown: "N/A"}

// ParseLink reads what String writes, NVB# included (bonded lanes on POWER). It is
// false for anything else.
func ParseLink(text string) (Link, bool) {
	for p, name := range pathNames {
		if text == name {
			return LinkOf(Path(p), 0), true
		}
	}
	if text == "X" {
		return LinkOf(Self, 0), true
	}
	for _, kind := range []struct {
		prefix string
		path   Path
	}{{"XGMI", XGMI}, {"NVB", NV}, {"NV", NV}} {
		if len(text) <= len(kind.prefix) || text[:len(kind.prefix)] != kind.prefix {
			continue
		}
		n, err := strconv.ParseUint(text[len(kind.prefix):], 10, 8)
		return LinkOf(kind.path, uint8(n)), err == nil && n > 0
	}
	return 0, false
}

// Bandwidth rates a link in GB/s in one direction, to compare links by: 25 for an
// NVLink and 50 for an XGMI link, for PCIe of the fourth generation what is left of
// its 32 on each way. It is a ranking, not a measurement.
func (l Link) Bandwidth() int {
	switch l.Path() {
	case NV:
		return 25 * l.Lanes()
	case XGMI:
		return 50 * l.Lanes()
	case PIX:
		return 24
	case PXB:
		return 22
	case PHB:
		return 18
	case NODE:
		return 14
	case SYS:
		return 10
	}
	return 0
}

// Role says what a network card is for.
type Role uint8

// The roles.
const (
	NoRole  Role = iota
	Fabric       // traffic between the devices of a job
	Storage      // file systems
	Control      // management, logins
)

// String is the name of a role, "" if there is none.
func (r Role) String() string {
	return [...]string{"", "fabric", "storage", "control"}[min(r, Control)]
}

// ParseRole reads what String writes; NoRole for anything else.
func ParseRole(text string) Role {
	for r := Fabric; r <= Control; r++ {
		if text == r.String() {
			return r
		}
	}
	return NoRole
}

// NIC is a network card.
type NIC struct {
	Name string // of its RDMA device (mlx5_0), else of the interface
	Role Role
	RDMA bool
}

// Links are the ways between the GPUs of a node and its network cards: a square
// matrix by rows, first the GPUs in the order of their numbers, then the cards.
// Empty: not known.
type Links []Link

// GiveRoles gives a role to each card that has none. Cards with RDMA that share a
// PCIe switch with a GPU are fabric, and the others with RDMA storage; where no
// card is as near to a GPU, all with RDMA are fabric. Cards without are control.
func (v *Inventory) GiveRoles() {
	gpus := v.count(linked)
	n := gpus + len(v.NICs)
	near := make([]bool, len(v.NICs))
	any := false
	for k := range v.NICs {
		for g := range gpus {
			if len(v.Links) == n*n && v.Links[g*n+gpus+k].Path() >= PXB {
				near[k], any = true, any || v.NICs[k].RDMA
			}
		}
	}
	for k := range v.NICs {
		nic := &v.NICs[k]
		switch {
		case nic.Role != NoRole:
		case !nic.RDMA:
			nic.Role = Control
		case near[k] || !any:
			nic.Role = Fabric
		default:
			nic.Role = Storage
		}
	}
}

// count is the number of devices of a name.
func (v *Inventory) count(name string) int {
	n := 0
	for i := range v.Devices {
		if v.Devices[i].Name == name {
			n++
		}
	}
	return n
}

// NICsNear are the fabric cards that are nearest to each of some GPUs, given by
// number, each once, in the order of the cards.
func (v *Inventory) NICsNear(gpus func(index int) bool) []string {
	total := v.count(linked)
	n := total + len(v.NICs)
	if len(v.Links) != n*n {
		return nil
	}
	picked := make([]bool, len(v.NICs))
	row := 0
	for i := range v.Devices {
		if v.Devices[i].Name != linked {
			continue
		}
		if gpus(v.Devices[i].Index) {
			best := 0
			for k := range v.NICs {
				if v.NICs[k].Role == Fabric {
					best = max(best, v.Links[row*n+total+k].Bandwidth())
				}
			}
			for k := range v.NICs {
				if v.NICs[k].Role == Fabric && best > 0 && v.Links[row*n+total+k].Bandwidth() == best {
					picked[k] = true
				}
			}
		}
		row++
	}
	var out []string
	for k, p := range picked {
		if p {
			out = append(out, v.NICs[k].Name)
		}
	}
	return out
}

// lowest is the number of the lowest bit of a set that is not empty.
func lowest(set uint64) int { return bits.TrailingZeros64(set) }
