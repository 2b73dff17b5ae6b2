package format

import (
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/job"
)

type nodeField = Field[NodeGroup]

type nodeText = func(dst []byte, x *Context, g *NodeGroup) []byte

// nodeAddress is a node's address, by default its name.
func nodeAddress(n *api.NodeRecord) string {
	if n.Address == "" {
		return n.Name
	}
	return n.Address
}

// partText shows something of the partition, n/a on a line without one.
func partText(put func(dst []byte, p *api.PartitionRecord) []byte) nodeText {
	return func(dst []byte, _ *Context, g *NodeGroup) []byte {
		if g.Part == nil {
			return append(dst, "n/a"...)
		}
		return put(dst, g.Part)
	}
}

// firstText shows a text of the line's first node, or instead.
func firstText(instead string, get func(*api.NodeRecord) string) nodeText {
	return func(dst []byte, _ *Context, g *NodeGroup) []byte {
		if len(g.Nodes) == 0 {
			return append(dst, instead...)
		}
		return appendOr(dst, get(g.Nodes[0]), instead)
	}
}

// sizeText shows a size that is written 16 or, where nodes differ, 16+.
func sizeText(get func(*api.NodeRecord) uint64) nodeText {
	return func(dst []byte, _ *Context, g *NodeGroup) []byte {
		low, high := extent(g, get)
		dst = strconv.AppendUint(dst, low, 10)
		if low != high {
			dst = append(dst, '+')
		}
		return dst
	}
}

// NodeFields are the fields of sinfo, in the order of its manual.
func NodeFields() []nodeField {
	return append(append(nodeSizes(), partitionFields()...), nodeTexts()...)
}

// nodeSizes: numbers of nodes.
func nodeSizes() []nodeField {
	cores := func(n *api.NodeRecord) uint64 { return uint64(n.Shape.CoresPerSocket) }
	sockets := func(n *api.NodeRecord) uint64 { return uint64(n.Shape.Sockets) }
	threads := func(n *api.NodeRecord) uint64 { return uint64(n.Shape.ThreadsPerCore) }
	return []nodeField{
		{Name: "AllocMem", Head: "ALLOCMEM", Text: func(dst []byte, _ *Context, g *NodeGroup) []byte {
			if len(g.Nodes) == 0 {
				return append(dst, '0')
			}
			return strconv.AppendUint(dst, g.Nodes[len(g.Nodes)-1].Used.MemoryMB, 10)
		}},
		{Name: "Cores", Letter: 'Y', Head: "CORES", Text: sizeText(cores)},
		{Name: "CPUs", Letter: 'c', Head: "CPUS", Text: sizeText(func(n *api.NodeRecord) uint64 { return uint64(n.Shape.CPUs) })},
		{Name: "CPUsLoad", Letter: 'O', Head: "CPU_LOAD", Text: appendLoad},
		{Name: "CPUsState", Letter: 'C', Head: "CPUS(A/I/O/T)", Text: appendCPUsState},
		{Name: "Disk", Letter: 'd', Head: "TMP_DISK", Text: sizeText(func(n *api.NodeRecord) uint64 { return n.Shape.TmpDiskMB })},
		{Name: "FreeMem", Letter: 'e', Head: "FREE_MEM", Text: appendFreeMemory},
		{Name: "Memory", Letter: 'm', Head: "MEMORY", Text: sizeText(func(n *api.NodeRecord) uint64 { return n.Shape.MemoryMB })},
		{Name: "NodeAI", Letter: 'A', Head: "NODES(A/I)", Text: func(dst []byte, _ *Context, g *NodeGroup) []byte {
			c := Count(g)
			return appendSlashed(dst, c.Allocated, c.Idle)
		}},
		{Name: "NodeAIOT", Letter: 'F', Head: "NODES(A/I/O/T)", Text: func(dst []byte, _ *Context, g *NodeGroup) []byte {
			c := Count(g)
			return appendSlashed(dst, c.Allocated, c.Idle, c.Other, uint64(len(g.Nodes)))
		}},
		{Name: "Nodes", Letter: 'D', Head: "NODES", Text: func(dst []byte, _ *Context, g *NodeGroup) []byte {
			return strconv.AppendInt(dst, int64(len(g.Nodes)), 10)
		}},
		{Name: "Port", Head: "PORT", Text: sizeText(func(n *api.NodeRecord) uint64 { return uint64(n.Port) })},
		{Name: "Sockets", Letter: 'X', Head: "SOCKETS", Text: sizeText(sockets)},
		{Name: "SocketCoreThread", Letter: 'z', Head: "S:C:T", Text: func(dst []byte, x *Context, g *NodeGroup) []byte {
			dst = append(sizeText(sockets)(dst, x, g), ':')
			dst = append(sizeText(cores)(dst, x, g), ':')
			return sizeText(threads)(dst, x, g)
		}},
		{Name: "Threads", Letter: 'Z', Head: "THREADS", Text: sizeText(threads)},
		{Name: "Weight", Letter: 'w', Head: "WEIGHT", Text: sizeText(func(n *api.NodeRecord) uint64 { return uint64(n.Weight) })},
	}
}

func appendSlashed(dst []byte, n ...uint64) []byte {
	for i, v := range n {
		if i > 0 {
			dst = append(dst, '/')
		}
		dst = strconv.AppendUint(dst, v, 10)
	}
	return dst
}

// Counts are the nodes and CPUs of one line by what they are doing.
type Counts struct {
	Allocated, Idle, Other             uint64 // nodes
	CPUs, IdleCPUs, OtherCPUs, AllCPUs uint64
}

// Count counts a line's nodes and CPUs.
func Count(g *NodeGroup) (c Counts) {
	for _, n := range g.Nodes {
		out := n.Flags&api.NodeDrain != 0 || n.Base == api.NodeDown // takes no work
		switch {
		case n.Base == api.NodeAllocated || n.Base == api.NodeMixed || n.Flags&api.NodeCompleting != 0:
			c.Allocated++
		case out:
			c.Other++
		default:
			c.Idle++
		}
		used, all := uint64(n.Used.CPUs), uint64(n.Shape.CPUs)
		c.CPUs, c.AllCPUs = c.CPUs+used, c.AllCPUs+all
		if out {
			c.OtherCPUs += all - min(used, all)
		} else {
			c.IdleCPUs += all - min(used, all)
		}
	}
	return c
}

// appendCPUsState counts allocated, idle, other and all CPUs.
func appendCPUsState(dst []byte, _ *Context, g *NodeGroup) []byte {
	c := Count(g)
	return appendSlashed(dst, c.CPUs, c.IdleCPUs, c.OtherCPUs, c.AllCPUs)
}

// appendHundredths writes 62 as 0.62.
func appendHundredths(dst []byte, n uint64) []byte {
	return append(strconv.AppendUint(dst, n/100, 10), '.', '0'+byte(n/10%10), '0'+byte(n%10))
}

func appendLoad(dst []byte, _ *Context, g *NodeGroup) []byte {
	if !live(g) {
		return append(dst, "N/A"...)
	}
	low, high := extent(g, func(n *api.NodeRecord) uint64 { return uint64(n.Load) })
	dst = appendHundredths(dst, low)
	if low != high {
		dst = appendHundredths(append(dst, '-'), high)
	}
	return dst
}

func appendFreeMemory(dst []byte, _ *Context, g *NodeGroup) []byte {
	if !live(g) {
		return append(dst, "N/A"...)
	}
	low, high := extent(g, func(n *api.NodeRecord) uint64 { return n.FreeMemory })
	dst = strconv.AppendUint(dst, low, 10)
	if low != high {
		dst = strconv.AppendUint(append(dst, '-'), high, 10)
	}
	return dst
}

// live tells whether all nodes of a line have told their load.
func live(g *NodeGroup) bool {
	for _, n := range g.Nodes {
		if !n.HasLive {
			return false
		}
	}
	return len(g.Nodes) > 0
}

// partitionFields: what belongs to the partition.
func partitionFields() []nodeField {
	fixed := func(s string) nodeText {
		return partText(func(dst []byte, _ *api.PartitionRecord) []byte { return append(dst, s...) })
	}
	share := partText(func(dst []byte, p *api.PartitionRecord) []byte { return appendOr(dst, p.OverSubscribe, "NO") })
	return []nodeField{
		{Name: "AllocNodes", Letter: 'S', Head: "ALLOCNODES", Note: "always all: partitions take jobs from any host", Text: fixed("all")},
		{Name: "Available", Letter: 'a', Head: "AVAIL", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return append(dst, PartitionWord(p.State)...) })},
		{Name: "Cluster", Letter: 'V', Head: "CLUSTER", Text: func(dst []byte, _ *Context, _ *NodeGroup) []byte { return append(dst, "N/A"...) }},
		{Name: "DefaultTime", Letter: 'L', Head: "DEFAULTTIME", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte {
			if p.DefaultTime == 0 {
				return append(dst, "n/a"...)
			}
			return appendTimeLimit(dst, p.DefaultTime)
		})},
		{Name: "Groups", Letter: 'g', Head: "GROUPS", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte {
			return appendOr(dst, strings.Join(p.AllowGroups, ","), "all")
		})},
		{Name: "MaxCPUsPerNode", Letter: 'B', Head: "MAX_CPUS_PER_NODE", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte {
			if p.MaxCPUsNode == 0 {
				return append(dst, "UNLIMITED"...)
			}
			return appendUint(dst, p.MaxCPUsNode)
		})},
		{Name: "OverSubscribe", Letter: 'h', Head: "OVERSUBSCRIBE", Text: share},
		{Name: "Share", Head: "OVERSUBSCRIBE", Hidden: true, Text: share},
		{Name: "Partition", Letter: 'P', Head: "PARTITION", Star: true, Text: appendPartition},
		{Name: "PartitionName", Letter: 'R', Head: "PARTITION", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return append(dst, p.Name...) })},
		{Name: "PreemptMode", Letter: 'M', Head: "PREEMPT_MODE", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte {
			return appendOr(dst, strings.ToUpper(p.PreemptMode), "OFF")
		})},
		{Name: "PriorityJobFactor", Letter: 'I', Head: "PRIO_JOB_FACTOR", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return appendUint(dst, p.JobFactor) })},
		{Name: "PriorityTier", Letter: 'p', Head: "PRIO_TIER", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return appendUint(dst, p.PriorityTier) })},
		{Name: "Priority", Head: "PRIO_TIER", Hidden: true, Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return appendUint(dst, p.PriorityTier) })},
		{Name: "Root", Letter: 'r', Head: "ROOT", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return append(dst, yes(p.RootOnly)...) })},
		{Name: "Size", Letter: 's', Head: "JOB_SIZE", Text: partText(appendJobSize)},
		{Name: "Time", Letter: 'l', Head: "TIMELIMIT", Text: partText(func(dst []byte, p *api.PartitionRecord) []byte { return appendTimeLimit(dst, p.MaxTime) })},
	}
}

// PartitionWord is how sinfo writes a partition's state. A narrow column cuts it.
func PartitionWord(state string) string {
	return strings.ToLower(state)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// appendPartition writes a partition's name, the default one with a star that
// stays where the name is cut.
func appendPartition(dst []byte, _ *Context, g *NodeGroup) []byte {
	if g.Part == nil {
		return append(dst, "n/a"...)
	}
	dst = append(dst, g.Part.Name...)
	if g.Part.Default {
		dst = append(dst, '*')
	}
	return dst
}

// appendFrag writes how much of the GPUs that are free on a line's nodes the next
// job is expected not to be able to use, in per cent. Slurm has no such field.
func appendFrag(dst []byte, _ *Context, g *NodeGroup) []byte {
	var frag, free uint64
	for _, n := range g.Nodes {
		frag, free = frag+n.FragGPU, free+n.FreeGPU
	}
	if free == 0 {
		return append(dst, "n/a"...)
	}
	return append(appendUint(dst, (100*frag+free/2)/free), '%')
}

func appendJobSize(dst []byte, p *api.PartitionRecord) []byte {
	low := max(p.MinNodes, 1)
	dst = appendUint(dst, low)
	switch p.MaxNodes {
	case 0:
		return append(dst, "-infinite"...)
	case low:
		return dst
	}
	return appendUint(append(dst, '-'), p.MaxNodes)
}

func appendTimeLimit(dst []byte, m job.Minutes) []byte {
	if m == 0 || m == job.Unlimited {
		return append(dst, "infinite"...)
	}
	return slurm.AppendShortSpan(dst, int64(m)*60)
}

// nodeTexts: words about nodes.
func nodeTexts() []nodeField {
	state := func(compact bool) nodeText {
		return firstText("n/a", func(n *api.NodeRecord) string { return NodeState(n.Base, n.Flags, compact) })
	}
	return []nodeField{
		{Name: "Comment", Head: "COMMENT", Text: firstText(null, func(n *api.NodeRecord) string { return n.Comment })},
		{Name: "Extra", Head: "EXTRA", Text: firstText(null, func(n *api.NodeRecord) string { return n.Extra })},
		{Name: "Features", Letter: 'f', Head: "AVAIL_FEATURES", Text: firstText(null, func(n *api.NodeRecord) string { return strings.Join(n.Features, ",") })},
		{Name: "features_act", Letter: 'b', Head: "ACTIVE_FEATURES", Text: firstText(null, func(n *api.NodeRecord) string { return strings.Join(ActiveFeatures(n), ",") })},
		{Name: "Gres", Letter: 'G', Head: "GRES", Text: firstText(null, NodeGres)},
		{Name: "GresFrag", Head: "GRES_FRAG", Text: appendFrag},
		{Name: "GresUsed", Head: "GRES_USED", Text: firstText(null, NodeGresUsed)},
		{Name: "NodeAddr", Letter: 'o', Head: "NODE_ADDR", Text: groupNames(nodeAddress)},
		{Name: "NodeHost", Letter: 'n', Head: "HOSTNAMES", Text: groupNames(func(n *api.NodeRecord) string {
			if n.HostName == "" {
				return n.Name
			}
			return n.HostName
		})},
		{Name: "NodeList", Letter: 'N', Head: "NODELIST", Over: true, Text: groupNames(func(n *api.NodeRecord) string { return n.Name })},
		{Name: "Reason", Letter: 'E', Head: "REASON", Text: firstText("none", func(n *api.NodeRecord) string { return n.Reason })},
		{Name: "Reservation", Letter: 'i', Head: "RESERVATION", Text: firstText("", func(n *api.NodeRecord) string { return n.Reservation })},
		{Name: "StateCompact", Letter: 't', Head: "STATE", Text: state(true)},
		{Name: "StateComplete", Head: "STATECOMPLETE", Text: firstText("n/a", func(n *api.NodeRecord) string {
			return strings.ToLower(strings.Join(NodeStateWords(n.Base, n.Flags), "+"))
		})},
		{Name: "StateLong", Letter: 'T', Head: "STATE", Text: state(false)},
		{Name: "TimeStamp", Letter: 'H', Head: "TIMESTAMP", Text: func(dst []byte, x *Context, g *NodeGroup) []byte {
			if len(g.Nodes) == 0 || g.Nodes[0].Reason == "" {
				return append(dst, "Unknown"...)
			}
			if x.Times == nil { // compared, not shown
				return strconv.AppendInt(dst, int64(g.Nodes[0].ReasonAt), 10)
			}
			return x.Times.Append(dst, g.Nodes[0].ReasonAt, "Unknown")
		}},
		{Name: "User", Letter: 'u', Head: "USER", Text: firstText("Unknown", reasonUser)},
		{Name: "UserLong", Letter: 'U', Head: "USER", Text: firstText("Unknown", func(n *api.NodeRecord) string {
			if n.Reason == "" || n.ReasonBy == "" {
				return "Unknown"
			}
			return n.ReasonBy + "(" + strconv.Itoa(int(n.ReasonUID)) + ")"
		})},
		{Name: "Version", Letter: 'v', Head: "VERSION", Text: firstText("N/A", func(n *api.NodeRecord) string { return n.Version })},
	}
}

func reasonUser(n *api.NodeRecord) string {
	if n.Reason == "" {
		return ""
	}
	return n.ReasonBy
}

// groupNames writes a name of each node of a line as a host list.
func groupNames(get func(*api.NodeRecord) string) nodeText {
	return func(dst []byte, _ *Context, g *NodeGroup) []byte {
		names := make([]string, 0, len(g.Nodes))
		seen := map[string]bool{}
		for _, n := range g.Nodes {
			if name := get(n); !seen[name] && name != "" {
				seen[name] = true
				names = append(names, name)
			}
		}
		return append(dst, NodeNames(names)...)
	}
}

// ActiveFeatures are a node's active features: the available ones unless it says
// otherwise.
func ActiveFeatures(n *api.NodeRecord) []string {
	if len(n.Active) > 0 {
		return n.Active
	}
	return n.Features
}

// NodeGres writes a node's devices: gpu:a100:4,nic:2.
func NodeGres(n *api.NodeRecord) string {
	var dst []byte
	for i, g := range n.Gres {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, g.Name...)
		if g.Type != "" {
			dst = append(append(dst, ':'), g.Type...)
		}
		dst = strconv.AppendUint(append(dst, ':'), g.Count, 10)
	}
	return string(dst)
}

// NodeGresUsed writes how many devices jobs hold: gpu:a100:2. Which they are is in
// the records of the jobs.
func NodeGresUsed(n *api.NodeRecord) string {
	var dst []byte
	for i, g := range n.Gres {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, g.Name...)
		if g.Type != "" {
			dst = append(append(dst, ':'), g.Type...)
		}
		var count uint64
		for _, u := range n.GresUsed {
			if u.Name == g.Name && u.Type == g.Type {
				count = u.Count
			}
		}
		dst = strconv.AppendUint(append(dst, ':'), count, 10)
	}
	return string(dst)
}
